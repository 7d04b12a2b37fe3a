"""Comparison of models by their scores on items: two models, the first with all others, or all pairs.

Each pair is compared on the items that both models have. Difference, interval and p-value are those of
`paired_difference`; p-values of a family are corrected together, by Holm. Definitions: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ..errors import TrialsError
from ..files.notebook import NotebookTable
from ..files.untrusted_text import counted, few_names, harmless, signed
from ..statistics.paired import MIN_QUESTIONS, TESTS, PairedDifference, Test, corrected, paired_difference
from ..statistics.power import Needed, needed
from .table import Floats, ItemScores

Family = Literal["metric", "all"]
"""Which p-values are corrected together: those of a metric, or of all metrics."""

MOST_IN_ALL_PAIRS = 200
"""More models have more pairs than can be read: `leaderboard` shows groups instead."""


class Words(NamedTuple):
    """What the compared rows are called."""

    item: str
    model: str
    score: str


WORDS = {"runs": Words("question", "run", "an answer"), "models": Words("item", "model", "a score")}


@dataclass(frozen=True)
class Difference:
    """The difference between A and B in one metric, over the questions (items) that both have."""

    metric: str  # metric; `average` is the score of a run
    a: float  # mean of A over questions; for a run, equal to its result.json if no question is left out
    b: float  # the same for B
    difference: float  # mean over questions of A - B
    # lower end of the 95 % interval of the difference; None with one question, or if all differences are equal
    low: float | None
    high: float | None  # upper end of the interval; None as `low`
    p_value: float | None  # Two-sided p-value of "there is no difference"; None with one question
    n_questions: int
    # whether A and B differ at the level 0.05, by the corrected p-value; None, no verdict, with too few questions
    differs: bool | None
    p_corrected: float | None = None  # corrected by Holm for the family; None without a verdict
    test: Test = "t"  # test of the p-value
    n_clusters: int | None = None  # number of clusters of the questions; None without clusters
    model_a: str = "A"
    model_b: str = "B"
    subject: str | None = None  # subject of the questions; None for all questions


@dataclass(frozen=True)
class QuestionDifference:
    """The scores of A and B on one question (item) and their difference; those of runs are as in result.json."""

    question_id: str
    question: str  # text of the question; empty for items of tables
    a: float
    b: float
    difference: float


@dataclass(frozen=True)
class Comparison(NotebookTable):
    """The result of `compare`: differences by metric, and by question with the largest first."""

    metrics: tuple[Difference, ...]  # by metric, then by pair of models
    questions: tuple[QuestionDifference, ...]  # of two models: differences in the first metric, largest first
    left_out: str  # which questions are left out and why, in a sentence; empty if all models have all questions
    subjects: tuple[Difference, ...] = ()  # of two models: differences in the first metric by subject, one family
    power: tuple[Needed, ...] = ()  # of two models: what would find a difference in the first metric
    family: Family = "metric"
    higher_is_better: bool = True  # whether higher values of the first metric are better
    of: Literal["runs", "models"] = "models"

    @property
    def n_pairs(self) -> int:
        """The number of compared pairs of models."""
        return len({(row.model_a, row.model_b) for row in self.metrics})

    @property
    def n_in_family(self) -> int:
        """The number of p-values that are corrected together with that of the first row."""
        of_family = (row for row in self.metrics if self.family == "all" or row.metric == self.metrics[0].metric)
        return sum(row.p_corrected is not None for row in of_family)

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence, about the first metric."""
        if self.n_pairs > 1:
            return self._verdict_of_many()
        score, word = self.metrics[0], WORDS[self.of].item
        over = counted(score.n_questions, word)
        if score.n_clusters is not None:
            over += f" in {counted(score.n_clusters, 'cluster')}"
        if score.differs is None:
            return (
                f"no verdict from {over}, at least {MIN_QUESTIONS} are needed: A - B is {signed(score.difference, 4)}"
            )
        if score.low is None or score.high is None:
            interval = f"the same on all {over}"
        else:
            interval = f"95 % interval of A - B {signed(score.low, 4)} to {signed(score.high, 4)} over {over}"
        if not score.differs:
            return f"no significant difference: A - B is {signed(score.difference, 4)}, {interval}"
        better = f"{'A' if self._is_a_better(score) else 'B'} is better by {abs(score.difference):.4f}"
        return f"{better}{'' if self.higher_is_better else ' (lower is better)'}, {interval}"

    def _verdict_of_many(self) -> str:
        rows = [row for row in self.metrics if row.metric == self.metrics[0].metric]
        n_a = sum(bool(row.differs) and self._is_a_better(row) for row in rows)
        n_b = sum(bool(row.differs) for row in rows) - n_a
        n_without = sum(row.differs is None for row in rows)
        without = f", {n_without} without a verdict" if n_without else ""
        if len({row.model_a for row in rows}) > 1:
            return f"{n_a + n_b} of {len(rows):,} pairs differ significantly{without}"
        without += "" if self.higher_is_better else " (lower is better)"
        others = counted(len(rows), WORDS[self.of].model)
        n_alike = len(rows) - n_a - n_b - n_without
        return (
            f"of {others}, A is better than {n_a}, worse than {n_b}, {n_alike} without significant difference{without}"
        )

    def _is_a_better(self, row: Difference) -> bool:
        return (row.difference > 0) == self.higher_is_better

    @property
    def method(self) -> str:
        """How p-values were made, in one sentence."""
        used = [TESTS[test] for test in TESTS if any(row.test == test for row in self.metrics)]
        over = f"{' or '.join(used)} over {WORDS[self.of].item}s"
        if "McNemar" in {row.test for row in self.metrics} and len(used) > 1:
            over += f" ({TESTS['McNemar']} where all scores are 0 or 1)"
        if self.n_in_family <= 1:
            n_metrics = len({row.metric for row in self.metrics})
            return over + ("; p-values of several metrics are not corrected" if n_metrics > 1 else "")
        comparisons = f"{self.n_in_family:,} comparisons"
        if self.family == "all":
            return f"{over}; corrected by Holm for {comparisons} of all metrics"
        return f"{over}; corrected by Holm for the {comparisons} of each metric"

    @property
    def power_sentences(self) -> list[str]:
        """What would find a difference, a sentence for each difference."""
        return [self._power_sentence(one) for one in self.power]

    def _power_sentence(self, one: Needed) -> str:
        row, word = self.metrics[0], WORDS[self.of].item
        seen = " (the difference seen)" if one.difference == row.difference else ""
        of = f"a difference of {abs(one.difference):.4g}{seen}"
        if one.n is None:
            return f"{of}: no number of {word}s finds it with power 0.8"
        unit, n_now = (word, row.n_questions) if row.n_clusters is None else ("cluster", row.n_clusters)
        enough = f", and {n_now:,} are there" if one.n <= n_now else f", {one.n - n_now:,} more than there are"
        found = f"{of} is found with power 0.8 by {counted(one.n, unit)}{enough}"
        if one.n <= n_now or one.trials_suffice is None:
            return found
        if not one.trials_suffice:
            return f"{found}; more trials alone cannot"
        return f"{found}, or by {counted(one.n_trials or 0, 'trial')} of each {word}"

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.metrics)

    def _words(self) -> list[str]:
        return [self.verdict, self.method, *filter(None, [self.left_out]), *self.power_sentences]

    def to_dict(self) -> dict[str, Any]:
        """The verdict and all figures, for JSON."""
        rows = {
            name: [vars(row) for row in getattr(self, name)] for name in ("metrics", "questions", "subjects", "power")
        }
        return {"verdict": self.verdict, "method": self.method, **vars(self), **rows}


def columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """The fields of data classes as columns."""
    return {part.name: [getattr(row, part.name) for row in rows] for part in fields(rows[0])}


def compare_models(
    table: ItemScores,
    *,
    all_pairs: bool = False,
    family: Family = "metric",
    power: bool = False,
    difference: float | None = None,
    of: Literal["runs", "models"] = "models",
) -> Comparison:
    """Compares the first model with all others, or all pairs; see `pfgen_fast.compare`."""
    if family not in get_args(Family):
        raise TrialsError(f"family {family!r}: expected one of {', '.join(get_args(Family))}")
    n_models = len(table.models)
    if of == "models" and len(set(table.models)) < n_models:
        twice = next(model for at, model in enumerate(table.models) if model in table.models[:at])
        raise TrialsError(f"model {harmless(twice)}: given twice; expected each model once")
    if n_models < 2:
        raise TrialsError(f"{counted(n_models, WORDS[of].model)}: a comparison needs at least two")
    if all_pairs and n_models > MOST_IN_ALL_PAIRS:
        raise TrialsError(
            f"{n_models:,} {WORDS[of].model}s have {n_models * (n_models - 1) // 2:,} pairs: all pairs are compared up "
            f"to {MOST_IN_ALL_PAIRS} of them; compare the first with the others, or use 'leaderboard' for groups"
        )
    pairs = list(itertools.combinations(range(n_models), 2)) if all_pairs else [(0, at) for at in range(1, n_models)]
    rows = [
        row
        for metric in table.metrics
        for pair in pairs
        if (row := _difference(table, metric, pair, range(len(table.items)))) is not None
    ]
    if not rows:
        names = " and ".join(harmless(name) for name in table.models) if n_models == 2 else f"the {WORDS[of].model}s"
        raise TrialsError(f"{names} have no {WORDS[of].item} in common")
    first = rows[0].metric
    is_one = len(pairs) == 1
    return Comparison(
        tuple(_corrected(rows, family)),
        tuple(_by_item(table, first)) if is_one else (),
        _left_out(table, rows, pairs, of),
        subjects=tuple(_by_subject(table, first)) if is_one else (),
        power=tuple(_power(table, first, difference)) if is_one and (power or difference is not None) else (),
        family=family,
        higher_is_better=table.higher_is_better.get(first, True),
        of=of,
    )


