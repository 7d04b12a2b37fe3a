"""Checklists: long answers judged question by question, with verdicts that are stored, audited and replayed."""
