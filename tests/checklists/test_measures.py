"""The metrics of the answers of a run: which are computed, of what tokens, and their means."""

from __future__ import annotations

import json

import pytest
from makers.long_answers import run_of, suite_of_essays, suite_without_references
from pfgen_fast.checklists.metrics.answer_metrics import measure, model_metrics, open_metrics, open_tokenizing
from pfgen_fast.checklists.metrics.classic import bleu_counts, corpus_bleu, rouge_l
from pfgen_fast.checklists.runs import Answer
from pfgen_fast.checklists.words import words
from pfgen_fast.errors import ChecklistError

ANSWERS = (
    Answer("sea", "The sea is wide and the sea is cold."),
    Answer("ice", "Ice floats on water."),
    Answer("fog", "Fog."),
    Answer("sea", "The sea is wide.", length="short"),
)


def found_in(tmp_path, suite, **choices):
    measures = open_metrics(suite, **choices)
    return measures, measure(run_of(tmp_path / "m", *ANSWERS), measures)


def test_each_answer_has_the_metrics_of_its_tokens_and_reference_and_means_are_over_the_answers_with_a_value(tmp_path):
    suite = suite_of_essays()
    measures, found = found_in(tmp_path, suite)
    assert measures.names == ("repetition_4", "distinct_4", "bleu_4", "rouge_l", "meteor (no synonyms)")
    assert [one.key for one in found] == [(answer.id, answer.length, 1) for answer in ANSWERS]
    sea, ice, fog, _ = found
    tokens, reference = words(ANSWERS[0].response), words(suite.tasks[0].reference)
    assert sea.values["bleu_4"] == bleu_counts(tokens, [reference]).score
    assert sea.values["rouge_l"] == rouge_l(tokens, [reference])
    assert 0 < ice.values["meteor (no synonyms)"] < 1
    assert (sea.words, ice.words, fog.words) == (10, 5, 2)
    assert set(fog.values.values()) == {None}  # too short, and its task has no reference
    model = model_metrics("m", found, measures)
    assert (model.total.n, model.total.metrics["bleu_4"].n, model.total.metrics["distinct_4"].n) == (3, 2, 2)
    assert model.total.metrics["rouge_l"].mean == (found[0].values["rouge_l"] + found[1].values["rouge_l"]) / 2
    assert model.total.words == 17 / 3
    pairs = [(answer.response, suite.tasks[place].reference) for place, answer in enumerate(ANSWERS[:2])]
    expected = corpus_bleu(bleu_counts(words(answer), [words(reference)]) for answer, reference in pairs)
    assert model.total.corpus_bleu == expected
    assert list(model.areas) == ["essays", "letters"]
    assert model.areas["letters"].metrics["bleu_4"].mean is None
    assert list(model.lengths) == ["short"]
    json.dumps(model.to_dict(), allow_nan=False)


def test_what_cannot_be_computed_is_left_out_and_said(tmp_path):
    measures, _ = found_in(tmp_path, suite_without_references())
    assert measures.names == ("repetition_4", "distinct_4")
    assert measures.notes == ("no task of the suite has a reference, which BLEU, ROUGE-L and METEOR need",)
    japanese = open_metrics(suite_of_essays("ja"))
    assert "meteor" not in japanese.metrics
    assert any("METEOR is for English only" in note for note in japanese.notes)


@pytest.mark.parametrize(
    ("choices", "fault"),
    [
        ({"metrics": ["blue"]}, "unknown metric 'blue'; expected one of bleu"),
        ({"metrics": ["bleu"]}, "no task of the suite has a reference"),
        ({"metrics": ["ppl"]}, "perplexity needs a model"),
        ({"n": 0}, "expected an order of at least 1, not 0"),
        ({"tokens": "letters"}, "unknown kind of tokens 'letters'"),
    ],
)
def test_what_is_asked_for_and_cannot_be_is_an_error(choices, fault):
    with pytest.raises(ChecklistError, match=fault):
        open_metrics(suite_without_references(), **choices)


def test_tokens_are_part_of_the_signature(tmp_path):
    signatures = {
        open_metrics(suite_without_references(), tokens=tokens, n=n).signature
        for tokens in (None, "characters", "blanks")
        for n in (2, 4)
    }
    assert len(signatures) == 6
    _, found = found_in(tmp_path, suite_without_references(), tokens="characters", n=2)
    assert found[2].values == {"repetition_2": 0.0, "distinct_2": 1.0}


def test_tokens_may_be_those_of_a_tokenizer(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0, "sea": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(path))
    opened = open_tokenizing(str(path))
    assert opened.tokens("the sea the") == [0, 1, 0]
    assert opened.signature.startswith("tokenizer ")
    path.write_text("{}")
    with pytest.raises(ChecklistError, match="not a tokenizer"):
        open_tokenizing(str(path))
