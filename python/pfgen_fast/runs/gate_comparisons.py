"""Checks that a model is not worse than others: paired tests over items against a margin. Rules: docs/guides/gates.md.

NEW fails if it is worse than OLD by more than the margin, and passes if it is not, both with the confidence asked for;
otherwise the check is undecided. An item that OLD has and NEW lacks makes the check an error, because NEW may have lost
the items on which it is worse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..base.errors import TrialsError
from ..base.untrusted_text import counted, in_one_line, signed
from .gate_checks import Check, Outcome
from .items.item_comparison import WORDS, compare_pair
from .items.item_table import ItemScores
from .statistics.paired import MIN_QUESTIONS, TESTS
from .statistics.verdicts import Verdict, decided

Undecided = Literal["pass", "fail"]
"""What an undecided check counts as."""


@dataclass(frozen=True)
class Gate:
    """What a comparison must show."""

    margin: float = 0.0  # the loss that is allowed, in units of the metric
    confidence: float = 0.95
    undecided: Undecided = "pass"
    of: Literal["runs", "models"] = "models"
    allow_missing: bool = False  # whether NEW may lack items of OLD

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise TrialsError(f"margin {self.margin}: expected a number of at least 0")
        if not 0 < self.confidence < 1:
            raise TrialsError(f"confidence {self.confidence}: expected a number between 0 and 1, such as 0.95")
        if self.undecided not in ("pass", "fail"):
            raise TrialsError(f"undecided {in_one_line(self.undecided)!r}: expected 'pass' or 'fail'")

    def check(self, scores: ItemScores, *, metrics: Sequence[str] | None = None) -> list[Check]:
        """Checks the first model against each other model, in the given metrics: by default the first one.

        The p-values of a metric are corrected together by Holm.
        """
        if len(scores.models) < 2:
            raise TrialsError(f"{counted(len(scores.models), WORDS[self.of].model)}: a gate needs at least two")
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
        self.metric, self.gate, self.words = metric, gate, WORDS[gate.of]
        self.new, self.old = in_one_line(table.models[0], 200), in_one_line(table.models[old], 200)
        self.sign = 1 if table.higher_is_better.get(metric, True) else -1
        shift = -self.sign * gate.margin
        new_scores, old_scores = table.values[metric][0], table.values[metric][old]
        self.n_of_old = int((~np.isnan(old_scores)).sum())
        self.n_lost = int((np.isnan(new_scores) & ~np.isnan(old_scores)).sum())
        # Equal marks of 0 and 1 tell little, but equal scores of any other kind are those of equal answers.
        self.is_same = metric not in table.binary and not np.nan_to_num(new_scores - old_scores).any()
        self.has_common = self.n_lost < self.n_of_old
        is_error = not self.has_common or (self.n_lost > 0 and not gate.allow_missing)
        self.tested = None if is_error else compare_pair(table, metric, (0, old), shift=shift)
        self.verdict: Verdict | None = None  # set by the gate, for all pairs of a family together

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
        new, old, verdict, margin, item = self.new, self.old, self.verdict, self.gate.margin, self.words.item
        if not self.has_common:
            return "error", f"{new} and {old} have no {item} in common"
        lost = f"{new} lacks {self.n_lost:,} of the {counted(self.n_of_old, item)} of {old}"
        if verdict is None:
            return "error", f"{lost}; expected a score for each, unless missing {item}s are allowed (--allow-missing)"
        over = verdict.over(item) + (f" ({lost})" if self.n_lost else "")
        by_margin = f" by more than {margin:g}" if margin else ""
        if verdict.differs is None:
            few = f"{over}, at least {MIN_QUESTIONS} are needed"
            return "undecided", f"no verdict whether {new} is worse than {old}{by_margin}: {few}"
        if self.is_same:
            return "passed", f"{new} and {old} have the same score on {over}"
        figures, gain = self._figures(verdict, lost), self.sign * verdict.difference
        if not verdict.differs:
            return "undecided", f"the data cannot tell whether {new} is worse than {old}{by_margin}: {figures}"
        if gain < -margin:
            return "failed", f"{new} is worse than {old}{by_margin}: {figures}"
        return "passed", f"{new} is {'not worse' if margin else 'better'} than {old}{by_margin}: {figures}"

    def _figures(self, verdict: Verdict, lost: str) -> str:
        p_value = verdict.p_corrected or 0.0
        p = f"p = {p_value:.4f}" if p_value >= 0.0001 else "p < 0.0001"
        shift = f" of a difference of {signed(-self.sign * self.gate.margin, 4)}" if self.gate.margin else ""
        return (
            f"the difference is {signed(verdict.difference, 4)}, {verdict.interval_words(item=self.words.item)}"
            f"{f' ({lost})' if self.n_lost else ''}; {TESTS[verdict.test]}{shift}: {p}, limit {verdict.alpha:.6g}"
        )
