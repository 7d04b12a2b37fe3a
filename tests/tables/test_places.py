"""Places elsewhere, by fsspec's `memory://`: the same as local ones, in one sentence where they fail."""

import json
import os
from pathlib import Path

import pytest
from pfgen_fast import PfgenError, TrialsError
from pfgen_fast.tables import places
from pfgen_fast.tables.folders import plan_files, score_files
from pfgen_fast.tables.places import check_name, fetched, files_below, place_of, remove_file, shown_place, write_file
from pfgen_fast.tables.table_job import TableJob

pytest.importorskip("fsspec")

TABLE = "".join(json.dumps({"id": row, "question": "Q07", "answer": "Ice floats."}) + "\n" for row in range(3)).encode()


@pytest.fixture
def some(memory):
    """The same storage with some tables in /in."""
    for name in ("a.jsonl", "day=1/b.jsonl", "day=2/c.jsonl"):
        memory.pipe(f"/in/{name}", TABLE)
    return memory


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("s3://bucket/in/a@b.csv", "s3://bucket/in/a@b.csv"),
        ("ftp://me:secret@host/in/a.csv", "ftp://host/in/a.csv"),
        ("ftp://me:sec@ret@host/in/a@b.csv", "ftp://host/in/a@b.csv"),
        ("sftp://me@host/a.csv", "sftp://host/a.csv"),
        ("https://token@host/a.csv?X-Amz-Signature=secret#x", "https://host/a.csv"),
        ("abfs://container@account.dfs.core.windows.net/a.csv", "abfs://container@account.dfs.core.windows.net/a.csv"),
        ("hf://datasets/user/set@main/a.parquet", "hf://datasets/user/set@main/a.parquet"),
        ("in/me:secret@host/a.csv", "in/me:secret@host/a.csv"),
    ],
)
def test_urls_are_shown_without_passwords(place, shown):
    assert shown_place(place) == shown


@pytest.mark.parametrize(
    ("arguments", "place"),
    [("file:///in/a.csv", "/in/a.csv"), (Path("a.csv"), "a.csv"), ("S3://Box/In/a.csv", "s3://Box/In/a.csv")],
)
def test_a_file_url_is_a_path_and_the_case_of_a_scheme_does_not_matter(arguments, place):
    assert place_of(arguments) == place


@pytest.mark.parametrize("name", ["../x.csv", "a/../../x.csv", "/etc/x.csv", "a//x.csv", "./x.csv", "a/\0.csv", ""])
def test_names_that_could_lead_out_of_a_folder_are_refused(name):
    with pytest.raises(PfgenError, match=r"s3://b/x: .* cannot be the name of an output"):
        check_name(name, "s3://b/x")


def test_a_hostile_key_leaves_nothing_outside_of_the_output_folder(memory, tmp_path, spec):
    memory.store["/in/../../x.jsonl"] = memory.open("/other", "wb")
    with pytest.raises(PfgenError, match="cannot be the name of an output"):
        score_files(["memory://in"], tmp_path / "deep" / "out", TableJob(spec))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("source", "target"), [("memory", "here"), ("here", "memory"), ("memory", "memory")])
def test_folders_elsewhere_are_like_folders_here(some, tmp_path, spec, source, target):
    if source == "here":
        some.get("/in", str(tmp_path / "in"), recursive=True)
    places = {"memory": "memory:/", "here": str(tmp_path)}
    arguments, folder = (places[source] + "/in", places[target] + "/out")
    outcomes = score_files([arguments], folder, TableJob(spec))
    names = ["a.jsonl", "day=1/b.jsonl", "day=2/c.jsonl"]
    assert [(item.status, item.task.name, item.n_rows) for item in outcomes] == [("scored", name, 3) for name in names]
    assert [name for name, _ in files_below(folder)] == names
    with fetched(f"{folder}/day=1/b.jsonl") as (path, _):
        content = path.read_bytes()
    assert len(content.splitlines()) == 3
    assert "average" in json.loads(content.splitlines()[0])
    assert [outcome.status for outcome in score_files([arguments], folder, TableJob(spec))] == ["current"] * 3
    write_file(f"{arguments}/a.jsonl", TABLE + TABLE)
    remove_file(f"{folder}/day=1/b.jsonl")
    outcomes = score_files([arguments], folder, TableJob(spec))
    assert [(outcome.status, outcome.n_rows) for outcome in outcomes] == [("scored", 6), ("scored", 3), ("current", 0)]


def test_globs_elsewhere_match_and_hidden_names_are_passed_over(some):
    assert [task.name for task in plan_files(["memory://in/day=*/*.jsonl"], "memory://out")] == ["b.jsonl", "c.jsonl"]
    assert [task.source for task in plan_files(["memory://in/**/c*"], "out")] == ["memory://in/day=2/c.jsonl"]
    for name in ("_log/x.jsonl", ".x.jsonl", "day=1/_SUCCESS"):
        some.pipe(f"/in/{name}", TABLE)
    assert len(plan_files(["memory://in"], "memory://out")) == 3


