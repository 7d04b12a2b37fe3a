"""Inspect: a scorer, a dataset with the prompts of a suite, a task of both, and eval logs of runs.

Inspect finds the task and the scorer by the entry point of this package: `inspect eval pfgen_fast/pfgen`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import PfgenError, TrialsError
from ..files.optional import optional
from ..files.untrusted_text import in_one_line, json_text, utf8
from ..files.writing import write_whole
from ..generation.engines import Sampling
from ..generation.prompts import NUM_EXAMPLES, STOP, Mode, check_mode
from ..generation.run_writer import timestamp
from ..runs.aggregation import trials_of
from ..runs.checkout import run_name, suite_of
from ..runs.trials import RunFolder, Trials, find_runs
from ..scoring.reasoning_text import without_reasoning
from ..scoring.score_table import ScoreTable, TableScorer
from ..scoring.scorer import Scorer
from ..scoring.spec import ScorerSpec
from ..suite.rules import PARTS
from ..suite.suite import Suite
from .rewarding import answer_in, training_tasks

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score, Target
    from inspect_ai.solver import TaskState


def _module(name: str) -> Any:
    return optional(name, extra="inspect", needed_for="the integration of Inspect")


_inspect, _dataset, _log = _module("inspect_ai"), _module("inspect_ai.dataset"), _module("inspect_ai.log")
_model, _scorer, _solver = _module("inspect_ai.model"), _module("inspect_ai.scorer"), _module("inspect_ai.solver")

SCORES = ("average", *PARTS)
"""The values of a score in Inspect: columns of a `ScoreTable`."""

_QUESTION = "question_id"
"""The key of the question in the metadata of a sample. Standard errors are clustered by question."""


@_scorer.scorer(  # type: ignore[untyped-decorator]  # Inspect is optional
    metrics={name: [_scorer.mean(), _scorer.stderr(cluster=_QUESTION)] for name in SCORES},
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
        said = state.output.completion
        answer = without_reasoning(said) if mode is None else answer_in(said, mode)
        try:
            table = spec.scorer.score(state.metadata[_QUESTION], [answer])
        except KeyError:
            raise TrialsError(f"sample {state.sample_id!r}: no {_QUESTION!r} in its metadata") from None
        except TrialsError as error:
            raise TrialsError(f"sample {state.sample_id!r}: {error.problem}") from None
        return _score(table, 0, answer)

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
            metadata={_QUESTION: task.question_id, "question": task.question, "trial": task.trial},
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


def write_eval_log(run: RunFolder | str | Path, path: str | Path, *, suite: Suite | str | Path | None = None) -> None:
    """Writes an eval log with all answers and scores of a run, for `inspect view` and `read_eval_log`.

    Samples have the same ids as in `pfgen_dataset`. The log contains the name of the scorer, so `inspect score` can
    compute the scores again.

    Args:
        run: The run, or its directory.
        path: The path of the log; the extension `.eval` or `.json` selects the format.
        suite: A suite, or an argument of `Suite.load`; by default the suite in the checkout of the run.

    Raises:
        TrialsError: The run cannot be read, or a question is unknown.
        SuiteError: The suite is missing or invalid.
        PfgenError: The path has another extension or cannot be written.
    """
    path = Path(path)
    _check_log_path(path)
    found = run if isinstance(run, RunFolder) else _only_run(Path(run))
    given = suite if isinstance(suite, Suite | None) else Suite.load(suite)
    scorer = Scorer(suite_of(found.folder, given))
    trials = trials_of(scorer.suite, Trials.of(found))
    table = scorer.score(trials.lines.questions, trials.lines.answers)
    config = found.config() or {}
    model = config.get("model")
    name = in_one_line(model, 200) if isinstance(model, str) else run_name(found.folder)
    write_scored(path, trials, table, model=name, config=config, created=timestamp())


def write_scored(
    path: Path,
    trials: Trials,
    table: ScoreTable,
    *,
    model: str,
    config: Mapping[str, Any],
    created: str,
    are_epochs: bool = False,
) -> None:
    """Writes an eval log of scored trials, which can be epochs; equal arguments give equal files `*.json`."""
    _check_log_path(path)
    samples = list(_samples(trials, table, are_epochs=are_epochs))
    log = _eval_log(table.scorer, samples, utf8(model).decode(), config, created)
    with TemporaryDirectory() as folder:
        written = Path(folder, path.name)
        _log.write_eval_log(log, str(written))
        write_whole(path, written.read_bytes())


def _check_log_path(path: Path) -> None:
    if path.suffix not in (".eval", ".json"):
        raise PfgenError(f"{path}: expected a file *.eval or *.json")


def _score(table: ScoreTable, row: int, answer: str) -> Score:
    details = table.details(row)
    unmet = [f"{name or 'a rule without a name'}: {score:.2f}" for name, score in details["helpfulness_results"]]
    return _scorer.Score(
        value={name: float(table[name][row]) for name in SCORES},
        answer=answer,
        explanation=f"unmet keyword rules, each with the remaining helpfulness: {', '.join(unmet) or 'none'}",
        metadata={part: details[part] for part in ("fluency", "truthfulness")},
    )


def _only_run(folder: Path) -> RunFolder:
    run, *others = find_runs([folder])
    if others:
        raise TrialsError(f"{folder}: contains {len(others) + 1} runs; give the directory of one run")
    return run


def _samples(trials: Trials, table: ScoreTable, *, are_epochs: bool) -> Iterator[EvalSample]:
    """The answers of a run; the k-th answer to a question belongs to trial k, which is an epoch or in the id."""
    suite = table.scorer.suite
    for text, rows in trials.rows_by_question.items():
        question_id = suite[text].question_id
        for trial, row in enumerate(rows, start=1):
            question, answer = (utf8(of[row]).decode() for of in (trials.questions, trials.answers))
            sample_id = f"{question_id}-{trial}"
            output = _model.ModelOutput.from_content("", answer)
            output.choices[0].message.id = f"{sample_id}-output"
            yield _log.EvalSample(
                id=question_id if are_epochs else sample_id,
                uuid=sample_id,
                epoch=trial if are_epochs else 1,
                input=question,
                target="",
                messages=[
                    _model.ChatMessageUser(id=f"{sample_id}-question", content=question),
                    _model.ChatMessageAssistant(id=f"{sample_id}-answer", content=answer),
                ],
                output=output,
                scores={_SCORER: _score(table, row, answer)},
                metadata={_QUESTION: question_id, "question": question, "trial": trial},
            )


_SCORER = "pfgen_score"
_METRICS = [
    {"name": "inspect_ai/mean", "options": {}},
    {"name": "inspect_ai/stderr", "options": {"cluster": _QUESTION}},
]
"""The metrics in the decorator of `pfgen_score`, in the form of logs."""


def _eval_log(
    scorer: TableScorer, samples: list[EvalSample], model: str, config: Mapping[str, Any], created: str
) -> EvalLog:
    """The log of scored samples; Inspect computes its results."""
    suite = scorer.suite
    metadata = {"signature": scorer.signature, "run": dict(config)}
    log = _log.EvalLog(
        status="success",
        eval=_log.EvalSpec(
            eval_id=_id(model, created, metadata),
            run_id=_id(model, created, metadata),
            created=created,
            task="pfgen",
            task_id=f"pfgen-{scorer.suite.metadata_hash[:7]}",
            model=model,
            dataset=_log.EvalDataset(name=f"pfgen-{suite.name}", samples=len(samples)),
            config=_log.EvalConfig(epochs=max(sample.epoch for sample in samples)),
            metadata=metadata,
            scorers=[{"name": _SCORER, "options": {"suite": suite.name}, "metrics": dict.fromkeys(SCORES, _METRICS)}],
        ),
        stats=_log.EvalStats(started_at=created, completed_at=created),
        samples=samples,
    )
    _log.recompute_metrics(log)
    return log


def _id(*parts: Any) -> str:
    """An identifier like those of Inspect, equal for equal parts."""
    return hashlib.sha256(utf8(json_text(parts))).hexdigest()[:22]
