"""Many tables into a folder: every row once, whatever ends the work; what would be mixed up is refused."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.builds import files_below
from makers.killed_work import score_a_folder
from makers.kills import killed_everywhere
from pfgen_fast import PfgenError, Scorer, ScorerSpec, TrialsError
from pfgen_fast.tables.folders.plans import plan_files
from pfgen_fast.tables.folders.records import Record
from pfgen_fast.tables.folders.scoring import FileOutcome, FilesProgress, score_files, score_one_file
from pfgen_fast.tables.places.place_names import FileInfo
from pfgen_fast.tables.table_job import TableJob

ANSWERS = ("Ice floats.", "", "Water expands when it freezes.", "氷")


@pytest.fixture(scope="module")
def spec() -> ScorerSpec:
    return ScorerSpec("mini", threads=1)


def write(folder: Path, name: str, n_rows: int = 3, answer: str | None = None) -> Path:
    """A table whose rows are like those of no other table."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"{name} {row}", "question": "Q07", "answer": answer if answer is not None else ANSWERS[row % 4]}
        for row in range(n_rows)
    ]
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def make_inputs(folder: Path) -> list[str]:
    for name in ("a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"):
        write(folder, name)
    return ["a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"]


def outputs(folder: Path) -> dict[str, bytes]:
    """What readers of the folder see."""
    return {name: content for name, content in files_below(folder).items() if not name.startswith(("_", "."))}


def ids(folder: Path) -> list[str]:
    return sorted(json.loads(line)["id"] for content in outputs(folder).values() for line in content.splitlines())


def statuses(outcomes: list[FileOutcome]) -> list[str]:
    return [outcome.status for outcome in outcomes]


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


@pytest.mark.parametrize("change", ["longer", "same size", "output gone", "output cut", "record gone with output"])
def test_what_changed_is_scored_again(tmp_path, spec, change):
    names = make_inputs(tmp_path / "in")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    source, target = tmp_path / "in" / names[1], tmp_path / "out" / names[1]
    whole = target.read_bytes()
    if change == "longer":
        write(tmp_path / "in", names[1], 5)
    elif change == "same size":
        source.write_text(source.read_text().replace("floats", "sinks."))
        os.utime(source, ns=(0, 1))
    elif change == "output cut":
        target.write_bytes(whole[:-1])
    else:
        target.unlink()
        if change == "record gone with output":
            shutil.rmtree(tmp_path / "out" / "_pfgen_fast")
            shutil.copytree(tmp_path / "in", tmp_path / "elsewhere")
            for name in (names[0], names[2]):
                (tmp_path / "out" / name).unlink()
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


def test_another_job_does_not_mix_with_outputs_that_are_not_its_own(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    write(tmp_path / "more", "b.jsonl")
    for again in (False, True):
        with pytest.raises(PfgenError, match=r"a\.jsonl: was scored with another filter .* remove it"):
            score_files([tmp_path / "more"], tmp_path / "out", spec, where="average > 0", again=again)
    assert list(outputs(tmp_path / "out")) == ["a.jsonl"]


def test_an_output_of_another_source_of_the_same_name_is_kept(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    write(tmp_path / "more", "a.jsonl", 7)
    with pytest.raises(PfgenError, match=r"holds the scores of .*in/a\.jsonl, not of .*more/a\.jsonl"):
        score_files([tmp_path / "more"], tmp_path / "out", spec)
    shutil.move(tmp_path / "in", tmp_path / "moved")
    assert statuses(score_files([tmp_path / "moved"], tmp_path / "out", spec)) == ["current"]


def test_tables_of_others_in_the_output_folder_are_refused(tmp_path, spec):
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


def test_what_readers_pass_over_is_not_foreign(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    for name in ("_temporary/x.parquet", ".hidden.csv", "_x.csv"):
        write(tmp_path / "out", name)
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec)) == ["scored"]


def test_a_source_that_is_gone_is_noted(tmp_path, spec):
    names = make_inputs(tmp_path / "in")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    (tmp_path / "in" / names[0]).unlink()
    notes: list[str] = []
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec, on_note=notes.append)) == ["current"] * 2
    assert notes == [
        f"{tmp_path}/in/a.jsonl: scored earlier, and no longer there; the output folder still has the rows"
    ]


