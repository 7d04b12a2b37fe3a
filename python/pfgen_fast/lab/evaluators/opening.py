"""Opens an evaluator by its name on the command line or in a config file: `open_evaluator`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from ...base.errors import DiscernmentError
from ...base.untrusted_text import nearest_names, unknown_name
from .evaluator import Evaluator
from .table_evaluator import TableScores

_OPENERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ngram": ((".ngram_evaluator", "open_ngram"), ("...scoring.scorer", "Scorer")),
    "metrics": ((".ngram_evaluator", "MetricsEvaluator"),),
    "judge": ((".judge_evaluator", "open_judge"),),
    "checklists:SUITE": (("..checklists.checklist_evaluator", "open_checklists"),),
    "python:MODULE:FUNCTION": (
        (".function_evaluator", "open_function"),
        (".function_evaluator", "BatchedEvaluator"),
        (".user_code", "OutsideEvaluator"),
    ),
    "command:PROGRAM ...": ((".command_evaluator", "CommandEvaluator"), (".user_code", "OutsideEvaluator")),
    "table:FILE": ((".table_evaluator", "TableScores"),),
}
"""Module and name of the function or class that opens each kind, and of further classes that take its options.

They are imported on demand. This table names the module of `checklists` because the package may not import it.
"""


def open_evaluator(what: str, **options: Any) -> Evaluator | TableScores:
    """Opens an evaluator."""
    kind, colon, rest = what.partition(":")
    spellings = {spelling.partition(":")[0]: spelling for spelling in _OPENERS}
    if kind not in spellings or bool(colon) != (":" in spellings[kind]) or (colon and not rest.strip()):
        nearest = [spellings[spelling] for spelling in nearest_names(kind, spellings)]
        raise DiscernmentError(unknown_name("evaluator", what, _OPENERS, nearest=nearest))
    known = options_of(kind)
    for name in options:
        if name not in known:
            raise DiscernmentError(f"evaluator {kind}: {unknown_name('option', name, known)}")
    opener = _imported(spellings[kind])[0]
    for name, parameter in inspect.signature(opener).parameters.items():
        is_given = name in options or (bool(colon) and parameter.kind is not parameter.KEYWORD_ONLY)
        is_needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        if is_needed and not is_given:
            raise DiscernmentError(f"evaluator {kind}: needs the option {name}")
    evaluator: Evaluator | TableScores = opener(rest, **options) if colon else opener(**options)
    return evaluator


def options_of(kind: str) -> tuple[str, ...]:
    """The names of the options of a kind of evaluator."""
    (spelling,) = (name for name in _OPENERS if name.partition(":")[0] == kind)
    opener, *others = (list(inspect.signature(code).parameters.values()) for code in _imported(spelling))
    own = opener[1:] if ":" in spelling else opener  # the part after the colon is not an option
    names = [arg.name for arg in own if arg.kind in (arg.KEYWORD_ONLY, arg.POSITIONAL_OR_KEYWORD)]
    names += [arg.name for parameters in others for arg in parameters if arg.kind is arg.KEYWORD_ONLY]
    return tuple(dict.fromkeys(names))


def _imported(spelling: str) -> list[Callable[..., Any]]:
    return [getattr(import_module(module, __package__), name) for module, name in _OPENERS[spelling]]
