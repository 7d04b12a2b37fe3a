"""Benchmarks of pfgen-fast against its oracle; see README.md."""
