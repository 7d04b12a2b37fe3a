"""Scores of samples that lm-evaluation-harness has logged (`--log_samples`), of any task that generates answers.

The documents of the task need only hold the questions of the suite, as texts or ids, under whichever key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ...errors import TrialsError
from ...files.untrusted_text import in_one_line
from ...generation.engines.replay import stored_answers
from ...generation.prompts import MODES, Mode, check_mode
from ...generation.reasoning import answer_text
from ...scoring.score_table import ScoreTable
from ...scoring.scorer import Scorer
from ...suite.suite import Suite
from ...tables.formats import table_rows


class ScoredSamples(NamedTuple):
    """The answers of a file of samples and their scores.

    Attributes:
        answers: The answers as they were scored, one for each row of the table.
        table: Their scores.
    """

    answers: list[str]
    table: ScoreTable


def score_samples(
    path: str | Path,
    suite: Scorer | Suite | str | Path,
    *,
    question_column: str | None = None,
    mode: Mode | None = None,
) -> ScoredSamples:
    """Scores the answers in a `samples_*.jsonl`, with all repeats of a request.

    The text is scored up to the stop strings of the task, before any filter of the task.

    Args:
        path: The file, which may be compressed.
        suite: The suite, what `Suite.load` takes, or a scorer.
        question_column: The key of the documents with the id or exact text of the question. By default the first one
            whose text in the first document is a question of the suite.
        mode: Which part of an answer is kept, as in `pfgen-fast generate`. By default what the documents say, as those
            of our tasks do, or else `"completion"`, which only strips white space.

    Raises:
        TrialsError: The file cannot be read, a line is no sample of such a task, or a question is unknown.

    Example:
        >>> import json, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> samples = Path(folder.name, "samples_qa_2026.jsonl")
        >>> sample = {"doc": {"input": "Why does ice float on water?"}, "resps": [[" Ice floats."]]}
        >>> _ = samples.write_text(json.dumps(sample))
        >>> score_samples(samples, "mini").table.average.tolist()
        [0.02259]
        >>> folder.cleanup()
    """
    path = Path(path)
    if mode is not None:
        check_mode(mode)
    scorer = suite if isinstance(suite, Scorer) else Scorer(suite)
    document = _first_document(path)
    column = question_column or _question_column(path, document, scorer.suite)
    kept: Mode = mode or (document["mode"] if document.get("mode") in MODES else "completion")
    questions, answers = [], []
    for location, question, answer in stored_answers(path, column):
        if question not in scorer.suite:
            raise TrialsError(f"{location}: {scorer.suite.unknown_question(question)}")
        questions.append(question)
        answers.append(answer_text(answer, mode=kept).answer)
    return ScoredSamples(answers, scorer.score(questions, answers))


def _first_document(path: Path) -> dict[str, Any]:
    location, row = next(table_rows(path), (str(path), {}))
    document = row.get("doc")
    if not isinstance(document, dict) or "resps" not in row:
        raise TrialsError(f"{location}: expected a sample of lm-evaluation-harness, with 'doc' and 'resps'")
    return document


def _question_column(path: Path, document: dict[str, Any], suite: Suite) -> str:
    for column, value in document.items():
        if isinstance(value, str) and value in suite:
            return column
    keys = in_one_line(", ".join(map(repr, document)), 200) or "none"
    raise TrialsError(f"{path}: no key of the first document holds a question of suite {suite.name}; there are {keys}")
