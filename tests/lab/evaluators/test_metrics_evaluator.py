"""BLEU, chrF and ROUGE-L as an evaluator."""

from dataclasses import replace

import pytest
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.evaluators.evaluator import Evaluator, Item, Metric, text_column
from pfgen_fast.lab.evaluators.ngram_evaluator import MetricsEvaluator
from sacrebleu.metrics import BLEU, CHRF

ENGLISH = Item("1", "Ice floats.", "answers", "en", references=("Ice floats on water.", "Frozen water swims on top."))
JAPANESE = Item("2", "氷は浮く。", "answers", "ja", references=("氷は水に浮きます。", "氷は軽い。"))


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return MetricsEvaluator()


def scores_of(evaluator, item, *texts):
    found = evaluator.score([item] * len(texts), text_column(list(texts)))
    return list(zip(*(found[name].tolist() for name in ("bleu", "chrf", "rouge_l")), strict=True))


@pytest.mark.parametrize(("item", "tokenize"), [(ENGLISH, "13a"), (JAPANESE, "char")])
@pytest.mark.parametrize("n_references", [1, 2])
def test_bleu_and_chrf_are_those_of_sacrebleu(evaluator, item, tokenize, n_references):
    texts = ["Ice floats on water!", "氷は水に浮くよ。", "氷", "x", "Frozen  water, swims.\n", "\ud800\0", "", " "]
    references = list(item.references[:n_references])
    bleu, chrf = BLEU(tokenize=tokenize, effective_order=True), CHRF()
    found = scores_of(evaluator, replace(item, references=tuple(references)), *texts)
    for text, (own_bleu, own_chrf, _) in zip(texts, found, strict=True):
        assert own_bleu == min(bleu.sentence_score(text, references).score, 100)
        assert own_chrf == min(chrf.sentence_score(text, references).score, 100)


@pytest.mark.parametrize(
    ("item", "reference", "text", "rouge_l"),
    [
        (JAPANESE, "氷は水に浮く", "氷が浮くよ", 2 * 3 / (6 + 5)),  # the code points 氷浮く
        (ENGLISH, "The well-known ice doesn't sink.", "Well, the ice doesn't ever sink!", 2 * 3 / (5 + 6)),
        (ENGLISH, "...", "!", 0),
    ],
)
def test_rouge_l_is_the_f1_of_the_longest_common_subsequence(evaluator, item, reference, text, rouge_l):
    assert scores_of(evaluator, replace(item, references=(reference,)), text)[0][2] == pytest.approx(rouge_l)


def test_without_a_language_the_text_of_the_item_decides(evaluator):
    for item in (ENGLISH, JAPANESE):
        assert scores_of(evaluator, replace(item, language=None), "ice 氷 on") == scores_of(
            evaluator, item, "ice 氷 on"
        )


def test_the_reference_itself_has_the_best_scores_on_their_scales(evaluator):
    for item in (ENGLISH, JAPANESE):
        for text in item.references:
            assert scores_of(evaluator, item, text) == [(100.0, 100.0, 1.0)]
    assert evaluator.metrics == (
        Metric("bleu", low=0, high=100),
        Metric("chrf", low=0, high=100),
        Metric("rouge_l", low=0, high=1),
    )


def test_nothing_in_common_and_nothing_at_all_score_zero(evaluator):
    assert scores_of(evaluator, replace(JAPANESE, references=("水",)), "", "空", " ") == [(0.0, 0.0, 0.0)] * 3


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (Item("a", "x", "qa", "en"), "item a: has no references, which the evaluator metrics needs"),
        (Item("a\n", "x", "qa", "en"), r"item a\\n: has no references"),
        (replace(ENGLISH, language="jp"), "item 1: unknown language 'jp'; expected one of ja, en"),
        (replace(ENGLISH, text="Ice floats on water."), "its text is one of its references.*--allow-self-reference"),
        (replace(ENGLISH, text="\nIce floats on water. "), "its text is one of its references"),
    ],
)
def test_an_item_without_comparable_references_is_named(evaluator, item, message):
    with pytest.raises(DiscernmentError, match=message):
        evaluator.score([item], text_column(["x"]))


def test_a_text_among_its_references_is_allowed_on_demand_with_a_note():
    items = [replace(ENGLISH, text=ENGLISH.references[0]), JAPANESE]
    evaluator = MetricsEvaluator(allow_self_reference=True)
    assert evaluator.score(items, text_column([items[0].text, "氷"]))["bleu"][0] == 100
    (note,) = evaluator.notes_on(items)
    assert note.startswith("1 of 2 texts are among their own references")
    assert evaluator.notes_on(items[1:]) == ()


def test_progress_is_reported_and_the_signature_names_settings_and_versions():
    told = []
    evaluator = MetricsEvaluator(on_progress=lambda done, total: told.append((done, total)))
    evaluator.score([ENGLISH] * 200, text_column([f"Ice {number}" for number in range(200)]))
    assert told == [(0, 200), (200, 200)]
    assert evaluator.signature.startswith("metrics:bleu,chrf,rouge_l|pfgen-fast:")
    assert "tokenize:ja=char,en=13a" in evaluator.signature
    assert evaluator.is_deterministic
