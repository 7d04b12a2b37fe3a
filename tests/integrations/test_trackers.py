"""Runs in MLflow and Weights & Biases (offline), read back by their own clients, readers and messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.documented import DOCS, blocks
from makers.engines import integration
from makers.runs import make_run, trial_lines
from pfgen_fast.integrations.tracking import _tracked, log_run
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]

_BLOCK, _LAST, _FULL = 32768, 4, 1


@pytest.fixture(autouse=True)
def _in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def scored_run(folder, suite, model="org/model", n_trials=3, first=0):
    """A run with reference answers, its result.json and the outcome of scoring it."""
    make_run(folder, trial_lines(suite, n_trials, first), {"model": model, "mode": "qa", "temperature": 1.0})
    (outcome,) = RunScorer(suite=suite, force=True).score(find_runs([folder]))
    assert outcome.error is None
    return outcome


@pytest.fixture
def outcome(mini, tmp_path):
    return scored_run(tmp_path / "run", mini)


@pytest.fixture
def checkpoints(mini, tmp_path):
    """The outcomes of two checkpoints by their step."""
    return {step: scored_run(tmp_path / str(step), mini, f"m/{step}", 2, step) for step in (10, 20)}


@pytest.fixture
def documented(mini, tmp_path):
    """Runs the examples of the page, which score a run, for a tracker; returns the outcome of scoring."""
    outcome = scored_run(tmp_path / "result" / "org" / "model", mini)
    outcome.path.unlink()

    def run_examples(tracker):
        first, second = blocks(DOCS / "integrations" / "tracking.md")
        for block in (first, second):
            exec(block.code.replace('"wandb"', f'"{tracker}"'), {})
        return outcome

    return run_examples


# ---- MLflow


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A store in its own database, which takes MLflow ten seconds to make."""
    package = integration("mlflow")
    before = package.get_tracking_uri()
    package.set_tracking_uri(f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'mlflow.db'}")
    yield package
    package.set_tracking_uri(before)


@pytest.fixture
def store(database, request):
    """The store, with an experiment for each test."""
    database.set_experiment(request.node.name)
    yield database
    while database.active_run():
        database.end_run()


def artifact(store, run_id: str, path: str) -> str:
    return store.artifacts.load_text(f"runs:/{run_id}/{path}")


def test_the_documented_examples_log_all_of_a_run_to_mlflow(store, mini, documented):
    store.set_experiment("pfgen")
    outcome = documented("mlflow")
    found = store.search_runs(experiment_names=["pfgen"], output_format="list")
    runs = {run.info.run_name: run for run in found}
    assert runs.keys() == {"org/model", "my-training"}
    expected, run = _tracked(outcome, None, report=True), runs["org/model"]
    run_id = run.info.run_id
    assert run.data.metrics == expected.metrics
    assert run.data.params == {"pfgen.model": "org/model", "pfgen.mode": "qa", "pfgen.temperature": "1.0"}
    assert run.data.tags["pfgen.signature"] == outcome.signature
    assert run.data.tags["pfgen.suite_hash"] == mini.metadata_hash
    assert (run.info.run_name, run.info.status) == ("org/model", "FINISHED")
    for name, table in expected.tables.items():
        found = json.loads(artifact(store, run_id, f"pfgen/{name}.json"))
        assert tuple(found["columns"]) == table.columns
        for row, expected_row in zip(found["data"], table.rows, strict=True):
            assert row == [pytest.approx(cell, rel=1e-9) if isinstance(cell, float) else cell for cell in expected_row]
    assert artifact(store, run_id, "pfgen/report.html") == expected.page
    assert json.loads(artifact(store, run_id, "pfgen/run.json"))["signature"] == outcome.signature
    assert store.active_run() is None


def test_checkpoints_are_one_run_of_mlflow(store, checkpoints):
    ids = {log_run(outcome, "mlflow", into="the 'best' training", step=step) for step, outcome in checkpoints.items()}
    (run_id,) = ids
    history = store.MlflowClient().get_metric_history(run_id, "pfgen/score")
    assert {point.step: point.value for point in history} == {k: one.summary.score for k, one in checkpoints.items()}
    assert store.get_run(run_id).data.params == {}
    for step in checkpoints:
        described = json.loads(artifact(store, run_id, f"pfgen/step-{step}/run.json"))
        assert described["config"]["model"] == f"m/{step}"
        assert f'"m/{step}"' in artifact(store, run_id, f"pfgen/step-{step}/report.html")


