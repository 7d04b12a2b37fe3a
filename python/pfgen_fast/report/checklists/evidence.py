"""What a page shows of each answer beside its score: the text, what judges said of it, and how they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...checklists.judgements import AnswerKey, Judgement
from ...checklists.runs import Answer, Run
from ...checklists.scores import AnswerScore, ModelScores, Scores, State
from ...checklists.suite import ChecklistSuite, Task, TaskKey
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
        asked: What judges were asked about it, and what they replied.
        marks: What a reader should look at, such as `repetition`.
    """

    trial: int
    state: State
    score: AnswerScore | None = None
    answer: Answer | None = None
    judgements: tuple[Judgement, ...] = ()
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


def evidence_of(scores: Scores, runs: Sequence[Run], *, with_requests: bool = True) -> list[ModelEvidence]:
    """What is known of the answers of all models, in the order of the scores.

    Args:
        scores: The scores of the runs.
        runs: The runs, in any order.
        with_requests: Whether the files of replies are read too.

    Raises:
        ChecklistError: A model has no run, or a file of its run breaks the rules.
    """
    by_key = {run.key: run for run in runs}
    found = []
    for model in scores.models:
        if model.model not in by_key:
            raise ChecklistError(f"the scores are of {model.model} too, but there is no such run")
        found.append(_of_model(scores, model, by_key[model.model], with_requests))
    return found


def _of_model(scores: Scores, model: ModelScores, run: Run, with_requests: bool) -> ModelEvidence:
    suite = scores.suite
    answers = run.answers(suite)
    judgements: dict[AnswerKey, list[Judgement]] = {}
    for judgement in run.judgements(suite):
        if judgement.method == scores.method:
            judgements.setdefault(judgement.key, []).append(judgement)
    scored = {answer.key: answer for answer in model.answers}
    asked = asked_of(run.replies_path, suite, answers) if with_requests else {}
    by_task: dict[TaskKey, list[AnswerEvidence]] = {}
    for key in sorted({*answers, *judgements, *scored}, key=lambda key: (key[0], key[1] or "", key[2])):
        task = suite.by_key[key[0], key[1]]
        of_answer = tuple(judgements.get(key, ()))
        answer, score = answers.get(key), scored.get(key)
        state = _state(suite, task, answer, score, of_answer)
        evidence = AnswerEvidence(key[2], state, score, answer, of_answer, tuple(asked.get(key, ())))
        by_task.setdefault(task.key, []).append(evidence)
    return ModelEvidence(model, bool(answers), by_task)


def is_stale(suite: ChecklistSuite, task: Task, answer: Answer | None, judgement: Judgement) -> bool:
    """Whether a judgement is of another answer, or of other questions; an answer that the run lacks is no other one."""
    if answer is not None and answer.sha256 != judgement.response_sha256:
        return True
    if judgement.method == "llm-eval":  # which shows no question
        return False
    return judgement.checklist_sha256 not in (None, suite.checklist(task).sha256)


def _state(
    suite: ChecklistSuite,
    task: Task,
    answer: Answer | None,
    score: AnswerScore | None,
    judgements: Sequence[Judgement],
) -> State:
    if score is not None:
        return "judged"
    are_stale = [is_stale(suite, task, answer, judgement) for judgement in judgements]
    if not all(are_stale):
        return "unjudged"
    return "stale" if judgements else "missing"
