"""Metrics of long answers without a judge: classic metrics and errors."""
