"""The recipes of docs/integrations/recipes.md, each where its program is installed."""

import shlex
from pathlib import Path

import pytest
from makers.documented import DOCS, blocks, documented_example
from makers.engines import integration
from makers.runs import make_run, trial_lines
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

RECIPES = DOCS / "integrations" / "recipes.md"


@pytest.fixture(autouse=True)
def _in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_datasets_and_evaluate_have_the_scores(scorer, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    datasets = pytest.importorskip("datasets")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
        exec(documented_example("Dataset.from_dict"), {})
    average = scorer.score("Q07", ["Ice is less dense than water.", "Because."]).average
    assert f"'average': {average[0]}" in capsys.readouterr().out
    pytest.importorskip("evaluate")
    exec(documented_example("evaluate.Metric"), {})
    assert f"'average': {average.mean()}" in capsys.readouterr().out


def test_tensorboard_has_a_curve(mini):
    pytest.importorskip("torch.utils.tensorboard")
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for step in (500, 1000):
        make_run(Path(f"result/step-{step}"), trial_lines(mini, 1, step // 500), {})
    scores = [outcome.summary.score for outcome in RunScorer(mini).score(find_runs(["result"]))]
    exec(documented_example("SummaryWriter"), {})
    events = accumulators.EventAccumulator("runs/my-training").Reload().Scalars("pfgen/score")
    assert {event.step: event.value for event in events} == pytest.approx(dict(zip((1000, 500), scores, strict=True)))


@pytest.fixture
def result(mini):
    """The result of `result/org/model`, which recipes for trackers read."""
    make_run(Path("result/org/model"), trial_lines(mini, 1), {"model": "org/model"})
    (outcome,) = RunScorer(mini).score(find_runs(["result"]))
    return outcome.summary


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
def test_wandb_has_the_scores(result, monkeypatch, capsys):
    integration("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    exec(documented_example("wandb.init"), {})
    printed = " ".join(capsys.readouterr().err.split())
    assert f"pfgen/score {result.score} " in printed
    assert f"pfgen/length {result.length} " in printed


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_the_scores(result, monkeypatch):
    mlflow = integration("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
    exec(documented_example("mlflow.start_run"), {})
    metrics = mlflow.last_active_run().data.metrics
    assert (metrics["score"], metrics["helpfulness"]) == (result.score, result.scores.helpfulness)


def test_a_model_card_has_the_score(result):
    hub = pytest.importorskip("huggingface_hub")
    Path("README.md").write_text("---\nlicense: mit\n---\n# Model\n", encoding="utf-8")
    exec(documented_example("ModelCard.load"), {})
    card = hub.ModelCard.load("README.md")
    assert (card.data.license, card.data.eval_results[0].metric_value) == ("mit", result.score)


def test_files_are_filtered_before_a_pipeline(call, tmp_path):
    (tmp_path / "in").mkdir()
    row = '{"id": 1, "question": "Q07", "text": "%s"}\n'
    (tmp_path / "in" / "a.jsonl").write_text(row % "Ice floats because it is less dense than water." + row % "Because.")
    [command] = [block.code for block in blocks(RECIPES) if block.language == "sh"]
    program, *words = shlex.split(command.replace("0.4", "0.3"))
    assert (program, call(*words)[0]) == ("pfgen-fast", 0)
    assert (tmp_path / "good" / "a.jsonl").read_text().count('"id"') == 1
