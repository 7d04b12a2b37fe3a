"""Metrics that compare each answer with its own references: BLEU, chrF, ROUGE, token F1, exact match.

docs/references.md lists the metrics and their rules.
"""
