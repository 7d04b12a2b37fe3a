"""Suites: questions with reference answers and keyword rules, their files, and their compiled form."""
