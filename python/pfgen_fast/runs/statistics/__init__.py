"""Statistics of runs and items: paired tests and their verdicts. Definitions: docs/statistics.md."""
