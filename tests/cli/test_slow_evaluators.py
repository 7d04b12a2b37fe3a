"""`discern run` says how long a slow evaluator will take before it begins."""

from __future__ import annotations

import json

import pytest
from pfgen_fast.cli.app import app
from pfgen_fast.evaluators.metrics import MetricsEvaluator
from typer.testing import CliRunner


@pytest.mark.parametrize(("seconds", "is_said"), [(75.4, True), (9.0, False)])
def test_classic_metrics_say_how_long_they_take(tmp_path, monkeypatch, seconds, is_said):
    pytest.importorskip("sacrebleu")
    monkeypatch.setattr(MetricsEvaluator, "expected_seconds", lambda self, items, n_texts: seconds)
    rows = [{"id": n, "text": f"Ice {n} floats.", "task": "story", "references": ["Ice."]} for n in range(12)]
    collection = tmp_path / "items.jsonl"
    collection.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = ["--evaluator", "metrics", "--kinds", "char_delete/30", "--dry-run", "-o", str(tmp_path / "out")]
    found = CliRunner().invoke(app, ["discern", "run", str(collection), *options])
    assert found.exit_code == 0, found.output
    assert ("24 texts take metrics about 75 s; --items takes fewer." in found.output) == is_said
