"""Originals of the task answers: from a run, from the sample answers and from the reference answers of a suite."""

import csv
import json
import math

import pytest
from makers import published
from makers.published import DISCERNMENT, needs_discernment_data
from makers.runs import make_run, trial_lines
from makers.tested_evaluators import problem
from pfgen_fast import Scorer, Suite
from pfgen_fast.base.errors import DiscernmentError, SuiteError, TrialsError
from pfgen_fast.lab.discernment.discernment_items import read_collection
from pfgen_fast.lab.discernment.originals import (
    Bounds,
    collect,
    from_run,
    from_suite,
    known_originals,
    without_originals,
    write_items,
)
from pfgen_fast.lab.discernment.running import discern
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
    with pytest.raises(DiscernmentError, match=r"2 runs, such as .*a; expected one run"):
        from_run(tmp_path, mini)
    with pytest.raises(DiscernmentError, match="answers to each question: expected at least 1, not 0"):
        from_run(tmp_path / "a", mini, per_question=0)
    make_run(tmp_path / "c", [json.dumps({"question": "Who?", "answer": "x"})])
    with pytest.raises(TrialsError, match="unknown question 'Who\\?' in suite mini"):
        from_run(tmp_path / "c", mini)


def test_a_suite_gives_sample_answers_if_there_are_enough_or_else_reference_answers(mini):
    references = from_suite(mini)
    assert references.name == "reference answers of suite mini"
    assert len(references) == 16
    for item in references.items:
        assert any(item.text in answers for answers in mini[item.question].answers.values())
    more = from_suite(mini, "references", per_question=20).items
    assert more[0] == references.items[0]
    texts_by_set = {name: {item.text for item in more[:20]} & {*texts} for name, texts in mini["Q01"].answers.items()}
    assert all(texts_by_set.values())  # of all sets, though the sets follow one another in the file
    samples = from_suite(mini, "samples")
    assert samples.name == "sample answers of suite mini"
    assert [item.text for item in samples.items] == [sample.answer for sample in mini.samples]
    assert all(item.references == () for item in samples.items)
    assert samples.notes == ()


def test_originals_that_the_scores_count_are_noted_and_can_be_left_out(mini, tmp_path):
    note = (
        "16 of 16 originals are reference answers of suite mini, which its n-gram scores count; --leave-out "
        "removes them from the suite before scoring."
    )
    assert known_originals(mini, from_suite(mini)) == (note,)
    assert known_originals(mini, from_run(make_run(tmp_path / "run", trial_lines(mini)), mini)) == (note,)
    assert known_originals(mini, from_suite(mini, "samples")) == ()
    collection = from_suite(mini)
    left = without_originals(mini, collection)
    assert known_originals(left, collection) == ()
    assert left.metadata_hash != mini.metadata_hash
    n_answers = sum(len(texts) for question in mini for texts in question.answers.values())
    assert sum(len(texts) for question in left for texts in question.answers.values()) == n_answers - 16
    questions, texts = zip(*((item.question, item.text) for item in collection.items), strict=True)
    with_them = Scorer(mini, threads=1).score(questions, texts)["average"]
    assert (Scorer(left, threads=1).score(questions, texts)["average"] < with_them).all()
    assert without_originals(mini, from_suite(mini, "samples")) is mini


def test_a_set_is_never_left_without_references_and_missing_sample_answers_are_named(make_suite):
    suite = Suite.load(make_suite({}))
    collection = from_suite(suite)
    with pytest.raises(SuiteError, match="the originals are all reference answers of set P, so the set would be empty"):
        without_originals(suite, collection)
    with pytest.raises(SuiteError, match=r"no sample answers to its questions in questions\.jsonl"):
        from_suite(suite, "samples")
    with pytest.raises(DiscernmentError, match="unknown source of originals 'sample'; expected one of samples"):
        from_suite(suite, "sample")


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
    rows = {(change.kind, change.permille): row for row, change in enumerate(result.scored.plan.perturbations)}
    for row in measured:
        permille = int(row["permille"]) if row["permille"] else None
        cell = cells[row["perturbation"], permille, row["metric"]]
        counts = (cell["n_items"], cell["n_impossible"], cell["n"])
        assert counts == (int(row["n_items"]), int(row["impossible"]), int(row["n"])), row
        place = result.scored.metric_names.index(row["metric"])
        damaged = result.scored.damaged[rows[row["perturbation"], permille], place]
        by_items = signed_rank(result.scored.originals[place], damaged)
        for name, digits in DIGITS.items():
            value = math.nan if cell[name] is None else round(getattr(by_items, name), digits)
            assert value == pytest.approx(float(row[name] or "nan"), rel=0, abs=1e-12, nan_ok=True), row


# ---- Collections made from data sets with several texts for each item


SUMMARIES = {"columns": {"references": "summaries"}, "task": "summarization"}
SHORT, MIDDLE, LONG = "Ice floats.", "Ice floats. It is cold. So.", "Ice, which is cold, floats on water."


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def some_rows(n=30):
    return [{"id": f"a{i}", "summaries": [f"{i} {text}" for text in (SHORT, LONG, MIDDLE)]} for i in range(n)]


