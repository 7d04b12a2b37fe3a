"""Comparison of models by their scores on items: two models, the first with all others, or all pairs.

Each pair is compared on the items that both models have, by `paired_difference`. `verdicts` decides each family of
pairs: docs/statistics.md. `run_comparison` compares runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..base.errors import TrialsError
from ..base.table import NOTHING, Column, Table, TableResult, figure, signed
from ..base.untrusted_text import counted, few_names, harmless, in_one_line
from ..suite.rules import AVERAGE_FIRST, shown_metric
from .checkout import short_name
from .checkpoint_steps import are_rising
from .items.item_table import ItemScores, compare_pair, scores_of_pair
from .statistics.paired_tests import TESTS, Needed, needed
from .statistics.verdicts import Verdict, decided, sentence_of_many, sentence_of_pairs, shown_p

MOST_IN_ALL_PAIRS = 200
"""More models have more pairs than can be read: `leaderboard` shows groups instead."""

Kind = Literal["runs", "models"]
"""What is compared: runs, which have answers to questions, or models, which have scores of items."""
ITEM: dict[Kind, str] = {"runs": "question", "models": "item"}
MODEL: dict[Kind, str] = {"runs": "run", "models": "model"}


@dataclass(frozen=True, kw_only=True)
class Difference(Verdict):
    """The verdict about A and B in one metric, over the questions (items) that both have."""

    metric: str  # metric; `average` is the score of a run
    a: float  # mean of A over questions; for a run, equal to its result.json if no question or trial is left out
    b: float  # the same for B
    model_a: str
    model_b: str
    subject: str | None = None  # subject of the questions; None for all questions

    @property
    def mean(self) -> float:
        """The difference, as the mean of its interval."""
        return self.difference

    @property
    def unit(self) -> str:
        """The unit of the difference: that of all scores, of the length, or of a metric of a table."""
        return "score" if self.metric in AVERAGE_FIRST else self.metric


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


@dataclass(frozen=True, repr=False)
class Comparison(TableResult):
    """The result of `compare`: differences by metric, and by question with the largest first."""

    metrics: tuple[Difference, ...]  # by metric, then by pair of models
    questions: tuple[QuestionDifference, ...]  # by pair: differences in the first metric, largest first
    left_out: str  # which questions are left out and why, in a sentence; empty if all models have all questions
    subjects: tuple[Difference, ...] = ()  # of two models: differences in the first metric by subject, one family
    power: tuple[PairNeeds, ...] = ()  # by pair
    higher_is_better: bool = True  # whether higher values of the first metric are better
    kind: Kind = "models"
    is_rising: bool = False  # whether A, B, ... are checkpoints by step: readers see B - A, so that gains are positive

    def __repr__(self) -> str:
        return f"Comparison({self.verdict})"

    @property
    def n_pairs(self) -> int:
        """The number of compared pairs of models."""
        return len({(row.model_a, row.model_b) for row in self.metrics})

    @property
    def has_one_a(self) -> bool:
        """Whether the first model of all pairs is the same."""
        return len({row.model_a for row in self.metrics}) == 1

    @property
    def n_in_family(self) -> int:
        """The number of p-values that are corrected together with that of the first row."""
        return max(row.n_in_family for row in self.metrics if row.metric == self.metrics[0].metric)

    @property
    def pair(self) -> str:
        """Which difference readers see: `A - B`, or `B - A` if B is the newer checkpoint."""
        return "B - A" if self.is_rising else "A - B"

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence, about the first metric."""
        first = self._shown(self.metrics[0])
        if self.n_pairs == 1:
            return first.sentence(*self.pair.split(" - "), higher_is_better=self.higher_is_better, item=ITEM[self.kind])
        rows = [row for row in self.metrics if row.metric == first.metric]
        outcomes = [row.outcome(higher_is_better=self.higher_is_better) for row in rows]
        many = sentence_of_many(outcomes, MODEL[self.kind]) if self.has_one_a else sentence_of_pairs(outcomes)
        return many + ("" if self.higher_is_better else " (lower is better)")

    @property
    def method(self) -> str:
        """How p-values were made, in one sentence."""
        used = [TESTS[test] for test in TESTS if any(row.test == test for row in self.metrics)]
        over = f"{' or '.join(used)} over {ITEM[self.kind]}s"
        if "Tango" in {row.test for row in self.metrics} and len(used) > 1:
            over += f" ({TESTS['Tango']} where all scores are 0 or 1)"
        if self.n_in_family <= 1:
            n_metrics = len({row.metric for row in self.metrics})
            return over + ("; p-values of several metrics are not corrected" if n_metrics > 1 else "")
        comparisons = f"the {self.n_in_family:,} comparisons of each metric"
        return f"{over}; p-values and intervals are corrected by Holm for {comparisons}"

    @property
    def power_sentences(self) -> list[str]:
        """What would find a difference, a sentence for each difference."""
        return [self._power_sentence(needs) for needs in self.power]

    def _power_sentence(self, needs: PairNeeds) -> str:
        names = needs.model_a, needs.model_b
        row, item = next(row for row in self.metrics if (row.model_a, row.model_b) == names), ITEM[self.kind]
        seen = " (the difference seen)" if needs.difference == row.difference else ""
        difference = f"a difference of {abs(needs.difference):.4g}{seen}"
        if self.n_pairs > 1:
            difference = f"{in_one_line(names[0], 60)} and {in_one_line(names[1], 60)}: {difference}"
        if needs.n is None:
            return f"{difference}: no number of {item}s finds it with power 0.8"
        unit, n_now = (item, row.n_questions) if row.n_clusters is None else ("cluster", row.n_clusters)
        enough = f", and {n_now:,} are there" if needs.n <= n_now else f", {needs.n - n_now:,} more than there are"
        return f"{difference} is found with power 0.8 by {counted(needs.n, unit)}{enough}"

    @property
    def about_subjects(self) -> str:
        """The family of the subjects, and the subjects without a verdict."""
        few = [f"{in_one_line(row.subject)} ({row.n_questions:,})" for row in self.subjects if row.differs is None]
        n = len(self.subjects) - len(few)
        together = [f"p-values of {counted(n, 'subject')} corrected together by Holm"] if n else []
        without = [f"too few {ITEM[self.kind]}s for a verdict: {few_names(few, 8, 60)}"] if few else []
        return "; ".join([*together, *without])

    @property
    def table(self) -> Table:
        """The differences by metric and pair."""
        form = partial(shown_metric, metrics={row.metric for row in self.metrics})
        return self._table_of(self.metrics, [Column("metric", form=form)])

    @property
    def shown(self) -> Table:
        """The same for readers: several pairs have a row each, with the first metric and the other differences."""
        if self.n_pairs == 1:
            return self.table
        rows = [row for row in self.metrics if row.metric == self.metrics[0].metric]
        table = self._table_of(rows, [])
        others = {(row.metric, row.model_a, row.model_b): row for row in self.metrics if row.metric != rows[0].metric}
        metrics = list(dict.fromkeys(metric for metric, _, _ in others))

        def marked(row: Difference) -> str:
            return self._figure("difference", row.digits, self._shown(row)) + ("*" if row.differs else " ")

        columns = [Column(name, form=marked, view="readers", is_optional=True) for name in metrics]
        cells = [
            [*cells, *(others.get((name, row.model_a, row.model_b)) for name in metrics)]
            for row, cells in zip(rows, table.rows, strict=True)
        ]
        return Table([*table.columns, *columns], cells)

    def _shown(self, row: Difference) -> Difference:
        return row.reversed() if self.is_rising else row

    def _short(self) -> dict[str, str]:
        """How readers see the names of models; runs have their paths if short names are not different."""
        models = {model: in_one_line(model, 1000) for row in self.metrics for model in (row.model_a, row.model_b)}
        short = {path: in_one_line(short_name(Path(path)), 1000) for path in models if self.kind == "runs"}
        return short if len({*short.values()}) == len(models) else models

    @property
    def subject_table(self) -> Table:
        """The differences of two models by subject."""
        return self._table_of(self.subjects, [Column("subject")])

    def _figure(self, name: str, digits: int, row: Difference) -> str:
        value, is_length = getattr(row, name), (self.kind, row.metric) == ("runs", "length")
        return NOTHING if value is None else figure(value, 1 if is_length else digits, is_signed=name not in ("a", "b"))

    def _table_of(self, rows: Sequence[Difference], first: Sequence[Column]) -> Table:
        """A table of differences; the first columns say what each row is about."""
        digits = max((row.digits for row in rows), default=4) if {row.test for row in rows} == {"Tango"} else 4

        def ends(row: Difference) -> str:
            low, high = (self._figure(end, digits, row) for end in ("low", "high"))
            return low if row.low is None else f"{low} to {high}"

        def figures(name: str, title: str, is_optional: bool = False) -> Sequence[Column]:
            form = partial(self._figure, name, digits)
            return Column(name, view="files"), Column(name, title, form=form, view="readers", is_optional=is_optional)

        is_corrected, noun = any(row.n_in_family > 1 for row in rows), MODEL[self.kind]
        views: Sequence[Literal["files", "all"]] = "files", "all"
        columns = [
            *first,
            Column("model_a", f"{noun} A", view=views[not self.has_one_a], form=self._short().__getitem__),
            Column("model_b", f"{noun} B", view=views[self.n_pairs > 1], form=self._short().__getitem__),
            *figures("a", "A", is_optional=self.n_pairs > 1),
            *figures("b", "B", is_optional=not self.has_one_a),
            *figures("difference", self.pair),
            Column("interval", "95 % interval", view="readers", is_signed=True, form=ends, picture="interval"),
            *(Column(name, view="files") for name in ("low", "high")),
            Column("differs"),
            Column("p_value", "p", form=shown_p, view=views[not is_corrected]),
            Column("p_corrected", "p (Holm)", form=shown_p, view=views[is_corrected], is_optional=self.n_pairs > 1),
            Column("n_questions", "n", is_optional=True),
        ]
        there = {column.name for column in columns}
        columns += [Column(part.name, view="files") for part in fields(Difference) if part.name not in there]
        cells = [[self._shown(row) if c.view == "readers" else getattr(row, c.name) for c in columns] for row in rows]
        return Table(columns, cells)

    def deciding_tables(self, n: int) -> list[Table]:
        """The questions with the largest differences of each pair, up to a number; pairs without any are left out."""
        tables, short, sign = [], self._short(), -1 if self.is_rising else 1
        deciding = [row for row in self.questions if row.difference]
        for a, b in dict.fromkeys((row.model_a, row.model_b) for row in deciding):
            rows = [row for row in deciding if (row.model_a, row.model_b) == (a, b)]
            columns = [Column("question_id", "decided by"), Column("a", "A"), Column("b", "B")]
            columns.append(Column("difference", self.pair, form=lambda value: signed(sign * value)))
            columns += [Column("question")] if rows[0].question else []
            title = f"A: {short[a]}, B: {short[b]}" if self.n_pairs > 1 else ""
            cells = [[getattr(row, column.name) for column in columns] for row in rows[:n]]
            tables.append(Table(columns, cells, title=title))
        return tables

    @property
    def names(self) -> list[tuple[str, str]]:
        """The models that the letters A and B stand for in all rows."""
        short, row = self._short(), self.metrics[0]
        names = [("A", short[row.model_a]), ("B", short[row.model_b])]
        return names if self.n_pairs == 1 else names[: self.has_one_a]

    def words(self) -> list[str]:
        """The sentences above the table of a notebook."""
        names = ", ".join(f"{letter} is {name}" for letter, name in self.names)
        sentences = [f"{names}." if names else "", self.verdict, self.method, self.left_out, *self.power_sentences]
        return [sentence for sentence in sentences if sentence]

    def to_dict(self) -> dict[str, Any]:
        """The verdict and all figures, for JSON."""
        rows = {
            name: [vars(row) for row in getattr(self, name)] for name in ("metrics", "questions", "subjects", "power")
        }
        verdict = replace(self, is_rising=False).verdict  # A - B, as the figures
        figures = {"verdict": verdict, "method": self.method, **vars(self), **rows, "of": self.kind}
        return {name: value for name, value in figures.items() if name not in ("kind", "is_rising")}


