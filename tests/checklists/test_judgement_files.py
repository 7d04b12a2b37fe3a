"""Files of judgements: what is written is read again, in all forms, and what breaks the rules is named."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from makers.checklists_to_judge import suite
from pfgen_fast.checklists.judgement_files import read_judgements, write_judgements
from pfgen_fast.checklists.judgements import Judgement
from pfgen_fast.errors import ChecklistError

SUITE = suite()
FORMS = ("jsonl", "jsonl.xz", "jsonl.gz", "jsonl.zst", "parquet")
HASH = "0" * 64

TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
NAMES = st.none() | TEXTS


@st.composite
def judgements_of_the_suite(draw):
    found = []
    for task in SUITE.tasks:
        n_questions = len(SUITE.checklist(task).questions)
        columns = {
            "id": st.just(task.id),
            "scores": st.none() | st.tuples(*[st.sampled_from(SUITE.levels)] * n_questions),
            "reasons": st.just(()) | st.tuples(*[NAMES] * n_questions),
            "cut": st.booleans(),
            "temperature": st.none() | st.floats(0, 2),
            **dict.fromkeys(("response_sha256", "judge"), TEXTS),
            **dict.fromkeys(("trial", "rating"), st.integers(1, 3)),
            **dict.fromkeys(("version", "prompt_sha256", "checklist_sha256", "fault", "profile", "request"), NAMES),
            **dict.fromkeys(("words", "most_repeated_sentence"), st.none() | st.integers(0, 10**6)),
            "tries": st.integers(0, 9),
        }
        found.append(Judgement(**{name: draw(values) for name, values in columns.items()}))
    return found


@pytest.mark.parametrize("form", FORMS)
@given(judgements=judgements_of_the_suite())
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_what_is_written_is_read_again_and_always_the_same_bytes(tmp_path, form, judgements):
    path, again = (tmp_path / f"{name}.{form}" for name in ("judgements", "again"))
    write_judgements(path, judgements)
    write_judgements(again, judgements)
    assert path.read_bytes() == again.read_bytes()
    assert read_judgements(path, SUITE) == judgements
    assert read_judgements(path, SUITE, with_reasons=False) == [replace(one, reasons=()) for one in judgements]


def written(tmp_path, *lines):
    path = tmp_path / "judgements.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def line(**changes):
    return {"id": "T00", "length": None, "response_sha256": HASH, "scores": [1, 0.5, 0], **changes}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scores": ...}, "the key 'scores' is missing"),
        ({"id": "T0"}, "unknown task 'T0'"),
        ({"scores": [1, 0.3, 0]}, "question 1: the verdict 0.3 is not a level of the suite; expected one of 0, 0.25"),
        ({"scores": [1, 0.5]}, "2 verdicts; expected 3"),
        ({"scores": [1, 0.5, None]}, "scores[2]: expected a number"),
        ({"scores": "1"}, "scores: expected a list"),
        ({"reasons": ["why"]}, "1 reasons; expected 3"),
        ({"method": "guess"}, "method: expected one of checklist, llm-eval, llm-eval-c, not 'guess'"),
        ({"method": "llm-eval"}, "3 verdicts; expected 1"),
        ({"method": "llm-eval", "scores": [11]}, "the rating 11; expected a number from 0 to 10"),
        ({"trial": 0}, "trial: expected a whole number from 1"),
        ({"cut": 1}, "cut: expected true or false"),
    ],
)
def test_a_line_that_breaks_the_rules_is_named(tmp_path, changes, said):
    changed = {name: value for name, value in line(**changes).items() if value is not ...}
    path = written(tmp_path, line(id="T02"), changed)
    with pytest.raises(ChecklistError) as error:
        read_judgements(path, SUITE)
    assert str(error.value).startswith(f"{path}, line 2")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_equal_judgements_count_once_and_others_are_an_error_unless_of_another_judge_or_answer(tmp_path):
    (one,) = read_judgements(written(tmp_path, line(reasons=["a"] * 3), line(reasons=["b"] * 3)), SUITE)
    assert one.reasons == ("a",) * 3
    with pytest.raises(ChecklistError, match="line 2: a second judgement of T00 by the same judge"):
        read_judgements(written(tmp_path, line(), line(scores=[1, 1, 1])), SUITE)
    for changes in ({"judge": "b"}, {"version": "b"}, {"rating": 2}, {"trial": 2}, {"response_sha256": "1" * 64}):
        assert len(read_judgements(written(tmp_path, line(), line(scores=[0, 0, 0], **changes)), SUITE)) == 2


def test_a_table_is_held_to_the_same_rules(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "judgements.parquet"

    def read(**columns):
        table = pa.table({"id": ["T00"], "response_sha256": [HASH], "scores": [[1.0, 0.5, 0.0]], **columns})
        pa.parquet.write_table(table, path)
        return read_judgements(path, SUITE)

    for columns, said in (
        ({"scores": [[1.0, 0.3, 0.0]]}, "row 1, question 1: the verdict 0.3 is not a level"),
        ({"id": pa.array([None], pa.string())}, "row 1: id: expected a string, not null"),
        ({"scores": ["high"]}, "column 'scores'"),
    ):
        with pytest.raises(ChecklistError, match=rf"judgements\.parquet, {said}"):
            read(**columns)
    assert read(scores=[[1, 0, 1]]) == [Judgement("T00", HASH, (1.0, 0.0, 1.0))]
    path.write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(ChecklistError, match=r"judgements\.parquet"):
        read_judgements(path, SUITE)
