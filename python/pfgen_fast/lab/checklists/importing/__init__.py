"""Imports suites and runs: HelloBench, and the questions and answers of n-gram suites."""
