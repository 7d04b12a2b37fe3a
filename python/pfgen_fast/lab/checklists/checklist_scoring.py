"""Scores of models: a weighted sum of verdicts for each answer, means by area, category and length, and the average.

    score(answer)  sum of weight * verdict, 0 to 100
    area           mean over its judged answers; missing ones are left out, or count as zero
    rescaled       (area - centre) * factor
    average        mean of the areas, which have equal weights

All sums of floats are exactly rounded, so nothing depends on an order. Rules: docs/checklists.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...base.arrays import Floats
from ...base.native import _core
from ...base.untrusted_text import counted, few_names, in_one_line
from ...runs.statistics.verdicts import rank_ranges
from ..statistics.intervals_of_draws import Stratum, half_widths
from .answer_texts import UNANSWERED, Unanswered
from .checklist_runs import Run
from .checklist_suite import PARTS, ChecklistSuite, by_part, keys_in_order
from .judged import Judged, Verdicts, judged_runs
from .line_files import OnFault
from .scores import OF_LENGTH, AnswerScore, MissingRule, ModelScores, Part, Scores, State, Weighting, length_figures
from .tasks import AnswerKey, Method, Task

_MOST_RATING = 10.0
"""The best overall rating of the methods that ask for one."""

_UNKNOWN = "unknown"
_GAPS: tuple[State, ...] = ("missing", "unjudged", "stale")


def score_runs(
    suite: ChecklistSuite,
    runs: Iterable[Run],
    *,
    missing: MissingRule | None = None,
    method: Method = "checklist",
    weights: Weighting = "suite",
    judge: str | None = None,
    mixed: bool = False,
    on_fault: OnFault | None = None,
) -> Scores:
    """Scores runs from their judgements, best first.

    Args:
        suite: The suite.
        runs: The runs.
        missing: Whether an answer without a judgement is left out or counts as zero; `bounds` leaves it out, and adds
            the worst and best scores and places. By default as the suite says.
        method: How the judge was asked.
        weights: Whether questions have the suite's weights or equal weights (known as AVG-C).
        judge: The name or a version of the judge; only needed if there are several judges or versions.
        mixed: Whether to combine replies of several versions of the judge, and replies to several prompts.
        on_fault: Called with a message for each invalid line, which is then skipped; without it, the first invalid
            line is an error.

    Raises:
        ChecklistError: A file breaks the rules, there are no judgements, or they are of several judges or versions.
    """
    rules = _Rules(suite, method, weights, suite.missing if missing is None else missing)
    judged = judged_runs(suite, runs, method=method, judge=judge, mixed=mixed, on_fault=on_fault)
    models = sorted(map(rules.model, judged), key=_rank)
    scores = Scores(suite, tuple(models), method, rules.missing, weights, notes=tuple(rules.notes(judged)))
    states = {side.run.key: side.states.items() for side in judged} if rules.missing == "zero" else {}
    zeros = {model: [key for key, state in listed if state == "missing"] for model, listed in states.items()}
    return _with_intervals(scores, zeros)


def score_of(verdicts: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted sum of an answer's verdicts, 0 to 100."""
    return math.fsum(map(mul, verdicts, weights))


class _State(NamedTuple):
    """The state of an answer that is not judged or does not answer its task, and its name in tables."""

    task: Task
    state: State
    unanswered: Unanswered | None
    name: str


