"""Metrics for Hugging Face `evaluate`: `evaluate.load(METRIC, suite="my-suite")`, and `REFERENCE_METRICS`."""

from pathlib import Path

METRIC = str(Path(__file__).parent / "pfgen.py")
"""The file of the metric, for `evaluate.load`."""

REFERENCE_METRICS = str(Path(__file__).parent / "reference_metrics.py")
"""The file of metrics that compare answers with references, for `evaluate.load(..., metrics=["bleu", "chrf"])`."""
