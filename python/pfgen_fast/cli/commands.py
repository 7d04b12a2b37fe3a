"""Imports every subcommand, which registers it; in the order in which `--help` lists them."""

from . import compare, explain, leaderboard, report, score, suite, verify  # noqa: F401
