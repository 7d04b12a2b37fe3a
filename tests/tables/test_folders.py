"""Many tables into a directory: which tables, under which names; finished outputs stay, other tables are refused."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.kills import killed_everywhere, score_a_folder
from makers.runs import files_below
from pfgen_fast import PfgenError, Scorer, ScorerSpec
from pfgen_fast.tables.folders import plan_files, score_files
from pfgen_fast.tables.table_job import TableJob

ANSWERS = ("Ice floats.", "", "Water expands when it freezes.", "氷")


@pytest.fixture
def job(spec) -> TableJob:
    return TableJob(spec)


def write(folder: Path, name: str, n_rows: int = 3) -> Path:
    """A table whose rows are like those of no other table."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"id": f"{name} {row}", "question": "Q07", "answer": ANSWERS[row % 4]} for row in range(n_rows)]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def make_inputs(folder: Path) -> list[str]:
    names = ["a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"]
    for name in names:
        write(folder, name)
    return names


def outputs(folder: Path) -> dict[str, bytes]:
    """What readers of the folder see."""
    return {name: content for name, content in files_below(folder).items() if not name.startswith(("_", "."))}


def statuses(outcomes) -> list[str]:
    return [outcome.status for outcome in outcomes]


def names_of(tasks) -> list[str]:
    return [task.name for task in tasks]


def test_each_table_is_scored_into_one_of_its_name_and_again_only_if_it_is_newer(tmp_path, job):
    names = make_inputs(tmp_path / "in")
    outcomes = score_files([tmp_path / "in"], tmp_path / "out", job)
    assert [(outcome.status, outcome.n_rows, outcome.n_written) for outcome in outcomes] == [("scored", 3, 3)] * 3
    assert list(outputs(tmp_path / "out")) == names
    row = json.loads((tmp_path / "out" / names[0]).read_text().splitlines()[0])
    assert row["average"] == Scorer("mini").score(["Q07"], [ANSWERS[0]])["average"][0]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", job)) == ["current"] * 3
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    (tmp_path / "out" / names[0]).unlink()
    os.utime(tmp_path / "out" / names[1], ns=(0, 1))
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", job)) == ["scored", "scored", "current"]
    os.utime(write(tmp_path / "in", names[2], 4), ns=(0, 1))  # an older file, whose time `cp -p` keeps
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", job)) == ["current", "current", "scored"]
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", job, again=True)) == ["scored"] * 3


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"where": "average > 0"}, "another filter (none, not average > 0)"),
        ({"columns": ["average"]}, "other columns (fluency, truthfulness, "),
        ({"nulls": "null"}, "other nulls (error, not null)"),
        ({"spec": ScorerSpec("mini", profile="paper")}, "profile:leaderboard"),
    ],
)
def test_outputs_of_other_settings_are_replaced_only_on_demand(tmp_path, spec, job, other, told):
    make_inputs(tmp_path / "in")
    score_files([tmp_path / "in"], tmp_path / "out", job)
    before, other_job = files_below(tmp_path / "out"), TableJob(**{"spec": spec, **other})
    with pytest.raises(PfgenError, match=r"out: has tables scored with (an)?other .*--force") as refused:
        score_files([tmp_path / "in"], tmp_path / "out", other_job)
    assert told in str(refused.value)
    assert files_below(tmp_path / "out") == before
    write(tmp_path / "more", "c.jsonl")
    with pytest.raises(PfgenError, match=r"; give another output directory"):  # it would keep tables of other settings
        score_files([tmp_path / "more"], tmp_path / "out", other_job, again=True)
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", other_job, again=True)) == ["scored"] * 3
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", other_job)) == ["current"] * 3


