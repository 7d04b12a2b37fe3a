"""Packages that only `make engines` and `make integrations` install.

Where one is missing, its tests are skipped, unless it must be there.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def engine(module: str) -> Any:
    """A module of an engine, at the top of its tests; with PFGEN_ENGINES_REQUIRED a missing one is a failure."""
    return _module(module, "PFGEN_ENGINES_REQUIRED")


def integration(module: str) -> Any:
    """A module of a program that calls the scores; with PFGEN_INTEGRATIONS_REQUIRED a missing one is a failure."""
    return _module(module, "PFGEN_INTEGRATIONS_REQUIRED")


def _module(module: str, required: str) -> Any:
    return import_module(module) if required in os.environ else pytest.importorskip(module)