def test_a_damaged_record_is_named(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    record = tmp_path / "out" / "_pfgen_fast" / "a.jsonl.json"
    for content in ("{", "[]", '{"job": {}}', "{}" + " " * (1 << 20)):
        record.write_text(content)
        with pytest.raises(PfgenError, match=r"_pfgen_fast/a\.jsonl\.json[:,]"):
            score_files([tmp_path / "in"], tmp_path / "out", spec)


def test_a_table_that_cannot_be_scored_does_not_stop_the_others(tmp_path, spec):
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "in"
    for number in range(12):
        write(folder, f"{number:02}.parquet")
    pq.write_table(pa.table({"id": ["x"], "question": ["Q07"], "answer": [7]}), folder / "09.parquet")
    cut = folder / "03.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    rows = pa.table({"id": ["x"] * 9, "question": ["Q07"] * 7 + ["Q99", "Q07"], "answer": [""] * 9})
    pq.write_table(rows, folder / "05.parquet", row_group_size=4)
    outcomes = score_files([folder], tmp_path / "out", spec)
    errors = {Path(one.task.source).name: str(one.error) for one in outcomes if one.status == "failed"}
    assert list(errors) == ["03.parquet", "05.parquet", "09.parquet"]
    assert errors["03.parquet"].startswith(f"{folder}/03.parquet: damaged or no Parquet file")
    assert "row 8" in errors["05.parquet"]
    assert "unknown question 'Q99'" in errors["05.parquet"]
    assert "09.parquet" in errors["09.parquet"]
    assert "'answer'" in errors["09.parquet"]
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
    with pytest.raises(PfgenError, match="encoding: only CSV and TSV"):
        score_files([folder], tmp_path / "out", spec, encoding="cp932")
    (folder / "b.csv").write_bytes("question,answer\nQ07,氷\n".encode("cp932"))
    assert statuses(score_files([folder], tmp_path / "out", spec, encoding="cp932")) == ["scored"] * 2
    assert "氷" in (tmp_path / "out" / "b.csv").read_bytes().decode("cp932")


# Plans.


def names_of(tasks: list) -> list[str]:
    return [task.name for task in tasks]


def test_outputs_are_named_by_the_path_below_what_was_given(tmp_path):
    make_inputs(tmp_path / "in")
    out = tmp_path / "out"
    assert names_of(plan_files([tmp_path / "in"], out)) == ["a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"]
    assert names_of(plan_files([f"{tmp_path}/in/day=*"], out)) == ["a.jsonl", "b.jsonl"]
    assert names_of(plan_files([f"{tmp_path}/in/*/*.jsonl"], out)) == ["a.jsonl", "b.jsonl"]
    assert names_of(plan_files([tmp_path / "in/day=2/b.jsonl", tmp_path / "in/a.jsonl"], out)) == ["b.jsonl", "a.jsonl"]


def test_a_table_that_is_given_twice_is_one(tmp_path):
    make_inputs(tmp_path / "in")
    assert len(plan_files([tmp_path / "in", tmp_path / "in/a.jsonl", f"{tmp_path}/in/*.jsonl"], tmp_path / "out")) == 3


def test_rows_do_not_come_a_second_time_under_another_name(tmp_path, spec):
    make_inputs(tmp_path / "in")
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    with pytest.raises(PfgenError, match=r"out/day=2/b\.jsonl: has the scores of .*in/day=2/b\.jsonl, which .*out/b\."):
        score_files([tmp_path / "in/day=2/b.jsonl"], tmp_path / "out", spec, again=True)
    assert not (tmp_path / "out" / "b.jsonl").exists()


def test_a_record_leads_to_no_server_that_was_not_named(tmp_path, spec, monkeypatch):
    for name in ("a.jsonl", "b.jsonl"):
        write(tmp_path / "in", name)
    score_files([tmp_path / "in"], tmp_path / "out", spec)
    record = tmp_path / "out" / "_pfgen_fast" / "a.jsonl.json"
    record.write_text(record.read_text().replace(f"{tmp_path}/in/a.jsonl", "http://127.0.0.1/a.jsonl"))
    (tmp_path / "in" / "a.jsonl").unlink()
    asked: list[str] = []
    monkeypatch.setattr("pfgen_fast.tables.folders.records._is_gone", lambda place: bool(asked.append(place)))
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec)) == ["current"]
    assert asked == []


@pytest.mark.parametrize(
    ("sources", "target", "told"),
    [
        (["in"], "in", "in: is the input folder itself"),
        (["in"], "in/../in/", "is the input folder itself"),
        (["in"], "link", "link: is the input folder itself"),
        (["in"], "in/out", "in/out: lies in the input folder, in;"),
        (["in/day=1"], "in", "in/day=1/a.jsonl: lies in the output folder, in"),
        (["in/a.jsonl"], "in", "in/a.jsonl: lies in the output folder, in"),
        (["in", "in/*.jsonl"], "link/out", "lies in the input folder, in;"),
        (["in/**/*.jsonl"], "out", "in/a.jsonl and in/day=1/a.jsonl would have the same output, out/a.jsonl"),
        (["in/day=2/b.jsonl", "in"], "out", "would be scored twice, into out/b.jsonl and out/day=2/b.jsonl"),
    ],
)
def test_what_cannot_be_kept_apart_is_refused(tmp_path, monkeypatch, sources, target, told):
    monkeypatch.chdir(tmp_path)
    make_inputs(Path("in"))
    Path("link").symlink_to("in")
    with pytest.raises(PfgenError) as refused:
        plan_files(sources, target)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("none", "none: no such file or folder"),
        ("none/*.csv", "none/*.csv: no such file or folder"),
        ("empty", "empty: there are no tables here"),
        ("notes.txt", "notes.txt: unknown file extension"),
        ("_x.csv", "_x.csv: readers of folders pass over names that begin with _"),
    ],
)
def test_a_source_without_tables_is_named(tmp_path, monkeypatch, source, told):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    write(Path(), "_x.csv")
    Path("empty", "notes.txt").write_text("", encoding="utf-8")
    Path("notes.txt").write_text("", encoding="utf-8")
    with pytest.raises((TrialsError, PfgenError)) as refused:
        plan_files([source], "out")
    assert str(refused.value).startswith(told)


