"""Opens an evaluator by its name, as a command line or a config file has it: `open_evaluator`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import DiscernmentError
from ..files.untrusted_text import nearest_names, unknown_name
from .evaluator import Evaluator

if TYPE_CHECKING:
    from pathlib import Path

    from ..suite.rules import FloatSum, Profile
    from ..suite.suite import Suite
    from .table import TableScores

_OPENERS: Mapping[str, tuple[str, str]] = {
    "ngram": (".opening", "open_ngram"),
    "metrics": (".metrics", "MetricsEvaluator"),
    "judge": (".criteria_judge", "open_judge"),
    "checklists": ("..checklists.judging.evaluator", "open_checklists"),
    "python": (".function", "open_function"),
    "command": (".command", "CommandEvaluator"),
    "table": (".table", "TableScores"),
}
"""The module and the name of what opens each kind; imported when it is asked for. Checklists lie above this room, and
are known here by the name of their module only."""

_FURTHER: Mapping[str, tuple[tuple[str, str], ...]] = {
    "python": ((".function", "BatchedEvaluator"), (".user_code", "OutsideEvaluator")),
    "command": ((".user_code", "OutsideEvaluator"),),
}
"""What else takes the options of a kind."""

_SPELLINGS = (
    "ngram",
    "metrics",
    "judge",
    "checklists:SUITE",
    "python:MODULE:FUNCTION",
    "command:PROGRAM ...",
    "table:FILE",
)
_WITH_REST = {spelling.partition(":")[0] for spelling in _SPELLINGS if ":" in spelling}


def open_evaluator(what: str, **options: Any) -> Evaluator | TableScores:
    """Opens an evaluator.

    Args:
        what: `ngram`, `metrics`, `judge`, `checklists:SUITE`, `python:MODULE:FUNCTION`, `command:PROGRAM ...` or
            `table:FILE`.
        options: The options of its kind; see `options_of`.

    Returns:
        An evaluator; of a table, its scores.

    Raises:
        DiscernmentError: There is no such evaluator or option, an option is missing, or it cannot be opened.
        PfgenError: As the opened evaluator raises it.

    Example:
        >>> open_evaluator("ngram", suite="mini").name
        'ngram'
        >>> open_evaluator("ngrams")
        Traceback (most recent call last):
        pfgen_fast.errors.DiscernmentError: unknown evaluator 'ngrams'; expected one of ngram, metrics, judge, \
checklists:SUITE, python:MODULE:FUNCTION, command:PROGRAM ..., table:FILE
    """
    kind, colon, rest = what.partition(":")
    if kind not in _OPENERS or bool(colon) != (kind in _WITH_REST) or (colon and not rest.strip()):
        nearest = nearest_names(kind, _OPENERS)
        spellings = sorted(_SPELLINGS, key=lambda spelling: spelling.partition(":")[0] not in nearest)
        raise DiscernmentError(unknown_name("evaluator", what, spellings))
    known = options_of(kind)
    for name in options:
        if name not in known:
            raise DiscernmentError(f"evaluator {kind}: {unknown_name('option', name, known)}")
    opener = _opener(_OPENERS[kind])
    for name, parameter in inspect.signature(opener).parameters.items():
        is_given = name in options or (bool(colon) and parameter.kind is not parameter.KEYWORD_ONLY)
        is_needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        if is_needed and not is_given:
            raise DiscernmentError(f"evaluator {kind}: needs the option {name}")
    found: Evaluator | TableScores = opener(rest, **options) if colon else opener(**options)
    return found


def options_of(kind: str) -> tuple[str, ...]:
    """The names of the options of a kind of evaluator."""
    names: dict[str, None] = {}
    for number, place in enumerate((_OPENERS[kind], *_FURTHER.get(kind, ()))):
        parameters = list(inspect.signature(_opener(place)).parameters.values())
        # What follows the colon is no option.
        own = parameters[1:] if kind in _WITH_REST and number == 0 else parameters
        names.update(_named(own, only_keywords=number > 0))
    return tuple(names)


def _named(parameters: Iterable[inspect.Parameter], *, only_keywords: bool) -> dict[str, None]:
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return {
        one.name: None
        for one in parameters
        if one.kind is one.KEYWORD_ONLY or (one.kind is positional and not only_keywords)
    }


def _opener(place: tuple[str, str]) -> Callable[..., Any]:
    module, name = place
    found: Callable[..., Any] = getattr(import_module(module, __package__), name)
    return found


def open_ngram(
    suite: Suite | str | Path,
    *,
    profile: Profile = "leaderboard",
    float_sum: FloatSum = "compensated",
    threads: int | None = None,
    index: str | Path | None = None,
) -> Evaluator:
    """The n-gram scores of a suite; the arguments are those of `Scorer`."""
    from ..scoring.scorer import Scorer
    from .ngram import NgramEvaluator

    return NgramEvaluator(Scorer(suite, profile=profile, float_sum=float_sum, threads=threads, index=index))