def compare_models(
    table: ItemScores,
    *,
    all_pairs: bool = False,
    power: bool = False,
    difference: float | None = None,
    deciding: int | None = None,
    kind: Kind = "models",
) -> Comparison:
    """Compares the first model with all others, or all pairs; see `pfgen_fast.compare`."""
    n_models = len(table.models)
    if kind == "models" and len(set(table.models)) < n_models:
        twice = next(model for at, model in enumerate(table.models) if model in table.models[:at])
        raise TrialsError(f"model {harmless(twice)}: given twice; expected each model once")
    if n_models < 2:
        raise TrialsError(f"{counted(n_models, MODEL[kind])}: a comparison needs at least two")
    if all_pairs and n_models > MOST_IN_ALL_PAIRS:
        raise TrialsError(
            f"{n_models:,} {MODEL[kind]}s have {n_models * (n_models - 1) // 2:,} pairs: all pairs are compared up "
            f"to {MOST_IN_ALL_PAIRS} of them; compare the first with the others, or use 'leaderboard' for groups"
        )
    pairs = list(itertools.combinations(range(n_models), 2)) if all_pairs else [(0, at) for at in range(1, n_models)]
    rows = [row for metric in table.metrics for row in _decided(table, metric, [(pair, None, None) for pair in pairs])]
    if not rows:
        names = " and ".join(harmless(name) for name in table.models) if n_models == 2 else f"the {MODEL[kind]}s"
        raise TrialsError(f"{names} have no {ITEM[kind]} in common")
    first = rows[0].metric
    with_rows = {(row.model_a, row.model_b) for row in rows if row.metric == first}
    compared = [(a, b) for a, b in pairs if (table.models[a], table.models[b]) in with_rows]
    named = [None, *([] if difference is None else [difference])] if power or difference is not None else []
    n_questions = deciding if deciding is not None else None if len(pairs) == 1 else 0
    subjects: dict[str, list[int]] = {}
    for at, subject in enumerate(table.subjects if len(pairs) == 1 else ()):
        if subject is not None:
            subjects.setdefault(subject, []).append(at)
    return Comparison(
        tuple(rows),
        tuple(row for pair in compared for row in _by_item(table, first, pair, n_questions)),
        _left_out(table, rows, pairs, kind),
        subjects=tuple(_decided(table, first, [((0, 1), subject, items) for subject, items in subjects.items()])),
        power=tuple(needs for pair in compared for needs in _power(table, first, pair, named)),
        higher_is_better=table.higher_is_better.get(first, True),
        kind=kind,
        is_rising=are_rising([(model, None) for model in table.models]),
    )


