"""Inspect: a scorer, a dataset with the prompts of a suite, and a task of both.

Inspect finds the task and the scorer by the entry point of this package: `inspect eval pfgen_fast/pfgen`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import TrialsError, optional
from ..generation.prompts import NUM_EXAMPLES, Sampling, training_tasks
from ..rewards.completions import answer_in
from ..scoring.reply_text import STOP, Mode, check_mode
from ..scoring.score_table import ScoreTable
from ..scoring.scorer import ScorerSpec
from ..suite.questions import Question
from ..suite.rules import AVERAGE_FIRST
from ..suite.suite import Suite

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.scorer import Score, Target
    from inspect_ai.solver import TaskState

QUESTION = "question_id"
"""The key of the question in the metadata of a sample. Standard errors are clustered by question."""

_inspect, _dataset, _model, _scorer, _solver = (
    optional(name, extra="inspect", needed_for="the integration of Inspect")
    for name in ("inspect_ai", *(f"inspect_ai.{part}" for part in ("dataset", "model", "scorer", "solver")))
)


@_scorer.scorer(  # type: ignore[untyped-decorator]  # Inspect is optional
    metrics={name: [_scorer.mean(), _scorer.stderr(cluster=QUESTION)] for name in AVERAGE_FIRST}
)
def pfgen_score(suite: str = "mini", mode: Mode | None = None) -> Any:
    """A scorer of Inspect with the values `average`, `fluency`, `truthfulness` and `helpfulness`.

    The metadata of each sample must have `question_id`, the id or exact text of its question. The explanation of a
    score lists the keyword rules that the answer does not meet. The metadata of a score has the scores by reference
    set.

    Args:
        suite: An argument of `Suite.load`.
        mode: The kind of prompts, which determines where an answer begins and ends, as in `pfgen-fast generate`. By
            default the whole output is the answer.

    Example:
        >>> import asyncio
        >>> from types import SimpleNamespace
        >>> output = SimpleNamespace(completion="A: Ice floats because it is less dense than water. Q: And")
        >>> state = SimpleNamespace(output=output, metadata={"question_id": "Q07"}, sample_id="Q07-1")
        >>> score = asyncio.run(pfgen_score(mode="qa")(state, None))
        >>> score.answer, score.value["average"]
        ('Ice floats because it is less dense than water.', 0.3533)
    """
    if mode is not None:
        check_mode(mode)
    spec = ScorerSpec(suite)

    async def score(state: TaskState, target: Target) -> Score:
        answer = answer_in(state.output.completion, mode)
        try:
            table = spec.scorer.score(state.metadata[QUESTION], [answer])
        except KeyError:
            raise TrialsError(f"sample {state.sample_id!r}: no {QUESTION!r} in its metadata") from None
        except TrialsError as error:
            raise TrialsError(f"sample {state.sample_id!r}: {error.problem}") from None
        return _score_of(table, spec.suite[table.question_id[0]], answer)

    return score


def _score_of(table: ScoreTable, question: Question, answer: str) -> Score:
    """The score of an answer, with what its keyword rules say."""
    details = table.details(0)
    unmet = [
        f"{question.excess_shown(name) or name or 'a rule without a name'}: {score:.2f}"
        for name, score in details["helpfulness_results"]
    ]
    score: Score = _scorer.Score(
        value={name: float(table[name][0]) for name in AVERAGE_FIRST},
        answer=answer,
        explanation=f"unmet keyword rules, each with the remaining helpfulness: {', '.join(unmet) or 'none'}",
        metadata={part: details[part] for part in ("fluency", "truthfulness")},
    )
    return score


def pfgen_dataset(
    suite: Suite | str | Path = "mini",
    mode: Mode = "qa",
    *,
    trials: int = 1,
    num_examples: int = NUM_EXAMPLES,
    seed: str = "",
) -> MemoryDataset:
    """The prompts of `pfgen-fast generate` as samples, one for each question of each trial.

    Args:
        suite: A suite, or an argument of `Suite.load`.
        mode: `"qa"` (a user message), `"chat"` (a system message and a user message) or `"completion"` (a text).
        trials: The number of prompts for each question, which have different examples.
        num_examples: The maximum number of sample answers in a prompt.
        seed: Any text; a different seed selects different examples.

    Raises:
        SuiteError: The suite cannot be read, or has no sample answers.
        EngineError: The mode is unknown, or the suite has no prompts of this mode.

    Example:
        >>> dataset = pfgen_dataset("mini", "chat", trials=2)
        >>> len(dataset), dataset[0].id, [message.role for message in dataset[0].input]
        (16, 'Q01-1', ['system', 'user'])
    """
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    make = {"system": _model.ChatMessageSystem, "user": _model.ChatMessageUser}
    samples = [
        _dataset.Sample(
            id=f"{task.question_id}-{task.trial}",
            input=task.prompt.text
            if task.prompt.messages is None
            else [make[message["role"]](content=message["content"]) for message in task.prompt.messages],
            metadata={QUESTION: task.question_id, "question": task.question, "trial": task.trial},
        )
        for task in training_tasks(loaded, mode, trials, num_examples, seed)
    ]
    return _dataset.MemoryDataset(samples, name=f"pfgen-{loaded.name}")


@_inspect.task  # type: ignore[untyped-decorator]
def pfgen(
    suite: str = "mini", mode: Mode = "qa", trials: int = 10, num_examples: int = NUM_EXAMPLES, seed: str = ""
) -> Task:
    """A task of Inspect: `pfgen_dataset` with the sampling options of `pfgen-fast generate`, and `pfgen_score`.

    The arguments are those of `pfgen_dataset`: `inspect eval pfgen_fast/pfgen -T suite=FOLDER -T mode=chat`.

    Example:
        >>> task = pfgen(trials=2)
        >>> len(task.dataset), task.config.stop_seqs, task.metadata["signature"].startswith("pfgen-fast:")
        (16, ['Q:'], True)
    """
    check_mode(mode)
    sampling = Sampling(stop=STOP[mode])
    return _inspect.Task(
        dataset=pfgen_dataset(suite, mode, trials=trials, num_examples=num_examples, seed=seed),
        solver=_solver.generate(),
        scorer=pfgen_score(suite, mode),
        config=_model.GenerateConfig(
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            stop_seqs=list(sampling.stop),
        ),
        metadata={"signature": ScorerSpec(suite).signature},
    )