def clusters_of(table: ItemScores) -> list[Hashable] | None:
    """The cluster of each item; an item without a cluster is its own. None without clusters."""
    if not any(cluster is not None for cluster in table.clusters):
        return None
    return [at if cluster is None else cluster for at, cluster in enumerate(table.clusters)]


def compare_pair(
    table: ItemScores, metric: str, pair: tuple[int, int], items: Sequence[int], *, shift: float = 0.0
) -> PairedDifference | None:
    """The test of two models (their rows in the table) on some items; None without a common item.

    It is McNemar's exact test if all scores are 0 or 1 and each is that of one trial, and cluster-robust with clusters.
    """
    a, b = _scores(table, metric, pair, items)
    if np.isnan(a + b).all():
        return None
    clusters = clusters_of(table)
    n_trials = table.n_trials.get(metric)
    return paired_difference(
        a,
        b,
        clusters=None if clusters is None else [clusters[at] for at in items],
        shift=shift,
        exact=n_trials is None or bool((n_trials[list(pair)] <= 1).all()),
    )


def _scores(table: ItemScores, metric: str, pair: tuple[int, int], items: Sequence[int]) -> tuple[Floats, Floats]:
    values = table.values[metric]
    columns = slice(None) if len(items) == len(table.items) else list(items)
    return values[pair[0], columns], values[pair[1], columns]


def _difference(
    table: ItemScores, metric: str, pair: tuple[int, int], items: Sequence[int], subject: str | None = None
) -> Difference | None:
    found = compare_pair(table, metric, pair, items)
    if found is None:
        return None
    a, b = _scores(table, metric, pair, items)
    is_common = ~np.isnan(a + b)
    mean_a, mean_b = (math.fsum(of[is_common].tolist()) / found.n for of in (a, b))
    return Difference(
        metric,
        mean_a,
        mean_b,
        found.mean,
        found.low,
        found.high,
        found.p_value,
        n_questions=found.n,
        differs=found.differs(),
        test=found.test,
        n_clusters=found.n_clusters,
        model_a=table.models[pair[0]],
        model_b=table.models[pair[1]],
        subject=subject,
    )