def test_what_is_no_table_is_passed_over_and_told(tmp_path):
    make_inputs(tmp_path / "in")
    for name in ("README.md", "day=1/_SUCCESS", ".part/x.jsonl", "_log/x.jsonl", "x.parquet.gz"):
        write(tmp_path / "in", name)
    passed_over: list[str] = []
    assert len(plan_files([tmp_path / "in"], tmp_path / "out", on_passed_over=passed_over.append)) == 3
    assert passed_over == [f"{tmp_path}/in/README.md", f"{tmp_path}/in/x.parquet.gz"]


def test_links_that_lead_back_end(tmp_path, spec):
    make_inputs(tmp_path / "in")
    (tmp_path / "in" / "day=1" / "back").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "day=2" / "self").symlink_to("self")
    (tmp_path / "in" / "broken.jsonl").symlink_to("nowhere")
    assert len(plan_files([tmp_path / "in"], tmp_path / "out")) == 4
    assert names_of(plan_files([f"{tmp_path}/in/**/b.jsonl"], tmp_path / "out")) == ["b.jsonl"]
    outcomes = score_files([tmp_path / "in"], tmp_path / "out", spec)
    assert [one.task.name for one in outcomes if one.status == "failed"] == ["broken.jsonl"]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
@pytest.mark.parametrize("name", ["a\nb\x1b[2J.jsonl", os.fsdecode(b"\xff.jsonl")])
def test_strange_names_stay_as_they_are(tmp_path, spec, name):
    write(tmp_path / "in", name)
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec)) == ["scored"]
    assert list(outputs(tmp_path / "out")) == [name]
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec)) == ["current"]


# What ends in the middle.


at_how_many_changes = pytest.mark.parametrize("most", [3, pytest.param(None, marks=pytest.mark.slow)])


@at_how_many_changes
def test_after_a_kill_at_any_change_a_rerun_gives_every_row_once(tmp_path, most):
    before = tmp_path / "before"
    make_inputs(before / "in")
    whole, attempts = killed_everywhere(tmp_path / "kills", score_a_folder, before=before, most=most)
    check_kills(whole, attempts, n_least=most or 6)


@at_how_many_changes
def test_after_a_kill_while_changed_tables_are_scored_again_every_row_is_there_once(tmp_path, most):
    before = tmp_path / "before"
    names = make_inputs(before / "in")
    score_files([before / "in"], before / "out", ScorerSpec("mini"))
    for name in names[:2]:
        write(before / "in", name, answer="Ice sinks.")
        os.utime(before / "in" / name, ns=(0, 1))
    records = before / "out" / "_pfgen_fast"
    for path in records.rglob("*.json"):
        path.write_text(path.read_text().replace(f"{before}/", ""))
    whole, attempts = killed_everywhere(tmp_path / "kills", score_a_folder, before=before, most=most)
    check_kills(whole, attempts, n_least=most or 6)


def check_kills(whole: dict[str, bytes], attempts: list, n_least: int) -> None:
    assert len(attempts) >= n_least
    expected = {name: content for name, content in whole.items() if name.startswith("out/") and "/_pfgen" not in name}
    assert len(expected) == 3
    for attempt in attempts:
        there = {name: content for name, content in attempt.again.items() if name.startswith("out/")}
        there = {name: content for name, content in there.items() if not name.startswith("out/_pfgen_fast/")}
        assert there == expected, attempt.point
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


