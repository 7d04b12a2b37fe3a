"""Weights from people's marks, and how much a table of models depends on weights."""
