"""Comparison of models by their scores on items: two models, the first with all others, or all pairs.

Each pair is compared on the items that both models have, by `paired_difference`, and `decided` decides each family of
pairs. Definitions: docs/statistics.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np

from ...base.errors import TrialsError
from ...base.notebook import NotebookTable
from ...base.untrusted_text import counted, few_names, harmless, in_one_line
from ..statistics.paired import MIN_QUESTIONS, TESTS, Needed, PairedDifference, needed, paired_difference
from ..statistics.paired_randomization import draws_needed, takes_all_ways
from ..statistics.verdicts import Verdict, decided, sentence_of_many, sentence_of_pairs
from .item_table import Floats, ItemScores

MOST_IN_ALL_PAIRS = 200
"""More models have more pairs than can be read: `leaderboard` shows groups instead."""


class Words(NamedTuple):
    """What the compared rows are called."""

    item: str
    model: str
    score: str


WORDS = {"runs": Words("question", "run", "an answer"), "models": Words("item", "model", "a score")}


@dataclass(frozen=True, kw_only=True)
class Difference(Verdict):
    """The verdict about A and B in one metric, over the questions (items) that both have."""

    metric: str  # metric; `average` is the score of a run
    a: float  # mean of A over questions; for a run, equal to its result.json if no question or trial is left out
    b: float  # the same for B
    model_a: str
    model_b: str
    subject: str | None = None  # subject of the questions; None for all questions


@dataclass(frozen=True)
class QuestionDifference:
    """The scores of A and B on one question (item) and their difference; those of runs are as in result.json."""

    question_id: str
    question: str  # text of the question; empty for items of tables
    a: float
    b: float
    difference: float
    model_a: str
    model_b: str


@dataclass(frozen=True, kw_only=True)
class PairNeeds(Needed):
    """What the comparison of a pair needs to find a difference in the first metric."""

    model_a: str
    model_b: str


@dataclass(frozen=True)
class Comparison(NotebookTable):
    """The result of `compare`: differences by metric, and by question with the largest first."""

    metrics: tuple[Difference, ...]  # by metric, then by pair of models
    questions: tuple[QuestionDifference, ...]  # by pair: differences in the first metric, largest first
    left_out: str  # which questions are left out and why, in a sentence; empty if all models have all questions
    subjects: tuple[Difference, ...] = ()  # of two models: differences in the first metric by subject, one family
    power: tuple[PairNeeds, ...] = ()  # by pair
    higher_is_better: bool = True  # whether higher values of the first metric are better
    of: Literal["runs", "models"] = "models"
    n_draws: int | None = None  # of paired approximate randomization
    seed: int | None = None

    @property
    def n_pairs(self) -> int:
        """The number of compared pairs of models."""
        return len({(row.model_a, row.model_b) for row in self.metrics})

    @property
    def n_in_family(self) -> int:
        """The number of p-values that are corrected together with that of the first row."""
        return max(row.n_in_family for row in self.metrics if row.metric == self.metrics[0].metric)

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence, about the first metric."""
        row, n_models = self.metrics[0], counted(len(self.metrics), WORDS[self.of].model)
        if self.n_draws is not None and row.p_corrected is None and self._n_swapped >= MIN_QUESTIONS:
            if takes_all_ways(self._n_swapped, self.n_draws):
                return f"no verdict: {row.over(WORDS[self.of].item)} are too few to compare {n_models} by swapping"
            needed_draws = draws_needed(len(self.metrics))
            return f"no verdict: {self.n_draws:,} draws are too few for {n_models}, {needed_draws:,} are needed"
        if self.n_pairs > 1:
            return self._verdict_of_many()
        return self.metrics[0].sentence(higher_is_better=self.higher_is_better, item=WORDS[self.of].item)

    def _verdict_of_many(self) -> str:
        rows = [row for row in self.metrics if row.metric == self.metrics[0].metric]
        outcomes = [row.outcome(higher_is_better=self.higher_is_better) for row in rows]
        lower = "" if self.higher_is_better else " (lower is better)"
        if len({row.model_a for row in rows}) == 1:
            others = [(row.model_b, outcome) for row, outcome in zip(rows, outcomes, strict=True)]
            return sentence_of_many(others, WORDS[self.of].model) + lower
        return sentence_of_pairs([(row.model_a, row.model_b) for row in rows], outcomes) + lower

    @property
    def method(self) -> str:
        """How p-values were made, in one sentence."""
        used = [TESTS[test] for test in TESTS if any(row.test == test for row in self.metrics)]
        item = WORDS[self.of].item
        over = f"{' or '.join(used)} over {item}s"
        if self.n_draws is not None:
            swapped = self.metrics[0].over(item)
            over = f"{used[0]}, {self.n_draws:,} draws of {swapped}, seed {self.seed}"
            if takes_all_ways(self._n_swapped, self.n_draws):
                over = f"{used[0]}, all {2**self._n_swapped:,} ways to swap {swapped}"
        if "Tango" in {row.test for row in self.metrics} and len(used) > 1:
            over += f" ({TESTS['Tango']} where all scores are 0 or 1)"
        if self.n_in_family <= 1:
            n_metrics = len({row.metric for row in self.metrics})
            return over + ("; p-values of several metrics are not corrected" if n_metrics > 1 else "")
        comparisons = f"the {self.n_in_family:,} comparisons of each metric"
        return f"{over}; p-values and intervals are corrected by Holm for {comparisons}"

    @property
    def _n_swapped(self) -> int:
        """The number of questions, or of clusters of questions, which are swapped whole."""
        row = self.metrics[0]
        return row.n_questions if row.n_clusters is None else row.n_clusters

    @property
    def power_sentences(self) -> list[str]:
        """What would find a difference, a sentence for each difference."""
        return [self._power_sentence(needs) for needs in self.power]

    def _power_sentence(self, needs: PairNeeds) -> str:
        names = needs.model_a, needs.model_b
        row, word = next(row for row in self.metrics if (row.model_a, row.model_b) == names), WORDS[self.of].item
        seen = " (the difference seen)" if needs.difference == row.difference else ""
        difference = f"a difference of {abs(needs.difference):.4g}{seen}"
        if self.n_pairs > 1:
            difference = f"{in_one_line(names[0], 60)} and {in_one_line(names[1], 60)}: {difference}"
        if needs.n is None:
            return f"{difference}: no number of {word}s finds it with power 0.8"
        unit, n_now = (word, row.n_questions) if row.n_clusters is None else ("cluster", row.n_clusters)
        enough = f", and {n_now:,} are there" if needs.n <= n_now else f", {needs.n - n_now:,} more than there are"
        return f"{difference} is found with power 0.8 by {counted(needs.n, unit)}{enough}"

    def _columns(self) -> dict[str, list[Any]]:
        columns, first = columns_of(self.metrics), ("metric", "model_a", "model_b", "a", "b")
        return {name: columns[name] for name in dict.fromkeys((*first, *columns))}

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
    power: bool = False,
    difference: float | None = None,
    deciding: int | None = None,
    of: Literal["runs", "models"] = "models",
) -> Comparison:
    """Compares the first model with all others, or all pairs; see `pfgen_fast.compare`."""
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
    rows = _decided([_Part(table, metric, pair) for metric in table.metrics for pair in pairs])
    if not rows:
        names = " and ".join(harmless(name) for name in table.models) if n_models == 2 else f"the {WORDS[of].model}s"
        raise TrialsError(f"{names} have no {WORDS[of].item} in common")
    first = rows[0].metric
    with_rows = {(row.model_a, row.model_b) for row in rows if row.metric == first}
    compared = [(a, b) for a, b in pairs if (table.models[a], table.models[b]) in with_rows]
    named = [None, *([] if difference is None else [difference])] if power or difference is not None else []
    n_questions = deciding if deciding is not None else None if len(pairs) == 1 else 0
    return Comparison(
        tuple(rows),
        tuple(row for pair in compared for row in _by_item(table, first, pair, n_questions)),
        _left_out(table, rows, pairs, of),
        subjects=tuple(_by_subject(table, first)) if len(pairs) == 1 else (),
        power=tuple(needs for pair in compared for needs in _power(table, first, pair, named)),
        higher_is_better=table.higher_is_better.get(first, True),
        of=of,
    )


