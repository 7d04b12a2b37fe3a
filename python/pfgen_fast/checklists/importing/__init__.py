"""Suites and runs that come from elsewhere: HelloBench, and the questions and answers of n-gram suites."""