_Part = tuple[tuple[int, int], str | None, Sequence[int] | None]
"""What is compared in a metric: the rows of two models; a subject and its items, or None for all items."""


def _decided(table: ItemScores, metric: str, parts: Iterable[_Part]) -> Iterable[Difference]:
    """The verdicts of one family, with the means of both models over their common items."""
    tested = [(part, compared) for part in parts if (compared := compare_pair(table, metric, part[0], part[2]))]
    verdicts = decided([compared for _, compared in tested])
    for ((pair, subject, items), _), verdict in zip(tested, verdicts, strict=True):
        a, b = scores_of_pair(table, metric, pair, items)
        is_common = ~np.isnan(a + b)
        mean_a, mean_b = (math.fsum(scores[is_common].tolist()) / verdict.n_questions for scores in (a, b))
        model_a, model_b = (table.models[row] for row in pair)
        yield Difference(
            **vars(verdict), metric=metric, a=mean_a, b=mean_b, model_a=model_a, model_b=model_b, subject=subject
        )


def _by_item(
    table: ItemScores, metric: str, pair: tuple[int, int], n_items: int | None
) -> Iterable[QuestionDifference]:
    """The common items with the largest differences, or all."""
    a, b = scores_of_pair(table, metric, pair, None)
    names = [table.models[row] for row in pair]
    order = np.argsort(-np.abs(a - b), kind="stable")[: int((~np.isnan(a - b)).sum())]  # NaN is last
    for at in order[:n_items].tolist():
        score_a, score_b = float(a[at]), float(b[at])
        yield QuestionDifference(table.items[at], "", score_a, score_b, score_a - score_b, *names)


