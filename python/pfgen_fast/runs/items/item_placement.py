"""Where a run or a model stands among others: its rank by score, and which differ from it significantly.

Rules: docs/statistics.md. `runs.run_placement` places runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import TrialsError
from ...base.mean_interval import MeanInterval
from ...base.notebook import NotebookTable
from ...base.untrusted_text import in_one_line, markdown_table, markdown_text, signed
from ..statistics.paired import MIN_QUESTIONS, against, corrected
from .item_table import Floats, ItemScores
from .ranking import Compared, compared_models

ALPHA = 0.05
_N_NEAREST = 3
_N_NAMED = 3


class Other(NamedTuple):
    """A run that another run is compared with."""

    run: str
    model: str
    score: float
    low: float | None  # lower end of the 95 % interval of the score over questions
    high: float | None  # upper end of the interval
    difference: float  # the placed run's score less that of this run, over the questions that both have
    p_value: float  # of the paired t-test over questions; NaN without a verdict
    corrected: float  # the same, corrected for the number of runs by Holm
    verdict: str  # `better` or `worse` than the placed run significantly, or `tied`


class Standing(NamedTuple):
    """The rank of a run among the runs with which it has something in common."""

    what: str  # what they have in common, such as `mode qa`
    rank: int
    of: int


@dataclass(frozen=True, eq=False, repr=False)
class Placement(NotebookTable):
    """A run among other runs."""

    run: str  # name of the placed run
    model: str  # its model
    score: float  # its score
    interval: MeanInterval  # its score with the 95 % interval over questions
    others: tuple[Other, ...]  # the other runs, best first, without yardsticks
    standings: tuple[Standing, ...]
    yardsticks: tuple[tuple[str, float], ...]  # names and scores of human and reference answers, which have no rank
    notes: tuple[str, ...]  # what makes the comparison weaker, one sentence each
    is_yardstick: bool = False  # whether the run itself is a yardstick, which has no rank
    higher_is_better: bool = True  # whether a higher score is better
    nouns: tuple[str, str] = ("runs", "questions")  # what is placed, and what has the scores
    n_lost: int = 0  # number of items that the model lacks and another model has

    def __repr__(self) -> str:
        return f"Placement({in_one_line(self.run, 60)}: {self.figures()})"

    @property
    def of(self) -> int:
        """The number of runs that are ranked, with this run."""
        return len(self.others) + 1

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(other.verdict for other in self.others)

    @property
    def rank(self) -> int | None:
        """1 and the number of runs with a better score; None for a yardstick, which has no rank."""
        return self._rank(len(self._above) + 1)

    @property
    def rank_low(self) -> int | None:
        """1 and the number of significantly better runs: the best rank that chance allows."""
        return self._rank(self._counts["better"] + 1)

    @property
    def rank_high(self) -> int | None:
        """The number of runs less the significantly worse ones: the last rank that chance allows."""
        return self._rank(self.of - self._counts["worse"])

    def _rank(self, number: int) -> int | None:
        return None if self.is_yardstick else number

    def _is_better(self, other: Other) -> bool:
        return other.score > self.score if self.higher_is_better else other.score < self.score

    @cached_property
    def _above(self) -> list[Other]:
        return [other for other in self.others if self._is_better(other)]

    @cached_property
    def _below(self) -> list[Other]:
        return [other for other in self.others if not self._is_better(other)]

    def named(self, verdict: str) -> list[str]:
        """The runs that are `better`, `worse` or `tied`, best first."""
        return [other.run for other in self.others if other.verdict == verdict]

    @property
    def nearest(self) -> list[Other]:
        """The runs with the nearest scores, up to three on either side, best first."""
        return self._above[-_N_NEAREST:] + self._below[:_N_NEAREST]

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {
            "run": self.run,
            "model": self.model,
            "score": self.score,
            "low": self.interval.low,
            "high": self.interval.high,
            **{name: getattr(self, name) for name in ("rank", "rank_low", "rank_high", "of")},
            **{verdict: self.named(verdict) for verdict in ("better", "worse", "tied")},
            "nearest": [_finite(other._asdict()) for other in self.nearest],
            "standings": [standing._asdict() for standing in self.standings],
            "yardsticks": dict(self.yardsticks),
            "notes": list(self.notes),
        }

    def to_markdown(self) -> str:
        """The sentences as a list, and a table of the nearest runs."""
        lines = [f"**{markdown_text(self.run)}**: {self.figures()}\n\n"]
        lines += [f"- {markdown_text(sentence)}\n" for sentence in (*self.sentences(), *self.notes)]
        heads = (self.nouns[0][:-1].capitalize(), "Score", "Difference", "p (corrected)")
        rows = []
        for other in self.nearest:
            p_value = "–" if math.isnan(other.corrected) else f"{other.corrected:.3f}"
            rows.append((other.run, f"{other.score:.4f}", signed(other.difference, 4), p_value))
        return "".join([*lines, "\n", markdown_table(heads, rows, [0])])

    def _columns(self) -> dict[str, list[Any]]:
        return _by_name(self.others)

    def _words(self) -> list[str]:
        return [f"{self.run}: {self.figures()}", *self.sentences(), *self.notes]

    def _shown(self) -> tuple[Sequence[str], Iterable[Sequence[Any]], int]:
        """The nearest runs."""
        return Other._fields, self.nearest, len(self.nearest)

    def figures(self) -> str:
        """The score with its interval, and the rank with its range, in one line."""
        spread = self.interval.shown()
        spread = f" ± {spread[1:]}" if spread[0] == "±" else f", {spread}"
        score = f"{self.score:.4f}" + ("" if self.interval.low is None else f"{spread} (95 %, over {self.nouns[1]})")
        if self.rank is None:
            return f"{score}, a yardstick without a rank"
        return f"{score}, rank {self.rank} of {self.of}, between {self.rank_low} and {self.rank_high}"

    def sentences(self) -> list[str]:
        """What the comparisons say, one sentence each."""
        above, below = ([row.run for row in rows if row.verdict == "tied"] for rows in (self._above, self._below))
        counts = self._counts
        lines = [
            f"{self.nouns[0]} that are significantly better: {counts['better']}, worse: {counts['worse']}, without "
            f"significant difference: {counts['tied']} (95 %, corrected by Holm for {len(self.others):,} comparisons)"
        ]
        lines += [f"above it without significant difference: {_list(above[::-1])}"] if above else []
        lines += [f"below it without significant difference: {_list(below)}"] if below else []
        ranks = ", ".join(f"{standing.what}: {standing.rank} of {standing.of}" for standing in self.standings)
        lines += [f"rank among similar runs: {ranks}"] if ranks else []
        if self.yardsticks:
            shown = ", ".join(f"{in_one_line(name, 60)} {score:.4f}" for name, score in self.yardsticks)
            lines.append(f"yardsticks, which have no rank: {shown}")
        return lines


def compared_with(
    own: Floats,
    others: Floats,
    heads: Iterable[tuple[str, str, float, float | None, float | None]],
    *,
    clusters: Sequence[Hashable] | None = None,
    is_binary: bool = False,
    higher_is_better: bool = True,
) -> tuple[Other, ...]:
    """Tests the scores of a run against those of others (rows, with their first figures), as one family."""
    tested = against([own], [others], clusters=clusters, binary=is_binary)
    p = tested.p_values
    p[tested.n_clusters < MIN_QUESTIONS] = math.nan
    after = np.full(len(p), math.nan)
    has_verdict = ~np.isnan(p)
    if has_verdict.any():
        after[has_verdict] = corrected(p[has_verdict], "holm")
    is_worse = (tested.means > 0) == higher_is_better
    verdicts = np.where(~(after <= ALPHA), "tied", np.where(is_worse, "worse", "better"))
    figures = zip(tested.means.tolist(), p.tolist(), after.tolist(), verdicts.tolist(), strict=True)
    return tuple(Other(*head, *rest) for head, rest in zip(heads, figures, strict=True))


def place_models(scores: ItemScores, models: Sequence[str], metric: str | None = None) -> list[Placement]:
    """Places models of a table among its other models, by a metric: by default the first one."""
    placed = {*scores.only(models=models).models}  # checks the names
    others = [model for model in scores.models if model not in placed]
    if not others:
        raise TrialsError("no models to compare with; expected a table with other models than the placed ones")
    return [_placed(compared_models(scores.only(models=[model, *others]), metric)) for model in models]


def _placed(compared: Compared) -> Placement:
    """The placement of the first model."""
    own = compared.models[0]
    order = [row for row in compared.order if row]
    heads = ((compared.models[row], compared.models[row], *_ends(compared.means[row])) for row in order)
    others = compared_with(
        compared.values[0],
        compared.values[order],
        heads,
        clusters=compared.clusters,
        is_binary=compared.is_binary,
        higher_is_better=compared.higher_is_better,
    )
    mean, notes = compared.means[0], list(compared.notes)
    if compared.n_units < MIN_QUESTIONS:
        notes.append(f"{compared.counted_units}: no verdict, because a test needs at least {MIN_QUESTIONS}")
    return Placement(
        *(own, own, mean.mean, mean, others, (), (), tuple(notes)),
        higher_is_better=compared.higher_is_better,
        nouns=("models", "items"),
        n_lost=int(compared.n_lost[0]),
    )


def _ends(mean: MeanInterval) -> tuple[float, float | None, float | None]:
    return mean.mean, mean.low, mean.high


def _by_name(others: Sequence[Other]) -> dict[str, list[Any]]:
    columns = zip(*others, strict=True) if others else [()] * len(Other._fields)
    return {name: list(column) for name, column in zip(Other._fields, columns, strict=True)}


def _list(names: Sequence[str]) -> str:
    more = len(names) - _N_NAMED
    return ", ".join(in_one_line(name, 60) for name in names[:_N_NAMED]) + (f" and {more} more" if more > 0 else "")


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with null in place of NaN, which JSON lacks."""
    return {name: None if value != value else value for name, value in values.items()}