def start(folder: Path, pause: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCORE, str(folder / "in"), str(folder / "out"), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_after_a_killed_process_only_the_rest_is_scored(tmp_path, spec):
    for number in range(8):
        write(tmp_path / "in", f"{number}.parquet", 500)
    process = start(tmp_path, 0.05)
    assert process.stdout is not None
    with process.stdout:
        for _ in range(3):
            assert process.stdout.readline() == "scored\n"
        process.send_signal(signal.SIGKILL)
    process.wait(60)
    done = set(outputs(tmp_path / "out"))
    assert 3 <= len(done) < 8
    outcomes = score_files([tmp_path / "in"], tmp_path / "out", spec)
    assert {one.task.name for one in outcomes if one.status == "current"} == done
    assert all_ids(tmp_path / "out") == sorted(f"{number}.parquet {row}" for number in range(8) for row in range(500))


def all_ids(folder: Path) -> list[str]:
    """The ids as a reader of the whole folder sees them."""
    import pyarrow.dataset as ds

    return sorted(ds.dataset(folder, format="parquet").to_table(columns=["id"]).column("id").to_pylist())


def test_two_processes_at_one_folder_give_every_row_once(tmp_path, spec):
    for number in range(10):
        write(tmp_path / "in", f"{number}.parquet", 200)
    processes = [start(tmp_path, 0.01), start(tmp_path, 0.0)]
    for process in processes:
        told, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        assert len(told.split()) == 10
        assert set(told.split()) <= {"scored", "current"}
    assert all_ids(tmp_path / "out") == sorted(f"{number}.parquet {row}" for number in range(10) for row in range(200))
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", spec)) == ["current"] * 10


def test_who_is_second_leaves_the_output_of_the_first(tmp_path, spec, monkeypatch):
    from pfgen_fast.tables.folders import scoring as folders

    write(tmp_path / "in", "a.jsonl")
    [task] = plan_files([tmp_path / "in"], tmp_path / "out")
    job = TableJob(spec)
    looked = folders._finished
    calls: list[int] = []

    def first_comes_between(task, job, again):
        calls.append(1)
        if len(calls) == 2:
            assert score_one_file(task, job).status == "scored"
        return looked(task, job, again)

    monkeypatch.setattr(folders, "_finished", first_comes_between)
    assert score_one_file(task, job).status == "current"
    assert len(ids(tmp_path / "out")) == 3
    assert sorted(os.listdir(tmp_path / "out")) == ["_pfgen_fast", "a.jsonl"]


def test_a_source_that_changes_while_it_is_scored_is_scored_again(tmp_path, spec):
    source = write(tmp_path / "in", "a.jsonl")
    [task] = plan_files([tmp_path / "in"], tmp_path / "out")
    score_one_file(task, TableJob(spec), on_batch=lambda n: os.utime(source, ns=(0, time.time_ns() + 10**9)))
    assert score_one_file(task, TableJob(spec)).status == "scored"
    assert score_one_file(task, TableJob(spec)).status == "current"


# Jobs, tasks and records.


def test_jobs_and_tasks_travel_light(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    tasks = plan_files([tmp_path / "in"], tmp_path / "out")
    job = TableJob(spec, columns=("average",), where="average > 0")
    sent = pickle.loads(pickle.dumps((tasks[0], job)))
    assert sent == (tasks[0], job)
    assert sent[1].description == job.description
    assert len(pickle.dumps((tasks[0], job))) < 2000
    assert score_one_file(*sent).status == "scored"


@pytest.mark.parametrize("wrong", [{"columns": ("speed",)}, {"where": "speed > 1"}, {"nulls": "drop"}])
def test_a_job_is_checked_when_it_is_made(spec, wrong):
    with pytest.raises((PfgenError, ValueError)):
        TableJob(spec, **wrong)


@given(
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
    st.text(max_size=9),
    st.none() | st.integers(0, 10**15),
    st.text(max_size=9),
    st.integers(0, 10**15),
)
def test_a_record_is_read_as_it_was_written(job, source, size, version, n):
    record = Record(job, source, FileInfo(size, version), n, n // 2, n // 3)
    assert Record.parsed(record.to_bytes(), "x.json") == record


def test_a_text_is_one_source_and_not_its_letters(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    for source in (str(tmp_path / "in"), tmp_path / "in"):
        assert [task.name for task in plan_files(source, tmp_path / "out")] == ["a.jsonl"]
    assert statuses(score_files(str(tmp_path / "in"), tmp_path / "out", spec)) == ["scored"]


def test_a_source_that_can_no_longer_be_scored_says_that_its_output_stays(tmp_path, spec):
    write(tmp_path / "in", "a.jsonl")
    score_files(tmp_path / "in", tmp_path / "out", spec)
    before = ids(tmp_path / "out")
    (tmp_path / "in" / "a.jsonl").write_text('{"question": "Q07", "ans')
    [outcome] = score_files(tmp_path / "in", tmp_path / "out", spec)
    assert outcome.status == "failed"
    assert str(outcome.error).endswith(f"; {tmp_path / 'out' / 'a.jsonl'} still holds the scores from before")
    assert ids(tmp_path / "out") == before
    (tmp_path / "out" / "a.jsonl").unlink()
    [outcome] = score_files(tmp_path / "in", tmp_path / "out", spec)
    assert "still holds" not in str(outcome.error)
