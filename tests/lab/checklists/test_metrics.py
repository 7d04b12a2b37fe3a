"""Metrics without a judge: the formulas, what other programs compute, perplexity, and the metrics of a run."""

import gc
import json
import math
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.own_checklists import run_of, suite_of_essays
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.answer_metrics import (
    Meteor,
    Perplexity,
    measure,
    model_metrics,
    open_metrics,
    token_metrics,
)
from pfgen_fast.lab.checklists.checklist_runs import Answer
from pfgen_fast.lab.words import words


def write_tiny_wordnet(folder: Path, *synonyms: str) -> Path:
    """Writes the files of NLTK's WordNet with one meaning, which nouns have in common."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("adj", "adv", "noun", "verb"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).write_text("")
    (folder / "index.sense").write_text("")
    (folder / "lexnames").write_text("00\tnoun.artifact\t1\n")
    words = " ".join(f"{word} 0" for word in synonyms)
    (folder / "data.noun").write_text(f"00000000 00 n {len(synonyms):02x} {words} 000 | a thing  \n")
    (folder / "index.noun").write_text("".join(f"{word} n 1 0 1 0 00000000  \n" for word in synonyms))
    return folder


WORDS = st.lists(st.sampled_from(["the", "cat", "cats", "sat", "on", "mat"]), max_size=14)


def scored(metric, *pairs, tokens=str.split):
    """The metric of each pair of an answer and its reference."""
    return token_metrics([answer for answer, _ in pairs], [reference for _, reference in pairs], tokens)[metric]


@given(WORDS)
def test_repetition_and_distinct_count_what_a_list_of_ngrams_counts(tokens):
    listed = [tuple(tokens[i : i + 4]) for i in range(len(tokens) - 3)]
    pair = (" ".join(tokens), None)
    [repetition], [distinct] = (scored(metric, pair) for metric in ("repetition_4", "distinct_4"))
    if not listed:
        assert repetition is distinct is None
        return
    different = set(listed)
    assert repetition == len([gram for gram in different if listed.count(gram) > 1]) / len(different)
    assert distinct == len(different) / len(listed)


@given(st.lists(st.tuples(WORDS.filter(bool), WORDS.filter(bool)), min_size=1, max_size=4))
def test_bleu_of_answers_is_that_of_sacrebleu_without_smoothing(pairs):
    sacrebleu = pytest.importorskip("sacrebleu")
    metric = sacrebleu.metrics.BLEU(smooth_method="none", tokenize="none", force=True)
    texts = [(" ".join(answer), " ".join(reference)) for answer, reference in pairs]
    expected = [metric.corpus_score([answer], [[reference]]).score / 100 for answer, reference in texts]
    assert scored("bleu_4", *texts) == pytest.approx(expected, abs=1e-12)


def test_brevity_counts_and_an_order_without_match_gives_0():
    pairs = [("abcde", "abcdefg"), ("abcde", "abcde"), ("abcx", "abcd"), ("", "abcd"), ("abcd", None)]
    assert scored("bleu_4", *pairs, tokens=list) == [pytest.approx(math.exp(1 - 7 / 5)), 1.0, 0.0, 0.0, None]
    assert scored("bleu_4", ("abcd", None)) == [None]


def test_rouge_l_is_f1_of_the_longest_common_subsequence_and_does_not_fold_case():
    assert scored("rouge_l", ("The sea", "The sea"), ("The", "the"), ("", "the")) == [1.0, 0.0, 0.0]
    pairs = [("axbyc", "cab"), ("氷は水に浮く", "氷が水に浮く")]
    assert scored("rouge_l", *pairs, tokens=list) == pytest.approx([2 * 2 / (5 + 3), 10 / 12])


def test_meteor_matches_equal_words_and_stems_without_any_data():
    meteor = Meteor()
    assert meteor.name == "meteor (no synonyms)"
    # Three of three words match in one chunk of the reference's four, the first by its stem.
    recall, penalty = 3 / 4, 0.5 * (1 / 3) ** 3
    expected = recall / (0.9 + 0.1 * recall) * (1 - penalty)
    assert meteor(["cats", "sat", "down"], [["the", "cat", "sat", "down"]]) == pytest.approx(expected)
    assert meteor(["a", "dog"], [["the", "cat"]]) == 0.0
    assert meteor([], [["the", "cat"]]) == 0.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_meteor_matches_synonyms_where_wordnet_is_and_names_a_folder_that_is_none(tmp_path):
    reference = [["a", "red", "truck"]]
    meteor = Meteor(write_tiny_wordnet(tmp_path / "corpora/wordnet", "car", "truck"))
    assert meteor.name == "meteor"
    assert meteor(["a", "red", "car"], reference) > 0.95 > Meteor()(["a", "red", "car"], reference)
    with pytest.raises(ChecklistError, match="has no file lexnames; expected the folder corpora/wordnet"):
        Meteor(tmp_path)
    write_tiny_wordnet(tmp_path, "car")
    (tmp_path / "index.noun").write_text("car n many\n")
    with pytest.raises(ChecklistError, match="cannot be read as WordNet"):
        Meteor(tmp_path)
    del meteor
    gc.collect()  # NLTK leaves the files of WordNet open


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.translate.meteor_score", None)
    with pytest.raises(ChecklistError, match=r"needs nltk.translate.meteor_score.*pfgen-fast\[metrics\]"):
        Meteor()


ANSWERS = (
    Answer("sea", "The sea is wide and the sea is cold."),
    Answer("ice", "Ice floats on water."),
    Answer("fog", "Fog."),
    Answer("sea", "The sea is wide.", length="short"),
)


def found_in(tmp_path, suite):
    measures = open_metrics(suite)
    return measures, measure(run_of(tmp_path / "m", *ANSWERS), measures)


def test_each_answer_has_the_metrics_of_its_tokens_and_reference_and_means_are_over_the_answers_with_a_value(tmp_path):
    suite = suite_of_essays()
    measures, result = found_in(tmp_path, suite)
    assert measures.names == ("repetition_4", "distinct_4", "bleu_4", "rouge_l", "meteor (no synonyms)")
    assert [item.key for item in result] == [(answer.id, answer.length, 1) for answer in ANSWERS]
    sea, ice, fog, _ = result
    pairs = [(answer.response, suite.tasks[place].reference) for place, answer in enumerate(ANSWERS[:2])]
    assert [sea.values["bleu_4"]] == scored("bleu_4", pairs[0], tokens=words)
    assert [sea.values["rouge_l"]] == scored("rouge_l", pairs[0], tokens=words)
    assert 0 < ice.values["meteor (no synonyms)"] < 1
    assert (sea.words, ice.words, fog.words) == (10, 5, 2)
    assert set(fog.values.values()) == {None}  # too short, and its task has no reference
    model = model_metrics("m", result, measures)
    assert (model.total.n, model.total.metrics["bleu_4"].n, model.total.metrics["distinct_4"].n) == (3, 2, 2)
    assert model.total.metrics["rouge_l"].mean == (result[0].values["rouge_l"] + result[1].values["rouge_l"]) / 2
    assert model.total.words == 17 / 3
    assert list(model.areas) == ["essays", "letters"]
    assert model.areas["letters"].metrics["bleu_4"].mean is None
    assert list(model.lengths) == ["short"]
    json.dumps(model.to_dict(), allow_nan=False)


def test_metrics_that_cannot_be_computed_are_left_out_with_a_note(tmp_path):
    measures, _ = found_in(tmp_path, suite_of_essays(has_references=False))
    assert measures.names == ("repetition_4", "distinct_4")
    assert measures.notes == ("no task of the suite has a reference, which BLEU, ROUGE-L and METEOR need",)
    japanese = open_metrics(suite_of_essays("ja"))
    assert japanese.meteor is None
    assert any("METEOR is for English only" in note for note in japanese.notes)


TEXT = "氷は水に浮く。水は氷より重い。" * 30


def perplexity_of_pieces(model_folder, text, window):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForCausalLM.from_pretrained(model_folder)
    tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
    listed = []
    for start in range(0, len(tokens), window):
        piece = torch.tensor([tokens[start : start + window]])
        if piece.shape[1] > 1:
            with torch.no_grad():
                listed.append(math.exp(model(piece, labels=piece).loss))
    assert len(listed) > 1
    return sum(listed) / len(listed)


@pytest.mark.models
@pytest.mark.parametrize("window", [512, 100])
def test_perplexity_is_the_plain_mean_over_pieces_without_common_context(tiny_model, window):
    text = TEXT * (1 + window // 100)
    perplexity = Perplexity(str(tiny_model), device="cpu", window=window)
    assert perplexity(text) == pytest.approx(perplexity_of_pieces(tiny_model, text, window), rel=1e-5)
    assert f"window={window}" in perplexity.signature


@pytest.mark.models
def test_perplexity_is_a_metric_of_answers(tiny_model, tmp_path):
    perplexity = Perplexity(str(tiny_model), device="cpu")
    measures = open_metrics(suite_of_essays(), perplexity=perplexity)
    result = measure(run_of(tmp_path / "m", Answer("sea", TEXT), Answer("ice", "")), measures)
    assert [item.values["ppl"] for item in result] == [perplexity(TEXT), None]
    assert "ppl:" in measures.signature
