"""Engines without a model: answers of the suite, or answers in a file.

`ground-truth`, `reference` and `replay` have stored answers: the k-th answer to a question belongs to trial k. The
config.json of the first two is that of the published rows `system/ground-truth` and `system/criteria`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from hashlib import sha1
from pathlib import Path
from typing import Any

from ...base.errors import EngineError, TrialsError
from ...base.untrusted_text import few_names, in_one_line
from ...runs.trials import Trials, find_runs, single_trials
from ...scoring.reply_text import Mode
from ...suite.questions import Question
from ...suite.suite import Suite
from ...tables.formats import table_rows
from ..prompts import Sampling, Task
from ..protocol import RawReply
from .engine import Engine

_OF_PROMPTS = ("context", "instruction", "instructions", "num_examples", "prefix")
UNKNOWN = dict.fromkeys((*_OF_PROMPTS, "max_tokens", "seed", "stop", "temperature", "top_k", "top_p"))
"""Parameters that config.json does not record, because stored answers do not depend on them or they are unknown."""


class StoredAnswers(Engine):
    """Yields stored answers, unchanged."""

    def __init__(self, source: str, answers: Mapping[str, Sequence[str]]) -> None:
        self._source, self._answers = source, answers
        self.n_trials = min(map(len, answers.values()), default=0)

    async def answers(self, tasks: Sequence[Task]) -> AsyncGenerator[tuple[int, RawReply | None], None]:
        """Yields the k-th answer to each question, where k is the task's trial number."""
        for task in tasks:  # checked before the first answer, so that no run is incomplete
            if len(self._answers[task.question]) < task.trial:
                n = len(self._answers[task.question])
                raise EngineError(
                    f"{self._source}: {n} answer{'s' * (n != 1)} to {task.question_id}, too few for trial {task.trial}"
                )
        for index, task in enumerate(tasks):
            await asyncio.sleep(0)  # lets the event loop handle Ctrl-C
            yield index, RawReply(self._answers[task.question][task.trial - 1])


class _SystemEngine(StoredAnswers):
    def __init__(self, source: str, answers: Mapping[str, Sequence[str]], mode: Mode) -> None:
        if mode != "completion":  # other modes would cut answers at "A:"
            raise EngineError(f"--mode {mode}: this engine uses no prompts; omit --mode")
        super().__init__(source, answers)
        self.parameters: Mapping[str, Any] = {**UNKNOWN, "engine": "system", "mode": "system"}


class GroundTruthEngine(_SystemEngine):
    """Yields the sample answers in the suite's `questions.jsonl`, which people wrote."""

    name = "ground-truth"

    def __init__(self, *, suite: Suite, model: str, mode: Mode, sampling: Sampling) -> None:
        answers: dict[str, list[str]] = {question.question: [] for question in suite}
        for sample in suite.samples:
            if sample.question in answers:
                answers[sample.question].append(sample.answer)
        for question in suite:
            if not answers[question.question]:
                raise EngineError(
                    f"suite {suite.name}: no sample answer to {question.question_id}, but the engine ground-truth "
                    "needs one for every question"
                )
        super().__init__(f"the sample answers of suite {suite.name}", answers, mode)


class ReferenceEngine(_SystemEngine):
    """Yields the reference answers, set by set in the order of their names; each set begins with a random sample."""

    name = "reference"

    def __init__(
        self, *, suite: Suite, model: str, mode: Mode, sampling: Sampling, sets: Sequence[str] | None = None
    ) -> None:
        chosen = sorted(suite.set_names if sets is None else set(sets))
        for question in suite:
            if not set(chosen) & set(question.answers):
                raise EngineError(
                    f"suite {suite.name}: {question.question_id} has no reference set {' or '.join(chosen)}; "
                    f"it has {', '.join(question.answers)}"
                )
        answers = {question.question: _shuffled(question, chosen) for question in suite}
        super().__init__(f"the reference answers of suite {suite.name}", answers, mode)
        self.parameters = {**self.parameters, "sets": None if sets is None else chosen}


def _shuffled(question: Question, sets: Sequence[str]) -> list[str]:
    """The answers of the question's sets, without blank answers, which a run cannot have."""
    shuffled: list[str] = []
    for name in sets:
        answers = [answer for answer in question.answers.get(name, ()) if answer.strip()]
        shuffled += sorted(answers, key=lambda answer: sha1(answer.encode("utf-8", "surrogatepass")).digest())
    return shuffled


