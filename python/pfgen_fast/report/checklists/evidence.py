"""What a page shows of each answer beside its score: the text, what judges said of it, and how they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...checklists.judged import is_stale
from ...checklists.judgements import AnswerKey, Judgement
from ...checklists.runs import Answer, Run
from ...checklists.scores import AnswerScore, ModelScores, Scores, State
from ...checklists.suite import TaskKey
from ...errors import ChecklistError
from .asked import Asked, asked_of


@dataclass(frozen=True)
class AnswerEvidence:
    """All that is known of one answer of a model.

    Attributes:
        trial: The number of the answer.
        state: Whether it is judged, and if not, why.
        score: Its score, if it is judged.
        answer: The answer, if the run has it.
        judgements: The judgements of it, in the order of the file.
        are_stale: Whether each of them is of another text or another checklist.
        asked: What judges were asked about it, and what they replied.
        marks: What a reader should look at, such as `repetition`.
    """

    trial: int
    state: State
    score: AnswerScore | None = None
    answer: Answer | None = None
    judgements: tuple[Judgement, ...] = ()
    are_stale: tuple[bool, ...] = ()
    asked: tuple[Asked, ...] = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelEvidence:
    """All that is known of the answers of a model, by task; those without answer, judgement and score are missing.

    Attributes:
        scores: The scores of the model.
        has_answers: Whether its run has answers.
        by_task: The answers to each task, by trial.
    """

    scores: ModelScores
    has_answers: bool
    by_task: Mapping[TaskKey, Sequence[AnswerEvidence]] = field(repr=False)

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that any answer has."""
        return tuple(dict.fromkeys(mark for of_task in self.by_task.values() for one in of_task for mark in one.marks))

    @cached_property
    def lengths(self) -> frozenset[str | None]:
        """The lengths of the tasks that the model was asked for."""
        return frozenset(length for _, length in self.by_task)


def evidence_of(
    scores: Scores, runs: Sequence[Run], *, judge: str | None = None, with_requests: bool = True
) -> list[ModelEvidence]:
    """What is known of the answers of all models, in the order of the scores.

    Args:
        scores: The scores of the runs.
        runs: The runs, in any order.
        judge: The name or the version of the judge whose judgements are shown; those of all judges if None.
        with_requests: Whether the files of replies are read too.

    Raises:
        ChecklistError: A model has no run, or a file of its run breaks the rules.
    """
    by_key = {run.key: run for run in runs}
    found = []
    for model in scores.models:
        if model.model not in by_key:
            raise ChecklistError(f"the scores are of {model.model} too, but there is no such run")
        found.append(_of_model(scores, model, by_key[model.model], judge, with_requests))
    return found


def _of_model(scores: Scores, model: ModelScores, run: Run, judge: str | None, with_requests: bool) -> ModelEvidence:
    suite = scores.suite
    answers = run.answers(suite)
    judgements: dict[AnswerKey, list[Judgement]] = {}
    for judgement in run.judgements(suite):
        is_asked_for = judge is None or judge in (judgement.judge, judgement.version)
        if judgement.method == scores.method and is_asked_for:
            judgements.setdefault(judgement.key, []).append(judgement)
    scored = {answer.key: answer for answer in model.answers}
    rows = [row for of_answer in judgements.values() for row in of_answer]
    asked = asked_of(run.replies_path, suite, answers, rows, scores.method) if with_requests else {}
    by_task: dict[TaskKey, list[AnswerEvidence]] = {}
    for key in sorted({*answers, *judgements, *scored}, key=lambda key: (key[0], key[1] or "", key[2])):
        of_answer = tuple(judgements.get(key, ()))
        answer, score = answers.get(key), scored.get(key)
        are_stale = tuple(is_stale(judgement, suite, answers) for judgement in of_answer)
        state = _state(score, of_answer, are_stale)
        evidence = AnswerEvidence(key[2], state, score, answer, of_answer, are_stale, tuple(asked.get(key, ())))
        by_task.setdefault(key[:2], []).append(evidence)
    return ModelEvidence(model, bool(answers), by_task)


def _state(score: AnswerScore | None, judgements: Sequence[Judgement], are_stale: Sequence[bool]) -> State:
    if score is not None:
        return "judged"
    if not judgements:
        return "missing"
    return "stale" if all(are_stale) else "unjudged"