@dataclass(frozen=True)
class _Rules:
    suite: ChecklistSuite
    method: Method
    weights: Weighting
    missing: MissingRule

    def model(self, judged: Judged) -> ModelScores:
        """The scores of a model."""
        places = keys_in_order(self.suite, judged.verdicts)
        answers = tuple(self._answer(task, key, judged.verdicts[key]) for task, key in places)
        is_repeated = any(trial != 1 for _, _, trial in judged.states)
        gaps = [
            _State(
                self.suite.by_key[key[:2]],
                state,
                judged.unanswered.get(key),
                f"{key[0]} (trial {key[2]})" if is_repeated else key[0],
            )
            for key, state in judged.states.items()
            if state != "judged" or key in judged.unanswered
        ]
        areas, categories, lengths = (self._parts(part, answers, gaps) for part in PARTS)
        main_scores = [answer.score for answer in answers if answer.task.length is None]
        if self.missing == "zero":
            main_scores += [0.0] * sum(len(part.missing) for part in areas.values())
        return ModelScores(
            judged.run.key,
            judged.run.name,
            self._signature(judged),
            areas,
            categories,
            {name: part for name in self.suite.lengths if (part := lengths[name]).n or part.unjudged or part.stale},
            _average(areas, self.suite.rescaling(fmean(main_scores)) if main_scores else None),
            answers,
            has_texts=judged.has_answers,
        )

    def _answer(self, task: Task, key: AnswerKey, judged: Verdicts) -> AnswerScore:
        if self.method != "checklist":
            score = plain = judged.verdicts[0] * (100 / _MOST_RATING)
        else:
            plain = 100 * math.fsum(judged.verdicts) / len(judged.verdicts)
            score = plain if self.weights == "equal" else score_of(judged.verdicts, self.suite.checklist(task).weights)
        return AnswerScore(key, task, judged.verdicts, score, plain, judged.words, judged.response_sha256)

    def _parts(self, part: str, answers: Sequence[AnswerScore], gaps: Sequence[_State]) -> dict[Any, Part]:
        """The scores by area, category or length, in the order of areas."""
        in_order = sorted(self.suite.tasks, key=lambda task: self.suite.areas.index(task.area))
        by_answers, by_gaps = by_part(answers, part), by_part(gaps, part)
        keys = dict.fromkeys(key for key in map(PARTS[part], in_order) if key is not None)
        return {key: self._part(by_answers.get(key, []), by_gaps.get(key, [])) for key in keys}

    def _part(self, answers: Sequence[AnswerScore], gaps: Sequence[_State]) -> Part:
        missing, unjudged, stale = (tuple(gap.name for gap in gaps if gap.state == state) for state in _GAPS)
        refused, filtered, failed = (tuple(gap.name for gap in gaps if gap.unanswered == name) for name in UNANSWERED)
        worst, best = self._bounds([answer.score for answer in answers], len(missing))
        part = Part(len(answers), missing, unjudged, stale, refused=refused, filtered=filtered, failed=failed)
        part = replace(part, worst=worst, best=best)
        if not answers:
            return part
        rescale, scores = self.suite.rescaling, [answer.score for answer in answers]
        n_all = len(scores) + len(missing)
        n = n_all if self.missing == "zero" else len(scores)
        part = replace(
            part,
            score=math.fsum(scores) / n,
            rescaled=rescale(math.fsum(scores) / n),
            rescaled_plain=rescale(math.fsum(answer.plain for answer in answers) / n),
            rescaled_missing_as_zero=rescale(math.fsum(scores) / n_all),
            rescaled_missing_skipped=rescale(fmean(scores)),
            words=_mean_of_known([answer.words for answer in answers]),
        )
        figures = length_figures((answer.words, answer.task.wanted_words) for answer in answers)
        if answers[0].task.length is None or figures is None or figures.n < len(answers):
            return part
        return replace(part, **{name: getattr(figures, name) for name in OF_LENGTH})

    def _bounds(self, scores: Sequence[float], n_missing: int) -> tuple[float, float] | tuple[None, None]:
        """The rescaled scores if all missing answers had the worst or the best verdicts."""
        n = len(scores) + n_missing
        if not n or self.missing != "bounds":
            return None, None
        ends = (0.0, 100.0)
        if self.method == "checklist":
            ends = (100 * self.suite.levels[0], 100 * self.suite.levels[-1])
        total = math.fsum(scores)
        low, high = (self.suite.rescaling((total + n_missing * end) / n) for end in ends)
        return low, high

    def _signature(self, judged: Judged) -> str:
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


