"""Logs that evaluation programs wrote, read as scores of models on items, without these programs."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from makers.engines import integration
from pfgen_fast.item_scores.columns import ColumnNames
from pfgen_fast.item_scores.reading import is_score_table, read_item_scores

N_ITEMS = 8


@pytest.fixture(scope="module")
def inspect_logs(tmp_path_factory) -> dict[str, dict[str, Path]]:
    """The same evaluation of two models, in both formats."""
    integration("inspect_ai")
    inspect_ai, model = import_module("inspect_ai"), import_module("inspect_ai.model")
    scorer, dataset = import_module("inspect_ai.scorer"), import_module("inspect_ai.dataset")

    @scorer.scorer(metrics={"*": [scorer.mean()]})
    def parts():
        async def score(state, target):
            said = state.output.completion
            return scorer.Score(value={"length": len(said), "is_right": said == target.text})

        return score

    def answer_of(name):
        def answer(messages, tools, tool_choice, config):
            said = "yes" if (int(messages[-1].text) % 3 == 0) == (name == "good") else "no"
            output = model.ModelOutput.from_content("mock", said)
            return output.model_copy(update={"usage": model.ModelUsage()})

        return answer

    folder = tmp_path_factory.mktemp("logs")
    found: dict[str, dict[str, Path]] = {}
    for name in ("good", "bad"):
        for form in ("eval", "json"):
            samples = [
                dataset.Sample(input=f"{n}", target="yes", id=n, metadata={"part": n // 2}) for n in range(N_ITEMS)
            ]
            task = inspect_ai.Task(dataset=samples, scorer=[scorer.match(), parts()], epochs=2, name="quiz")
            (log,) = inspect_ai.eval(
                task,
                model=model.get_model(f"mockllm/{name}", custom_outputs=answer_of(name)),
                log_dir=str(folder / form),
                log_format=form,
                display="none",
            )
            assert log.status == "success", log.error
            found.setdefault(form, {})[name] = Path(log.location)
    with warnings.catch_warnings():  # Inspect leaves streams in memory to the collector of garbage
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    return found


@pytest.mark.integrations
@pytest.mark.filterwarnings("default:The 'initial' parameter is deprecated:DeprecationWarning")  # of tenacity
@pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")
@pytest.mark.parametrize("form", ["eval", "json"])
def test_logs_of_inspect_have_the_scores_of_its_evaluation(inspect_logs, form):
    paths = inspect_logs[form]
    assert all(map(is_score_table, paths.values()))
    scores = read_item_scores([paths["good"], paths["bad"]], ColumnNames(cluster="part"))
    assert scores.models == ("mockllm/good", "mockllm/bad")
    assert scores.items == tuple(f"quiz/{n}" for n in range(N_ITEMS))
    assert scores.clusters == tuple(f"quiz/{n // 2}" for n in range(N_ITEMS))
    right = np.array([float(n % 3 == 0) for n in range(N_ITEMS)])
    np.testing.assert_array_equal(scores.values["match"], [right, 1 - right])
    np.testing.assert_array_equal(scores.values["parts/is_right"], [right, 1 - right])
    np.testing.assert_array_equal(scores.of("mockllm/good", "parts/length"), 2 + right)
    assert (scores.n_trials["match"] == 2).all()
    folder = read_item_scores([paths["good"].parent])
    assert set(folder.models) == set(scores.models)
    means = {
        score.name: metric.value
        for score in import_module("inspect_ai.log").read_eval_log(str(paths["good"])).results.scores
        for metric in [next(iter(score.metrics.values()))]
    }
    assert scores.of("mockllm/good", "match").mean() == pytest.approx(means["match"])


MULTIPLE_CHOICE = """
task: quiz
dataset_path: json
dataset_kwargs: {data_files: quiz.jsonl}
test_split: train
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: ["a", "bb"]
doc_to_target: 0
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: brier_score, aggregation: brier_score, higher_is_better: false}
"""
FILTERED = """
task: said
dataset_path: json
dataset_kwargs: {data_files: quiz.jsonl}
test_split: train
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "lol"
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
filter_list:
  - name: strict
    filter: [{function: regex, regex_pattern: "(x)"}, {function: take_first}]
  - name: loose
    filter: [{function: take_first}]
"""


@pytest.mark.models
def test_samples_of_the_harness_have_the_means_of_its_results(tmp_path):
    (tmp_path / "quiz.yaml").write_text(MULTIPLE_CHOICE)
    (tmp_path / "said.yaml").write_text(FILTERED)
    lines = (json.dumps({"q": f"q{n}", "passage": n // 2}) + "\n" for n in range(N_ITEMS))
    (tmp_path / "quiz.jsonl").write_text("".join(lines))
    words = "--model dummy --model_args pretrained=org/m --tasks quiz,said --include_path . --log_samples"
    words += " --output_path out"
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval", *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    scores = read_item_scores([tmp_path / "out"], ColumnNames(cluster="passage"))
    assert scores.models == ("org/m",)
    assert scores.items == tuple(f"{task}/{n}" for task in ("quiz", "said") for n in range(N_ITEMS))
    assert scores.clusters == tuple(f"{task}/{n // 2}" for task in ("quiz", "said") for n in range(N_ITEMS))
    assert set(scores.metrics) == {"acc", "exact_match,strict", "exact_match,loose"}
    (results,) = (tmp_path / "out").rglob("results_*.json")
    figures = json.loads(results.read_text(encoding="utf-8"))["results"]
    assert np.nanmean(scores.values["acc"]) == pytest.approx(figures["quiz"]["acc,none"])
    for kept in ("strict", "loose"):
        mean = np.nanmean(scores.values[f"exact_match,{kept}"])
        assert mean == figures["said"][f"exact_match,{kept}"] == float(kept == "loose")
    assert any("brier_score that are no numbers" in note for note in scores.notes)
