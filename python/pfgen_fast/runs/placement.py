"""Where a run or a model stands among others: its rank by score, and the verdict about it and each other one.

Rules: docs/statistics.md. `run_placement` places runs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ..base.arrays import Floats
from ..base.errors import TrialsError
from ..base.mean_interval import INTERVAL_HEADS, MeanInterval
from ..base.table import Column, Table, TableResult, bearing_digits, figure
from ..base.untrusted_text import counted, in_one_line, markdown_text
from .items.item_table import ItemScores
from .items.ranking import Compared, compared_models
from .statistics.paired_tests import MIN_QUESTIONS, against
from .statistics.verdicts import Outcome, outcomes_of, rank_range, sentence_of_many, shown_p, shown_range

_N_NEAREST = 3


class Other(NamedTuple):
    """A run that another run is compared with."""

    run: str
    model: str
    score: float
    low: float | None  # lower end of the 95 % interval of the score over questions
    high: float | None  # upper end of the interval
    difference: float  # the placed run's score less that of this run, over the questions that both have
    p_value: float  # of the paired test over questions; NaN if it is undefined
    corrected: float  # the same, corrected for the number of runs by Holm; NaN without a verdict
    verdict: Outcome  # what the placed run is, compared with this run


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Placement(TableResult):
    """A run among other runs."""

    run: str  # name of the placed run
    model: str  # its model
    score: float  # its score
    interval: MeanInterval  # its score with the 95 % interval over questions
    others: tuple[Other, ...]  # the other runs, best first, without yardsticks
    yardsticks: tuple[tuple[str, float], ...] = ()  # names and scores of human and reference answers, without a rank
    notes: tuple[str, ...] = ()  # what makes the comparison weaker, one sentence each
    is_yardstick: bool = False  # whether the run itself is a yardstick, which has no rank
    higher_is_better: bool = True  # whether a higher score is better
    nouns: tuple[str, str] = ("run", "questions")  # what is placed, and what has the scores
    is_share: bool = False  # whether all scores are 0 or 1, so that a figure has no more digits than its interval bears
    n_trials: int | None = None  # trials of a run
    n_lost: int = 0  # number of items that the model lacks and another model has

    def __repr__(self) -> str:
        return f"Placement({in_one_line(self.run, 60)}: {self.figures()})"

    @property
    def n_ranked(self) -> int:
        """The number of runs that are ranked, with this run."""
        return len(self.others) + 1

    @property
    def rank(self) -> int | None:
        """1 and the number of runs with a better score; None for a yardstick, which has no rank."""
        return None if self.is_yardstick else self._n_above + 1

    @cached_property
    def ranks(self) -> tuple[int, int] | None:
        """The ranks that chance allows; None without a rank or any verdict."""
        if self.is_yardstick:
            return None
        return rank_range([other.verdict for other in self.others])

    @cached_property
    def _n_above(self) -> int:
        sign = 1 if self.higher_is_better else -1
        return sum(sign * other.score > sign * self.score for other in self.others)

    @property
    def _digits(self) -> int:
        return bearing_digits(self.interval.half_width) if self.is_share else 4

    def named(self, verdict: Outcome) -> list[str]:
        """The runs with a verdict, such as those than which this run is `better`, best first."""
        return [other.run for other in self.others if other.verdict == verdict]

    @property
    def nearest(self) -> tuple[Other, ...]:
        """The runs with the nearest scores, up to three on either side, best first."""
        return self.others[max(0, self._n_above - _N_NEAREST) : self._n_above + _N_NEAREST]

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        rank_low, rank_high = self.ranks or (None, None)
        return {
            "run": self.run,
            "model": self.model,
            "score": self.score,
            "low": self.interval.low,
            "high": self.interval.high,
            "rank": self.rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "num_trials": self.n_trials,
            "of": self.n_ranked,
            "better_than": self.named("better"),
            "worse_than": self.named("worse"),
            "not_distinguished_from": self.named("not distinguished"),
            "no_verdict": self.named("no verdict"),
            "nearest": self._table_of(self.nearest).to_dicts(),
            "yardsticks": dict(self.yardsticks),
            "notes": list(self.notes),
        }

    def to_markdown(self) -> str:
        """The sentences as a list, and a table of the nearest runs."""
        lines = [f"**{markdown_text(self.run)}**: {self.figures()}\n\n"]
        lines += [f"- {markdown_text(sentence)}\n" for sentence in (*self.sentences(), *self.notes)]
        return "".join([*lines, "\n", self._table_of(self.nearest).to_markdown()])

    @property
    def table(self) -> Table:
        """The other runs, best first."""
        return self._table_of(self.others)

    @property
    def shown(self) -> Table:
        """The run, which has no verdict, among those with the nearest scores."""
        place, figures = min(self._n_above, _N_NEAREST), (self.score, self.interval.low, self.interval.high)
        own = Other(self.run, self.model, *figures, math.nan, math.nan, math.nan, "no verdict")
        table = self._table_of([*self.nearest[:place], own, *self.nearest[place:]])
        rows = [(*row[:-1], None) if number == place else row for number, row in enumerate(table.rows)]
        return Table(table.columns, rows)

    def _table_of(self, others: Sequence[Other]) -> Table:
        digits, head = self._digits, INTERVAL_HEADS[self.is_share]

        def interval(other: Other) -> MeanInterval:  # Student's t has its mean in the middle, before it is rounded
            if other.low is None or other.high is None or self.is_share:
                return MeanInterval(other.score, other.low, other.high, 0)
            return MeanInterval((other.low + other.high) / 2, other.low, other.high, 0)

        columns = [
            Column("run", self.nouns[0]),
            Column("model", view="files"),
            Column("score", digits=digits),
            Column("interval", head, view="readers", form=lambda own: own.shown(digits), picture="interval"),
            *(Column(name, view="files") for name in ("low", "high")),
            Column("difference", digits=digits, is_signed=True),
            Column("p_value", view="files"),
            Column("corrected", "p (Holm)", form=shown_p, is_optional=True),
            Column("verdict", f"this {self.nouns[0]} is"),
        ]
        return Table(columns, [(*other[:3], interval(other), *other[3:]) for other in others])

    def words(self) -> list[str]:
        """The sentences above the table of a notebook."""
        return [f"{self.run}: {self.figures()}", *self.sentences(), *self.notes]

    def figures(self) -> str:
        """The score with its interval, and the rank with its range, in one line."""
        spread = self.interval.shown(self._digits)
        spread = f" ± {spread[1:]}" if spread[0] == "±" else f", {spread}"
        spread = "" if self.interval.low is None else f"{spread} (95 %, over {self.nouns[1]})"
        score = f"{figure(self.score, self._digits)}{spread}"
        if self.rank is None:
            return f"{score}, a yardstick without a rank"
        between = "" if self.ranks is None else f", between {self.ranks[0]} and {self.ranks[1]}"
        return f"{score}, rank {self.rank} of {self.n_ranked}{between}"

    def sentences(self) -> list[str]:
        """What the comparisons say, one sentence each."""
        many = sentence_of_many([other.verdict for other in self.others], f"other {self.nouns[0]}", first="it")
        lines = [f"{many} (95 %, Holm, {counted(len(self.others), 'comparison')})"]
        if self.yardsticks:
            shown = ", ".join(f"{in_one_line(name, 60)} {score:.4f}" for name, score in self.yardsticks)
            lines.append(f"yardsticks, which have no rank: {shown}")
        return lines


def table_of(placements: Sequence[Placement]) -> Table:
    """A row for each placed run."""
    noun, digits = placements[0].nouns[0], placements[0]._digits
    verdicts: tuple[Outcome, ...] = "better", "worse", "not distinguished"
    columns = [
        Column("rank"),
        Column("ranks", "rank range", form=shown_range),
        Column(noun),
        *([Column("trials")] if noun == "run" else []),
        Column("score", digits=digits),
        Column("interval", INTERVAL_HEADS[placements[0].is_share], form=lambda own: own.shown(digits)),
        *(Column(verdict, is_optional=True) for verdict in verdicts),
    ]
    rows = []
    for placed in placements:
        trials = [placed.n_trials] if noun == "run" else []
        figures = placed.score, placed.interval, *(len(placed.named(verdict)) for verdict in verdicts)
        rows.append([placed.rank, placed.ranks, placed.run, *trials, *figures])
    return Table(columns, rows)


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
    after, outcomes = outcomes_of(tested.means, tested.p_values, tested.n_clusters, higher_is_better=higher_is_better)
    figures = zip(tested.means.tolist(), tested.p_values.tolist(), after.tolist(), outcomes, strict=True)
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
    name, mean = compared.models[0], compared.means[0]
    order = [row for row in compared.order if row]
    means = ((compared.models[row], compared.means[row]) for row in order)
    heads = ((model, model, own.mean, own.low, own.high) for model, own in means)
    others = compared_with(
        compared.values[0],
        compared.values[order],
        heads,
        clusters=compared.clusters,
        is_binary=compared.is_binary,
        higher_is_better=compared.higher_is_better,
    )
    notes = list(compared.notes)
    if compared.n_units < MIN_QUESTIONS:
        notes.append(f"no verdict: {compared.counted_units}, at least {MIN_QUESTIONS} are needed")
    return Placement(
        run=name,
        model=name,
        score=mean.mean,
        interval=mean,
        others=others,
        notes=tuple(notes),
        higher_is_better=compared.higher_is_better,
        nouns=("model", "items"),
        is_share=compared.is_binary,
        n_lost=int(compared.n_lost[0]),
    )