@pytest.fixture
def data(tmp_path):
    return lines(tmp_path / "data.jsonl", some_rows())


def test_one_text_of_each_item_is_chosen_and_the_others_are_its_references(data):
    result = collect(data, **SUMMARIES)
    assert (result.n_read, result.n_fitting, len(result.collection), result.donors) == (30, 30, 30, ())
    item = result.collection.items[0]
    assert (item.text, item.references) == (f"0 {LONG}", (f"0 {SHORT}", f"0 {MIDDLE}"))
    by_sentences = collect(data, **SUMMARIES, choice="sentences").collection.items[0]
    assert (by_sentences.text, by_sentences.references) == (f"0 {MIDDLE}", (f"0 {SHORT}", f"0 {LONG}"))
    bounded = collect(data, **SUMMARIES, bounds=Bounds(5, 30)).collection.items[0]
    assert (bounded.text, bounded.references) == (f"0 {MIDDLE}", (f"0 {SHORT}", f"0 {LONG}"))


@pytest.mark.parametrize(("language", "text"), [("ja", LONG), ("en", MIDDLE)])
def test_sentences_are_those_of_the_given_language(data, language, text):
    result = collect(data, **SUMMARIES, language=language, choice="sentences", bounds=Bounds(15))
    assert result.collection.items[0].text == f"0 {text}"


def test_rows_with_the_same_id_are_one_item_and_texts_may_be_missing(tmp_path):
    texts = [(1, SHORT), (2, None), (1, LONG), (1, SHORT), (3, " \n ")]
    rows = [{"id": id, "text": text, "question": "Why?"} for id, text in texts]
    result = collect(lines(tmp_path / "data.jsonl", rows), task="qa")
    assert [(item.id, item.text, item.references) for item in result.collection.items] == [("1", LONG, (SHORT,))]
    assert (result.n_read, result.n_fitting) == (3, 1)


def test_items_are_drawn_by_seed_and_not_by_their_order(tmp_path, data):
    def drawn(path, n, seed=0):
        return {item.id for item in collect(path, **SUMMARIES, n_items=n, seed=seed).collection.items}

    backwards = lines(tmp_path / "backwards.jsonl", some_rows()[::-1])
    assert drawn(data, 10) == drawn(backwards, 10) < drawn(data, 20)
    assert len(drawn(data, 10)) == 10
    assert drawn(data, 10) != drawn(data, 10, seed=1)
    items = collect(data, **SUMMARIES, n_items=10).collection.items
    assert [item.id for item in items] == sorted((item.id for item in items), key=lambda name: int(name[1:]))


def test_donors_are_items_that_were_not_drawn_without_their_questions_and_texts(tmp_path):
    rows = [{"id": i, "text": f"{LONG} {i // 2}", "question": f"q{i // 3}"} for i in range(30)]
    result = collect(lines(tmp_path / "data.jsonl", rows), task="qa", n_items=8)
    drawn = result.collection.items
    assert len(result.donors) > 0
    assert not {item.id for item in result.donors} & {item.id for item in drawn}
    assert not {item.question for item in result.donors} & {item.question for item in drawn}
    assert not {item.text for item in result.donors} & {item.text for item in drawn}


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.tsv", "out.parquet", "out.jsonl.gz"])
def test_a_written_collection_is_read_as_the_same_collection(tmp_path, data, name):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    result = collect(data, **SUMMARIES, n_items=10).collection
    write_items(tmp_path / name, result.items)
    assert read_collection(tmp_path / name).hash == result.hash


ONE = [{"id": "a", "text": "x"}]


@pytest.mark.parametrize(
    ("rows", "options", "expected"),
    [
        ([ONE[0] | {"context": n} for n in "12"], {}, ", line 2: the context of item a differs from that in {path}, "),
        ([ONE[0] | {"perturbed": {"negate": "y"}}], {}, ", line 1: has damaged texts, which belong to one text; "),
        (ONE, {"n_items": 2}, ": expected 2 items with a text of at least 1 character, found 1 of 1"),
        (ONE, {"bounds": Bounds(5, 9)}, ": expected 1 item with a text of 5 to 9 characters, found 0 of 1"),
        ([{"id": "a", "body": "x"}], SUMMARIES, ", line 1: no text in column 'text' or 'summaries'; its "),
        ([{"text": "x"}], {}, ", line 1: no id in column 'id'; its columns are 'text'"),
        (ONE, {"task": None}, ", line 1: no task in column 'task'; expected a task, "),
        (ONE, {"task": "qa"}, ", line 1: no question; items of the task qa "),
    ],
)
def test_bad_data_is_refused_with_the_place(tmp_path, rows, options, expected):
    path = lines(tmp_path / "data.jsonl", rows)
    message = problem(collect, path, **{"task": "summarization", **options})
    assert message.startswith(f"{path}{expected.format(path=path)}")


def test_bounds_are_in_order():
    assert problem(Bounds, 5, 4) == "lengths from 5 to 4: expected two numbers in ascending order"
