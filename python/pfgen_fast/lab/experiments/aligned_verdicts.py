"""Metrics of answers beside verdicts on them: the same models, the same prompts, and pairs of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ...base.arrays import Floats, Ints
from ...base.errors import ExperimentError
from ...base.untrusted_text import counted, few_names
from ...runs.leaderboard import is_system
from .run_means import RunMeans
from .scored_runs import RunFigures, ScoredRuns
from .verdict_tables import Verdicts, match_names

LENGTH = "length"


def uneven(numbers: Sequence[int]) -> str:
    """The range of numbers of which the smallest is more than a twentieth below the largest; empty for others."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return f"{low:,} to {high:,}" if low < 0.95 * high else ""


@dataclass(frozen=True, eq=False)
class MetricValues:
    """The values of metrics for the answers of models (rows) to prompts (columns); NaN for a missing answer."""

    names: tuple[str, ...]  # names of the rows: runs or models
    models: tuple[str, ...]  # model of each row
    families: tuple[str, ...]  # family of each row
    prompts: tuple[str, ...]
    categories: tuple[str, ...]  # category of each prompt; empty without categories
    values: Mapping[str, Floats]  # by metric; `length` is one of them if it is known
    problems: tuple[str, ...] = ()  # what was left out, one sentence each
    aliases: Mapping[str, str] = field(default_factory=dict)  # names of prompts by their texts
    notes: tuple[str, ...] = ()  # limits of the values, one sentence each


def values_of_runs(runs: RunFigures, families: Sequence[str] = (), lengths: Floats | None = None) -> MetricValues:
    """The scores of runs of models; without `lengths`, answers of runs that are not scored have the mean length."""
    if lengths is None:
        lengths = np.repeat(runs.means[LENGTH][:, np.newaxis], len(runs.suite), axis=1)
        if isinstance(runs, ScoredRuns):
            counts, sums = (
                np.bincount(runs.cells, weights, lengths.size).reshape(lengths.shape)
                for weights in (None, runs.answer_scores[LENGTH])
            )
            with np.errstate(invalid="ignore"):
                lengths = sums / counts
    rows = [row for row, model in enumerate(runs.models) if not is_system(model)]
    yardsticks = sorted(set(runs.models) - {runs.models[row] for row in rows})
    names, models, families = (
        tuple(column[row] for row in rows) for column in (runs.names, runs.models, families or runs.models)
    )
    return MetricValues(
        names=names,
        models=models,
        families=families,
        prompts=tuple(question.question_id for question in runs.suite),
        categories=tuple(question.category for question in runs.suite),
        values={name: values[rows] for name, values in {LENGTH: lengths, **runs.question_scores}.items()},
        problems=runs.problems,
        aliases={question.question: question.question_id for question in runs.suite},
        notes=(f"left out, because they are yardsticks and not models: {', '.join(yardsticks)}",) if yardsticks else (),
    )


def values_of_means(runs: RunMeans, families: Sequence[str]) -> MetricValues:
    """The mean scores of runs, as those of a single prompt: for verdicts on models."""
    values = {name: column[:, np.newaxis] for name, column in runs.means.items()}
    return MetricValues(runs.names, runs.models, tuple(families), ("all",), ("",), values, runs.problems)


@dataclass(frozen=True, eq=False)
class Aligned:
    """Verdicts on the rows and prompts of metrics."""

    name: str
    theirs: Floats  # the verdict on each row and prompt; NaN without one
    partners: Mapping[str, str]  # by our name, the name among the verdicts
    # pairs of answers that the judge tells apart: prompt, row of the better answer, row of the other one. Of two
    # answers that were compared with a baseline only, the better one is preferred to it, and the other one is not
    pairs: Ints
    n_ties: int  # pairs that the judge calls equal
    baseline: str  # model that all others were compared with; empty without one
    notes: tuple[str, ...]


