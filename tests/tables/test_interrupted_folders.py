"""Every row is there once, after a kill or with two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pyarrow.dataset as ds
import pytest
from makers.killed_work import score_a_folder
from makers.kills import killed_everywhere
from makers.table_folders import ids, make_inputs, statuses, write
from pfgen_fast import ScorerSpec
from pfgen_fast.tables.folders.plans import plan_files
from pfgen_fast.tables.folders.scoring import score_files, score_one_file
from pfgen_fast.tables.table_job import TableJob


def outputs_of(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name.startswith("out/") and "/_pfgen" not in name}


@pytest.mark.slow
@pytest.mark.parametrize("most", [3, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("is_rerun", [False, True])
def test_after_a_kill_at_any_change_a_rerun_gives_every_row_once(tmp_path, most, is_rerun):
    before = tmp_path / "before"
    names = make_inputs(before / "in")
    if is_rerun:  # after two of the tables have changed
        score_files([before / "in"], before / "out", ScorerSpec("mini"))
        for name in names[:2]:
            write(before / "in", name, answer="Ice sinks.")
            os.utime(before / "in" / name, ns=(0, 1))
        for path in (before / "out" / "_pfgen_fast").rglob("*.json"):
            path.write_text(path.read_text().replace(f"{before}/", ""))
    whole, attempts = killed_everywhere(tmp_path / "kills", score_a_folder, before=before, most=most)
    assert len(attempts) >= (most or 6)
    expected = outputs_of(whole)
    assert len(expected) == 3
    for attempt in attempts:
        assert outputs_of(attempt.again) == expected, attempt.point
        for name in expected:  # an output is there whole or not at all: the old one, or the new one
            record = attempt.killed.get(f"out/_pfgen_fast/{name.removeprefix('out/')}.json")
            if name in attempt.killed:
                assert record is not None, attempt.point
                assert len(attempt.killed[name]) == json.loads(record)["n_bytes"], attempt.point


SCORE = """
import sys, time
from pfgen_fast import ScorerSpec
from pfgen_fast.tables.folders.scoring import score_files
def on_outcome(outcome):
    print(outcome.status, flush=True)
    time.sleep(float(sys.argv[3]))
score_files([sys.argv[1]], sys.argv[2], ScorerSpec("mini"), on_outcome=on_outcome)
"""


@pytest.mark.slow
def test_two_processes_at_one_folder_give_every_row_once(tmp_path, spec):
    for number in range(10):
        write(tmp_path / "in", f"{number}.parquet", 200)
    command = [sys.executable, "-c", SCORE, tmp_path / "in", tmp_path / "out"]
    processes = [subprocess.Popen([*command, pause], stdout=subprocess.PIPE, text=True) for pause in ("0.01", "0")]
    for process in processes:
        told, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        assert len(told.split()) == 10
        assert set(told.split()) <= {"scored", "current"}
    found = ds.dataset(tmp_path / "out", format="parquet").to_table()["id"].to_pylist()
    assert sorted(found) == sorted(f"{number}.parquet {row}" for number in range(10) for row in range(200))
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec)) == ["current"] * 10


def test_the_second_process_keeps_the_output_of_the_first(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    [task] = plan_files([tmp_path / "in"], tmp_path / "out")
    job = TableJob(spec)
    between: list[str] = []
    outcome = score_one_file(task, job, on_batch=lambda n: between.append(score_one_file(task, job).status))
    assert (outcome.status, between) == ("current", ["scored"])
    assert len(ids(tmp_path / "out")) == 3
    assert sorted(os.listdir(tmp_path / "out")) == ["_pfgen_fast", "a.jsonl"]


def test_a_source_that_changes_while_it_is_scored_is_scored_again(tmp_path, spec):
    source = write(tmp_path / "in", "a.jsonl")
    [task] = plan_files([tmp_path / "in"], tmp_path / "out")
    score_one_file(task, TableJob(spec), on_batch=lambda n: os.utime(source, ns=(0, time.time_ns() + 10**9)))
    assert score_one_file(task, TableJob(spec)).status == "scored"
    assert score_one_file(task, TableJob(spec)).status == "current"