def _corrected(rows: Sequence[Difference], family: Family) -> list[Difference]:
    """The rows with corrected p-values: rows of a metric, or all rows, that have a verdict are one family."""
    found = list(rows)
    families = {row.metric for row in rows} if family == "metric" else {None}
    for metric in families:
        places = [at for at, row in enumerate(rows) if metric in (None, row.metric) and row.differs is not None]
        after = corrected([rows[at].p_value for at in places], "holm").tolist()
        for at, p in zip(places, after, strict=True):
            found[at] = replace(rows[at], p_corrected=p, differs=p <= 0.05)
    return found


def _by_item(table: ItemScores, metric: str) -> list[QuestionDifference]:
    a, b = table.values[metric][:2]
    rows = [
        QuestionDifference(item, "", of_a, of_b, of_a - of_b)
        for item, of_a, of_b in zip(table.items, a.tolist(), b.tolist(), strict=True)
        if not math.isnan(of_a + of_b)
    ]
    return sorted(rows, key=lambda row: -abs(row.difference))


def _by_subject(table: ItemScores, metric: str) -> list[Difference]:
    items: dict[str, list[int]] = {}
    for at, subject in enumerate(table.subjects):
        if subject is not None:
            items.setdefault(subject, []).append(at)
    rows = (_difference(table, metric, (0, 1), of, subject) for subject, of in items.items())
    return _corrected([row for row in rows if row is not None], "metric")


def _power(table: ItemScores, metric: str, named: float | None) -> Iterable[Needed]:
    found = compare_pair(table, metric, (0, 1), range(len(table.items)))
    assert found is not None
    is_common = ~np.isnan(table.values[metric][:2]).any(axis=0)
    trial_variance, mean_trials = None, 1.0
    if metric in table.n_trials and metric in table.variances:
        n_trials = table.n_trials[metric][:2][:, is_common]
        variances = table.variances[metric][:2][:, is_common]
        is_known = ~np.isnan(variances)
        if is_known.any(axis=1).all():  # a score of one trial counts with the mean variance of its model
            means = [row[known].mean() for row, known in zip(variances, is_known, strict=True)]
            filled = np.where(is_known, variances, np.array(means)[:, np.newaxis])
            trial_variance = float((filled / n_trials).sum()) / found.n**2
            mean_trials = float(n_trials.mean())
    for difference in dict.fromkeys([found.mean, *([] if named is None else [named])]):
        yield needed(found, difference, trial_variance=trial_variance, n_trials=mean_trials)


def _left_out(table: ItemScores, rows: Sequence[Difference], pairs: Sequence[tuple[int, int]], of: str) -> str:
    words, n_all = WORDS[of], len(table.items)
    metrics = list(dict.fromkeys(row.metric for row in rows))
    of_first = [row for row in rows if row.metric == metrics[0]]
    sentences = []
    if len(pairs) > 1:
        fewest, most = (choose(row.n_questions for row in of_first) for choose in (min, max))
        if fewest < n_all:
            number = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
            sentences.append(f"Each pair is compared on the {words.item}s that both have: {number} of {n_all:,}.")
        if len(of_first) < len(pairs):
            n_without = counted(len(pairs) - len(of_first), "pair")
            sentences.append(f"{n_without} without a common {words.item} left out.")
    elif of_first[0].n_questions < n_all:
        n_lacking = np.isnan(table.values[metrics[0]][list(pairs[0])]).sum(axis=1).tolist()
        n_left_out = n_all - of_first[0].n_questions
        where = [f"{n:,} in {words.model} {name}" for n, name in zip(n_lacking, "AB", strict=True)]
        are = f"{counted(n_all, words.item)} {'is' if n_left_out == 1 else 'are'}"
        sentences.append(f"{n_left_out:,} of {are} left out, without {words.score}: {' and '.join(where)}.")
    if missing := [metric for metric in table.metrics if metric not in metrics]:
        sentences.append(f"Left out, because no two {words.model}s have them in common: {few_names(missing)}.")
    return " ".join(sentences)
