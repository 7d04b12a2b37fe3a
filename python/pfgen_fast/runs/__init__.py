"""Runs: reading trials, scoring them, and working with results."""
