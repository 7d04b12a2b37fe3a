"""Imports optional packages on demand; the error for a missing package says how to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import PfgenError, lacks_memory


def optional(module: str, *, extra: str, needed_for: str, error: type[PfgenError] = PfgenError) -> Any:
    """Imports a module of an optional package."""
    try:
        return import_module(module)
    except ImportError as problem:
        if lacks_memory(problem):
            raise MemoryError(f"not enough memory to load {module} ({problem})") from None
        package = problem.name or module.partition(".")[0]
        is_missing = isinstance(problem, ModuleNotFoundError)
        state = "which is not installed" if is_missing else f"which does not load ({problem})"
        raise error(f"{needed_for} needs {package}, {state}: pip install 'pfgen-fast[{extra}]'") from None
