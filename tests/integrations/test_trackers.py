"""Runs in MLflow and Weights & Biases (offline), read back by MLflow's client, and as wandb gets them."""

import json
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
    parsed = store.search_runs(experiment_names=["pfgen"], output_format="list")
    runs = {run.info.run_name: run for run in parsed}
    assert runs.keys() == {"org/model", "my-training"}
    expected, run = _tracked(outcome, None, report=True), runs["org/model"]
    run_id = run.info.run_id
    assert run.data.metrics == expected.metrics
    assert run.data.params == {"pfgen.model": "org/model", "pfgen.mode": "qa", "pfgen.temperature": "1.0"}
    assert run.data.tags["pfgen.signature"] == outcome.signature
    assert run.data.tags["pfgen.suite_hash"] == mini.metadata_hash
    assert (run.info.run_name, run.info.status) == ("org/model", "FINISHED")
    for name, table in expected.tables.items():
        parsed = json.loads(artifact(store, run_id, f"pfgen/{name}.json"))
        assert parsed["columns"] == [column.name for column in table.columns]
        for row, expected_row in zip(parsed["data"], table.rows, strict=True):
            assert row == [pytest.approx(cell, rel=1e-9) if isinstance(cell, float) else cell for cell in expected_row]
    assert artifact(store, run_id, "pfgen/report.html") == expected.page
    assert json.loads(artifact(store, run_id, "pfgen/run.json"))["signature"] == outcome.signature
    assert store.active_run() is None


def test_checkpoints_are_one_run_of_mlflow(store, checkpoints):
    ids = {log_run(outcome, "mlflow", into="the 'best' training", step=step) for step, outcome in checkpoints.items()}
    (run_id,) = ids
    history = store.MlflowClient().get_metric_history(run_id, "pfgen/score")
    assert {point.step: point.value for point in history} == {
        k: checkpoint.summary.score for k, checkpoint in checkpoints.items()
    }
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


@pytest.fixture
def logged(offline, monkeypatch):
    """What runs of wandb log: the id and the config of the run, and a row or an artifact."""
    kept: list[tuple[str, dict[str, Any], Any]] = []
    for name in ("log", "log_artifact"):
        method = getattr(offline.Run, name)

        def keep(run, value, *arguments, method=method, **options):
            kept.append((run.id, dict(run.config), value))
            return method(run, value, *arguments, **options)

        monkeypatch.setattr(offline.Run, name, keep)
    return kept


def test_the_documented_examples_log_all_of_a_run_to_wandb(offline, logged, documented):
    outcome = documented("wandb")
    assert offline.run is None
    expected = _tracked(outcome, None, report=True)
    (run_id, _, row), *_, (_, config, report) = (entry for entry in logged if entry[0] != "my-training")
    assert {name: row[name] for name in expected.metrics} == expected.metrics
    for name, table in expected.tables.items():
        shown = row[f"pfgen/{name}"]
        assert shown.columns == [column.name for column in table.columns]
        assert list(map(tuple, shown.data)) == list(map(tuple, table.rows))
    assert config["pfgen"] == {"name": "org/model", **expected.tags, "config": dict(expected.parameters)}
    assert config["pfgen"]["signature"] == outcome.signature
    assert (report.name.partition(":")[0], report.type) == (f"pfgen-report-{run_id}", "report")
    page = report.manifest.entries["report.html"].local_path
    assert Path(page).read_text(encoding="utf-8") == expected.page


def test_checkpoints_are_one_run_of_wandb_in_any_order(logged, checkpoints):
    for step in (20, 10):
        assert log_run(checkpoints[step], "wandb", into="my training", step=step, report=False) == "my_training"
    assert {row["pfgen/step"]: row["pfgen/score"] for _, _, row in logged if isinstance(row, dict)} == {
        step: outcome.summary.score for step, outcome in checkpoints.items()
    }


def test_the_active_run_of_wandb_stays_open(offline, outcome):
    with offline.init(name="training") as active:
        active.log({"loss": 1.0}, step=100)
        assert log_run(outcome, "wandb", step=50) == active.id  # an earlier step, as when a checkpoint is scored
        assert log_run(outcome, "wandb", into="another") == "another"
        assert offline.run is active
        active.log({"loss": 0.5}, step=200)
        assert active.summary["pfgen/score"] == outcome.summary.score
