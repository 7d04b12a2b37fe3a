"""Exports of annotators and tables of marks: what is read, and what is refused in one sentence."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from makers.own_checklists import judged_models, own_suite, suite_of_36, write_judged, written
from makers.people import marked
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.annotations.annotation_rows import Header, export_lines
from pfgen_fast.lab.checklists.checklist_runs import Answer, write_run
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.marks import Mark, judgement_key, questions_sha256, read_people
from pfgen_fast.lab.checklists.rater_agreement import MarkedAnswers, agreement_finding
from pfgen_fast.lab.checklists.tasks import sha256_of

SUITE = own_suite()
OF_ANSWER = {"id": "letter_1", "length": None, "response_sha256": "aa"}
MARK = {"kind": "mark", **OF_ANSWER, "verdicts": [0.25, 1, 0], "overall": 4, "comment": "x"}
PAIR = {"kind": "pair", "id": "letter_1", "length": None, "first_sha256": "aa", "second_sha256": "bb", "choice": "tie"}
OPINION = {"kind": "judgement", **OF_ANSWER, "judgement": "cc", "question": 3, "is_reasonable": False}
ROWS = (MARK, PAIR, OPINION)


def export(path: Path, *rows: dict[str, Any], annotator: str = "a", questions: str | None = None) -> Path:
    """Writes an export."""
    header = Header(annotator, "own", questions_sha256(SUITE) if questions is None else questions)
    path.write_bytes(export_lines(header, rows))
    return path


def test_exports_of_several_annotators_are_read_together_and_unfinished_rows_are_counted(tmp_path: Path) -> None:
    vote = {"kind": "vote", "task": "translation", "perturbation": "typo", "metric": "fluency"}
    unfinished = {**MARK, "id": "letter_2", "verdicts": [0.25, None, 0]}
    first = export(tmp_path / "a.jsonl", *ROWS, unfinished, {**PAIR, "second_sha256": "dd", "choice": None}, vote)
    people = read_people([first, export(tmp_path / "b.jsonl", MARK, annotator="b")], SUITE)
    assert [mark.annotator for mark in people.marks] == ["a", "b"]
    assert (people.marks[0].verdicts, people.marks[0].overall) == ((0.25, 1, 0), 4)
    assert [pair.choice for pair in people.pairs] == ["tie"]
    assert [(opinion.question, opinion.is_reasonable) for opinion in people.opinions] == [(3, False)]
    assert people.notes == (
        f"{first}: 2 rows not finished by the annotator, left out",
        "1 vote on kinds of damage not used here: 'discern votes' reads them",
    )


def test_tables_need_no_kind_because_their_columns_show_it(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("id,first_sha256,second_sha256,choice,annotator\nletter_1,aa,bb,second,c\n")
    assert [(pair.choice, pair.annotator) for pair in read_people(path, SUITE).pairs] == [("second", "c")]
    path = tmp_path / "opinions.csv"
    path.write_text("id,response_sha256,judgement,question,is_reasonable,annotator\nletter_1,aa,cc,1,True,c\n")
    assert read_people(path, SUITE).opinions[0].is_reasonable


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**MARK, "id": "letter"}, "line 2: unknown task 'letter'"),
        ({**MARK, "verdicts": [3, 1, 0]}, r"line 2: verdicts\[0\]: 3; expected a number from 0 to 1; divide"),
        ({**PAIR, "second_sha256": "aa"}, "line 2: second_sha256: the same answer twice; expected two different"),
        ({**OPINION, "question": 4}, "line 2: question: expected a question from 1 to 3"),
        ({**MARK, "kind": "guess"}, "line 2: the kind 'guess'; expected one of instruction, mark, pair, judgement,"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(ChecklistError, match=message):
        read_people(export(tmp_path / "a.jsonl", row), SUITE)


@pytest.mark.parametrize(
    ("row", "others"), [(MARK, {"overall": 5}), (PAIR, {"choice": "first"}), (OPINION, {"is_reasonable": True})]
)
def test_a_second_decision_on_the_same_item_must_be_equal(
    tmp_path: Path, row: dict[str, Any], others: dict[str, Any]
) -> None:
    paths = [export(tmp_path / "a.jsonl", row), export(tmp_path / "again.jsonl", row)]
    assert len(read_people(paths, SUITE).notes) == 0
    paths.append(export(tmp_path / "other.jsonl", {**row, **others}))
    with pytest.raises(ChecklistError, match=r"other\.jsonl, line 2: a has already decided otherwise"):
        read_people(paths, SUITE)


def test_a_cut_export_and_an_export_for_other_questions_are_refused(tmp_path: Path) -> None:
    path = export(tmp_path / "a.jsonl", *ROWS)
    lines = path.read_bytes().splitlines(keepends=True)
    for end in (len(b"".join(lines)) - 3, len(b"".join(lines[:-1])), len(b"".join(lines[:2])) + 20):
        path.write_bytes(b"".join(lines)[:end])
        with pytest.raises(ChecklistError, match="the export is cut off"):
            read_people(path, SUITE)
    with pytest.raises(ChecklistError, match="with other tasks, questions or levels than those of own"):
        read_people(export(path, *ROWS, questions="0" * 64), SUITE)


# ---- `checklists agreement` and `reasonable`: known annotators, judges, questions and rates are found again


def simulated_marks(
    suite: ChecklistSuite, *, annotators: Sequence[str], n_answers: int = 6, noise: float = 0.2, seed: int = 0
) -> list[Mark]:
    """Marks of all annotators for `n_answers` answers to each task.

    An answer has a quality, from which verdicts and mark follow.
    """
    generator = np.random.default_rng(seed)
    levels = np.asarray(suite.levels)
    listed = []
    for task in suite.tasks:
        for number in range(n_answers):
            quality = generator.beta(3, 2)
            for name in annotators:
                n_questions = suite.n_questions[task.key]
                exact = quality + generator.normal(0, noise, n_questions)
                verdicts = levels[np.abs(exact[:, np.newaxis] - levels).argmin(axis=1)]
                overall = float(np.clip(np.rint(10 * quality + generator.normal(0, 10 * noise / 2)), 0, 10))
                answer = sha256_of(f"{task.id} {task.length} {number}")
                listed.append(marked(task, answer, name, verdicts.tolist(), overall))
    return listed


FIVE = tuple("abcde")


def test_the_form_of_the_published_table_comes_out_of_simulated_marks() -> None:
    result = MarkedAnswers(SUITE, simulated_marks(SUITE, annotators=FIVE), draws=300)
    pairs = agreement_finding(result).to_dict()["tables"]["pairs"]
    assert [(row["annotator"], row["other"]) for row in pairs][:3] == [("a", "b"), ("a", "c"), ("a", "d")]
    assert len(pairs) == 10
    assert all(0.65 < row["Pearson"] < 0.9 for row in pairs)
    assert all(row["Pearson, low"] < row["Pearson"] < row["Pearson, high"] for row in pairs)
    figures = {name: item.value for name, item in result.of_part("all").items()}
    assert 0.7 < figures["pearson"] < 0.85
    assert 0.6 < figures["alpha_of_marks"] < 0.85
    assert 0.1 < figures["kappa_of_verdicts"] < figures["alpha_of_verdicts"] < figures["alpha_of_marks"]
    assert set(result.parts) == {"all", "letters", "reports", "reports 90"}


def test_one_annotator_or_no_overlap_is_a_sentence() -> None:
    marks = simulated_marks(SUITE, annotators=("a", "b"))
    with pytest.raises(ChecklistError, match=r"^one annotator only \(a\): expected two or more"):
        MarkedAnswers(SUITE, [mark for mark in marks if mark.annotator == "a"])
    few = agreement_finding(MarkedAnswers(SUITE, marks, draws=9)).to_dict()["tables"]["parts"]
    assert few[-1]["mean Pearson"] is not None
    assert few[-1]["mean Pearson, low"] is None  # one task says nothing about other tasks
    apart = [mark for mark in marks if (mark.annotator == "a") == mark.id.startswith("letter")]
    with pytest.raises(ChecklistError, match=r"^2 annotators without an answer in common: agreement needs answers"):
        MarkedAnswers(SUITE, apart)


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A run whose judge gives the verdicts of annotator a, and exports of annotators a and b about the same answers."""
    written(SUITE, tmp_path / "suite")
    marks = simulated_marks(SUITE, annotators=("a", "b"), n_answers=1)
    answers = {f"{mark.id} {mark.length} 0": mark for mark in marks if mark.annotator == "a"}
    judgements = [
        Judgement(mark.id, mark.response_sha256, mark.verdicts, length=mark.length, judge="judge-1")
        for mark in answers.values()
    ]
    listed = [Answer(mark.id, text, mark.length) for text, mark in answers.items()]
    assert [entry.sha256 for entry in listed] == [judgement.response_sha256 for judgement in judgements]
    write_run(tmp_path / "run", listed, judgements, {})
    for name in "ab":
        rows: list[Any] = [{"kind": "mark", **asdict(mark)} for mark in marks if mark.annotator == name]
        for number, row in enumerate(judgements):
            place = {"id": row.id, "length": row.length, "response_sha256": row.response_sha256}
            opinion = {"judgement": judgement_key(row), "question": 1, "is_reasonable": name == "a" or number > 0}
            rows.append({"kind": "judgement", **place, **opinion})
        (tmp_path / f"{name}.jsonl").write_bytes(export_lines(Header(name, "own", ""), rows))
    return tmp_path


