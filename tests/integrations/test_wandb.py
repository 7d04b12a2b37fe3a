"""Runs in Weights & Biases, offline: what is in its own file, read by its own messages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.documented import DOCS
from makers.engines import integration
from makers.frames import run_python_blocks
from makers.tracked_runs import scored_run
from pfgen_fast.integrations.tracking import tracked
from pfgen_fast.integrations.wandb import log_run

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]

_BLOCK, _FIRST, _LAST, _FULL = 32768, 2, 4, 1


@pytest.fixture
def wandb(tmp_path, monkeypatch):
    """The package, offline and in a folder of its own, however the machine is configured."""
    module = integration("wandb")
    for name, value in {"MODE": "offline", "DIR": tmp_path, "SILENT": "true", "CACHE_DIR": tmp_path / "cache"}.items():
        monkeypatch.setenv(f"WANDB_{name}", str(value))
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    module.teardown()  # the package reads its settings once
    yield module
    while module.run is not None:
        module.finish()
    module.teardown()


def records(path: Path) -> Iterator[Any]:
    """The records of a .wandb file, which is a log of LevelDB behind a header of 7 bytes."""
    message = integration("wandb.proto.wandb_internal_pb2").Record
    content, place, parts = path.read_bytes(), 7, b""
    while place + 7 <= len(content):
        if _BLOCK - place % _BLOCK < 7:
            place += _BLOCK - place % _BLOCK
            continue
        size, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        parts += content[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (_FULL, _LAST):
            yield message.FromString(parts)
            parts = b""


def values(items: Iterable[Any]) -> dict[str, Any]:
    """The values of a record, nested as they were."""
    found: dict[str, Any] = {}
    for item in items:
        *outer, name = item.nested_key or [item.key]
        place = found
        for key in outer:
            place = place.setdefault(key, {})
        place[name] = json.loads(item.value_json)
    return found


def logged(folder: Path, run_id: str) -> dict[str, Any]:
    """What the files of a run hold: its rows, config, artifacts and the folder of its media."""
    found: dict[str, Any] = {"rows": [], "config": {}, "artifacts": {}, "names": set()}
    integration("wandb").teardown()  # the file is whole when the service that writes it has ended
    # Two parts of a run that began in the same second have a number behind the second folder's name.
    paths = sorted(folder.glob(f"wandb/offline-run-*/run-{run_id}.wandb"))
    assert paths
    for path in paths:
        for record in records(path):
            if record.HasField("history"):
                found["rows"].append(values(record.history.item))
            for config in [record.config] * record.HasField("config") + [record.run.config] * record.HasField("run"):
                found["config"] |= {
                    item.key or item.nested_key[0]: json.loads(item.value_json) for item in config.update
                }
            if record.HasField("run"):
                found["names"].add(record.run.display_name)
            if record.HasField("request") and record.request.HasField("log_artifact"):
                found["artifacts"][record.request.log_artifact.artifact.name] = record.request.log_artifact.artifact
            if record.HasField("artifact"):
                found["artifacts"][record.artifact.name] = record.artifact
        found["files"] = path.parent / "files"
    return found


def test_a_run_is_logged_with_all_there_is(wandb, mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    run_id = log_run(outcome)
    assert wandb.run is None
    expected, found = tracked(outcome), logged(tmp_path, run_id)
    (row,) = found["rows"]
    assert {name: value for name, value in row.items() if name in expected.metrics} == expected.metrics
    for name, table in expected.tables.items():
        assert (row[f"pfgen/{name}"]["_type"], row[f"pfgen/{name}"]["nrows"]) == ("table-file", len(table.rows))
        content = json.loads((found["files"] / row[f"pfgen/{name}"]["path"]).read_text(encoding="utf-8"))
        assert tuple(content["columns"]) == table.columns
        assert list(map(tuple, content["data"])) == table.rows
    assert found["config"]["pfgen"] == {
        "name": "org/model",
        **expected.tags,
        "config": {"model": "org/model", "mode": "qa", "temperature": "1.0"},
    }
    assert found["config"]["pfgen"]["signature"] == outcome.signature
    assert found["names"] == {"org/model"}
    report = found["artifacts"][f"pfgen-report-{run_id}"]
    assert (report.type, list(report.aliases)) == ("report", ["latest"])
    (page,) = [entry for entry in report.manifest.contents if entry.path == "report.html"]
    assert Path(page.local_path).read_text(encoding="utf-8") == expected.page


def test_the_checkpoints_of_a_training_are_one_run_over_their_steps(wandb, mini, tmp_path):
    outcomes = {step: scored_run(tmp_path / str(step), mini, f"m/{step}", 2, step) for step in (20, 10)}
    ids = {log_run(outcome, into="my training", step=step) for step, outcome in outcomes.items()}
    assert ids == {"my_training"}
    rows = logged(tmp_path, "my_training")["rows"]
    assert {row["pfgen/step"]: row["pfgen/score"] for row in rows} == {
        step: outcome.summary.score for step, outcome in outcomes.items()
    }


def test_the_active_run_is_logged_into_and_stays_open(wandb, mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    with wandb.init(name="training") as active:
        active.log({"loss": 1.0}, step=100)
        assert log_run(outcome, step=50) == active.id  # a step that lies behind, as when a checkpoint is scored
        other = log_run(outcome, into="another")
        assert other == "another"
        assert wandb.run is active
        active.log({"loss": 0.5}, step=200)
    rows = logged(tmp_path, active.id)["rows"]
    assert [row["loss"] for row in rows if "loss" in row] == [1.0, 0.5]
    assert [(row["pfgen/step"], row["pfgen/score"]) for row in rows if "pfgen/score" in row] == [
        (50, outcome.summary.score)
    ]
    assert [row["pfgen/score"] for row in logged(tmp_path, other)["rows"]] == [outcome.summary.score]


def test_the_documented_examples_run(wandb, mini, tmp_path):
    scored_run(tmp_path / "result" / "org" / "model", mini)
    assert run_python_blocks(DOCS / "integrations" / "wandb.md") == 2
    assert logged(tmp_path, "my-training")["rows"]
    shutil.rmtree(tmp_path / "wandb")
