"""Scores many tables into a directory, and skips finished outputs."""