def agreement(call: Any, folder: Path, *sources: Any) -> Any:
    """The tables of `checklists agreement`."""
    code, printed, err = call("checklists", "agreement", *sources, "--suite", folder / "suite", "--json")
    assert (code, err) == (0, "")
    return json.loads(printed)["tables"]


@pytest.mark.slow
def test_a_judge_is_an_annotator(call: Any, judged: Path) -> None:
    exports = (judged / "a.jsonl", judged / "b.jsonl")
    rows = {(row["annotator"], row["other"]): row for row in agreement(call, judged, *exports, judged / "run")["pairs"]}
    assert set(rows) == {("a", "b"), ("a", "judge-1"), ("b", "judge-1")}
    assert rows["a", "judge-1"]["same level"] == 1  # the judge gives the verdicts of annotator a
    assert rows["a", "judge-1"]["quadratic kappa"] == pytest.approx(1)
    for figure in ("verdicts", "same level", "quadratic kappa"):
        assert rows["b", "judge-1"][figure] == rows["a", "b"][figure]
    (row,) = agreement(call, judged, *exports)["pairs"]
    assert row == rows["a", "b"]  # figures of people do not depend on judges


def test_judges_are_compared_without_people(call: Any, tmp_path: Path) -> None:
    suite = suite_of_36((40.0, 30.0, 20.0, 10.0))
    first = judged_models(suite)
    written(suite, tmp_path / "suite")
    zeros = {name: [replace(row, verdicts=(0.0,) * 4, version="other") for row in rows] for name, rows in first.items()}
    again = {model: [replace(row, version="judge-2") for row in rows] for model, rows in first.items()}
    runs = [write_judged(tmp_path / name, rows) for name, rows in (("a", first), ("b", zeros), ("c", again))]
    rows = {(row["annotator"], row["other"]): row for row in agreement(call, tmp_path, *runs)["pairs"]}
    assert set(rows) == {("judge-1", "judge-2"), ("judge-1", "other"), ("judge-2", "other")}
    same = rows["judge-1", "judge-2"]
    assert (same["answers"], same["verdicts"], same["same level"]) == (4 * 36, 4 * 36 * 4, 1)
    assert same["Pearson"] == pytest.approx(1)
    assert rows["judge-1", "other"]["quadratic kappa"] is None  # a judge with one level only
    code, _, err = call("checklists", "agreement", runs[0], "--suite", tmp_path / "suite")
    assert (code, err.count("\n")) == (2, 1)
    assert "one annotator only (judge-1): expected two or more" in err


