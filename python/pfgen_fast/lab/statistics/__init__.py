"""Statistics of columns of numbers: correlations, p-values, ranks and intervals, independent of runs, files and plots.

Definitions: docs/statistics.md.
"""
