"""Checks and their outcomes, and the check that a figure is at least a threshold."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from ..errors import PfgenError
from ..files.untrusted_text import in_one_line, unknown_name

Outcome = Literal["passed", "failed", "undecided", "error"]
"""`error`: there is nothing to check, such as the score of a run that cannot be read."""


@dataclass(frozen=True)
class Check:
    """The outcome of one check."""

    name: str  # what is checked, such as `score not worse than b`
    about: str  # model or run that is checked
    outcome: Outcome
    sentence: str  # the outcome in words, with its figures
    passes: bool  # whether the outcome counts as passed; an undecided check may count as either

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)


class Threshold(NamedTuple):
    """The smallest allowed value of a figure."""

    figure: str | None  # name of the figure; None for the main one
    value: float


def at_least(
    figures: Mapping[str, float | None],
    value: float,
    *,
    about: str,
    figure: str | None = None,
    lower_is_better: Collection[str] = (),
) -> Check:
    """Checks that a figure is at least a value; or at most, for a figure of which lower values are better.

    Args:
        figures: The figures by name; None for a figure that is undefined, which is an error.
        value: The threshold.
        about: The name of the model or run.
        figure: The name of the figure; by default the first one.
        lower_is_better: The names of the figures of which lower values are better.

    Raises:
        PfgenError: There is no figure of this name.
    """
    name = next(iter(figures)) if figure is None else figure
    if name not in figures:
        raise PfgenError(unknown_name("figure", name, figures))
    found, is_lower_better = figures[name], name in lower_is_better
    shown, word = in_one_line(name), "at most" if is_lower_better else "at least"
    checked = f"{shown} {word} {value:g}"
    if found is None or math.isnan(found):
        return Check(checked, about, "error", f"{about}: {shown} is undefined, expected {word} {value:g}", False)
    if found <= value if is_lower_better else found >= value:
        return Check(checked, about, "passed", f"{about}: {shown} {_digits(found, value)} is {word} {value:g}", True)
    side = "above" if is_lower_better else "below"
    return Check(checked, about, "failed", f"{about}: {shown} {_digits(found, value)} is {side} {value:g}", False)


def check_thresholds(
    thresholds: Iterable[Threshold],
    figures: Mapping[str, float | None],
    about: str,
    *,
    lower_is_better: Collection[str] = (),
) -> list[Check]:
    """A check for each threshold."""
    return [
        at_least(figures, one.value, about=about, figure=one.figure, lower_is_better=lower_is_better)
        for one in thresholds
    ]


def _digits(found: float, value: float) -> str:
    """A figure with four digits, or with all digits where four would hide its difference to the threshold."""
    if float(found).is_integer():
        return f"{found:.0f}"
    return repr(found) if found != value and float(f"{found:.4f}") == float(f"{value:.4f}") else f"{found:.4f}"


def counts_of(checks: Iterable[Check]) -> str:
    """The numbers of checks by outcome, such as `2 checks: 1 passed, 1 failed`."""
    outcomes = [check.outcome for check in checks]
    parts = [f"{n:,} {outcome}" for outcome in _ORDER if (n := outcomes.count(outcome))]
    return f"{len(outcomes):,} {'check' if len(outcomes) == 1 else 'checks'}: {', '.join(parts)}"


_ORDER: tuple[Outcome, ...] = ("passed", "failed", "undecided", "error")