class ReplayEngine(StoredAnswers):
    """Reads answers from a table, a run, or the samples that lm-evaluation-harness logs."""

    name = "replay"

    def __init__(
        self,
        *,
        suite: Suite,
        model: str,
        mode: Mode,
        sampling: Sampling,
        input: str | Path | None = None,
        question_column: str = "question",
        answer_column: str = "answer",
    ) -> None:
        if input is None:
            raise EngineError("the engine replay needs an input with answers (--input)")
        answers: dict[str, list[str]] = {question.question: [] for question in suite}
        whole = suite.whole or suite
        digest = hashlib.sha1()
        for location, question, answer in stored_answers(Path(input), question_column, answer_column, model=model):
            if question not in whole:
                raise TrialsError(f"{location}: {whole.unknown_question(question)}")
            if question not in suite:
                continue
            text = suite[question].question
            answers[text].append(answer)
            digest.update(f"{len(text)}:{text}{len(answer)}:{answer}".encode("utf-8", "surrogatepass"))
        super().__init__(str(input), answers)
        self.parameters: Mapping[str, Any] = {**UNKNOWN, "input_hash": digest.hexdigest()}


def stored_answers(
    source: Path, question_column: str, answer_column: str = "answer", *, model: str | None = None
) -> Iterator[tuple[str, Any, str]]:
    """Yields location, question and answer of each row, in the order of the input.

    If a table has the answers of several models, only those of the model with this name, or its last part, are yielded.
    """
    if source.is_dir():
        yield from _answers_of_run(source)
        return
    first_filter = None
    chosen = None if model is None else _model_in(source, model)
    for location, row in table_rows(source):
        if chosen is not None and row.get("model") != chosen:
            continue
        if "doc" in row and "resps" in row and question_column not in row:
            # Each filter of a task logs all documents again, with the same raw answers.
            first_filter = first_filter or row.get("filter")
            if row.get("filter") == first_filter:
                yield from _harness_answers(location, row, question_column)
            continue
        for column in (question_column, answer_column):
            if not isinstance(row.get(column), str):
                got = f"not {type(row[column]).__name__}" if column in row else "but the column is missing"
                raise TrialsError(f"{location}: expected a text in the column {column!r}, {got}")
        yield location, row[question_column], row[answer_column]


def _model_in(source: Path, model: str) -> str | None:
    """The name of a model in a table of answers of several models; None for a table of one model."""
    names = dict.fromkeys(row["model"] for _, row in table_rows(source) if isinstance(row.get("model"), str))
    if len(names) < 2:
        return None
    chosen = next((name for name in (model, model.rsplit("/", 1)[-1]) if name in names), None)
    if chosen is None:
        raise EngineError(
            f"{source}: answers of {len(names)} models ({few_names(list(names), 5)}); expected --model with one of "
            f"these names, or with a name that ends in /{in_one_line(next(iter(names)), 60)}"
        )
    return chosen


def _answers_of_run(folder: Path) -> Iterator[tuple[str, Any, str]]:
    (run, *others) = find_runs([folder])
    if others:
        raise EngineError(f"{folder}: has {len(others) + 1} runs; name one of them")
    # Files trial_NNN.jsonl are preferred, because the packed file has sorted lines, without the order of trials.
    paths = single_trials(run.folder) or [path for path in (run.trials_path,) if path is not None]
    for path in paths:
        trials = Trials.read(path)
        for row, (question, answer) in enumerate(zip(trials.questions, trials.answers, strict=True), start=1):
            yield f"{path}, answer {row}", question, answer


def _harness_answers(location: str, row: Mapping[str, Any], question_column: str) -> Iterator[tuple[str, Any, str]]:
    """Yields the raw answers of one document: a list of requests, each with a list of its repeats."""
    question = row["doc"].get(question_column) if isinstance(row["doc"], dict) else None
    if not isinstance(question, str):
        raise TrialsError(f"{location}: expected a text 'doc.{question_column}' in a sample of lm-evaluation-harness")
    responses = row["resps"]
    if not isinstance(responses, list) or not all(isinstance(repeats, list) for repeats in responses):
        raise TrialsError(f"{location}: expected lists of answers in 'resps'; does this task use generate_until?")
    for answer in (answer for repeats in responses for answer in repeats):
        if not isinstance(answer, str):
            raise TrialsError(f"{location}: expected texts in 'resps', not {type(answer).__name__}")
        yield location, question, answer
