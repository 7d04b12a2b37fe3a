"""People's marks as files, and the commands that fit weights to them or change weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from makers.own_checklists import own_suite, own_suite_in
from makers.people import people, row_of, write_rows
from pfgen_fast.checklists.judgements import Judgement
from pfgen_fast.checklists.runs import Answer, write_run
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.tasks import sha256_of
from pfgen_fast.checklists.weights.marks import read_marks
from pfgen_fast.errors import ChecklistError

SUITE = own_suite()
ROW = {"id": "letter_1", "response_sha256": "0a", "annotator": "a", "category": "thanks"}
ROW |= {"verdicts": [1, 0.5, 0.25], "overall": 7}


def marked(path: Path, *rows: dict[str, Any], scale: Any = "unit") -> Any:
    return read_marks(write_rows(path / "marks.jsonl", rows), SUITE, scale=scale)


def test_a_mark_of_an_answer_with_a_length_has_the_area_of_its_task(tmp_path: Path) -> None:
    (mark,) = marked(tmp_path, {**ROW, "id": "report_1", "category": "weather", "length": "90"}).listed
    assert (mark.id, mark.length, mark.area) == ("report_1", "90", "reports")


def test_verdicts_of_annotation_tools_are_divided_by_four_and_equal_marks_count_once(tmp_path: Path) -> None:
    rows = [{**ROW, "verdicts": [4, 2, 1]}] * 2
    (mark, other) = marked(tmp_path, *rows, {**rows[0], "annotator": "b"}, scale="ui").listed
    assert (mark.verdicts, mark.overall, other.annotator) == ((1, 0.5, 0.25), 7, "b")


@pytest.mark.parametrize("cell", ["[1, 0.5, 0.25]", "1 0.5 0.25", "1;0.5;0.25", "1, 0.5, 0.25"])
def test_a_cell_of_a_csv_file_holds_all_verdicts(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "marks.csv"
    path.write_text(f'id,response_sha256,annotator,verdicts,overall\nletter_1,0a,a,"{cell}",7\n')
    (mark,) = read_marks(path, SUITE, scale="unit").listed
    assert (mark.verdicts, mark.overall, mark.area, mark.category) == ((1, 0.5, 0.25), 7, "letters", "thanks")


def test_other_marks_of_the_same_annotator_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChecklistError, match=r"line 2: a has already given another mark .* to letter_1 .*line 1"):
        marked(tmp_path, ROW, {**ROW, "overall": 6})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "letter_7"}, "line 1: unknown task 'letter_7'; expected one of letter_3"),
        ({"length": "8k"}, "line 1: the task letter_1 has no length '8k'; expected no length"),
        ({"category": "requests"}, "line 1: category: expected 'thanks', the category of letter_1, not 'requests'"),
        ({"annotator": None}, "line 1: annotator: expected a text, not null"),
        ({"verdicts": [1, 0.5]}, "line 1: verdicts: expected 3, one for each question, not 2"),
        ({"verdicts": [1, "x", 0]}, r"line 1: verdicts\[1\]: expected a number, not 'x'"),
        ({"verdicts": [1, 3, 0]}, r"line 1: verdicts\[1\]: the verdict 3; expected 0 to 1; is this --scale ui"),
        ({"verdicts": [1, -0.25, 0]}, r"line 1: verdicts\[1\]: the verdict -0.25; expected 0 to 1$"),
        ({"overall": 11}, "line 1: overall: 11; expected a mark from 0 to 10"),
        ({"overall": "inf"}, "line 1: overall: expected a number, not 'inf'"),
    ],
)
def test_a_bad_mark_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ChecklistError, match=rf"marks\.jsonl, {message}"):
        marked(tmp_path, {**ROW, **changes})


def test_unusual_marks_are_noted(tmp_path: Path) -> None:
    assert marked(tmp_path, ROW, scale="ui").notes == ("no verdict is above 1 of 4: is this --scale unit?",)
    notes = marked(tmp_path, {**ROW, "overall": 6.5}).notes
    assert notes == ("1 of 1 overall marks are not whole numbers; they are used unrounded",)


@pytest.mark.parametrize(
    ("scale", "message"),
    [("ui", r"the verdict 5; expected 0 to 4$"), ("percent", "unknown scale 'percent'; expected one of unit, ui")],
)
def test_the_scale_must_be_known_and_hold_the_verdicts(tmp_path: Path, scale: str, message: str) -> None:
    with pytest.raises(ChecklistError, match=message):
        marked(tmp_path, {**ROW, "verdicts": [4, 5, 0]}, scale=scale)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("marks.jsonl", b'{"id": \n', "marks.jsonl, line 1"),
        ("marks.txt", b"", "unknown file extension"),
        ("marks.csv", b"id,response_sha256,annotator,verdicts,overall\n", "no marks: expected at least one row"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ChecklistError, match=message):
        read_marks(path, SUITE, scale="unit")


THANKS, REQUESTS, WEATHER = ("letters", "thanks"), ("letters", "requests"), ("reports", "weather")
RULE = {THANKS: (3.0, 2.0, 5.0), REQUESTS: (6.0, 3.0)}


@pytest.fixture
def suite(tmp_path: Path) -> ChecklistSuite:
    return own_suite_in(tmp_path / "suite")


@pytest.fixture
def marks(tmp_path: Path, suite: ChecklistSuite) -> Path:
    return write_rows(tmp_path / "marks.jsonl", list(map(row_of, people(suite, RULE, noise=0.5).listed)))


@pytest.fixture
def runs(tmp_path: Path, suite: ChecklistSuite) -> Path:
    for name, verdict in (("best", 1.0), ("middle", 0.75), ("last", 0.5)):
        answers = [Answer(task.id, f"{name} {task.id}") for task in suite.tasks if task.length is None]
        judgements = []
        for answer in answers:
            n = len(suite.checklist(suite.by_key[answer.id, None]).questions)
            judgements.append(Judgement(answer.id, answer.sha256, (verdict,) * (n - 1) + (0.5,), judge="m"))
        write_run(tmp_path / "runs" / name, answers, judgements, {"model": name})
    return tmp_path / "runs"


def test_fit_writes_weights_and_tells_how_sure_a_table_is(call: Any, tmp_path: Path, marks: Path, runs: Path) -> None:
    common = ("checklists", "fit", marks, "--suite", tmp_path / "suite")
    code, out, err = call(*common, "--scale", "unit", "--bootstrap", 20, "--page", tmp_path / "page")
    assert code == 0
    assert "48 marks of 2 annotators define the weights of 2 of 2 categories" in out
    assert "1 of 3 categories have no marks" in err
    assert "Does it thank somebody?" in (tmp_path / "page/checklist-weights.html").read_text()
    table = ("--table", runs)
    options = (*table, "--bootstrap", 50, "--json", "--output", tmp_path / "fitted")
    found = json.loads(call(*common, "--scale", "unit", *options)[1])
    assert [row["model"] for row in found["table"]["models"]] == ["best", "middle", "last"]
    assert found["table"]["models"][0]["above_next"] == 1
    weights = {name: one["weights"] for name, one in found["categories"]["letters"].items()}
    before, fitted = (ChecklistSuite.load(tmp_path / name) for name in ("suite", "fitted"))
    assert (fitted.checklists[WEATHER], fitted.hash == before.hash) == (before.checklists[WEATHER], False)
    assert list(fitted.checklists[THANKS].weights) == weights["thanks"]
    assert call(*common, "--scale", "unit", "--output", tmp_path / "weights.json")[0] == 0
    assert json.loads((tmp_path / "weights.json").read_text())["letters"] == weights
    assert "--scale" in call(*common)[2]
    assert "--bootstrap" in call(*common, "--scale", "unit", *table)[2]


def test_fit_writes_no_weights_that_marks_leave_open(call: Any, tmp_path: Path, suite: ChecklistSuite) -> None:
    few = people(suite, {THANKS: (3.0, 2.0, 5.0)}, n_answers=1).listed
    path = write_rows(tmp_path / "marks.jsonl", list(map(row_of, few)))
    common = ("checklists", "fit", path, "--suite", tmp_path / "suite", "--scale", "unit", "-o", tmp_path / "w.json")
    code, out, err = call(*common)
    assert code == 2
    assert "not defined: rank 2 of 3" in out
    assert "letters/thanks: 2 marks define only 2 of 3 weights" in err
    assert not (tmp_path / "w.json").exists()
    code, _, err = call(*common, "--allow-unidentified")
    assert code == 0
    assert "nearest to equal" in err
    assert sum(json.loads((tmp_path / "w.json").read_text())["letters"]["thanks"]) == pytest.approx(100)


def test_fit_leaves_out_marks_of_other_answers(call: Any, tmp_path: Path, suite: ChecklistSuite, runs: Path) -> None:
    mark, *others = people(suite, RULE).listed
    rows = [row_of(one, response_sha256=sha256_of(f"best {one.id}")) for one in (mark, others[-1])]
    path = write_rows(tmp_path / "marks.jsonl", [*rows, row_of(others[0])])
    common = ("checklists", "fit", path, "--suite", tmp_path / "suite", "--scale", "unit")
    assert "1 marks are not used, because no run has their answers: letter_" in call(*common, "--run", runs / "best")[2]
    assert "no marks are left: the runs have none of the 3 answers" in call(*common, "--run", runs / "last")[2]


def test_sensitivity_compares_tables(call: Any, tmp_path: Path, runs: Path) -> None:
    common = ("checklists", "sensitivity", runs, "--suite", tmp_path / "suite")
    code, out, _ = call(*common, "--draws", 50)
    assert code == 0
    assert "In 3 of 3 variations the 3 models keep their order" in out
    assert "missing answers as zero" in out
    found = json.loads(call(*common, "--json", "--output", tmp_path / "page")[1])
    assert [row["model"] for row in found["usual"]] == ["best", "middle", "last"]
    assert found["draws"]["n_draws"] == 1000
    assert (tmp_path / "page/checklist-sensitivity.html").exists()
