from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from makers.own_checklists import own_suite
from makers.people import people, row_of, write_rows
from pfgen_fast.checklists.weights.marks import read_marks
from pfgen_fast.errors import ChecklistError

SUITE = own_suite()
ROW = {"id": "letter_1", "response_sha256": "0a", "annotator": "a", "category": "thanks"}
ROW |= {"verdicts": [1, 0.5, 0.25], "overall": 7}


def marked(path: Path, *rows: dict[str, Any], scale: Any = "unit") -> Any:
    return read_marks(write_rows(path / "marks.jsonl", rows), SUITE, scale=scale)


def test_marks_come_back_as_they_were_written(tmp_path: Path) -> None:
    marks = people(SUITE, {("letters", "thanks"): (3, 2, 5), ("reports", "weather"): (1, 1, 1)})
    assert marked(tmp_path, *map(row_of, marks.listed)).listed == marks.listed
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
        ({"length": "8k"}, "line 1: the task letter_1 has no length '8k'; expected none"),
        ({"category": "requests"}, "line 1, category: expected 'thanks', the category of letter_1, not 'requests'"),
        ({"annotator": None}, "line 1, annotator: expected a text, not nothing"),
        ({"verdicts": [1, 0.5]}, "line 1, verdicts: expected 3, one for each question, not 2"),
        ({"verdicts": None}, "line 1, verdicts: expected a list of numbers, not nothing"),
        ({"verdicts": [1, "x", 0]}, r"line 1, verdicts\[1\]: expected a number, not 'x'"),
        ({"verdicts": "[1, 0"}, "line 1, verdicts.*: not JSON"),
        ({"verdicts": [1, 3, 0]}, "line 1, question 1: the verdict 3; expected 0 to 1; is this --scale ui"),
        ({"verdicts": [1, -0.25, 0]}, "line 1, question 1: the verdict -0.25; expected 0 to 1$"),
        ({"overall": 11}, "line 1, overall: 11; expected a mark from 0 to 10"),
        ({"overall": "inf"}, "line 1, overall: expected a number, not 'inf'"),
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
