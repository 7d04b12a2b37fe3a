"""A metric for Hugging Face `evaluate`: `evaluate.load(pfgen_fast.integrations.evaluate.METRIC, suite="my-suite")`."""

from pathlib import Path

METRIC = str(Path(__file__).parent / "pfgen.py")
"""The file of the metric, for `evaluate.load`."""