def clusters_of(table: ItemScores) -> list[Hashable] | None:
    """The cluster of each item; an item without a cluster is its own. None without clusters."""
    if not any(cluster is not None for cluster in table.clusters):
        return None
    return [at if cluster is None else cluster for at, cluster in enumerate(table.clusters)]


def compare_pair(
    table: ItemScores, metric: str, pair: tuple[int, int], items: Sequence[int] | None = None, *, shift: float = 0.0
) -> PairedDifference | None:
    """The test of two models (their rows in the table) on all or some items; None without a common item.

    It is Tango's score test if all scores of the metric are 0 or 1, and cluster-robust with clusters.
    """
    a, b = _scores(table, metric, pair, items)
    if np.isnan(a + b).all():
        return None
    clusters = clusters_of(table)
    if clusters is not None and items is not None:
        clusters = [clusters[at] for at in items]
    return paired_difference(a, b, clusters=clusters, shift=shift, binary=metric in table.binary)


def _scores(
    table: ItemScores, metric: str, pair: tuple[int, int], items: Sequence[int] | None
) -> tuple[Floats, Floats]:
    values, columns = table.values[metric], slice(None) if items is None else list(items)
    return values[pair[0], columns], values[pair[1], columns]


class _Part(NamedTuple):
    """What is compared: two models in a metric, on all items or those of a subject."""

    table: ItemScores
    metric: str
    pair: tuple[int, int]
    subject: str | None = None
    items: Sequence[int] | None = None

    def difference(self, verdict: Verdict) -> Difference:
        """The verdict with the means of both models over their common items."""
        a, b = _scores(self.table, self.metric, self.pair, self.items)
        is_common = ~np.isnan(a + b)
        mean_a, mean_b = (math.fsum(scores[is_common].tolist()) / verdict.n_questions for scores in (a, b))
        model_a, model_b = (self.table.models[row] for row in self.pair)
        return Difference(
            **vars(verdict),
            metric=self.metric,
            a=mean_a,
            b=mean_b,
            model_a=model_a,
            model_b=model_b,
            subject=self.subject,
        )


