"""Samples of lm-evaluation-harness, made here in their format; tests/integrations reads those that it wrote."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pfgen_fast import TrialsError
from pfgen_fast.runs.items.score_columns import ColumnNames
from pfgen_fast.runs.items.score_tables import is_score_table, read_item_scores

DATE = "2026-11-01T10-00-00.123456"


def lm_eval_samples(
    folder: Path, task: str, model: str | None, values: Mapping[int, Any], date: str = DATE, **changes: Any
):
    folder.mkdir(parents=True, exist_ok=True)
    usual = {"resps": [["x"]], "filter": "none", "metrics": ["acc"]}
    rows = [
        {**usual, "doc_id": id, "doc": {"passage": id // 2}, "acc": value, "doc_hash": f"{id:064d}", **changes}
        for id, value in values.items()
    ]
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if model:
        results = {"model_name": model, "higher_is_better": {task: {"acc": True, "loss": False}}}
        (folder / f"results_{date}.json").write_text(json.dumps(results))
    return path


def test_lm_eval_documents_are_items_and_tasks_are_subjects(tmp_path):
    for model, value in (("a", 1.0), ("b", 0.0)):
        lm_eval_samples(tmp_path / model, "maths", f"org/{model}", {0: value, 3: 1})
        lm_eval_samples(tmp_path / model, "law_2", f"org/{model}", {0: 1, 1: value})
    expected = read_item_scores([tmp_path / "a", tmp_path / "b"], ColumnNames(cluster="passage"))
    assert expected.models == ("org/a", "org/b")
    assert expected.items == ("law_2/0", "law_2/1", "maths/0", "maths/3")
    assert expected.subjects == ("law_2", "law_2", "maths", "maths")
    assert expected.clusters == ("law_2/0", "law_2/0", "maths/0", "maths/1")
    assert expected.values["acc"].tolist() == [[1, 1, 1, 1], [1, 0, 0, 1]]
    assert expected.notes == ()
    for paths in ([tmp_path], [str(tmp_path / "*")], [tmp_path / "a" / f"results_{DATE}.json", tmp_path / "b"]):
        assert is_score_table(paths[0])
        item_scores = read_item_scores(paths)
        assert (item_scores.models, item_scores.items) == (expected.models, expected.items)
        np.testing.assert_array_equal(item_scores.values["acc"], expected.values["acc"])


def test_lm_eval_filters_are_metrics_and_other_values_are_left_out(tmp_path):
    path = lm_eval_samples(tmp_path / "org__m", "maths", None, {0: 1}, metrics=["acc", "loss", "f1"], loss=2, f1=[0, 1])
    strict = lm_eval_samples(tmp_path / "x", "maths", None, {0: 0}, filter="strict")
    path.write_text(path.read_text() + strict.read_text())
    scores = read_item_scores([path])
    assert scores.models == ("org__m",)
    by_metric = {metric: values.tolist() for metric, values in scores.values.items()}
    assert by_metric == {"acc": [[1]], "loss": [[2]], "acc,strict": [[0]]}
    assert "values of f1 that are no numbers and are not used: 1" in scores.notes[0]
    lm_eval_samples(tmp_path / "org__m", "other", "m", {0: 1}, metrics=["loss"], loss=0.5)
    assert read_item_scores([tmp_path / "org__m"]).higher_is_better["loss"] is False


def test_a_metric_of_lm_eval_has_one_direction(tmp_path):
    for task, date in (("gain", "2026-10-01T10-00-00.1"), ("loss", "2026-10-02T10-00-00.1")):
        lm_eval_samples(tmp_path, task, "m", {0: 0.9}, date)
    read_item_scores([tmp_path])
    results = tmp_path / "results_2026-10-02T10-00-00.1.json"
    results.write_text(results.read_text().replace('"acc": true', '"acc": false'))
    with pytest.raises(
        TrialsError, match="task loss: lower scores of 'acc' are better, but higher ones are in task gain; expected one"
    ):
        read_item_scores([tmp_path])


def test_the_newest_samples_of_a_task_count_and_other_documents_are_noted(tmp_path):
    lm_eval_samples(tmp_path / "m", "maths", "m", {0: 0}, "2026-10-01T10-00-00.1")
    lm_eval_samples(tmp_path / "m", "maths", "m", {0: 1})
    scores = read_item_scores([tmp_path / "m"])
    assert scores.values["acc"].tolist() == [[1]]
    assert "the newest samples of the task are used, instead of samples_maths_2026-10-01T10-00-00.1" in scores.notes[0]
    lm_eval_samples(tmp_path / "n", "maths", "n", {0: 1}, doc_hash="f" * 64)
    assert "1 item with another document" in read_item_scores([tmp_path / "m", tmp_path / "n"]).notes[-1]


def test_bad_lm_eval_samples_are_one_sentence(tmp_path):
    path = lm_eval_samples(tmp_path, "maths", None, {0: 1, 1: math.nan})
    path.write_text(path.read_text() + "\n")
    with pytest.raises(TrialsError, match=r"line 2: the score 'acc' is nan; expected a finite number"):
        read_item_scores([path])
    path.unlink()
    (tmp_path / f"results_{DATE}.json").write_text('{"results": {}}')
    for place in (tmp_path, tmp_path / f"results_{DATE}.json"):
        assert is_score_table(place)
        with pytest.raises(TrialsError, match=r"no scores of samples beside these results; .* with --log_samples"):
            read_item_scores([place])
    path = lm_eval_samples(tmp_path, "maths", None, {0: 1})
    path.write_text(path.read_text() + '{"doc_id": 1, "resps": []}\n')
    with pytest.raises(TrialsError, match=r"line 2: expected a sample with 'doc_id', 'doc' and 'metrics'"):
        read_item_scores([path])


def test_a_log_of_inspect_is_made_a_table_by_inspect(tmp_path):
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK")
    assert is_score_table(path)
    with pytest.raises(TrialsError, match=r"log\.eval: a log of Inspect; samples_df of inspect_ai\.analysis"):
        read_item_scores([path])
