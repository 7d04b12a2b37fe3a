"""The metric for Hugging Face evaluate, as `evaluate.load` makes it."""

from __future__ import annotations

import pytest
from makers.documented import documented_example
from makers.engines import integration
from pfgen_fast import ReferenceScorer, SuiteError, TrialsError
from pfgen_fast.integrations.evaluate import METRIC, REFERENCE_METRICS

pytestmark = pytest.mark.integrations
evaluate = integration("evaluate")

SCORES = ("average", "fluency", "truthfulness", "helpfulness")


@pytest.fixture
def metric(tmp_path):
    return evaluate.load(METRIC, suite="mini", cache_dir=str(tmp_path))


def columns(rows):
    return {"predictions": [row["text"] for row in rows], "references": [row["question"] for row in rows]}


def test_scores_of_answers_and_their_means_are_those_of_the_scorer_bit_for_bit(metric, rows, scorer):
    given = columns(rows)
    found = metric.compute(**given, per_answer=True)
    table = scorer.score(given["references"], given["predictions"])
    assert 0.1 < table.average.mean() < 0.9
    assert found == {name: table[name].tolist() for name in SCORES} | {"signature": scorer.signature}
    for first in range(0, 150, 50):
        metric.add_batch(**columns(rows[first : first + 50]))
    for row in rows[150:]:
        metric.add(prediction=row["text"], reference=row["question"])
    found = metric.compute()
    assert {name: found[name] for name in SCORES} == {name: float(table[name].mean()) for name in SCORES}


def test_it_combines_with_metrics_of_others(metric, rows):
    both = evaluate.combine([metric, evaluate.load(METRIC, suite="mini", experiment_id="second")], force_prefix=True)
    found = both.compute(**columns(rows[:5]))
    assert found["pfgen_0_average"] == found["pfgen_1_average"]


def test_an_unknown_question_and_a_suite_that_cannot_be_read_are_named(metric, tmp_path):
    with pytest.raises(TrialsError, match=r"questions\[1\]: unknown question 'Q77' in suite mini"):
        metric.compute(predictions=["x", "y"], references=["Q07", "Q77"])
    with pytest.raises(SuiteError, match="nowhere"):
        evaluate.load(METRIC, suite=str(tmp_path / "nowhere"))


def test_reference_metrics_take_lists_of_references_or_single_ones(tmp_path):
    metric = evaluate.load(
        REFERENCE_METRICS, metrics=["bleu", "chrf", "corpus_bleu"], lowercase=True, cache_dir=str(tmp_path)
    )
    answers, references = ["It floats.", "Iron"], [["Ice floats.", "IT FLOATS."], ["iron ore"]]
    expected = ReferenceScorer(["bleu", "chrf", "corpus_bleu"], lowercase=True).score(answers, references)
    found = metric.compute(predictions=answers, references=references)
    assert found == {name: float(expected[name].mean()) for name in ("bleu", "chrf")} | {
        "corpus_bleu": expected.corpus_bleu,
        "signature": expected.signature,
    }
    found = metric.compute(predictions=answers, references=[one[-1] for one in references], per_answer=True)
    assert found["chrf"] == expected.chrf.tolist()


def test_the_example_of_the_page_runs(capsys):
    exec(documented_example("evaluate.load(METRIC"), {})
    assert capsys.readouterr().out.endswith("\n[0.02259]\n")
    exec(documented_example("evaluate.load(REFERENCE_METRICS"), {})
    assert "'rouge_l_recall': " in capsys.readouterr().out
