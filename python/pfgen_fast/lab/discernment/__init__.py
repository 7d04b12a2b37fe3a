"""Discernment: how well does an evaluator notice graded damage? Texts are damaged, scored, and compared by rank tests.

Rules: docs/discernment_rules.md. Usage: docs/discernment.md.
"""
