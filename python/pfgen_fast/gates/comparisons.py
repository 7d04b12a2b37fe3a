"""Checks that a model is not worse than others: paired tests over items against a margin. Rules: docs/guides/gates.md.

NEW fails if it is worse than OLD by more than the margin, and passes if it is not, both with the confidence asked for;
otherwise the check is undecided. `non_inferior` puts the burden of proof on NEW: undecided counts as failed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import TrialsError
from ..files.untrusted_text import counted, in_one_line, signed
from ..item_scores.comparison import WORDS, Family, compare_pair
from ..item_scores.table import ItemScores
from ..statistics.paired import MIN_QUESTIONS, TESTS, PairedDifference, corrected
from .checks import Check, Outcome

Undecided = Literal["pass", "fail"]
"""What an undecided check counts as."""


@dataclass(frozen=True)
class Gate:
    """What a comparison must show."""

    margin: float = 0.0  # the loss that is allowed, in units of the metric
    confidence: float = 0.95
    undecided: Undecided = "pass"
    family: Family = "metric"  # p-values that are corrected together
    of: Literal["runs", "models"] = "models"

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise TrialsError(f"margin {self.margin}: expected a number of at least 0")
        if not 0 < self.confidence < 1:
            raise TrialsError(f"confidence {self.confidence}: expected a number between 0 and 1, such as 0.95")
        if self.undecided not in ("pass", "fail"):
            raise TrialsError(f"undecided {in_one_line(self.undecided)!r}: expected 'pass' or 'fail'")

    def check(self, scores: ItemScores, *, metrics: Sequence[str] | None = None) -> list[Check]:
        """Checks the first model against each other model, in the given metrics: by default the first one.

        The p-values of a metric, or of all metrics, are corrected together by Holm.
        """
        if len(scores.models) < 2:
            raise TrialsError(f"{counted(len(scores.models), WORDS[self.of].model)}: a gate needs at least two")
        table = scores.only(metrics=metrics or scores.metrics[:1])
        pairs = [_Pair(table, metric, old, self) for metric in table.metrics for old in range(1, len(table.models))]
        families = set(table.metrics) if self.family == "metric" else {None}
        for metric in families:
            tested = [pair for pair in pairs if pair.has_verdict and metric in (None, pair.metric)]
            for pair, p in zip(tested, corrected([one.p_value for one in tested], "holm").tolist(), strict=True):
                pair.p_corrected, pair.n_in_family = p, len(tested)
        return [pair.check() for pair in pairs]


def not_worse(
    scores: ItemScores,
    new: str,
    old: str,
    *,
    metric: str | None = None,
    margin: float = 0.0,
    confidence: float = 0.95,
    undecided: Undecided = "pass",
) -> Check:
    """Checks that a model is not worse than another one by more than a margin, as far as the data can tell.

    Args:
        scores: The scores of both models.
        new: The model that is checked.
        old: The model that it is compared with.
        metric: The metric; by default the first one.
        margin: The loss that is allowed, in units of the metric.
        confidence: The confidence with which the check fails or passes.
        undecided: What a check counts as if the data cannot tell.

    Raises:
        TrialsError: A model or metric is unknown, or a setting is invalid.
    """
    gate = Gate(margin, confidence, undecided)
    return gate.check(scores.only(models=[new, old]), metrics=None if metric is None else [metric])[0]


def non_inferior(
    scores: ItemScores, new: str, old: str, *, metric: str | None = None, margin: float, confidence: float = 0.95
) -> Check:
    """Checks that the data show that a model is not worse than another one by more than a margin; see `not_worse`.

    Args:
        scores: The scores of both models.
        new: The model that is checked.
        old: The model that it is compared with.
        metric: The metric; by default the first one.
        margin: The loss that is allowed, in units of the metric; above 0.
        confidence: The confidence with which the check passes.

    Raises:
        TrialsError: A model or metric is unknown, or a setting is invalid.
    """
    check_margin(margin)
    return not_worse(scores, new, old, metric=metric, margin=margin, confidence=confidence, undecided="fail")


def check_margin(margin: float) -> None:
    """Raises TrialsError for a margin of 0: with it, equal models could never be shown to be non-inferior."""
    if not margin > 0:
        raise TrialsError(f"margin {margin:g}: expected a number above 0 for a test of non-inferiority")


class _Pair:
    """The first model and another one, in one metric."""

    def __init__(self, table: ItemScores, metric: str, old: int, gate: Gate) -> None:
        self.metric, self.gate, self.words = metric, gate, WORDS[gate.of]
        self.new, self.old = in_one_line(table.models[0], 200), in_one_line(table.models[old], 200)
        self.sign = 1 if table.higher_is_better.get(metric, True) else -1
        shift = -self.sign * gate.margin
        self.found = compare_pair(table, metric, (0, old), range(len(table.items)), shift=shift)
        differences = table.values[metric][0] - table.values[metric][old]
        self.is_same = not np.nan_to_num(differences).any()
        self.p_value = 1.0 if self.found is None or self.found.p_value is None else self.found.p_value
        self.p_corrected, self.n_in_family = self.p_value, 1

    @property
    def has_verdict(self) -> bool:
        """Whether there are enough items or clusters for a test."""
        return self.found is not None and self.found.differs() is not None

    def check(self) -> Check:
        outcome, sentence = self._outcome()
        by_margin = f" by more than {self.gate.margin:g}" if self.gate.margin else ""
        name = f"{self._shown_metric} not worse{by_margin} than {self.old}"
        passes = outcome == "passed" or (outcome == "undecided" and self.gate.undecided == "pass")
        if outcome == "undecided":
            sentence += f"; counts as {'passed' if passes else 'failed'}"
        return Check(name, self.new, outcome, f"{self._shown_metric}: {sentence}", passes)

    @property
    def _shown_metric(self) -> str:
        return "score" if self.gate.of == "runs" and self.metric == "average" else in_one_line(self.metric)

    def _outcome(self) -> tuple[Outcome, str]:
        new, old, found, margin = self.new, self.old, self.found, self.gate.margin
        if found is None:
            return "error", f"{new} and {old} have no {self.words.item} in common"
        by_margin = f" by more than {margin:g}" if margin else ""
        if not self.has_verdict:
            few = f"{self._over(found)}, at least {MIN_QUESTIONS} are needed"
            return "undecided", f"no verdict whether {new} is worse than {old}{by_margin}: {few}"
        if self.is_same:
            return "passed", f"{new} and {old} have the same score on {self._over(found)}"
        figures, gain = self._figures(found), self.sign * found.mean
        if self.p_corrected > 1 - self.gate.confidence + 1e-12:
            return "undecided", f"the data cannot tell whether {new} is worse than {old}{by_margin}: {figures}"
        if gain < -margin:
            return "failed", f"{new} is worse than {old}{by_margin}: {figures}"
        return "passed", f"{new} is {'not worse' if margin else 'better'} than {old}{by_margin}: {figures}"

    def _over(self, found: PairedDifference) -> str:
        items = counted(found.n, self.words.item)
        return items if found.n_clusters is None else f"{items} in {counted(found.n_clusters, 'cluster')}"

    def _figures(self, found: PairedDifference) -> str:
        interval = "the same everywhere"
        if found.low is not None and found.high is not None:
            interval = f"95 % interval {signed(found.low, 4)} to {signed(found.high, 4)}"
        p = f"p = {self.p_corrected:.4f}" if self.p_corrected >= 0.0001 else "p < 0.0001"
        holm = f" (Holm, {self.n_in_family} comparisons)" if self.n_in_family > 1 else ""
        limit = f"{1 - self.gate.confidence:.6g}"
        test = f"{TESTS[found.test]} of a difference of {signed(-self.sign * self.gate.margin, 4)}"
        if not self.gate.margin:
            test = TESTS[found.test]
        return (
            f"the difference is {signed(found.mean, 4)}, {interval} over {self._over(found)}; {test}: {p}{holm}, "
            f"limit {limit}"
        )
