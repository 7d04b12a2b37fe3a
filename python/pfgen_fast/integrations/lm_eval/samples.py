"""Scores samples that lm-evaluation-harness logged (`--log_samples`) for any task that generates answers.

The documents of the task must contain questions of the suite, as texts or ids, under any key.
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
        answers: The scored texts, one for each row of the table.
        table: The scores.
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
    """Scores the answers in a file `samples_*.jsonl`, with all repeats of a request.

    The stop strings of the task end an answer; filters of the task are not applied.

    Args:
        path: The file, which may be compressed.
        suite: A suite, an argument of `Suite.load`, or a scorer.
        question_column: The key of the id or exact text of the question in the documents. By default the first key
            whose value in the first document is a question of the suite.
        mode: Determines which part of an answer is kept, as in `pfgen-fast generate`. By default the mode in the
            documents, which the tasks of this package have; otherwise `"completion"`, which only strips white space.

    Raises:
        TrialsError: The file cannot be read, a line is not a sample of such a task, or a question is unknown.
    """
    path = Path(path)
    if mode is not None:
        check_mode(mode)
    scorer = suite if isinstance(suite, Scorer) else Scorer(suite)
    location, row = next(table_rows(path), (str(path), {}))
    document = row.get("doc")
    if not isinstance(document, dict) or "resps" not in row:
        raise TrialsError(f"{location}: expected a sample of lm-evaluation-harness, with 'doc' and 'resps'")
    column = question_column or _question_column(path, document, scorer.suite)
    kept: Mode = mode or (document["mode"] if document.get("mode") in MODES else "completion")
    questions, answers = [], []
    for location, question, answer in stored_answers(path, column):
        if question not in scorer.suite:
            raise TrialsError(f"{location}: {scorer.suite.unknown_question(question)}")
        questions.append(question)
        answers.append(answer_text(answer, mode=kept).answer)
    return ScoredSamples(answers, scorer.score(questions, answers))


def _question_column(path: Path, document: dict[str, Any], suite: Suite) -> str:
    for column, value in document.items():
        if isinstance(value, str) and value in suite:
            return column
    keys = in_one_line(", ".join(map(repr, document)), 200) or "none"
    raise TrialsError(
        f"{path}: no key of the first document contains a question of suite {suite.name}; the keys are {keys}"
    )
