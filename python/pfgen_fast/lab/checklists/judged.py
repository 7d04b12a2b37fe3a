"""Decides which judgements of runs count, and which answers are missing, unjudged or stale.

A table uses replies of one version of a judge to one prompt; other replies are an error unless `mixed` allows them.
Several ratings of an answer are averaged. A score is the weighted sum of an answer's verdicts, 0 to 100.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from statistics import fmean
from typing import Literal, NamedTuple

from ...base.errors import ChecklistError
from ...base.untrusted_text import in_one_line
from ..words import counter_name, counter_there, words
from .checklist_runs import Answer, Run
from .checklist_suite import ChecklistSuite, hashes_of, keys_in_order
from .judgements import HIGHEST_MARK, Judgement
from .line_files import OnFault
from .tasks import AnswerKey, ChecklistTask, Method

Weighting = Literal["suite", "equal"]
"""Whether questions have the suite's weights or equal weights."""

State = Literal["judged", "missing", "unjudged", "stale"]
"""The state of an answer: a `missing` answer has no judgement, an `unjudged` one no usable reply, and since the
judgement of a `stale` one the answer, its instruction, the checklist or the prompt has changed."""

WHY_STALE = "the answer, its instruction, the checklist or the prompt has changed since"

_PUBLISHED = "published"


class Variant(NamedTuple):
    """The properties that may differ between replies of the same judge; None if unknown."""

    version: str | None
    prompt_sha256: str | None
    profile: str | None
    temperature: float | None
    request: str | None

    @classmethod
    def of(cls, row: Judgement) -> Variant:
        """The variant of the judge that gave a judgement."""
        return cls(row.version, row.prompt_sha256, row.profile, row.temperature, row.request)

    def __str__(self) -> str:
        further = {
            "prompt": self.prompt_sha256 and self.prompt_sha256[:12],
            "profile": self.profile,
            "temperature": None if self.temperature is None else f"{self.temperature:g}",
            "request": self.request,
        }
        known = (f"{name} {in_one_line(value, 60)}" for name, value in further.items() if value is not None)
        return ", ".join([in_one_line(self.version or "unknown version"), *known])


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A judge's verdicts on an answer, and their score with the chosen and with equal weights."""

    key: AnswerKey
    task: ChecklistTask
    verdicts: tuple[float, ...]
    score: float
    plain: float
    words: int | None
    response_sha256: str


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgements of one run."""

    run: Run
    judge: str
    variants: tuple[Variant, ...]
    answers: tuple[Verdicts, ...]  # in the order of the suite
    states: Mapping[AnswerKey, State]
    counters: tuple[str, ...]


def score_of(verdicts: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted sum of an answer's verdicts, 0 to 100."""
    return math.fsum(map(mul, verdicts, weights))


def judged_runs(
    suite: ChecklistSuite,
    runs: Iterable[Run],
    *,
    method: Method = "checklist",
    weights: Weighting = "suite",
    judge: str | None = None,
    mixed: bool = False,
    on_fault: OnFault | None = None,
) -> list[Judged]:
    """Reads the judgements of runs, and decides which of them count."""
    read = []
    for run in runs:
        judgements = run.judgements(suite, with_reasons=False, on_fault=on_fault)
        rows = [row for row in judgements if row.method == method]
        read.append((run, rows, run.answers(suite, on_fault=on_fault)))
    every = [row for _, rows, _ in read for row in rows]
    if not every:
        raise ChecklistError(
            f"no run has judgements by the method {method}; ask a judge first (pfgen-fast checklists judge), or import "
            "judgements"
        )
    name = _the_judge(every, judge)
    sides = []
    for run, rows, answers in read:
        own = [row for row in rows if row.judge == name and judge in (None, name, row.version)]
        stale = [is_stale(row, suite, run, answers) for row in own]
        sides.append(_judged(suite, run, name, answers, list(zip(own, stale, strict=True)), weights))
    variants = dict.fromkeys(variant for side in sides for variant in side.variants)
    if len(variants) > 1 and not mixed:
        raise ChecklistError(
            f"judgements of {len(variants)} versions or prompts of the judge {in_one_line(repr(name))}: "
            f"{'; '.join(map(str, variants))}; choose one of them (--judge VERSION), or pass --mixed to count all"
        )
    return sides


