"""Benchmarks of pfgen-fast, compared with its oracle and with alternative libraries; see README.md."""
