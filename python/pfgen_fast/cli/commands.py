"""Imports every subcommand, which registers it; in the order in which `--help` lists them."""

from . import score  # noqa: F401
