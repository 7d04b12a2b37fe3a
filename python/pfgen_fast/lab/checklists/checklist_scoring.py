"""Scores of models: means of verdicts by area, category and length, and the average, with 95 % intervals.

    area           mean of the scores of its judged answers; missing ones are left out, or count as zero
    rescaled       (area - centre) * factor
    average        mean of the areas, which have equal weights

All sums of floats are exactly rounded, so nothing depends on an order. A figure without a value is None, never NaN.
Rules: docs/checklists.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ...base.native import _core
from ...base.untrusted_text import counted, few_names, in_one_line
from ...runs.statistics.verdicts import rank_ranges
from ..statistics.correlation import ranks as score_ranks
from ..statistics.intervals_of_draws import Stratum, half_widths
from .checklist_runs import Run
from .checklist_suite import PARTS, ChecklistSuite, by_part
from .judged import WHY_STALE, Judged, Verdicts, Weighting, judged_runs
from .line_files import OnFault
from .tasks import ChecklistTask, Method, Missing

Gap = Literal["missing", "unjudged", "stale"]
"""Why an answer is not judged."""

GAPS: tuple[Gap, ...] = get_args(Gap)

_UNKNOWN = "unknown"


Ends = tuple[float, float]


@dataclass(frozen=True)
class LengthFigures:
    """How far some answers meet the wanted lengths."""

    n: int
    mean_words: float
    mean_absolute_length_error: float
    mean_shortfall: float
    share_long_enough: float


def length_figures(counted_and_wanted: Iterable[tuple[int | None, int | None]]) -> LengthFigures | None:
    """The figures of the answers whose numbers of words and wanted words are known; None without any."""
    listed = [(words, wanted) for words, wanted in counted_and_wanted if words is not None and wanted is not None]
    if not listed:
        return None
    return LengthFigures(
        len(listed),
        fmean(words for words, _ in listed),
        fmean(abs(words - wanted) for words, wanted in listed),
        fmean(max(0, wanted - words) for words, wanted in listed),
        fmean(words >= wanted for words, wanted in listed),
    )


@dataclass(frozen=True)
class ScoredPart:
    """The score of a model on an area, a category or a length; the average is a part, too: the mean of the areas."""

    n: int = 0  # number of judged answers
    # names of answers that are not judged, by reason
    gaps: Mapping[Gap, tuple[str, ...]] = field(default_factory=lambda: dict.fromkeys(GAPS, ()))
    score: float | None = None  # mean score, 0 to 100; None without judged answers, like the other figures
    rescaled: float | None = None
    rescaled_plain: float | None = None
    rescaled_missing_as_zero: float | None = None
    rescaled_over_answers: float | None = None  # only of the average
    words: float | None = None
    interval: Ends | None = None  # the 95 % interval of the rescaled score
    # how far the wanted length was met, if the number of words of each answer is known
    length: LengthFigures | None = None


@dataclass(frozen=True)
class ModelScores:
    """The scores of one model."""

    model: str
    name: str
    signature: str
    place: float | None  # its place, from 1; equal averages share the mean of their places
    ranks: tuple[int, int] | None  # its rank range (`paired.rank_ranges`); None without an average or a verdict
    areas: Mapping[str, ScoredPart]
    categories: Mapping[tuple[str, str], ScoredPart]
    lengths: Mapping[str, ScoredPart]
    average: ScoredPart  # without figures if an area has no judged answer
    answers: tuple[Verdicts, ...] = field(repr=False)

    def n(self, gap: Gap) -> int:
        """The number of answers to tasks without a length that have a gap."""
        return sum(len(part.gaps[gap]) for part in self.areas.values())


@dataclass(frozen=True)
class ChecklistScores:
    """The scores of several models on the same suite.

    Attributes:
        suite: The suite.
        models: The models, best average first; those without an average at the end, by name.
        method: How the judge was asked.
        missing: How an answer without a judgement counts in `score` and `rescaled`.
        weights: Whether questions have the suite's weights or equal weights.
        notes: Notes for readers, one sentence each.
    """

    suite: ChecklistSuite
    models: tuple[ModelScores, ...]
    method: Method
    missing: Missing
    weights: Weighting
    notes: tuple[str, ...]

    def n(self, gap: Gap) -> int:
        """The number of answers with a gap."""
        parts = (part for model in self.models for part in (*model.areas.values(), *model.lengths.values()))
        return sum(len(part.gaps[gap]) for part in parts)

    @property
    def left_out(self) -> list[str]:
        """A sentence for each reason why judgements do not count."""
        reasons = ((self.n("stale"), WHY_STALE), (self.n("unjudged"), "the judge gave no usable reply (yet)"))
        return [f"{counted(n, 'answer')} left out: {why}" for n, why in reasons if n]


def score_judged_runs(
    suite: ChecklistSuite,
    runs: Iterable[Run],
    *,
    missing: Missing = "skip",
    method: Method = "checklist",
    weights: Weighting = "suite",
    judge: str | None = None,
    mixed: bool = False,
    on_fault: OnFault | None = None,
) -> ChecklistScores:
    """Scores runs from their judgements, best first.

    Args:
        suite: The suite.
        runs: The runs.
        missing: Whether an answer without a judgement is left out or counts as zero.
        method: How the judge was asked.
        weights: Whether questions have the suite's weights or equal weights (known as AVG-C).
        judge: The name or a version of the judge; only needed if there are several judges or versions.
        mixed: Whether to combine replies of several versions of the judge, and replies to several prompts.
        on_fault: Called with a message for each invalid line, which is then skipped; without it, the first invalid
            line is an error.

    Raises:
        ChecklistError: A file breaks the rules, there are no judgements, or they are of several judges or versions.
    """
    rules = _Rules(suite, method, weights, missing)
    judged = judged_runs(suite, runs, method=method, weights=weights, judge=judge, mixed=mixed, on_fault=on_fault)
    strata = rules.strata(judged)
    halves = [{key: half_widths(stratum) for key, stratum in parts.items()} for parts in strata]
    areas = list(strata[0].values())
    average_half = half_widths(*areas) if areas else np.full(len(judged), np.nan)
    parts, averages = [], []
    for row, side in enumerate(judged):
        areas_of, categories, lengths = rules.parts(
            side, [{key: float(half[row]) for key, half in of_kind.items()} for of_kind in halves]
        )
        parts.append((areas_of, categories, lengths))
        averages.append(rules.average(side, areas_of, float(average_half[row])))
    means = [average.rescaled for average in averages]
    order = sorted(range(len(judged)), key=lambda row: (means[row] is None, -(means[row] or 0.0), judged[row].run.key))
    ranked = [row for row in order if means[row] is not None]
    places = dict(zip(ranked, score_ranks(np.array([means[row] for row in ranked])).tolist(), strict=True))
    ranks = dict(zip(ranked, rank_ranges(*(area.values[ranked] for area in areas)) if ranked else (), strict=True))
    models = tuple(
        ModelScores(
            judged[row].run.key,
            judged[row].run.name,
            rules.signature(judged[row]),
            places.get(row),
            ranks.get(row),
            *parts[row],
            averages[row],
            judged[row].answers,
        )
        for row in order
    )
    return ChecklistScores(suite, models, method, rules.missing, weights, tuple(rules.notes(judged)))


class _Gap(NamedTuple):
    task: ChecklistTask
    gap: Gap
    name: str


@dataclass(frozen=True)
class _Rules:
    suite: ChecklistSuite
    method: Method
    weights: Weighting
    missing: Missing

    def parts(self, judged: Judged, half_widths: Sequence[Mapping[Any, float]]) -> tuple[dict[Any, ScoredPart], ...]:
        """The parts of a model by area, category and length, in the order of areas."""
        in_order = sorted(self.suite.tasks, key=lambda task: self.suite.areas.index(task.area))
        gaps, parts = self._gaps(judged), []
        for (kind, key_of), half in zip(PARTS.items(), half_widths, strict=True):
            answers_of, gaps_of = by_part(judged.answers, kind), by_part(gaps, kind)
            keys = dict.fromkeys(key for key in map(key_of, in_order) if key is not None)
            parts.append({key: self._part(answers_of.get(key, []), gaps_of.get(key, []), half[key]) for key in keys})
        areas, categories, lengths = parts
        asked = {
            name: lengths[name]
            for name in self.suite.lengths
            if lengths[name].n or lengths[name].gaps["unjudged"] or lengths[name].gaps["stale"]
        }
        return areas, categories, asked

    def _gaps(self, judged: Judged) -> list[_Gap]:
        is_repeated = any(trial != 1 for _, _, trial in judged.states)
        return [
            _Gap(self.suite.by_key[id, length], state, f"{id} (trial {trial})" if is_repeated else id)
            for (id, length, trial), state in judged.states.items()
            if state != "judged"
        ]

    def _part(self, answers: Sequence[Verdicts], gaps: Sequence[_Gap], half_width: float) -> ScoredPart:
        names = {kind: tuple(gap.name for gap in gaps if gap.gap == kind) for kind in GAPS}
        rescale, scores = self.suite.rescaling, [answer.score for answer in answers]
        total, n_all = math.fsum(scores), len(scores) + len(names["missing"])
        if not answers:
            return ScoredPart(0, names)
        n = n_all if self.missing == "zero" else len(scores)
        length = length_figures((answer.words, answer.task.wanted_words) for answer in answers)
        is_length_known = answers[0].task.length is not None and length is not None and length.n == len(answers)
        return ScoredPart(
            n=len(answers),
            gaps=names,
            score=total / n,
            rescaled=rescale(total / n),
            rescaled_plain=rescale(math.fsum(answer.plain for answer in answers) / n),
            rescaled_missing_as_zero=rescale(total / n_all),
            words=_mean_of_known([answer.words for answer in answers]),
            interval=self._interval(rescale(total / n), half_width),
            length=length if is_length_known else None,
        )

    def average(self, judged: Judged, areas: Mapping[str, ScoredPart], half_width: float) -> ScoredPart:
        """The mean of the areas, if each has a score."""

        def mean(name: str) -> float | None:
            return _mean_of_known([getattr(part, name) for part in areas.values()])

        rescaled = mean("rescaled")
        if rescaled is None:
            return ScoredPart()
        scores = [answer.score for answer in judged.answers if answer.task.length is None]
        if self.missing == "zero":
            scores += [0.0] * sum(len(part.gaps["missing"]) for part in areas.values())
        return ScoredPart(
            rescaled=rescaled,
            rescaled_plain=mean("rescaled_plain"),
            rescaled_missing_as_zero=mean("rescaled_missing_as_zero"),
            rescaled_over_answers=self.suite.rescaling(fmean(scores)),
            words=mean("words"),
            interval=self._interval(rescaled, half_width),
        )

    def _interval(self, rescaled: float, half_width: float) -> Ends | None:
        rescale, width = self.suite.rescaling, self.suite.rescaling.factor * half_width
        return None if math.isnan(width) else (max(rescale(0), rescaled - width), min(rescale(100), rescaled + width))

    def strata(self, judged: Sequence[Judged]) -> list[dict[Any, Stratum]]:
        """The scores of all models (rows) on the tasks (columns) of each area, category and length."""
        columns = {task.key: column for column, task in enumerate(self.suite.tasks)}
        totals, counts = np.zeros((2, len(judged), len(columns)))
        for row, side in enumerate(judged):
            for answer in side.answers:
                totals[row, columns[answer.task.key]] += answer.score
                counts[row, columns[answer.task.key]] += 1
            for key, state in side.states.items():
                if self.missing == "zero" and state == "missing":
                    counts[row, columns[key[:2]]] += 1
        strata = []
        for key_of in PARTS.values():
            inside: dict[Any, list[int]] = {}
            for column, task in enumerate(self.suite.tasks):
                inside.setdefault(key_of(task), []).append(column)
            inside.pop(None, None)
            strata.append({key: Stratum(totals[:, own], counts[:, own]) for key, own in inside.items()})
        return strata

    def signature(self, judged: Judged) -> str:
        """The inputs of the scores, by name; facts that imported judgements lack are `unknown`."""
        variants = judged.variants
        parts = {
            "checklists": _core.__version__,
            "suite": f"{self.suite.name} {self.suite.hash}",
            "questions": self.suite.checklists_hash,
            "weights": self._used_weights if self.method == "checklist" else "none",
            "method": self.method,
            "judge": f"{judged.judge or _UNKNOWN} ({_listed(variant.version for variant in variants)})",
            "prompt": _listed(variant.prompt_sha256 for variant in variants),
            "profile": _listed(variant.profile for variant in variants),
            "temperature": _listed(None if v.temperature is None else f"{v.temperature:g}" for v in variants),
            "missing": self.missing,
            "words": "+".join(judged.counters) or "none",
            **({"request": _listed(v.request for v in variants)} if any(v.request for v in variants) else {}),
        }
        return "|".join(f"{name}:{in_one_line(value, 200).replace('|', '/')}" for name, value in parts.items())

    @property
    def _used_weights(self) -> Weighting:
        has_any = any(checklist.has_weights for checklist in self.suite.checklists.values())
        return self.weights if has_any else "equal"

    def notes(self, judged: Sequence[Judged]) -> list[str]:
        """Notes for readers of a table, one sentence each."""
        notes = list(self.suite.notes)
        if self.method == "checklist" and self._used_weights == "equal":
            notes.append("Equal weights: each score is the plain mean of the verdicts times 100.")
        elif self.method == "checklist" and not self.suite.has_weights:
            without = ["/".join(key) for key, checklist in self.suite.checklists.items() if not checklist.has_weights]
            which = counted(len(without), "category")
            notes.append(f"Equal weights in {which} without weights: {few_names(without)}.")
        variants = dict.fromkeys(variant for side in judged for variant in side.variants)
        if len(variants) > 1:
            notes.append(f"Replies of {len(variants)} versions or prompts of the judge are mixed.")
        counters = dict.fromkeys(counter for side in judged for counter in side.counters)
        if len(counters) > 1:
            notes.append(f"Words were counted in {len(counters)} ways: {', '.join(counters)}.")
        return notes


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) and known else None


def _listed(values: Iterable[str | None]) -> str:
    return "+".join(dict.fromkeys(value or _UNKNOWN for value in values)) or _UNKNOWN


ANSWER_COLUMNS = {"item": str, "model": str, "trial": int, "subject": str, "score": float}
"""The columns of `answer_rows`, and their types."""


def answer_rows(scores: ChecklistScores) -> Iterator[tuple[str, str, int, str, float]]:
    """A row for each judged answer; `compare` and `leaderboard` read such tables."""
    for model in scores.models:
        for answer in model.answers:
            id, length, trial = answer.key
            yield id if length is None else f"{id}/{length}", model.model, trial, answer.task.area, answer.score
