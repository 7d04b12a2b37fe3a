"""Experiments, one in each module, which turn scored runs into a `Finding`. Definitions: docs/experiments.md."""
