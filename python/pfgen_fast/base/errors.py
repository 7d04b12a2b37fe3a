"""The errors of the package: a base class, and a subclass for each kind of faulty input.

Every message is one sentence that names the fault, its place, and the expected value. `optional` imports a package
that may be missing, and says how to install it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def lacks_memory(error: Exception) -> bool:
    """Whether memory is missing: under a limit, libraries that do not load and threads that do not start say so."""
    if isinstance(error, MemoryError):
        return True
    if sys.platform == "win32":
        return False
    import resource

    is_limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return is_limited and type(error) in (ImportError, RuntimeError, SystemError)


class PfgenError(Exception):
    """Base class of all errors that this package raises deliberately."""


class SuiteError(PfgenError, ValueError):
    """A suite folder, question file or keyword rule breaks the rules."""


class PatternTimeout(SuiteError):
    """The search of a keyword rule's pattern took longer than `suite.keywords.pattern_time_limit` allows."""


class IndexFormatError(PfgenError, ValueError):
    """A compiled suite is truncated or damaged, or belongs to another suite or version."""


class EngineError(PfgenError):
    """Answers cannot be generated: an engine, model, server or setting is unusable."""


class JudgingError(PfgenError, ValueError):
    """A judge cannot be asked: a template, budget or file of replies is unusable."""


class DiscernmentError(PfgenError, ValueError):
    """A test of an evaluator is impossible: a collection, plan, table, weight or score breaks the rules."""


class ChecklistError(PfgenError, ValueError):
    """Answers cannot be judged by checklists: a suite, run, judgement, mark or option breaks the rules."""


class AnnotationError(PfgenError, ValueError):
    """Annotations cannot be collected: an option, a folder or a sheet breaks the rules."""


class BuildError(PfgenError, ValueError):
    """A suite cannot be built: the config breaks the rules, or a stage leaves too few answers."""


class ServingError(PfgenError):
    """A reward server cannot be started or reached, or refuses a request."""


class ExperimentError(PfgenError, ValueError):
    """An experiment would be meaningless: too few runs, equal scores, no common names."""


class RewardError(PfgenError, ValueError):
    """A reward cannot be computed: a part of a shape, a source or a column of the batch breaks the rules."""


class TrialsError(PfgenError, ValueError):
    """Questions or answers cannot be scored; the message names the row.

    Attributes:
        column: `"questions"`, `"answers"` or `"references"` if the fault is in a batch passed to a scorer, else None.
        row: The row of that batch, from 0; None if the fault is not in a single row.
        problem: The message without the location.
    """

    def __init__(self, problem: str, *, column: str | None = None, row: int | None = None) -> None:
        location = "" if column is None else f"{column}: " if row is None else f"{column}[{row}]: "
        super().__init__(location + problem)
        self.column = column
        self.row = row
        self.problem = problem


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
