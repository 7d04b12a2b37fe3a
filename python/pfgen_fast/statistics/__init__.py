"""Statistics of plain columns of numbers: correlation, p-values, ranks, intervals.

Thin wrappers of NumPy and SciPy, independent of runs, files and plots. What cannot be computed raises
`ExperimentError` with the reason. Definitions: docs/experiments.md.
"""