def test_the_active_run_of_mlflow_stays_open(store, outcome):
    with store.start_run(run_name="training") as active:
        store.log_metric("loss", 1.0)
        assert log_run(outcome, "mlflow", step=5) == active.info.run_id
        assert log_run(outcome, "mlflow", step=6, into="training") == active.info.run_id
        other = log_run(outcome, "mlflow", into="another")
        assert other != active.info.run_id
        assert store.active_run().info.run_id == active.info.run_id
    assert {"loss", "pfgen/score"} <= store.get_run(active.info.run_id).data.metrics.keys()
    assert store.get_run(other).data.metrics["pfgen/score"] == outcome.summary.score


def test_more_metrics_than_mlflow_takes_at_a_time(store, outcome):
    value = json.loads(outcome.path.read_text())
    question = next(iter(value["questions"].values()))
    value["questions"] = {f"Q{number}": {**question, "samples": []} for number in range(2100)}
    outcome.path.write_text(json.dumps(value))
    assert len(store.get_run(log_run(outcome.path, "mlflow", report=False)).data.metrics) > 2100


# ---- Weights & Biases


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """The package wandb, offline and in its own directory, however the machine is configured."""
    package = integration("wandb")
    paths = {"DIR": tmp_path, "CACHE_DIR": tmp_path / "cache", "DATA_DIR": tmp_path / "data"}
    for name, value in {"MODE": "offline", "SILENT": "true", **paths}.items():
        monkeypatch.setenv(f"WANDB_{name}", str(value))
    package.teardown()  # the package reads its settings once
    yield package
    while package.run is not None:
        package.finish()
    package.teardown()


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
    """The rows, config, artifacts and media directory in the files of a run."""
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


def test_the_documented_examples_log_all_of_a_run_to_wandb(offline, documented, tmp_path):
    outcome = documented("wandb")
    assert offline.run is None
    run_id, *others = {path.stem.removeprefix("run-") for path in tmp_path.rglob("run-*.wandb")} - {"my-training"}
    assert others == []
    expected, found = _tracked(outcome, None, report=True), logged(tmp_path, run_id)
    (row,) = found["rows"]
    assert {name: value for name, value in row.items() if name in expected.metrics} == expected.metrics
    for name, table in expected.tables.items():
        assert (row[f"pfgen/{name}"]["_type"], row[f"pfgen/{name}"]["nrows"]) == ("table-file", len(table.rows))
        content = json.loads((found["files"] / row[f"pfgen/{name}"]["path"]).read_text(encoding="utf-8"))
        assert tuple(content["columns"]) == table.columns
        assert list(map(tuple, content["data"])) == table.rows
    config = {"model": "org/model", "mode": "qa", "temperature": "1.0"}
    assert found["config"]["pfgen"] == {"name": "org/model", **expected.tags, "config": config}
    assert found["config"]["pfgen"]["signature"] == outcome.signature
    assert found["names"] == {"org/model"}
    report = found["artifacts"][f"pfgen-report-{run_id}"]
    assert (report.type, list(report.aliases)) == ("report", ["latest"])
    (page,) = [entry for entry in report.manifest.contents if entry.path == "report.html"]
    assert Path(page.local_path).read_text(encoding="utf-8") == expected.page


@pytest.mark.usefixtures("offline")
def test_checkpoints_are_one_run_of_wandb_in_any_order(checkpoints, tmp_path):
    for step in (20, 10):
        assert log_run(checkpoints[step], "wandb", into="my training", step=step) == "my_training"
    rows = logged(tmp_path, "my_training")["rows"]
    assert {row["pfgen/step"]: row["pfgen/score"] for row in rows} == {
        step: outcome.summary.score for step, outcome in checkpoints.items()
    }


def test_the_active_run_of_wandb_stays_open(offline, outcome, tmp_path):
    with offline.init(name="training") as active:
        active.log({"loss": 1.0}, step=100)
        assert log_run(outcome, "wandb", step=50) == active.id  # an earlier step, as when a checkpoint is scored
        other = log_run(outcome, "wandb", into="another")
        assert other == "another"
        assert offline.run is active
        active.log({"loss": 0.5}, step=200)
    rows = logged(tmp_path, active.id)["rows"]
    assert [row["loss"] for row in rows if "loss" in row] == [1.0, 0.5]
    found = [(row["pfgen/step"], row["pfgen/score"]) for row in rows if "pfgen/score" in row]
    assert found == [(50, outcome.summary.score)]
    assert [row["pfgen/score"] for row in logged(tmp_path, other)["rows"]] == [outcome.summary.score]
