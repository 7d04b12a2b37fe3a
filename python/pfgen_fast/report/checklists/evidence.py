"""The data that a page shows of each answer: text, score and judgements; a line of compressed JSON for each task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ...base.errors import ChecklistError
from ...lab.checklists.checklist_runs import Answer, Run
from ...lab.checklists.judgements import AnswerKey, Judgement
from ...lab.checklists.line_files import OnFault
from ...lab.checklists.metrics.error_counts import named_errors
from ...lab.checklists.metrics.error_modes import ErrorRules, errors_in
from ...lab.checklists.scoring.judged import is_stale
from ...lab.checklists.scoring.scores import AnswerScore, ModelScores, Scores, State
from ...lab.checklists.tasks import Task, TaskKey
from ..answers import packed


@dataclass(frozen=True)
class AnswerEvidence:
    """The data of one answer of a model."""

    trial: int  # number of the answer
    state: State  # whether it is judged, and if not, why
    score: AnswerScore | None = None  # its score, if it is judged
    answer: Answer | None = None  # answer, if the run has it
    # judgements of it, in the order of the file, and whether each is stale: of another text or another checklist
    judgements: Sequence[tuple[Judgement, bool]] = ()
    marks: tuple[str, ...] = ()  # error modes and signals that are found in its text


@dataclass(frozen=True)
class ModelEvidence:
    """The data of the answers of a model, by task, without answers that have no text, judgement or score."""

    scores: ModelScores
    has_answers: bool  # whether its run has answers
    by_task: Mapping[TaskKey, Sequence[AnswerEvidence]] = field(repr=False)  # answers to each task, by trial

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that any answer has."""
        return tuple(dict.fromkeys(mark for group in self.by_task.values() for trial in group for mark in trial.marks))

    @cached_property
    def lengths(self) -> frozenset[str | None]:
        """The lengths of the tasks that the model was asked for."""
        return frozenset(length for _, length in self.by_task)


def evidence_of(
    scores: Scores,
    runs: Sequence[Run],
    *,
    judge: str | None = None,
    on_fault: OnFault | None = None,
    on_model: Callable[[str], None] | None = None,
) -> list[ModelEvidence]:
    """The data of the answers of all models, in the order of the scores."""
    by_key = {run.key: run for run in runs}
    rules = ErrorRules(scores.suite)
    models = []
    for model in scores.models:
        if model.model not in by_key:
            raise ChecklistError(f"the scores are of {model.model} too, but there is no such run")
        if on_model is not None:
            on_model(model.model)
        run = by_key[model.model]
        answers = run.answers(scores.suite, on_fault=on_fault)
        rows = [
            row
            for row in run.judgements(scores.suite, on_fault=on_fault)
            if row.method == scores.method and (judge is None or judge in (row.judge, row.version))
        ]
        models.append(ModelEvidence(model, bool(answers), _by_task(model, rules, run, answers, rows)))
    return models


def _by_task(
    model: ModelScores, rules: ErrorRules, run: Run, answers: Mapping[AnswerKey, Answer], rows: Sequence[Judgement]
) -> dict[TaskKey, list[AnswerEvidence]]:
    judgements: dict[AnswerKey, list[Judgement]] = {}
    for row in rows:
        judgements.setdefault(row.key, []).append(row)
    scored = {answer.key: answer for answer in model.answers}
    marks = {answer.key: named_errors(answer) for answer in errors_in(answers, rows, rules) if answer.has_text}
    by_task: dict[TaskKey, list[AnswerEvidence]] = {}
    for key in sorted({*answers, *judgements, *scored}, key=lambda key: (key[0], key[1] or "", key[2])):
        own = [(row, is_stale(row, rules.suite, run, answers)) for row in judgements.get(key, ())]
        state: State = "judged"
        if key not in scored and own:
            state = "stale" if all(stale for _, stale in own) else "unjudged"
        elif key not in scored:
            state = "unjudged" if run.waits_for_replies and key in answers else "missing"
        evidence = (state, scored.get(key), answers.get(key), own, marks.get(key, ()))
        by_task.setdefault(key[:2], []).append(AnswerEvidence(key[2], *evidence))
    return by_task


class Extent(NamedTuple):
    """The part of the texts that a page holds."""

    answer: int | None = None  # maximum number of code points of an answer or instruction; None for no limit
    reason: int | None = None  # maximum number of code points of a reason; None for no limit


def task_line(task: Task, models: Sequence[ModelEvidence], extent: Extent) -> str:
    """The line of a task."""
    entries = [
        _entry(number, evidence, extent)
        for number, model in enumerate(models)
        for evidence in model.by_task.get(task.key, ())
    ]
    instruction = task.instruction or ""
    return packed(
        {
            "instruction": instruction[: extent.answer],
            "n_instruction": len(instruction),
            "is_whole": task.is_whole,
            "wanted": task.wanted_words,
            "reference": None if task.reference is None else task.reference[: extent.answer],
            "entries": entries,
        }
    )


def _entry(model: int, evidence: AnswerEvidence, extent: Extent) -> dict[str, Any]:
    answer, score = evidence.answer, evidence.score
    entry: dict[str, Any] = {"model": model, "state": evidence.state}
    if evidence.trial != 1:
        entry["trial"] = evidence.trial
    if answer is not None:
        entry |= {"answer": answer.response[: extent.answer], "length": len(answer.response)}
        if answer.finish_reason is not None:
            entry["finish"] = answer.finish_reason
    if score is not None:
        entry |= {"score": round(score.score, 4), "words": score.words, "verdicts": _rounded(score.verdicts)}
    if evidence.marks:
        entry["marks"] = list(evidence.marks)
    entry["judgements"] = [_judgement(*pair, extent) for pair in evidence.judgements]
    return entry


def _judgement(judgement: Judgement, is_stale: bool, extent: Extent) -> dict[str, Any]:
    """A judgement without its default values."""
    reasons = [None if text is None else text[: extent.reason] for text in judgement.reasons]
    entry: dict[str, Any] = {
        "judge": judgement.judge,
        "version": judgement.version,
        "rating": None if judgement.rating == 1 else judgement.rating,
        "scores": None if judgement.scores is None else _rounded(judgement.scores),
        "reasons": reasons if any(reasons) else None,
        "tries": None if judgement.tries == 1 else judgement.tries,
        "fault": judgement.fault,
        "cut": judgement.cut or None,
        "stale": is_stale or None,
    }
    return {name: value for name, value in entry.items() if value not in (None, "")}


def _rounded(verdicts: Sequence[float]) -> list[float]:
    return [round(verdict, 4) for verdict in verdicts]
