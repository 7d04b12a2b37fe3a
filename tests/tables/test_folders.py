"""Many tables into a directory: finished outputs stay, and other tables are refused."""

from __future__ import annotations

import json
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.builds import files_below
from makers.table_folders import ANSWERS, ids, make_inputs, outputs, statuses, write
from pfgen_fast import PfgenError, Scorer, ScorerSpec
from pfgen_fast.tables.folders.plans import plan_files
from pfgen_fast.tables.folders.scoring import FilesProgress, score_files, score_one_file
from pfgen_fast.tables.table_job import TableJob


def test_each_table_is_scored_into_one_of_its_name_and_not_again(tmp_path, spec):
    names = make_inputs(tmp_path / "in")
    outcomes = score_files([tmp_path / "in"], tmp_path / "out", spec)
    assert statuses(outcomes) == ["scored"] * 3
    assert list(outputs(tmp_path / "out")) == names
    row = json.loads((tmp_path / "out" / names[0]).read_text().splitlines()[0])
    assert row["average"] == Scorer("mini").score(["Q07"], [ANSWERS[0]])["average"][0]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    outcomes = score_files([tmp_path / "in"], tmp_path / "out", spec)
    assert [(one.status, one.n_rows, one.n_written) for one in outcomes] == [("current", 3, 3)] * 3
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}


@pytest.mark.parametrize("change", ["longer", "same size", "output gone", "output cut", "records and outputs gone"])
def test_changed_files_are_scored_again(tmp_path, spec, change):
    names = make_inputs(tmp_path / "in")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    source, target = tmp_path / "in" / names[1], tmp_path / "out" / names[1]
    if change == "longer":
        write(tmp_path / "in", names[1], 5)
    elif change == "same size":
        source.write_text(source.read_text().replace("floats", "sinks."))
        os.utime(source, ns=(0, 1))
    elif change == "output cut":
        target.write_bytes(target.read_bytes()[:-1])
    elif change == "output gone":
        target.unlink()
    else:
        shutil.rmtree(tmp_path / "out")
    outcomes = score_files([tmp_path / "in"], tmp_path / "out", spec)
    assert outcomes[1].status == "scored"
    assert len(ids(tmp_path / "out")) == len(set(ids(tmp_path / "out"))) == (11 if change == "longer" else 9)
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec)) == ["current"] * 3


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"where": "average > 0"}, "another filter (none, not average > 0)"),
        ({"columns": ["average"]}, "other columns (fluency, truthfulness, "),
        ({"nulls": "null"}, "other nulls (error, not null)"),
        ({"spec": ScorerSpec("mini", profile="paper")}, "profile:leaderboard"),
    ],
)
def test_outputs_of_another_job_are_replaced_only_on_demand(tmp_path, spec, other, told):
    make_inputs(tmp_path / "in")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    before = files_below(tmp_path / "out")
    with pytest.raises(PfgenError, match=r"was scored with (an)?other") as refused:
        score_files([tmp_path / "in"], tmp_path / "out", **{"spec": spec, **other})
    assert told in str(refused.value)
    assert "--force" in str(refused.value)
    assert files_below(tmp_path / "out") == before
    for task in plan_files([tmp_path / "in"], tmp_path / "out"):
        assert score_one_file(task, TableJob(spec, where="average > 0.1")).status == "failed"
    options = {"spec": spec, **other}
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", again=True, **options)) == ["scored"] * 3
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", **options)) == ["current"] * 3


def test_outputs_of_other_jobs_and_of_other_sources_are_kept(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    write(tmp_path / "more", "b.jsonl")
    for again in (False, True):
        with pytest.raises(PfgenError, match=r"a\.jsonl: was scored with another filter .* remove it"):
            score_files([tmp_path / "more"], tmp_path / "out", spec, where="average > 0", again=again)
    write(tmp_path / "same", "a.jsonl", 7)
    with pytest.raises(PfgenError, match=r"contains the scores of .*in/a\.jsonl, not of .*same/a\.jsonl"):
        score_files([tmp_path / "same"], tmp_path / "out", spec)
    assert list(outputs(tmp_path / "out")) == ["a.jsonl"]
    shutil.move(tmp_path / "in", tmp_path / "moved")
    assert statuses(score_files([tmp_path / "moved"], tmp_path / "out", spec)) == ["current"]


def test_foreign_tables_in_the_output_directory_are_refused(tmp_path, spec):
    make_inputs(tmp_path / "in")
    foreign = write(tmp_path / "out", "old/other.parquet")
    (tmp_path / "out" / "notes.txt").write_text("no table")
    before = files_below(tmp_path / "out")
    with pytest.raises(PfgenError, match=r"old/other\.parquet: has no record in _pfgen_fast/, so it is not one of"):
        score_files([tmp_path / "in"], tmp_path / "out", spec, again=True)
    assert files_below(tmp_path / "out") == before
    foreign.rename(tmp_path / "out" / "a.jsonl")
    task = plan_files([tmp_path / "in"], tmp_path / "out")[0]
    outcome = score_one_file(task, TableJob(spec), again=True)
    assert (outcome.status, "has no record in _pfgen_fast" in str(outcome.error)) == ("failed", True)


def test_a_source_that_is_gone_is_noted(tmp_path, spec):
    names = make_inputs(tmp_path / "in")
    for name in ("_temporary/x.parquet", ".hidden.csv", "_x.csv"):  # which readers skip, so they are not refused
        write(tmp_path / "out", name)
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    (tmp_path / "in" / names[0]).unlink()
    notes: list[str] = []
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec, on_note=notes.append)) == ["current"] * 2
    assert notes == [f"{tmp_path}/in/a.jsonl: scored earlier, now missing; the output directory still has the rows"]


