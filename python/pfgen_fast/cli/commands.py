"""Imports every subcommand, which registers it; in the order in which `--help` lists them."""
# ruff: noqa: F401

from . import (
    build_suite,
    compare,
    experiment,
    explain,
    generate,
    import_batch,
    leaderboard,
    prompts,
    report,
    score,
    suite,
    sweep,
    verify,
)
