"""Scores of models: a weighted sum of verdicts for each answer, means by area, category and length, and the average.

    score(answer)  sum of weight * verdict, 0 to 100
    area           mean over its judged answers; missing ones are left out, or count as zero
    rescaled       (area - centre) * factor
    average        mean of the areas, which count alike

All sums of floats are exactly rounded, so nothing depends on an order. Rules: docs/checklists.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from statistics import fmean

from ...files.gc_pause import without_collector
from ...files.untrusted_text import few_names, in_one_line
from ...native import _core
from ..judgements import AnswerKey, Method
from ..line_files import OnFault
from ..runs import Run
from ..suite import ChecklistSuite
from ..tasks import Missing, Task
from .intervals import with_intervals
from .judged import Judged, Verdicts, WordsFrom, judged_runs
from .scores import AnswerScore, Average, LengthPart, ModelScores, Part, Scores, State, Weighting, length_figures

_MOST_RATING = 10.0
"""The best overall rating of the methods that ask for one."""

_UNKNOWN = "unknown"


def score_runs(
    suite: ChecklistSuite,
    runs: Iterable[Run],
    *,
    missing: Missing | None = None,
    method: Method = "checklist",
    weights: Weighting = "suite",
    judge: str | None = None,
    mixed: bool = False,
    words: WordsFrom = "published",
    draws: int = 10_000,
    seed: int = 0,
    on_fault: OnFault | None = None,
) -> Scores:
    """Scores runs from their judgements, best first.

    Args:
        suite: The suite.
        runs: The runs.
        missing: What an answer without a judgement counts: nothing, or zero. By default what the suite says.
        method: How the judge was asked.
        weights: Whether the suite's weights count, or all questions alike (which is known as AVG-C).
        judge: The name or a version of the judge; only needed where there are several.
        mixed: Whether replies of several versions of the judge, or to several prompts, may count together.
        words: Where numbers of words are from.
        draws: The number of bootstrap draws for intervals; 0 for none.
        seed: The seed of the draws.
        on_fault: Is told of each line of a file that cannot be read, which is then left out; without it, the first
            such line is an error.

    Raises:
        ChecklistError: A file breaks the rules, there are no judgements, or they are of several judges or versions.
    """
    rule = suite.missing if missing is None else missing
    with without_collector():
        judged = judged_runs(suite, runs, method=method, judge=judge, mixed=mixed, words=words, on_fault=on_fault)
        models = sorted((_model(one, suite, rule, method, weights) for one in judged), key=_rank)
    notes = notes_of(suite, judged, method, weights)
    scores = Scores(suite, tuple(models), method, rule, weights, notes=notes)
    zeros = {one.run.key: one.missing for one in judged} if rule == "zero" else {}
    return with_intervals(scores, draws, seed=seed, zeros=zeros)


def score_of(verdicts: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted sum of an answer's verdicts, 0 to 100."""
    return math.fsum(map(mul, verdicts, weights))


def plain_score_of(verdicts: Sequence[float]) -> float:
    """The score with equal weights."""
    return 100 * math.fsum(verdicts) / len(verdicts)


def _rank(model: ModelScores) -> tuple[bool, float, str]:
    average = model.average.rescaled
    return average is None, 0.0 if average is None else -average, model.model


def _model(judged: Judged, suite: ChecklistSuite, rule: Missing, method: Method, weights: Weighting) -> ModelScores:
    places = {task.key: place for place, task in enumerate(suite.tasks)}
    keys = sorted(judged.verdicts, key=lambda key: (places[key[:2]], key[2]))
    answers = tuple(_answer(key, judged.verdicts[key], suite, method, weights) for key in keys)
    bins = _Bins.of(suite, answers, judged.states)
    areas = {area: found.part(suite, rule) for area, found in bins.areas.items()}
    of_main = [answer.score for answer in answers if answer.task.length is None]
    if rule == "zero":
        of_main += [0.0] * sum(len(found.missing) for found in bins.areas.values())
    return ModelScores(
        judged.run.key,
        judged.run.name,
        signature_of(suite, judged, method=method, weights=weights, missing=rule),
        areas,
        {key: found.part(suite, rule) for key, found in bins.categories.items()},
        {length: found.length_part(suite, rule) for length, found in bins.lengths.items() if found.has_rows},
        _average(areas, suite.rescaling(fmean(of_main)) if of_main else None),
        answers,
    )


def _answer(key: AnswerKey, said: Verdicts, suite: ChecklistSuite, method: Method, weights: Weighting) -> AnswerScore:
    if method != "checklist":
        score = plain = said.verdicts[0] * (100 / _MOST_RATING)
    else:
        plain = plain_score_of(said.verdicts)
        score = plain if weights == "equal" else score_of(said.verdicts, suite.checklist(said.task).weights)
    return AnswerScore(key, said.task, said.verdicts, score, plain, said.words)


