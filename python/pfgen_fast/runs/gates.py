"""Gates: checks of a figure against a threshold, and of a model against others; checks as a JUnit file.

NEW fails a comparison if it is worse than OLD by more than the margin, and passes if it is not, both with the
confidence asked for; otherwise the check is undecided. An item that OLD has and NEW lacks makes the check an error,
because NEW may have lost the items on which it is worse. Rules: docs/guides/gates.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from .. import __version__
from ..base.errors import PfgenError, TrialsError
from ..base.file_writing import timestamp
from ..base.table import figure, signed
from ..base.untrusted_text import counted, in_one_line, terminal_text, unknown_name
from ..suite.rules import PARTS

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ..base.mean_interval import MeanInterval
    from .items.item_table import ItemScores
    from .placement import Placement
    from .run_result import RunSummary
    from .statistics.verdicts import Verdict

GateOutcome = Literal["passed", "failed", "undecided", "error"]
"""`error`: there is nothing to check, such as the score of a run that cannot be read."""


@dataclass(frozen=True)
class Check:
    """The outcome of one check."""

    name: str  # what is checked, such as `score not worse than b`
    about: str  # model or run that is checked
    outcome: GateOutcome
    sentence: str  # the outcome in words, with its figures
    passes: bool  # whether the outcome counts as passed; an undecided check may count as either


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
    return repr(actual) if actual != value and figure(actual) == figure(value) else figure(actual)


def counts_of(checks: Iterable[Check]) -> str:
    """The numbers of checks by outcome, such as `2 checks: 1 passed, 1 failed`."""
    outcomes = [check.outcome for check in checks]
    parts = [f"{n:,} {outcome}" for outcome in _ORDER if (n := outcomes.count(outcome))]
    return f"{len(outcomes):,} {'check' if len(outcomes) == 1 else 'checks'}: {', '.join(parts)}"


_ORDER: tuple[GateOutcome, ...] = ("passed", "failed", "undecided", "error")


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
    rank, n_others = placement.rank, placement.n_ranked - 1
    rank_low, rank_high = placement.ranks or (None, None)
    return {
        "score": placement.score,
        "score_low": placement.interval.low,
        "score_high": placement.interval.high,
        "rank": rank,
        "rank_low": rank_low,
        "rank_high": rank_high,
        "percentile": None if rank is None or not n_others else 100 * (placement.n_ranked - rank) / n_others,
    }


# --- comparisons with a margin

Undecided = Literal["pass", "fail"]
"""What an undecided check counts as."""


@dataclass(frozen=True)
class Gate:
    """What a comparison must show."""

    margin: float = 0.0  # the loss that is allowed, in units of the metric
    confidence: float = 0.95
    undecided: Undecided = "pass"
    kind: Literal["runs", "models"] = "models"
    allow_missing: bool = False  # whether NEW may lack items of OLD

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise TrialsError(f"margin {self.margin}: expected a number of at least 0")
        if not 0 < self.confidence < 1:
            raise TrialsError(f"confidence {self.confidence}: expected a number between 0 and 1, such as 0.95")

    def check(self, scores: ItemScores, *, metrics: Sequence[str] | None = None) -> list[Check]:
        """Checks the first model against each other model, in the given metrics: by default the first one.

        The p-values of a metric are corrected together by Holm.
        """
        if len(scores.models) < 2:
            raise TrialsError(f"{counted(len(scores.models), self.kind[:-1])}: a gate needs at least two")
        from .statistics.verdicts import decided

        table = scores.only(metrics=metrics or scores.metrics[:1])
        pairs = [_Pair(table, metric, old, self) for metric in table.metrics for old in range(1, len(table.models))]
        for metric in table.metrics:
            family = [pair for pair in pairs if pair.tested is not None and pair.metric == metric]
            verdicts = decided([pair.tested for pair in family if pair.tested], alpha=1 - self.confidence)
            for pair, verdict in zip(family, verdicts, strict=True):
                pair.verdict = verdict
        return [pair.check() for pair in pairs]


class _Pair:
    """The first model and another one, in one metric."""

    def __init__(self, table: ItemScores, metric: str, old: int, gate: Gate) -> None:
        import numpy as np

        from .items.item_table import compare_pair

        self.metric, self.gate = metric, gate
        self.new, self.old = in_one_line(table.models[0], 200), in_one_line(table.models[old], 200)
        self.sign = 1 if table.higher_is_better.get(metric, True) else -1
        new_scores, old_scores = table.values[metric][0], table.values[metric][old]
        self.n_of_old = int((~np.isnan(old_scores)).sum())
        self.n_lost = int((np.isnan(new_scores) & ~np.isnan(old_scores)).sum())
        # Equal marks of 0 and 1 tell little, but equal scores of any other kind are those of equal answers.
        self.is_same = metric not in table.binary and not np.nan_to_num(new_scores - old_scores).any()
        self.has_common = self.n_lost < self.n_of_old
        is_error = not self.has_common or (self.n_lost > 0 and not gate.allow_missing)
        self.tested = None if is_error else compare_pair(table, metric, (0, old), shift=-self.sign * gate.margin)
        self.verdict: Verdict | None = None  # set by the gate, for all pairs of a family together

    def check(self) -> Check:
        margin = f" by more than {self.gate.margin:g}" if self.gate.margin else ""
        metric = "score" if self.gate.kind == "runs" and self.metric == "average" else in_one_line(self.metric)
        outcome, sentence = self._outcome(margin)
        passes = outcome == "passed" or (outcome == "undecided" and self.gate.undecided == "pass")
        if outcome == "undecided":
            sentence += f"; counts as {'passed' if passes else 'failed'}"
        return Check(f"{metric} not worse{margin} than {self.old}", self.new, outcome, f"{metric}: {sentence}", passes)

    def _outcome(self, margin: str) -> tuple[GateOutcome, str]:
        new, old, verdict, item = self.new, self.old, self.verdict, "question" if self.gate.kind == "runs" else "item"
        if not self.has_common:
            return "error", f"{new} and {old} have no {item} in common"
        lost = f"{new} lacks {self.n_lost:,} of the {counted(self.n_of_old, item)} of {old}"
        if verdict is None:
            return "error", f"{lost}; expected a score for each, unless missing {item}s are allowed (--allow-missing)"
        lost = f" ({lost})" if self.n_lost else ""
        if verdict.differs is None:
            return "undecided", f"{verdict.too_few(item)}{lost}: whether {new} is worse than {old}{margin}"
        if self.is_same:
            return "passed", f"{new} and {old} have the same score on {verdict.over(item)}{lost}"
        from .statistics.paired_tests import TESTS
        from .statistics.verdicts import shown_p

        shift = f" of a difference of {signed(-self.sign * self.gate.margin)}" if self.gate.margin else ""
        p_value, difference = shown_p(verdict.p_corrected), signed(verdict.difference, verdict.digits)
        p_value = p_value.replace("<", "< ") if "<" in p_value else f"= {p_value}"
        figures = (
            f"the difference is {difference}, {verdict.interval_words(item=item)}{lost}; "
            f"{TESTS[verdict.test]}{shift}: p {p_value}, limit {verdict.alpha:.6g}"
        )
        if not verdict.differs:
            other = f"a loss of {self.gate.margin:g} against {old}" if margin else old
            return "undecided", f"{new} is not distinguished from {other}: {figures}"
        if self.sign * verdict.difference < -self.gate.margin:
            return "failed", f"{new} is worse than {old}{margin}: {figures}"
        return "passed", f"{new} is {'not worse' if margin else 'better'} than {old}{margin}: {figures}"


# --- JUnit


def junit_xml(checks: Sequence[Check], suite: str) -> bytes:
    """A JUnit file with a test case for each check; an undecided check that passes is a skipped test.

    It is valid against the schemas of Ant and Jenkins; characters that XML forbids are escaped.
    """
    import platform
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

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
