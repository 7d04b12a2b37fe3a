"""Runs in MLflow: what its own client and files give back."""

from __future__ import annotations

import json

import pytest
from makers.documented import DOCS
from makers.engines import integration
from makers.frames import run_python_blocks
from makers.tracked_runs import scored_run
from pfgen_fast.integrations.mlflow import log_run
from pfgen_fast.integrations.tracking import tracked

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A store in a database of its own, which takes MLflow ten seconds to make."""
    mlflow = integration("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'mlflow.db'}")
    yield mlflow
    mlflow.set_tracking_uri(before)


@pytest.fixture
def store(database, request, tmp_path, monkeypatch):
    """The store, with an experiment for each test."""
    monkeypatch.chdir(tmp_path)
    database.set_experiment(request.node.name)
    yield database
    while database.active_run():
        database.end_run()


def artifact(mlflow, run_id: str, path: str) -> str:
    return mlflow.artifacts.load_text(f"runs:/{run_id}/{path}")


def test_a_run_is_logged_with_all_there_is(store, mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    run_id = log_run(outcome)
    expected = tracked(outcome)
    run = store.get_run(run_id)
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


def test_the_checkpoints_of_a_training_are_one_run(store, mini, tmp_path):
    outcomes = {step: scored_run(tmp_path / str(step), mini, f"m/{step}", 2, step) for step in (10, 20)}
    ids = {log_run(outcome, into="the 'best' training", step=step) for step, outcome in outcomes.items()}
    (run_id,) = ids
    history = store.MlflowClient().get_metric_history(run_id, "pfgen/score")
    assert [(point.step, point.value) for point in history] == [
        (step, outcome.summary.score) for step, outcome in outcomes.items()
    ]
    assert store.get_run(run_id).data.params == {}
    for step in outcomes:
        described = json.loads(artifact(store, run_id, f"pfgen/step-{step}/run.json"))
        assert described["config"]["model"] == f"m/{step}"
        assert f'"m/{step}"' in artifact(store, run_id, f"pfgen/step-{step}/report.html")


def test_the_active_run_is_logged_into_and_stays_open(store, mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    with store.start_run(run_name="training") as active:
        store.log_metric("loss", 1.0)
        assert log_run(outcome, step=5) == active.info.run_id
        assert log_run(outcome, step=6, into="training") == active.info.run_id
        other = log_run(outcome, into="another")
        assert other != active.info.run_id
        assert store.active_run().info.run_id == active.info.run_id
    assert {"loss", "pfgen/score"} <= store.get_run(active.info.run_id).data.metrics.keys()
    assert store.get_run(other).data.metrics["pfgen/score"] == outcome.summary.score


def test_more_metrics_than_mlflow_takes_at_a_time(store, mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    value = json.loads(outcome.path.read_text())
    question = next(iter(value["questions"].values()))
    value["questions"] = {f"Q{number}": {**question, "samples": []} for number in range(2100)}
    outcome.path.write_text(json.dumps(value))
    assert len(store.get_run(log_run(outcome.path, report=False)).data.metrics) > 2100


def test_the_documented_example_runs(store, mini, tmp_path):
    scored_run(tmp_path / "result" / "org" / "model", mini)
    assert run_python_blocks(DOCS / "integrations" / "mlflow.md") == 2