def _power(table: ItemScores, metric: str, pair: tuple[int, int], named: Sequence[float | None]) -> Iterable[PairNeeds]:
    """What finds the difference seen (None) and named differences."""
    tested = compare_pair(table, metric, pair) if named else None
    if tested is not None:
        model_a, model_b = (table.models[row] for row in pair)
        for difference in dict.fromkeys(tested.mean if value is None else value for value in named):
            yield PairNeeds(**vars(needed(tested, difference)), model_a=model_a, model_b=model_b)


def _left_out(table: ItemScores, rows: Sequence[Difference], pairs: Sequence[tuple[int, int]], kind: Kind) -> str:
    item, model, n_all = ITEM[kind], MODEL[kind], len(table.items)
    metrics = list(dict.fromkeys(row.metric for row in rows))
    first_rows = [row for row in rows if row.metric == metrics[0]]
    sentences = []
    if len(pairs) > 1:
        fewest, most = (choose(row.n_questions for row in first_rows) for choose in (min, max))
        if fewest < n_all:
            number = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
            sentences.append(f"Each pair is compared on the {item}s that both have: {number} of {n_all:,}.")
        if len(first_rows) < len(pairs):
            n_without = counted(len(pairs) - len(first_rows), "pair")
            sentences.append(f"{n_without} without a common {item} left out.")
    elif first_rows[0].n_questions < n_all:
        n_lacking = np.isnan(table.values[metrics[0]][list(pairs[0])]).sum(axis=1).tolist()
        n_left_out = n_all - first_rows[0].n_questions
        where = " and ".join(f"{n:,} in {model} {name}" for n, name in zip(n_lacking, "AB", strict=True))
        are = f"{counted(n_all, item)} {'is' if n_left_out == 1 else 'are'}"
        without = "an answer" if kind == "runs" else "a score"
        sentences.append(f"{n_left_out:,} of {are} left out, without {without}: {where}.")
    if missing := [metric for metric in table.metrics if metric not in metrics]:
        sentences.append(f"Left out, because no two {model}s have them in common: {few_names(missing)}.")
    return " ".join(sentences)
