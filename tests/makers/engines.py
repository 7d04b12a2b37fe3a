"""Packages that only `make engines` installs: where they are missing, tests are skipped, unless they must be there."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def engine(module: str) -> Any:
    """A module of an engine, at the top of its tests; with PFGEN_ENGINES_REQUIRED a missing one is a failure."""
    return import_module(module) if "PFGEN_ENGINES_REQUIRED" in os.environ else pytest.importorskip(module)
