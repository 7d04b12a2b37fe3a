"""Packages that only `make engines` and `make integrations` install, and workers that die.

Where one is missing, its tests are skipped, unless it must be there.
"""

from __future__ import annotations

import os
import signal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pfgen_fast import Scorer, ScorerSpec


def engine(module: str) -> Any:
    """A module of an engine, at the top of its tests; with PFGEN_ENGINES_REQUIRED a missing one is a failure."""
    return _module(module, "PFGEN_ENGINES_REQUIRED")


def integration(module: str) -> Any:
    """A module of a program that calls the scores; with PFGEN_INTEGRATIONS_REQUIRED a missing one is a failure."""
    return _module(module, "PFGEN_INTEGRATIONS_REQUIRED")


def _module(module: str, required: str) -> Any:
    return import_module(module) if required in os.environ else pytest.importorskip(module)


def mortal_spec(folder: Path, times: int = 1) -> ScorerSpec:
    """A spec whose process kills itself, so many times, when it has scored some batches and asks for the scorer again.

    A file in the folder notes each kill.
    """

    class MortalSpec(ScorerSpec):
        n_batches = 0

        @property
        def scorer(self) -> Scorer:
            self.n_batches += 1
            n_killed = len(os.listdir(folder))
            if self.n_batches == 2 and n_killed < times:
                (folder / str(n_killed)).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return ScorerSpec("mini", threads=1).scorer

        def __reduce__(self) -> Any:
            return type(self), ("mini",), {"threads": 1}

    folder.mkdir()
    return MortalSpec("mini", threads=1)
