"""Imports every subcommand, which registers it; in the order in which `--help` lists them."""

from . import compare, explain, generate, import_batch, leaderboard, prompts, report, score, suite, sweep, verify  # noqa: F401