def test_tables_of_unknown_origin_and_damaged_settings_are_refused(tmp_path, job):
    make_inputs(tmp_path / "in")
    write(tmp_path / "out", "old/other.parquet")
    (tmp_path / "out" / "notes.txt").write_text("no table")
    for again in (False, True):
        with pytest.raises(PfgenError, match=r"out: has tables of unknown origin; give another output directory$"):
            score_files([tmp_path / "in"], tmp_path / "out", job, again=again)
    for content in ("{", "[]", '{"job": {}}', "{}" + " " * (1 << 20)):
        (tmp_path / "out" / "_pfgen_fast.json").write_text(content)
        with pytest.raises(PfgenError, match=r"_pfgen_fast\.json[:,]"):
            score_files([tmp_path / "in"], tmp_path / "out", job)


def test_a_table_that_cannot_be_scored_does_not_stop_the_others(tmp_path, job):
    folder = tmp_path / "in"
    for number in range(12):
        write(folder, f"{number:02}.parquet")
    pq.write_table(pa.table({"id": ["x"], "question": ["Q07"], "answer": [7]}), folder / "09.parquet")
    cut = folder / "03.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    rows = pa.table({"id": ["x"] * 9, "question": ["Q07"] * 7 + ["Q99", "Q07"], "answer": [""] * 9})
    pq.write_table(rows, folder / "05.parquet", row_group_size=4)
    outcomes = score_files([folder], tmp_path / "out", job)
    errors = [str(outcome.error).removeprefix(f"{folder}/") for outcome in outcomes if outcome.status == "failed"]
    expected = ["03.parquet: damaged", "05.parquet, row group 1, row 8, column 'question': unknown question 'Q99'"]
    for error, start in zip(errors, [*expected, "09.parquet, column 'answer': "], strict=True):
        assert error.startswith(start)
    assert len(outputs(tmp_path / "out")) == 9
    write(folder, "03.parquet")
    again = score_files([folder], tmp_path / "out", job)
    assert [item.task.name for item in again if item.status == "scored"] == ["03.parquet"]
    cut.write_bytes(b"")
    os.utime(cut, ns=(0, (tmp_path / "out/03.parquet").stat().st_mtime_ns + 10**9))
    error = str(score_files([cut], tmp_path / "out", job)[0].error)
    assert error.endswith(f"; {tmp_path / 'out' / '03.parquet'} still contains the earlier scores")


def test_progress_covers_all_files(tmp_path, job):
    make_inputs(tmp_path / "in")
    seen: list[tuple[int, int]] = []
    for _ in range(2):  # the second call finds finished files
        score_files([tmp_path / "in"], tmp_path / "out", job, on_progress=lambda *counts: seen.append(counts))
    assert seen == [(1, 3), (2, 3), (3, 3)] * 2


def test_an_encoding_is_for_tables_that_have_one(tmp_path, spec):
    folder, job = tmp_path / "in", TableJob(spec, encoding="cp932")
    write(folder, "a.jsonl")
    with pytest.raises(PfgenError, match="encoding: expected a CSV or TSV file"):
        score_files([folder], tmp_path / "out", job)
    (folder / "b.csv").write_bytes("question,answer\nQ07,氷\n".encode("cp932"))
    assert statuses(score_files([folder], tmp_path / "out", job)) == ["scored"] * 2
    assert "氷" in (tmp_path / "out" / "b.csv").read_bytes().decode("cp932")


@pytest.mark.slow
@pytest.mark.parametrize("is_rerun", [False, True])
def test_after_a_kill_at_any_change_a_rerun_gives_every_row_once(tmp_path, is_rerun):
    before = tmp_path / "before"
    make_inputs(before / "in")
    if is_rerun:  # with other settings, which replace the outputs
        score_files([before / "in"], before / "out", TableJob(ScorerSpec("mini"), columns=["average"]))
    whole, attempts = killed_everywhere(tmp_path / "kills", score_a_folder, before=before)

    def outputs_of(files: dict[str, bytes]) -> dict[str, bytes]:
        return {name: content for name, content in files.items() if name.startswith("out/") and "/." not in name}

    expected = outputs_of(whole)
    assert (len(expected), len(attempts) >= 6) == (4, True)
    for attempt in attempts:
        assert outputs_of(attempt.again) == expected, attempt.point


# Which tables, and the names of their outputs.


