"""The questions of a quick evaluation: how they are chosen, and how a run that has only these is placed."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from makers.documented import tool
from makers.runs import make_run, results_as_lines, trial_lines
from pfgen_fast import TrialsError
from pfgen_fast.runs import result_tables
from pfgen_fast.runs import run_placement as placement
from pfgen_fast.runs.result_tables import published, quick_questions
from pfgen_fast.runs.run_placement import Field, place
from pfgen_fast.suite.suite import hash_of_cut


@pytest.fixture(scope="module")
def program():
    return tool("quick_questions")


@pytest.mark.slow
def test_the_packaged_list_is_what_its_program_chooses(program):
    content = json.loads(result_tables.QUICK_FILE.read_text(encoding="utf-8"))
    assert program.quick_questions(published()) == content


def test_a_run_of_the_quick_questions_is_placed_on_these_and_says_what_that_costs():
    quick, entries = quick_questions(), published()
    assert len(quick.questions) == 13
    whole = entries[100]
    few = {name: whole.by_question[name] for name in sorted(quick.questions)}
    score = round(sum(few.values()) / 13, 4)
    result = replace(
        whole.result, input_hash="other", metadata_hash=hash_of_cut(quick.metadata_hash, list(few)), score=score
    )
    placed = Field(entries).place(replace(whole, name="our/run", by_question=few, result=result))
    assert placed.notes[0] == "13 of 50 questions: all runs are ranked and compared on these questions only"
    assert placed.notes[1] == quick.cost()
    means = [round(sum(other.by_question[name] for name in few) / 13, 4) for other in entries]
    assert placed.rank == 1 + sum(mean > score for mean in means)
    assert "Kendall 0.95" in quick.cost()


def test_a_run_of_some_questions_is_scored_when_it_is_placed(call, tmp_path, mini, varied, monkeypatch):
    others = tmp_path / "others"
    call("score", varied, "-s", "mini", "-o", others)
    table = tmp_path / "table.jsonl"
    table.write_text("".join(results_as_lines(others)), encoding="utf-8")
    names = [question.question_id for question in mini][:6]
    some = [line for line in trial_lines(mini, 2) if json.loads(line)["question"] in {mini[n].question for n in names}]
    run = make_run(tmp_path / "run", some, {"model": "me", "mode": "qa", "questions": names})
    whole = make_run(tmp_path / "unscored", trial_lines(mini, 2), {"model": "me"})
    monkeypatch.setattr(placement, "Suite", SimpleNamespace(load=lambda _: mini))
    placed = place(run, table)
    assert placed.notes[0].startswith("6 of 8 questions: ")
    code, out, _ = call("place", run, "--against", table)
    assert (code, f"rank {placed.rank} of 7" in out) == (0, True)
    assert not (run / "result.json").exists()
    with pytest.raises(TrialsError, match=r"unscored: no result\.json found"):
        place(whole, table)
    code, out, err = call("place", whole, run, "--against", table)
    assert (code, ", rank " in out, "no result.json found" in err) == (3, True, True)
