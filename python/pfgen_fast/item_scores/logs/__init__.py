"""Logs of evaluation programs: one module for each program, and its entry in `programs.py`."""
