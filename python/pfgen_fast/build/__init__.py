"""Builds reference sets: from many raw answers to the reference sets of a suite."""