def test_outputs_are_named_by_the_path_below_what_was_given(tmp_path):
    make_inputs(tmp_path / "in")
    out = tmp_path / "out"
    assert names_of(plan_files([tmp_path / "in"], out)) == ["a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"]
    assert names_of(plan_files([f"{tmp_path}/in/day=*"], out)) == ["a.jsonl", "b.jsonl"]
    assert names_of(plan_files([f"{tmp_path}/in/*/*.jsonl"], out)) == ["a.jsonl", "b.jsonl"]
    assert names_of(plan_files([tmp_path / "in/day=2/b.jsonl", tmp_path / "in/a.jsonl"], out)) == ["b.jsonl", "a.jsonl"]
    assert names_of(plan_files(str(tmp_path / "in/a.jsonl"), out)) == ["a.jsonl"]  # a text is not its letters
    assert len(plan_files([tmp_path / "in", tmp_path / "in/a.jsonl", f"{tmp_path}/in/*.jsonl"], out)) == 3


@pytest.mark.parametrize(
    ("sources", "target", "told"),
    [
        (["in"], "in", "in: is the input directory itself"),
        (["in"], "link", "link: is the input directory itself"),
        (["in"], "in/out", "in/out: is in the input directory, in;"),
        (["in/day=1"], "in", "in/day=1/a.jsonl: is in the output directory, in"),
        (["in", "in/*.jsonl"], "link/out", "is in the input directory, in;"),
        (["in/**/*.jsonl"], "out", "in/a.jsonl and in/day=1/a.jsonl would have the same output, out/a.jsonl"),
        (["in/day=2/b.jsonl", "in"], "out", "would be scored twice, into out/b.jsonl and out/day=2/b.jsonl"),
        (["none"], "out", "none: no such file or folder"),
        (["empty"], "out", "empty: there are no tables here"),
        (["notes.txt"], "out", "notes.txt: unknown file extension"),
        (["_x.csv"], "out", "_x.csv: readers of directories skip names that begin with _"),
    ],
)
def test_sources_without_tables_and_outputs_that_conflict_are_refused(tmp_path, monkeypatch, sources, target, told):
    monkeypatch.chdir(tmp_path)
    make_inputs(Path("in"))
    Path("link").symlink_to("in")
    for name in ("_x.csv", "notes.txt", "empty/notes.txt"):
        write(Path(), name)
    with pytest.raises(PfgenError) as refused:
        plan_files(sources, target)
    assert told in str(refused.value)


def test_files_that_are_not_tables_are_skipped(tmp_path):
    make_inputs(tmp_path / "in")
    for name in ("README.md", "day=1/_SUCCESS", ".part/x.jsonl", "_log/x.jsonl", "x.parquet.gz"):
        write(tmp_path / "in", name)
    assert len(plan_files([tmp_path / "in"], tmp_path / "out")) == 3


def test_cycles_of_links_end(tmp_path, job):
    make_inputs(tmp_path / "in")
    (tmp_path / "in" / "day=1" / "back").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "day=2" / "self").symlink_to("self")
    (tmp_path / "in" / "broken.jsonl").symlink_to("nowhere")
    assert len(plan_files([tmp_path / "in"], tmp_path / "out")) == 4
    assert names_of(plan_files([f"{tmp_path}/in/**/b.jsonl"], tmp_path / "out")) == ["b.jsonl"]
    outcomes = score_files([tmp_path / "in"], tmp_path / "out", job)
    assert [outcome.task.name for outcome in outcomes if outcome.status == "failed"] == ["broken.jsonl"]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
@pytest.mark.parametrize("name", ["a\nb\x1b[2J.jsonl", os.fsdecode(b"\xff.jsonl")])
def test_strange_names_stay_as_they_are(tmp_path, job, name):
    write(tmp_path / "in", name)
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", job)) == ["scored"]
    assert list(outputs(tmp_path / "out")) == [name]
    assert statuses(score_files([tmp_path / "in"], tmp_path / "out", job)) == ["current"]
