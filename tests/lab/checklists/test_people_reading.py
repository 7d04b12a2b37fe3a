"""Exports of annotators and tables of marks: what is read, and what is refused in one sentence."""

from pathlib import Path
from typing import Any

import pytest
from makers.own_checklists import own_suite
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.annotations.annotation_rows import Header, export_lines
from pfgen_fast.lab.checklists.marks import questions_sha256, read_people

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
    found = read_people([first, export(tmp_path / "b.jsonl", MARK, annotator="b")], SUITE)
    assert [mark.annotator for mark in found.marks] == ["a", "b"]
    assert (found.marks[0].verdicts, found.marks[0].overall) == ((0.25, 1, 0), 4)
    assert [pair.choice for pair in found.pairs] == ["tie"]
    assert [(one.question, one.is_reasonable) for one in found.opinions] == [(3, False)]
    assert found.notes == (
        f"{first}: 2 rows not finished by the annotator, left out",
        "1 vote on kinds of damage not used here: 'discern votes' reads them",
    )


def test_tables_need_no_kind_because_their_columns_show_it(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("id,first_sha256,second_sha256,choice,annotator\nletter_1,aa,bb,second,c\n")
    assert [(pair.choice, pair.annotator) for pair in read_people(path, SUITE).pairs] == [("second", "c")]
    path = tmp_path / "opinions.csv"
    path.write_text("id,response_sha256,judgement,question,is_reasonable,annotator\nletter_1,aa,cc,1,yes,c\n")
    assert read_people(path, SUITE).opinions[0].is_reasonable


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**MARK, "id": "letter"}, "line 2: unknown task 'letter'"),
        ({**MARK, "verdicts": [0.3, 1, 0]}, r"line 2: verdicts\[0\]: the verdict 0.3 is not a level of the suite; exp"),
        ({**PAIR, "second_sha256": "aa"}, "line 2: second_sha256: the same answer twice; expected two different"),
        ({**OPINION, "question": 4}, "line 2: question: expected a question from 1 to 3"),
        ({**MARK, "kind": "guess"}, "line 2: the kind 'guess'; expected one of mark, pair, judgement, vote"),
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
    with pytest.raises(ChecklistError, match=r"other\.jsonl, line 2: a has already given another .* to letter_1"):
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
