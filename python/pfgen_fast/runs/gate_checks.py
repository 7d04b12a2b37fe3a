"""Checks that a figure is at least a threshold, the figures of runs and placements, and checks as a JUnit file."""

from __future__ import annotations

import math
import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import __version__
from ..base.errors import PfgenError
from ..base.file_writing import write_whole
from ..base.untrusted_text import in_one_line, terminal_text, unknown_name
from ..suite.rules import PARTS

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ..base.mean_interval import MeanInterval
    from .items.item_placement import Placement
    from .run_result import RunSummary

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
    actual, is_lower_better = figures[name], name in lower_is_better
    shown, word = in_one_line(name), "at most" if is_lower_better else "at least"
    checked = f"{shown} {word} {value:g}"
    if actual is None or math.isnan(actual):
        return Check(checked, about, "error", f"{about}: {shown} is undefined, expected {word} {value:g}", False)
    if actual <= value if is_lower_better else actual >= value:
        return Check(checked, about, "passed", f"{about}: {shown} {_digits(actual, value)} is {word} {value:g}", True)
    side = "above" if is_lower_better else "below"
    return Check(checked, about, "failed", f"{about}: {shown} {_digits(actual, value)} is {side} {value:g}", False)


def _digits(actual: float, value: float) -> str:
    """A figure with four digits, or with all digits where four would hide its difference to the threshold."""
    if float(actual).is_integer():
        return f"{actual:.0f}"
    return repr(actual) if actual != value and float(f"{actual:.4f}") == float(f"{value:.4f}") else f"{actual:.4f}"


def counts_of(checks: Iterable[Check]) -> str:
    """The numbers of checks by outcome, such as `2 checks: 1 passed, 1 failed`."""
    outcomes = [check.outcome for check in checks]
    parts = [f"{n:,} {outcome}" for outcome in _ORDER if (n := outcomes.count(outcome))]
    return f"{len(outcomes):,} {'check' if len(outcomes) == 1 else 'checks'}: {', '.join(parts)}"


_ORDER: tuple[Outcome, ...] = ("passed", "failed", "undecided", "error")


# --- figures of runs and placements, the main one first

Figures = dict[str, float | None]

OF_RUN = ("score", "score_low", "score_high", *PARTS, "length")
RANKS = ("rank", "rank_low", "rank_high")
"""Figures of which lower values are better."""
OF_PLACEMENT = ("score", "score_low", "score_high", *RANKS, "percentile")


def figures_of_run(summary: RunSummary, interval: MeanInterval | None) -> Figures:
    """The score of a run with the ends of its 95 % interval, its parts, and the mean length."""
    return {
        "score": summary.score,
        "score_low": None if interval is None else interval.low,
        "score_high": None if interval is None else interval.high,
        **{part: summary.scores.total(part) for part in PARTS},
        "length": summary.length,
    }


def figures_of_placement(placement: Placement) -> Figures:
    """The score with the ends of its interval, the ranks, and the percentage of other runs that are not better."""
    rank, n_others = placement.rank, placement.of - 1
    return {
        "score": placement.score,
        "score_low": placement.interval.low,
        "score_high": placement.interval.high,
        "rank": rank,
        "rank_low": placement.rank_low,
        "rank_high": placement.rank_high,
        "percentile": None if rank is None or not n_others else 100 * (placement.of - rank) / n_others,
    }


# --- JUnit


def write_junit(path: Path, checks: Sequence[Check], suite: str) -> None:
    """Writes a JUnit file with a test case for each check; an undecided check that passes is a skipped test."""
    write_whole(path, junit_xml(checks, suite))


def junit_xml(checks: Sequence[Check], suite: str) -> bytes:
    """A JUnit file, valid against the schemas of Ant and Jenkins; characters that XML forbids are escaped."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    from ..base.file_writing import timestamp

    cases = [_case(check, suite) for check in checks]
    tags = [child.tag for case in cases for child in case]
    counts = {"errors": tags.count("error"), "failures": tags.count("failure")}
    root = Element("testsuites")
    of_suite = SubElement(
        root,
        "testsuite",
        {
            "id": "0",
            "package": "pfgen_fast",
            "name": suite,
            "timestamp": timestamp()[:19],
            "hostname": terminal_text(platform.node()) or "localhost",
            "tests": str(len(cases)),
            **{name: str(n) for name, n in counts.items()},
            "skipped": str(tags.count("skipped")),
            "time": "0",
        },
    )
    properties = SubElement(of_suite, "properties")
    SubElement(properties, "property", {"name": "pfgen-fast", "value": __version__})
    of_suite.extend(cases)
    lines = [f"{check.outcome}: {check.sentence}" for check in checks]
    SubElement(of_suite, "system-out").text = "\n".join([counts_of(checks), *map(terminal_text, lines)])
    SubElement(of_suite, "system-err")
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _case(check: Check, suite: str) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    case = Element(
        "testcase", {"classname": terminal_text(f"{suite}.{check.about}"), "name": terminal_text(check.name)}
    )
    case.set("time", "0")
    sentence = terminal_text(check.sentence)
    if check.outcome == "error":
        SubElement(case, "error", {"type": "error", "message": sentence}).text = sentence
    elif not check.passes:
        SubElement(case, "failure", {"type": check.outcome, "message": sentence}).text = sentence
    elif check.outcome == "undecided":
        SubElement(case, "skipped", {"message": sentence})
    return case