def _the_judge(rows: Sequence[Judgement], judge: str | None) -> str:
    names = dict.fromkeys(row.judge for row in rows)
    listed = ", ".join(in_one_line(repr(name)) for name in names)
    if judge is None:
        if len(names) > 1:
            raise ChecklistError(f"judgements of {len(names)} judges: {listed}; name one of them (--judge NAME)")
        return next(iter(names))
    known = {row.judge for row in rows if judge in (row.judge, row.version)}
    if len(known) != 1:
        raise ChecklistError(f"no judgements of the judge '{in_one_line(judge)}'; expected one of {listed}")
    return known.pop()


def _judged(
    suite: ChecklistSuite,
    run: Run,
    judge: str,
    answers: Mapping[AnswerKey, Answer],
    rows: Sequence[tuple[Judgement, bool]],
    weights: Weighting,
) -> Judged:
    """Scores the answers of a run by the rows of a judge, each of which may be stale."""
    fresh = [row for row, is_stale in rows if not is_stale]
    by_key: dict[AnswerKey, list[Judgement]] = {}
    for row in fresh:
        if row.verdicts is not None:
            by_key.setdefault(row.key, []).append(row)
    states: dict[AnswerKey, State] = dict.fromkeys(_wanted(suite, {*answers, *(row.key for row, _ in rows)}), "missing")
    if run.waits_for_replies:
        states.update(dict.fromkeys(answers, "unjudged"))
    states.update(dict.fromkeys((row.key for row, is_stale in rows if is_stale), "stale"))
    states.update(dict.fromkeys((row.key for row in fresh), "unjudged"))
    states.update(dict.fromkeys(by_key, "judged"))
    counters: dict[str, None] = {}
    scored = []
    for task, key in keys_in_order(suite, by_key):
        own = by_key[key]
        n_words = next((row.words for row in own if row.words is not None), None)
        if n_words is not None:
            counters[_PUBLISHED] = None
        elif key in answers:
            counter = counter_there(suite.words)
            n_words = len(words(answers[key].response, counter))
            counters[counter_name(counter)] = None
        verdicts = _mean_verdicts(own)
        if own[0].method != "checklist":
            score = plain = verdicts[0] * (100 / HIGHEST_MARK)
        else:
            plain = 100 * math.fsum(verdicts) / len(verdicts)
            score = plain if weights == "equal" else score_of(verdicts, suite.checklist(task).weights)
        scored.append(Verdicts(key, task, verdicts, score, plain, n_words, own[0].response_sha256))
    variants = tuple(dict.fromkeys(Variant.of(row) for row in fresh if row.verdicts is not None))
    return Judged(run, judge, variants, tuple(scored), states, tuple(sorted(counters, key=_PUBLISHED.__ne__)))


def _wanted(suite: ChecklistSuite, known: Iterable[AnswerKey]) -> Iterable[AnswerKey]:
    """All answers that a run should have: those of its lengths, with all trials of their area and length."""
    trials: dict[tuple[str, str | None], set[int]] = {}
    for id, length, trial in known:
        trials.setdefault((suite.by_key[id, length].area, length), set()).add(trial)
    lengths = {None, *(length for _, length in trials)}
    return (
        (*task.key, trial)
        for task in suite.tasks
        if task.length in lengths
        for trial in sorted(trials.get((task.area, task.length), {1}))
    )


def is_stale(row: Judgement, suite: ChecklistSuite, run: Run, answers: Mapping[AnswerKey, Answer]) -> bool:
    """Whether the answer, its instruction, the checklist or the prompt has changed since a judgement of a run."""
    if run.answers_path is not None:  # a run may have judgements only
        answer = answers.get(row.key)
        if answer is None or answer.sha256 != row.response_sha256:
            return True
    now = hashes_of(suite)
    instruction, checklist = now.tasks[row.id, row.length]
    if row.checklist_sha256 not in (None, checklist) and row.method != "llm-eval":  # this method shows no question
        return True
    if row.instruction_sha256 not in (None, instruction):
        return True
    return row.prompt_sha256 is not None and row.prompt_sha256 not in now.prompts[row.method]


def _mean_verdicts(rows: Sequence[Judgement]) -> tuple[float, ...]:
    if len(rows) == 1:
        return rows[0].verdicts or ()
    by_rating: dict[tuple[Variant, int], tuple[float, ...]] = {}
    for row in rows:
        scores = by_rating.setdefault((Variant.of(row), row.rating), row.verdicts or ())
        if scores != row.verdicts:
            raise ChecklistError(
                f"{in_one_line(row.id)}: two different judgements, and no answers.jsonl tells which one is "
                "current; expected one judgement, or answers.jsonl"
            )
    return tuple(map(fmean, zip(*by_rating.values(), strict=True)))