def _rank(model: ModelScores) -> tuple[bool, float, str]:
    average = model.average.rescaled
    return average is None, 0.0 if average is None else -average, model.model


def _average(areas: Mapping[str, Part], over_answers: float | None) -> Part:
    """The mean of the areas, if each has a score; bounds also exist for areas without judged answers."""
    worst, best = (_mean_of_known([getattr(part, name) for part in areas.values()]) for name in ("worst", "best"))
    if not areas or any(part.rescaled is None for part in areas.values()):
        return Part(worst=worst, best=best)

    names = ("rescaled", "rescaled_plain", "rescaled_missing_as_zero", "rescaled_missing_skipped", "words")
    means: dict[str, Any] = {name: _mean_of_known([getattr(part, name) for part in areas.values()]) for name in names}
    return Part(**means, rescaled_over_answers=over_answers, worst=worst, best=best)


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) and known else None


def _listed(values: Iterable[str | None]) -> str:
    return "+".join(dict.fromkeys(value or _UNKNOWN for value in values)) or _UNKNOWN


_K = TypeVar("_K", bound=Hashable)


def _with_intervals(scores: Scores, zeros: Mapping[str, Sequence[AnswerKey]]) -> Scores:
    """The same scores with 95 % intervals and rank ranges."""
    strata, rescale = _strata(scores, zeros), scores.suite.rescaling
    halves = [{key: half_widths(part) for key, part in parts.items()} for parts in strata]
    areas = list(strata[0].values())
    average = half_widths(*areas) if areas else np.full(len(scores.models), np.nan)

    def with_interval(part: Part, half: Floats, place: int) -> Part:
        width = rescale.factor * float(half[place])
        if part.rescaled is None or math.isnan(width):
            return part
        low, high = max(rescale(0), part.rescaled - width), min(rescale(100), part.rescaled + width)
        return replace(part, low=low, high=high)

    def parts_of(parts: Mapping[_K, Part], number: int, place: int) -> dict[_K, Part]:
        return {key: with_interval(part, halves[number][key], place) for key, part in parts.items()}

    models = tuple(
        replace(
            model,
            areas=parts_of(model.areas, 0, place),
            categories=parts_of(model.categories, 1, place),
            lengths=parts_of(model.lengths, 2, place),
            average=with_interval(model.average, average, place),
        )
        for place, model in enumerate(scores.models)
    )
    n_ranked = sum(model.average.rescaled is not None for model in models)
    ranked = [part.values[:n_ranked] for part in areas]
    ranks = rank_ranges(*ranked) if n_ranked else []
    return replace(scores, models=models, ranks=(*ranks, *[None] * (len(models) - n_ranked)))


def _strata(scores: Scores, zeros: Mapping[str, Sequence[AnswerKey]]) -> tuple[Mapping[Any, Stratum], ...]:
    """The scores of all models (rows) on the tasks (columns) of each area, category and length."""
    tasks = scores.suite.tasks
    columns = {task.key: column for column, task in enumerate(tasks)}
    totals, counts = np.zeros((2, len(scores.models), len(tasks)))
    for row, model in enumerate(scores.models):
        for answer in model.answers:
            column = columns[answer.task.key]
            totals[row, column] += answer.score
            counts[row, column] += 1
        for key in zeros.get(model.model, ()):
            counts[row, columns[key[:2]]] += 1
    inside: list[dict[Any, list[int]]] = [{}, {}, {}]
    for column, task in enumerate(tasks):
        for parts, key_of in zip(inside, PARTS.values(), strict=True):
            parts.setdefault(key_of(task), []).append(column)
    return tuple(
        {part: Stratum(totals[:, columns], counts[:, columns]) for part, columns in parts.items() if part is not None}
        for parts in inside
    )