def test_reasonable_verdicts_are_counted_by_judge(call: Any, judged: Path) -> None:
    options = ("--opinions", judged / "a.jsonl", "--opinions", judged / "b.jsonl", "--suite", judged / "suite")
    code, printed, _ = call("checklists", "reasonable", judged / "run", *options, "--json")
    assert code == 0
    (row, *_) = json.loads(printed)["tables"]["rates"]
    n = 2 * len(SUITE.tasks)
    assert (row["judge"], row["opinions"], row["answers"]) == ("judge-1", n, n // 2)
    assert row["reasonable"] == pytest.approx(100 * (n - 1) / n)
    assert row["low"] < row["reasonable"] < row["high"] < 100
    tables = json.loads(printed)["tables"]
    assert [(row["annotator"], row["reasonable"] < 100) for row in tables["annotators"]] == [("a", False), ("b", True)]
    write_run(judged / "run", [], [Judgement("letter_1", "0" * 64, (1.0, 1.0, 1.0), judge="j")], {})
    code, _, err = call("checklists", "reasonable", judged / "run", *options)
    assert code == 2
    assert "none of 12 opinions is about a judgement of these runs" in err


def test_yes_about_instructions_is_counted_by_annotator_and_correlated(call: Any, tmp_path: Path) -> None:
    """The forms of HelloBench's Tables 5 and 6."""
    written(SUITE, tmp_path / "suite")
    tasks = [task.id for task in SUITE.tasks if task.length is None]
    for name, n_yes in (("a", 1), ("b", 2)):
        rows = [
            {"kind": "instruction", "id": id, "length": None, "question": "Long?", "is_yes": number < n_yes}
            for number, id in enumerate(tasks)
        ]
        export(tmp_path / f"{name}.jsonl", *rows, *([OPINION] if name == "a" else []), annotator=name)
    options = ("--opinions", tmp_path / "a.jsonl", "--opinions", tmp_path / "b.jsonl", "--suite", tmp_path / "suite")
    code, printed, _ = call("checklists", "reasonable", *options, "--json")
    assert code == 0
    assert "1 opinion left out: not about an instruction" in printed
    tables, n = json.loads(printed)["tables"], len(tasks)
    assert [(row["annotator"], row["yes"]) for row in tables["annotators"]] == [("a", 100 / n), ("b", 200 / n)]
    assert tables["rates"][0]["yes"] == pytest.approx(150 / n)
    (pair,) = tables["pairs"]
    expected = np.corrcoef([number < 1 for number in range(n)], [number < 2 for number in range(n)])[0, 1]
    assert (pair["instructions"], pair["Pearson"], pair["same"]) == (n, pytest.approx(expected), (n - 1) / n)
    code, _, err = call("checklists", "reasonable", "--opinions", export(tmp_path / "c.jsonl", OPINION), *options[-2:])
    assert (code, "none of 1 opinion is about an instruction" in err) == (2, True)