def _decided(parts: Sequence[_Part]) -> list[Difference]:
    """The verdicts: those of a metric are one family. Parts, which are sorted by metric, without a common item go."""
    rows: list[Difference] = []
    for _, same_metric in itertools.groupby(parts, key=lambda part: part.metric):
        tested = [(part, compare_pair(part.table, part.metric, part.pair, part.items)) for part in same_metric]
        family = {number: pair for number, (_, pair) in enumerate(tested) if pair is not None}
        verdicts = zip(family, decided([*family.values()]), strict=True)
        rows += [tested[number][0].difference(verdict) for number, verdict in verdicts]
    return rows


def _by_item(
    table: ItemScores, metric: str, pair: tuple[int, int], n_items: int | None
) -> Iterable[QuestionDifference]:
    """The common items with the largest differences, or all."""
    if n_items == 0:
        return
    a, b = _scores(table, metric, pair, None)
    names = [table.models[row] for row in pair]
    order = np.argsort(-np.abs(a - b), kind="stable")[: int((~np.isnan(a - b)).sum())]  # NaN is last
    for at in order[:n_items].tolist():
        score_a, score_b = float(a[at]), float(b[at])
        yield QuestionDifference(table.items[at], "", score_a, score_b, score_a - score_b, *names)


def _by_subject(table: ItemScores, metric: str) -> list[Difference]:
    items: dict[str, list[int]] = {}
    for at, subject in enumerate(table.subjects):
        if subject is not None:
            items.setdefault(subject, []).append(at)
    return _decided([_Part(table, metric, (0, 1), subject, places) for subject, places in items.items()])


def _power(table: ItemScores, metric: str, pair: tuple[int, int], named: Sequence[float | None]) -> Iterable[PairNeeds]:
    """What finds the difference seen (None) and named differences."""
    if not named:
        return
    tested = compare_pair(table, metric, pair)
    assert tested is not None
    model_a, model_b = (table.models[row] for row in pair)
    for difference in dict.fromkeys(tested.mean if value is None else value for value in named):
        needs = needed(tested, difference)
        yield PairNeeds(**vars(needs), model_a=model_a, model_b=model_b)


def _left_out(table: ItemScores, rows: Sequence[Difference], pairs: Sequence[tuple[int, int]], kind: str) -> str:
    words, n_all = WORDS[kind], len(table.items)
    metrics = list(dict.fromkeys(row.metric for row in rows))
    first_rows = [row for row in rows if row.metric == metrics[0]]
    sentences = []
    if len(pairs) > 1:
        fewest, most = (choose(row.n_questions for row in first_rows) for choose in (min, max))
        if fewest < n_all:
            number = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
            sentences.append(f"Each pair is compared on the {words.item}s that both have: {number} of {n_all:,}.")
        if len(first_rows) < len(pairs):
            n_without = counted(len(pairs) - len(first_rows), "pair")
            sentences.append(f"{n_without} without a common {words.item} left out.")
    elif first_rows[0].n_questions < n_all:
        n_lacking = np.isnan(table.values[metrics[0]][list(pairs[0])]).sum(axis=1).tolist()
        n_left_out = n_all - first_rows[0].n_questions
        where = [f"{n:,} in {words.model} {name}" for n, name in zip(n_lacking, "AB", strict=True)]
        are = f"{counted(n_all, words.item)} {'is' if n_left_out == 1 else 'are'}"
        sentences.append(f"{n_left_out:,} of {are} left out, without {words.score}: {' and '.join(where)}.")
    if missing := [metric for metric in table.metrics if metric not in metrics]:
        sentences.append(f"Left out, because no two {words.model}s have them in common: {few_names(missing)}.")
    return " ".join(sentences)