def align(verdicts: Verdicts, ours: MetricValues) -> Aligned:
    """Places verdicts on the rows and prompts of metrics; raises ExperimentError if too little is in common."""
    name, partners = verdicts.name, _partners(ours, verdicts)
    rows = {partner: ours.names.index(row) for row, partner in partners.items()}
    if len(rows) < 2:
        raise ExperimentError(
            f"{name}: {counted(len(rows), 'model')} in common, expected at least 2; ours are "
            f"{few_names([*dict.fromkeys(ours.models)], 5)}, theirs {few_names(verdicts.models, 5) or 'none'}"
        )
    places = {prompt: place for place, prompt in enumerate(ours.prompts)}
    places |= {alias: places[prompt] for alias, prompt in ours.aliases.items()}
    if verdicts.prompts and places.keys().isdisjoint(verdicts.prompts):
        raise ExperimentError(
            f"{name}: no prompt in common; ours are such as {few_names(ours.prompts, 2)}, theirs "
            f"{few_names(verdicts.prompts, 2)}"
        )
    theirs = np.full((len(ours.names), len(ours.prompts)), np.nan)
    for model in rows.keys() & verdicts.figures.keys():
        theirs[rows[model]] = verdicts.figures[model]
    for (prompt, model), ratings in verdicts.ratings.items():
        if model in rows and prompt in places:
            theirs[rows[model], places[prompt]] = float(np.mean(ratings))
    bases = set.intersection(*({first, second} for _, first, second, _ in verdicts.pairs)) if verdicts.pairs else set()
    if len(bases) == 1:
        rows |= {base: len(ours.names) for base in bases - rows.keys()}  # a baseline without answers has the last row
    judged = [
        (places[prompt], rows[first], rows[second], preference)
        for prompt, first, second, preference in verdicts.pairs
        if prompt in places and first in rows and second in rows
    ]
    baseline = ""
    if judged:
        preferences, at = _mean_preferences(judged, (len(ours.names) + 1, len(ours.prompts)))
        theirs = preferences[:-1]
        if at is not None:
            sides = np.sign(theirs - 0.5)
            indirect = [pair for pair in _pairs_of(np.where(sides == 0, np.nan, sides)) if pair[3] != 0.5]
            if indirect or at == len(theirs):  # else, the judge always prefers the baseline or its rivals
                baseline, judged = [*ours.models, *bases][at], indirect
    elif verdicts.ratings:
        judged = list(_pairs_of(theirs))
    decided = [(at, a, b) if share > 0.5 else (at, b, a) for at, a, b, share in judged if share != 0.5]
    strangers = [model for model in verdicts.models if model not in rows]
    judged_models = {model for row, model in zip(ours.names, ours.models, strict=True) if row in partners}
    mute = [model for model in dict.fromkeys(ours.models) if model not in judged_models]
    notes = tuple(
        f"{name}: {counted(len(models), 'model')} without {what} left out: {few_names(models, 5)}"
        for what, models in (("answers here are", strangers), ("verdicts are", mute))
        if models
    )
    pairs = np.array(decided, dtype=np.int64).reshape(-1, 3)
    return Aligned(name, theirs, partners, pairs, len(judged) - len(decided), baseline, notes)


def _partners(ours: MetricValues, verdicts: Verdicts) -> dict[str, str]:
    """The name among the verdicts of each row: that of a run, or else of a model, whose best run counts."""
    by_run = match_names(ours.names, verdicts.models)
    best = dict(zip(ours.models, ours.names, strict=True))
    if len(best) < len(ours.names):
        means = ours.values["score"].mean(axis=1)
        best = {ours.models[row]: ours.names[row] for row in np.argsort(means, kind="stable").tolist()}
    by_model = {best[model]: partner for model, partner in match_names(list(best), verdicts.models).items()}
    return by_run if len(by_run) > len(by_model) else by_model


def _pairs_of(ratings: Floats) -> Iterator[tuple[int, int, int, float]]:
    """Each two answers to one prompt, and whether the first has the higher rating (1), the lower (0) or the same."""
    for prompt, column in enumerate(ratings.T):
        for a, b in combinations(np.flatnonzero(~np.isnan(column)).tolist(), 2):
            yield prompt, a, b, float(np.sign(column[a] - column[b]) + 1) / 2


def _mean_preferences(
    judged: Sequence[tuple[int, int, int, float]], shape: tuple[int, int]
) -> tuple[Floats, int | None]:
    """The mean preference for each row and prompt, NaN for a baseline, and the baseline: a row in every pair."""
    sums, counts = np.zeros(shape), np.zeros(shape)
    for prompt, first, second, share in judged:
        for row, value in ((first, share), (second, 1 - share)):
            sums[row, prompt] += value
            counts[row, prompt] += 1
    with np.errstate(invalid="ignore"):
        means: Floats = sums / counts
    in_every_pair = np.flatnonzero(counts.sum(axis=1) == len(judged)).tolist()
    if len(in_every_pair) != 1:
        return means, None
    means[in_every_pair] = np.nan
    return means, in_every_pair[0]
