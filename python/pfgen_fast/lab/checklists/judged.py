"""Decides which judgements of runs count, and which answers are missing, unjudged or stale.

A table uses replies of one version of a judge to one prompt; other replies are an error unless `mixed` allows them.
Several ratings of an answer are averaged. A score is the weighted sum of an answer's verdicts, 0 to 100.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from statistics import fmean
from typing import Literal, NamedTuple

from ...base.errors import ChecklistError
from ...base.untrusted_text import in_one_line
from .answer_texts import Rejections, Unanswered, phrases_for, unanswered
from .checklist_runs import Answer, Run
from .checklist_suite import ChecklistSuite, hashes_of, keys_in_order
from .judgements import HIGHEST_MARK, Judgement
from .line_files import OnFault
from .tasks import AnswerKey, ChecklistTask, Method
from .words import count_words, counter_name, counter_there

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

    def __str__(self) -> str:
        further = {
            "prompt": self.prompt_sha256 and in_one_line(self.prompt_sha256, 13),
            "profile": self.profile and in_one_line(self.profile),
            "temperature": None if self.temperature is None else f"{self.temperature:g}",
            "request": self.request and in_one_line(self.request, 60),
        }
        known = (f"{name} {value}" for name, value in further.items() if value is not None)
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


def score_of(verdicts: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted sum of an answer's verdicts, 0 to 100."""
    return math.fsum(map(mul, verdicts, weights))


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgements of one run."""

    run: Run
    judge: str
    variants: tuple[Variant, ...]
    answers: tuple[Verdicts, ...]  # in the order of the suite
    states: Mapping[AnswerKey, State]
    unanswered: Mapping[AnswerKey, Unanswered]
    counters: tuple[str, ...]
    has_answers: bool


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
        read.append(_Side(run, rows, run.answers(suite, on_fault=on_fault)))
    if not any(side.rows for side in read):
        raise ChecklistError(
            f"no run has judgements by the method {method}; ask a judge first (pfgen-fast checklists judge), or import "
            "judgements"
        )
    name = _the_judge(read, judge)
    sides = [side.of_judge(name, judge, suite) for side in read]
    variants = Counter(variant for side in sides for variant in side.variants)
    if len(variants) > 1 and not mixed:
        listed = "; ".join(f"{variant} ({n:,})" for variant, n in variants.most_common())
        raise ChecklistError(
            f"judgements of {len(variants)} versions or prompts of the judge {in_one_line(repr(name))}: {listed}; "
            "choose one of them (--judge VERSION), or pass --mixed to count all"
        )
    rejections = Rejections(phrases_for(suite.language))
    return [side.judged(suite, name, weights, rejections) for side in sides]


@dataclass(frozen=True, eq=False)
class _Side:
    """The rows of a run that count, and its answers."""

    run: Run
    rows: Sequence[Judgement]
    answers: Mapping[AnswerKey, Answer]
    stale: Sequence[AnswerKey] = ()

    @property
    def variants(self) -> list[Variant]:
        """The variants of the judge in the rows that have verdicts."""
        return [variant_of(row) for row in self.rows if row.verdicts is not None]

    def of_judge(self, name: str, judge: str | None, suite: ChecklistSuite) -> _Side:
        fresh: list[Judgement] = []
        stale: list[Judgement] = []
        for row in self.rows:
            if row.judge == name and judge in (None, name, row.version):
                (stale if is_stale(row, suite, self.run, self.answers) else fresh).append(row)
        return replace(self, rows=fresh, stale=[row.key for row in stale])

    def judged(self, suite: ChecklistSuite, judge: str, weights: Weighting, rejections: Rejections) -> Judged:
        by_key: dict[AnswerKey, list[Judgement]] = {}
        for row in self.rows:
            if row.verdicts is not None:
                by_key.setdefault(row.key, []).append(row)
        states: dict[AnswerKey, State] = dict.fromkeys(self._asked_for(suite, by_key), "missing")
        if self.run.waits_for_replies:
            states.update(dict.fromkeys(self.answers, "unjudged"))
        states.update(dict.fromkeys(self.stale, "stale"))
        states.update(dict.fromkeys((row.key for row in self.rows), "unjudged"))
        states.update(dict.fromkeys(by_key, "judged"))
        counters: dict[str, None] = {}
        answers = []
        for task, key in keys_in_order(suite, by_key):
            rows = by_key[key]
            published = (row.words for row in rows if row.words is not None)
            n_words = next(published, None)
            if n_words is not None:
                counters[_PUBLISHED] = None
            elif key in self.answers:
                counter = counter_there(suite.words)
                n_words = count_words(self.answers[key].response, counter)
                counters[counter_name(counter)] = None
            verdicts = _mean_verdicts(rows)
            if rows[0].method != "checklist":
                score = plain = verdicts[0] * (100 / HIGHEST_MARK)
            else:
                plain = 100 * math.fsum(verdicts) / len(verdicts)
                score = plain if weights == "equal" else score_of(verdicts, suite.checklist(task).weights)
            answers.append(Verdicts(key, task, verdicts, score, plain, n_words, rows[0].response_sha256))
        return Judged(
            self.run,
            judge,
            tuple(dict.fromkeys(self.variants)),
            tuple(answers),
            states,
            unanswered(states, self.answers, rejections),
            tuple(sorted(counters, key=_PUBLISHED.__ne__)),
            bool(self.answers),
        )

    def _asked_for(self, suite: ChecklistSuite, judged: Iterable[AnswerKey]) -> Iterable[AnswerKey]:
        """All answers that the run should have: those of its lengths, with all trials of their area and length."""
        trials: dict[tuple[str, str | None], set[int]] = {}
        for id, length, trial in {*judged, *self.stale, *self.answers, *(row.key for row in self.rows)}:
            trials.setdefault((suite.by_key[id, length].area, length), set()).add(trial)
        lengths = {None, *(length for _, length in trials)}
        return (
            (*task.key, trial)
            for task in suite.tasks
            if task.length in lengths
            for trial in sorted(trials.get((task.area, task.length), {1}))
        )


def _the_judge(read: Sequence[_Side], judge: str | None) -> str:
    names = Counter(row.judge for side in read for row in side.rows)
    if judge is None:
        if len(names) == 1:
            return next(iter(names))
        listed = ", ".join(f"{in_one_line(repr(name))} ({n:,})" for name, n in names.most_common())
        raise ChecklistError(f"judgements of {len(names)} judges: {listed}; name one of them (--judge NAME)")
    if judge in names:
        return judge
    with_version = {row.judge for side in read for row in side.rows if row.version == judge}
    if len(with_version) == 1:
        return with_version.pop()
    listed = ", ".join(in_one_line(repr(name)) for name in names)
    raise ChecklistError(f"no judgements of the judge '{in_one_line(judge)}'; expected one of {listed}")


def variant_of(row: Judgement) -> Variant:
    """The variant of the judge that gave a judgement."""
    return Variant(row.version, row.prompt_sha256, row.profile, row.temperature, row.request)


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
        scores = by_rating.setdefault((variant_of(row), row.rating), row.verdicts or ())
        if scores != row.verdicts:
            raise ChecklistError(
                f"{in_one_line(row.id)}: two different judgements, and no answers.jsonl tells which one is "
                "current; expected one judgement, or answers.jsonl"
            )
    return tuple(map(fmean, zip(*by_rating.values(), strict=True)))