def test_a_damaged_record_is_named(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    record = tmp_path / "out" / "_pfgen_fast" / "a.jsonl.json"
    for content in ("{", "[]", '{"job": {}}', "{}" + " " * (1 << 20)):
        record.write_text(content)
        with pytest.raises(PfgenError, match=r"_pfgen_fast/a\.jsonl\.json[:,]"):
            score_files([tmp_path / "in"], tmp_path / "out", spec)


def test_a_table_that_cannot_be_scored_does_not_stop_the_others(tmp_path, spec):
    folder = tmp_path / "in"
    for number in range(12):
        write(folder, f"{number:02}.parquet")
    pq.write_table(pa.table({"id": ["x"], "question": ["Q07"], "answer": [7]}), folder / "09.parquet")
    cut = folder / "03.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    rows = pa.table({"id": ["x"] * 9, "question": ["Q07"] * 7 + ["Q99", "Q07"], "answer": [""] * 9})
    pq.write_table(rows, folder / "05.parquet", row_group_size=4)
    outcomes = score_files([folder], tmp_path / "out", spec)
    errors = [str(one.error).removeprefix(f"{folder}/") for one in outcomes if one.status == "failed"]
    expected = ["03.parquet: damaged", "05.parquet, row group 1, row 8, column 'question': unknown question 'Q99'"]
    for error, start in zip(errors, [*expected, "09.parquet, column 'answer': "], strict=True):
        assert error.startswith(start)
    assert len(outputs(tmp_path / "out")) == 9
    write(folder, "03.parquet")
    again = score_files([folder], tmp_path / "out", spec)
    assert [one.task.name for one in again if one.status == "scored"] == ["03.parquet"]


def test_progress_covers_all_files(tmp_path, spec):
    make_inputs(tmp_path / "in")
    size = sum(len(content) for content in files_below(tmp_path / "in").values())
    seen: list[FilesProgress] = []
    score_files([tmp_path / "in"], tmp_path / "out", spec, on_progress=seen.append)
    assert seen == sorted(seen, key=lambda one: (one.n_files_done, one.n_rows))
    assert seen[-1] == FilesProgress(n_files=3, n_files_done=3, n_rows=9, n_bytes=size, n_bytes_done=size)


def test_an_encoding_is_for_tables_that_have_one(tmp_path, spec):
    folder = tmp_path / "in"
    write(folder, "a.jsonl")
    with pytest.raises(PfgenError, match="encoding: expected a CSV or TSV file"):
        score_files([folder], tmp_path / "out", spec, encoding="cp932")
    (folder / "b.csv").write_bytes("question,answer\nQ07,氷\n".encode("cp932"))
    assert statuses(score_files([folder], tmp_path / "out", spec, encoding="cp932")) == ["scored"] * 2
    assert "氷" in (tmp_path / "out" / "b.csv").read_bytes().decode("cp932")


def test_a_source_that_can_no_longer_be_scored_says_that_its_output_stays(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    score_files(tmp_path / "in", tmp_path / "out", spec)
    before = ids(tmp_path / "out")
    (tmp_path / "in" / "a.jsonl").write_text('{"question": "Q07", "ans')
    [outcome] = score_files(tmp_path / "in", tmp_path / "out", spec)
    assert outcome.status == "failed"
    assert str(outcome.error).endswith(f"; {tmp_path / 'out' / 'a.jsonl'} still contains the earlier scores")
    assert ids(tmp_path / "out") == before
    (tmp_path / "out" / "a.jsonl").unlink()
    [outcome] = score_files(tmp_path / "in", tmp_path / "out", spec)
    assert "still contains" not in str(outcome.error)