@dataclass(frozen=True, eq=False)
class _Bin:
    """The answers of a part of the suite."""

    answers: list[AnswerScore] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)

    @property
    def has_rows(self) -> bool:
        return bool(self.answers or self.unjudged or self.stale)

    def part(self, suite: ChecklistSuite, rule: Missing) -> Part:
        states = (len(self.answers), tuple(self.missing), tuple(self.unjudged), tuple(self.stale))
        if not self.answers:
            return Part(*states)
        scores = [answer.score for answer in self.answers]
        plain = [answer.plain for answer in self.answers]
        n_all = len(scores) + len(self.missing)
        n = n_all if rule == "zero" else len(scores)
        score = math.fsum(scores) / n
        return Part(
            *states,
            score,
            suite.rescaling(score),
            suite.rescaling(math.fsum(plain) / n),
            suite.rescaling(math.fsum(scores) / n_all),
            suite.rescaling(fmean(scores)),
            _mean_of_known([answer.words for answer in self.answers]),
        )

    def length_part(self, suite: ChecklistSuite, rule: Missing) -> LengthPart:
        part = self.part(suite, rule)
        figures = length_figures((answer.words, answer.task.wanted_words) for answer in self.answers)
        if figures is None or figures.n < len(self.answers):
            return LengthPart(**vars(part))
        return LengthPart(
            **vars(part),
            mean_absolute_length_error=figures.mean_absolute_length_error,
            mean_shortfall=figures.mean_shortfall,
            share_long_enough=figures.share_long_enough,
        )


@dataclass(frozen=True, eq=False)
class _Bins:
    areas: Mapping[str, _Bin]
    categories: Mapping[tuple[str, str], _Bin]
    lengths: Mapping[str, _Bin]

    @classmethod
    def of(cls, suite: ChecklistSuite, answers: Iterable[AnswerScore], states: Mapping[AnswerKey, State]) -> _Bins:
        main = [task for task in suite.tasks if task.length is None]
        in_order = sorted(main, key=lambda task: suite.areas.index(task.area))
        bins = cls(
            {task.area: _Bin() for task in in_order},
            {(task.area, task.category): _Bin() for task in in_order},
            {length: _Bin() for length in suite.lengths},
        )
        for answer in answers:
            for found in bins._of_task(answer.task):
                found.answers.append(answer)
        is_repeated = any(trial != 1 for _, _, trial in states)
        for key, state in states.items():
            if state != "judged":
                label = f"{key[0]} (trial {key[2]})" if is_repeated else key[0]
                for found in bins._of_task(suite.by_key[key[:2]]):
                    getattr(found, state).append(label)
        return bins

    def _of_task(self, task: Task) -> tuple[_Bin, ...]:
        if task.length is not None:
            return (self.lengths[task.length],)
        return self.areas[task.area], self.categories[task.area, task.category]


def _average(areas: Mapping[str, Part], over_answers: float | None) -> Average:
    """The mean of the areas, if each has a score."""
    if not areas or any(part.rescaled is None for part in areas.values()):
        return Average()

    names = ("rescaled", "rescaled_plain", "rescaled_missing_as_zero", "rescaled_missing_skipped", "words")
    means = {name: _mean_of_known([getattr(part, name) for part in areas.values()]) for name in names}
    return Average(**means, rescaled_over_answers=over_answers)


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) and known else None


def signature_of(suite: ChecklistSuite, judged: Judged, *, method: Method, weights: Weighting, missing: Missing) -> str:
    """Names the version, the suite, checklists and weights, the judge and its prompts, and the rules of the score.

    What imported judgements do not say is `unknown`.
    """
    variants = judged.variants
    parts = {
        "checklists": _core.__version__,
        "suite": f"{suite.name} {suite.hash}",
        "questions": suite.checklists_hash,
        "weights": _weights(suite, weights) if method == "checklist" else "none",
        "method": method,
        "judge": f"{judged.judge or _UNKNOWN} ({_listed(variant.version for variant in variants)})",
        "prompt": _listed(variant.prompt_sha256 for variant in variants),
        "profile": _listed(variant.profile for variant in variants),
        "temperature": _listed(None if v.temperature is None else f"{v.temperature:g}" for v in variants),
        "missing": missing,
        "words": "+".join(judged.counters) or "none",
    }
    return "|".join(f"{name}:{in_one_line(value, 200).replace('|', '/')}" for name, value in parts.items())


def notes_of(suite: ChecklistSuite, judged: Sequence[Judged], method: Method, weights: Weighting) -> tuple[str, ...]:
    """What a reader of a table must know, one sentence each."""
    notes = list(suite.notes)
    if method == "checklist" and _weights(suite, weights) == "equal":
        notes.append("Equal weights: each score is the plain mean of the verdicts times 100.")
    elif method == "checklist" and not suite.has_weights:
        without = [f"{one.area}/{one.category}" for one in suite.checklists.values() if not one.has_weights]
        which = "1 category" if len(without) == 1 else f"{len(without)} categories"
        notes.append(f"Equal weights in {which} without weights: {few_names(without)}.")
    variants = dict.fromkeys(variant for one in judged for variant in one.variants)
    if len(variants) > 1:
        notes.append(f"Replies of {len(variants)} versions or prompts of the judge are mixed.")
    counters = dict.fromkeys(counter for one in judged for counter in one.counters)
    if len(counters) > 1:
        notes.append(f"Words were counted in {len(counters)} ways: {', '.join(counters)}.")
    return tuple(notes)


def _weights(suite: ChecklistSuite, weights: Weighting) -> str:
    has_any = any(checklist.has_weights for checklist in suite.checklists.values())
    return "suite" if weights == "suite" and has_any else "equal"


def _listed(values: Iterable[str | None]) -> str:
    return "+".join(dict.fromkeys(value or _UNKNOWN for value in values)) or _UNKNOWN
