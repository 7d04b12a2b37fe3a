"""The commands that score: `score`, `evaluate` and `serve`."""
