"""Which tables are scored into a directory, under which names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from makers.table_folders import make_inputs, names_of, outputs, statuses, write
from pfgen_fast import PfgenError
from pfgen_fast.tables.folders.plans import plan_files
from pfgen_fast.tables.folders.scoring import score_files


def test_outputs_are_named_by_the_path_below_what_was_given(tmp_path):
    make_inputs(tmp_path / "in")
    out = tmp_path / "out"
    assert names_of(plan_files([tmp_path / "in"], out)) == ["a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"]
    assert names_of(plan_files([f"{tmp_path}/in/day=*"], out)) == ["a.jsonl", "b.jsonl"]
    assert names_of(plan_files([f"{tmp_path}/in/*/*.jsonl"], out)) == ["a.jsonl", "b.jsonl"]
    assert names_of(plan_files([tmp_path / "in/day=2/b.jsonl", tmp_path / "in/a.jsonl"], out)) == ["b.jsonl", "a.jsonl"]
    assert names_of(plan_files(str(tmp_path / "in/a.jsonl"), out)) == ["a.jsonl"]  # a text is not its letters
    assert len(plan_files([tmp_path / "in", tmp_path / "in/a.jsonl", f"{tmp_path}/in/*.jsonl"], out)) == 3


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


def test_files_that_are_not_tables_are_skipped_and_reported(tmp_path):
    make_inputs(tmp_path / "in")
    for name in ("README.md", "day=1/_SUCCESS", ".part/x.jsonl", "_log/x.jsonl", "x.parquet.gz"):
        write(tmp_path / "in", name)
    passed_over: list[str] = []
    assert len(plan_files([tmp_path / "in"], tmp_path / "out", on_passed_over=passed_over.append)) == 3
    assert passed_over == [f"{tmp_path}/in/README.md", f"{tmp_path}/in/x.parquet.gz"]


def test_cycles_of_links_end(tmp_path, spec):
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
