"""Imports every subcommand, which registers it; in the order in which `--help` lists them."""

from . import compare, explain, leaderboard, score, suite, verify  # noqa: F401