def test_errors_name_the_url_and_not_the_file_that_was_fetched(some, spec):
    some.pipe("/in/day=1/b.jsonl", TABLE + b'{"question": "Q99", "answer": ""}\n')
    outcomes = score_files(["memory://in"], "memory://out", TableJob(spec))
    [error] = [outcome.error for outcome in outcomes if outcome.status == "failed"]
    assert error is not None
    assert error.startswith("memory://in/day=1/b.jsonl, line 4, column 'question': unknown question 'Q99'")
    assert not some.exists("/out/day=1/b.jsonl")


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ("memory://none", "out", "memory://none: no such file or folder"),
        ("nosuch://x/y", "out", "nosuch://x/y: fsspec knows no scheme nosuch://"),
        (
            "wandb://me:secret@x/y",
            "out",
            "wandb://x/y: wandb:// needs another package: Install wandbfs to access wandb",
        ),
        ("memory://in", "memory://in", "memory://in: is the input directory itself; give another output directory"),
        ("memory://in", "memory://in/out", "memory://in/out: is in the input directory, memory://in; give another one"),
        ("memory://in", "https://me:secret@host/out", "https://host/out: cannot be written: https:// is read-only"),
    ],
)
def test_places_that_cannot_be_used_are_refused_in_one_sentence(some, source, target, told):
    with pytest.raises(PfgenError) as refused:
        plan_files([source], target)
    assert str(refused.value) == told


def raising(error):
    def fail(self, *rest, **options):
        raise error

    return fail


def comes_short(self, source, target, **options):
    Path(target).write_bytes(TABLE[:-1])


@pytest.mark.parametrize(
    ("get_file", "told"),
    [
        (raising(PermissionError("Access Denied")), "cannot be read: permission denied (Access Denied)"),
        (raising(TimeoutError()), "cannot be read: TimeoutError"),
        (raising(RuntimeError("at http://me:sec@ret@host\n")), "cannot be read: at http://host\\n"),
        (comes_short, f"received {len(TABLE) - 1} bytes, expected {len(TABLE)}; the file was changed or cut off"),
    ],
)
def test_a_file_that_cannot_be_fetched_fails_with_one_sentence(some, spec, monkeypatch, get_file, told):
    monkeypatch.setattr(type(some), "get_file", get_file)
    [outcome] = score_files(["memory://in/a.jsonl"], "memory://out", TableJob(spec))
    assert (outcome.status, outcome.error) == ("failed", f"memory://in/a.jsonl: {told}")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("403, url='https://host/a.csv?sig=ab%2Fc%3D%3D&se=2026'", "403, url='https://host/a.csv'"),
        ("403, url=URL('https://host/a.csv?sig=ab/c==&se=2026')", "403, url=URL('https://host/a.csv')"),
        ("no route /a.csv?sig=ab%2fc%3d%3d", "no route /a.csv?sig=…"),
        ("sig ab/c== of me with p@ss: /a.csv?sig=ab/c%3D%3D", "sig … of me with …: /a.csv?sig=…"),
    ],
)
def test_a_secret_is_hidden_in_every_encoding(message, told):
    place = "https://me:p%40ss@host/a.csv?sig=ab%2Fc%3D%3D&se=2026"
    with pytest.raises(PfgenError) as refused, places._telling(place, "cannot be read"):
        raise RuntimeError(message)
    assert str(refused.value) == f"https://host/a.csv: cannot be read: {told}"


def test_a_place_that_cannot_be_written_is_named_before_anything_is_scored(some, spec, monkeypatch):
    monkeypatch.setattr(type(some), "pipe_file", raising(PermissionError("Access Denied")))
    with pytest.raises(PfgenError, match=r"^memory://out/_pfgen_fast\.json: cannot be written: permission denied"):
        score_files(["memory://in"], "memory://out", TableJob(spec))


def test_an_output_whose_upload_was_broken_off_is_scored_again(some, spec, monkeypatch):
    monkeypatch.setattr(type(some), "put_file", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        score_files(["memory://in"], "memory://out", TableJob(spec))
    monkeypatch.undo()
    outcomes = score_files(["memory://in"], "memory://out", TableJob(spec))
    assert [outcome.status for outcome in outcomes] == ["scored"] * 3


def test_a_fetched_file_is_removed_and_a_local_one_is_used_without_a_copy(some, tmp_path):
    with fetched("memory://in/a.jsonl") as (path, info):
        assert (path.read_bytes(), info.n_bytes) == (TABLE, len(TABLE))
    assert not path.exists()
    (tmp_path / "a.csv").write_text("q,a\n")
    with fetched(str(tmp_path / "a.csv")) as (path, _):
        assert path == tmp_path / "a.csv"
    assert path.exists()


def test_a_missing_file_is_named(memory, tmp_path):
    for place in ("memory://in/none.csv", str(tmp_path / "none.csv")):
        with pytest.raises(TrialsError) as refused, fetched(place):
            pass
        assert str(refused.value) == f"{place}: no such file"


@pytest.mark.engines  # which have what fsspec needs for http
def test_a_server_that_does_not_answer_may_be_why_a_file_is_missing():
    place = "http://127.0.0.1:1/a.csv"
    with pytest.raises(TrialsError, match=f"^{place}: no such file, or no such server$"), fetched(place):
        pass
