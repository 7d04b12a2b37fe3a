"""Originals of the task answers: from a run, from the sample answers and from the reference answers of a suite."""

import csv
import json
import math

import pytest
from makers import published
from makers.published import DISCERNMENT, needs_discernment_data
from makers.runs import make_run, trial_lines
from pfgen_fast import Scorer
from pfgen_fast.base.errors import DiscernmentError, TrialsError
from pfgen_fast.lab.discernment import originals
from pfgen_fast.lab.discernment.discern import discern
from pfgen_fast.lab.discernment.originals import from_run, from_suite
from pfgen_fast.lab.evaluators.ngram_evaluator import NgramEvaluator
from pfgen_fast.lab.statistics.signed_rank import signed_rank


def lines_of(suite, answers):
    return [json.dumps({"question": question.question, "answer": text}) for text in answers for question in suite]


def test_a_run_gives_its_first_answers_to_each_question_that_are_not_blank(mini, tmp_path):
    run = make_run(tmp_path / "run", lines_of(mini, ["", "First.", " \n", "Second.", "Third."]))
    collection = from_run(run, mini)
    assert [item.id for item in collection.items][:3] == ["Q01-1", "Q01-2", "Q02-1"]
    assert [item.text for item in collection.items] == ["First.", "Second."] * len(mini)
    assert {item.question for item in collection.items} == {question.question for question in mini}
    assert {(item.task, item.language) for item in collection.items} == {("answers", "en")}
    assert collection.notes == ()
    assert collection.items[0].references == (mini.samples[0].answer,)
    assert {item.id for item in from_run(run, mini.only(["Q03"])).items} == {"Q03-1", "Q03-2"}
    assert len(from_run(run / "trials.jsonl", mini, per_question=3)) == 3 * len(mini)


def test_questions_with_too_few_answers_are_noted(mini, tmp_path):
    lines = [*lines_of(mini, ["First."]), json.dumps({"question": mini["Q02"].question, "answer": "Second."})]
    collection = from_run(make_run(tmp_path / "run", lines), mini)
    assert len(collection) == len(mini) + 1
    assert collection.notes == (
        "Of 8 questions, 7 have fewer than 2 answers that are not blank: Q01, Q03, Q04, Q05, Q06 and 2 more.",
    )


def test_anything_but_a_single_run_of_the_suite_is_refused(mini, tmp_path):
    for name in "ab":
        make_run(tmp_path / name, trial_lines(mini))
    with pytest.raises(TrialsError, match="contains 2 runs; expected one"):
        from_run(tmp_path, mini)
    with pytest.raises(DiscernmentError, match="answers to each question: expected at least 1, not 0"):
        from_run(tmp_path / "a", mini, per_question=0)
    make_run(tmp_path / "c", [json.dumps({"question": "Who?", "answer": "x"})])
    with pytest.raises(TrialsError, match="unknown question 'Who\\?' in suite mini"):
        from_run(tmp_path / "c", mini)


def test_a_suite_gives_sample_answers_if_there_are_enough_or_else_reference_answers(mini, monkeypatch):
    references = from_suite(mini)
    assert references.name == "reference answers of suite mini"
    assert len(references) == 16
    for item in references.items:
        assert any(item.text in answers for answers in mini[item.question].answers.values())
    more = from_suite(mini, per_question=20).items
    assert more[0] == references.items[0]
    texts_by_set = {name: {item.text for item in more[:20]} & {*texts} for name, texts in mini["Q01"].answers.items()}
    assert all(texts_by_set.values())  # of all sets, though the sets follow one another in the file
    monkeypatch.setattr(originals, "MIN_ITEMS", 8)
    samples = from_suite(mini)
    assert samples.name == "sample answers of suite mini"
    assert [item.text for item in samples.items] == [sample.answer for sample in mini.samples]
    assert all(item.references == () for item in samples.items)
    assert samples.notes == ()


# ---- What a prototype of the rules measured on published answers: two of GPT-4o to each question, as if independent


DIGITS = {"share_lower": 3, "mean_drop": 4, "rank_biserial": 3, "d": 3, "exact_d": 3, "reverse_d": 3}


@pytest.mark.slow
@published.needs_published_runs
@needs_discernment_data
def test_the_measured_figures_come_out_to_their_digits():
    suite = published.suite()
    items = from_run(published.FOLDER / "result" / "openai" / "gpt-4o", suite)
    result = discern(NgramEvaluator(Scorer(suite)), items)
    assert result.scored.originals[-1].mean() == pytest.approx(0.861, abs=5e-4)
    cells = {(row["kind"], row["permille"], row["metric"]): row for row in result.cells}
    with (DISCERNMENT / "measured-gpt-4o.csv").open(encoding="utf-8", newline="") as file:
        measured = list(csv.DictReader(file))
    assert len(measured) == 376
    metrics = [metric.name for metric in result.scored.metrics]
    rows = {(change.kind, change.permille): row for row, change in enumerate(result.scored.plan.perturbations)}
    for row in measured:
        permille = int(row["permille"]) if row["permille"] else None
        cell = cells[row["perturbation"], permille, row["metric"]]
        counts = (cell["n_items"], cell["n_impossible"], cell["n"])
        assert counts == (int(row["n_items"]), int(row["impossible"]), int(row["n"])), row
        place = metrics.index(row["metric"])
        damaged = result.scored.damaged[rows[row["perturbation"], permille], place]
        by_items = signed_rank(result.scored.originals[place], damaged)
        for name, digits in DIGITS.items():
            value = math.nan if cell[name] is None else round(getattr(by_items, name), digits)
            assert value == pytest.approx(float(row[name] or "nan"), rel=0, abs=1e-12, nan_ok=True), row
