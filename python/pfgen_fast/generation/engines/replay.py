"""The engine `replay`: reads existing answers from a file, so that the output of other tools becomes a run.

The k-th answer to a question belongs to trial k. Answers stay as they are, and are not cut at stop strings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...base.errors import EngineError, TrialsError
from ...base.untrusted_text import few_names, in_one_line
from ...runs.trials import Trials, find_runs, single_trials
from ...scoring.reply_text import Mode
from ...suite.suite import Suite
from ...tables.formats import table_rows
from . import Sampling
from .stored import UNKNOWN, StoredAnswers


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
