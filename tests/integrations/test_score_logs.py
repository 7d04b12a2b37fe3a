"""Logs of lm-evaluation-harness, read as scores of a model on items."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from pfgen_fast.runs.items.item_columns import ColumnNames
from pfgen_fast.runs.items.score_reading import read_item_scores

N_ITEMS = 8


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
