"""Aggregates the scored trials of a run into its result: docs/scoring.md, section 6."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..base.errors import PfgenError, TrialsError
from ..base.file_reading import read_stored
from ..base.native import _core
from ..base.untrusted_json import MAX_JSON_BYTES, WrittenJson, any_object, checked, parse_json
from ..suite.questions import Question
from ..suite.rules import FLOAT_SUMS, PARTS
from ..suite.suite import Suite
from .run_result import RECORD_DEPTH, Figures, QuestionResult, RunResult, ScoredAnswer, Scores
from .trials import RunFolder, Trials

if TYPE_CHECKING:
    from ..scoring.score_table import ScoreTable
    from ..scoring.scorer import Scorer

UnknownQuestions = Literal["error", "skip"]
"""How to treat trials of questions that the suite lacks: as an error of the run, or by leaving them out."""


def evaluate(run: RunFolder, scorer: Scorer, *, unknown: UnknownQuestions = "error") -> RunResult:
    """Scores a run; see `trials_of` for `unknown`."""
    trials = trials_of(scorer.suite, Trials.of(run), unknown=unknown)
    check_all_answered(trials, scorer.suite)
    return aggregate(trials, scorer.score(trials.lines.questions, trials.lines.answers), run.config())


def trials_of(suite: Suite, trials: Trials, *, unknown: UnknownQuestions = "error") -> Trials:
    """The trials of a suite's questions; if the suite was cut, trials of its other questions are left out."""
    if unknown == "error":
        for question in unknown_questions(suite, trials):
            where = f"{trials.path}, line {trials.line_number(trials.rows_by_question[question][0])}"
            message = (suite.whole or suite).unknown_question(question)
            raise TrialsError(f"{where}: {message}; '--unknown-questions skip' leaves such trials out")
    texts = {question.question for question in suite}
    if texts.issuperset(trials.rows_by_question):
        return trials
    rows = (rows for question, rows in trials.rows_by_question.items() if question in texts)
    return trials.part(sorted(chain.from_iterable(rows)))


def unknown_questions(suite: Suite, trials: Trials) -> list[str]:
    """The questions of trials that a suite lacks; for a cut suite, the questions that the whole suite lacks."""
    texts = {question.question for question in suite.whole or suite}
    return [question for question in trials.rows_by_question if question not in texts]


def check_all_answered(trials: Trials, suite: Suite) -> None:
    """Raises TrialsError if a question of the suite has no trial."""
    missing = [question for question in suite if question.question not in trials.rows_by_question]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise TrialsError(f"{trials.path}: no trial of question {missing[0].question_id}{more} of the suite")


def aggregate(trials: Trials, table: ScoreTable, config: Mapping[str, Any] | None) -> RunResult:
    """Aggregates scored trials into a result; `table` holds the scores of `trials` in the same order."""
    return _aggregate(trials, table, config, {})


def _aggregate(
    trials: Trials, table: ScoreTable, config: Mapping[str, Any] | None, known: dict[tuple[int, float], ScoredAnswer]
) -> RunResult:
    """Takes the answers of the result from `known`, by row and score, and adds those that are not there yet.

    The float sum changes the record of an answer only through its score.
    """
    whole, by_question, run = figures_of(trials, table)
    picked = [question.picked for question in run.questions]
    new = [key for key in chain.from_iterable(picked) if key not in known]
    known.update(zip(new, _scored_answers(trials, table, [row for row, _ in new]), strict=True))
    return RunResult(
        input_hash=trials.input_hash,
        metadata_hash=table.scorer.suite.metadata_hash,
        config=config,
        num_trials=run.n_trials,
        **vars(whole),
        questions={
            question.question_id: QuestionResult(
                question=question.question, **vars(figures), samples=tuple(known[key] for key in keys)
            )
            for (question, figures), keys in zip(by_question, picked, strict=True)
        },
    )


def figures_of(trials: Trials, table: ScoreTable) -> tuple[Figures, list[tuple[Question, Figures]], _core.RunFigures]:
    """The figures that a result holds, of the run and of each question that has trials, and those of the core."""
    asked = (question for question in table.scorer.suite if question.question in trials.rows_by_question)
    questions = sorted(asked, key=lambda question: question.question_id)
    scores, first = table.part
    run = _core.aggregate(
        [trials.rows_by_question[question.question] for question in questions],
        scores,
        first,
        trials.lines.lengths,
        getattr(_core.FloatSum, table.float_sum),
    )

    def figures(means: _core.QuestionFigures | _core.RunFigures, sets: Collection[str]) -> Figures:
        values = dict(zip(table.columns[1:], means.means, strict=True))  # without question_id
        fluency, truthfulness = ({name: values[f"{part}_{name}"] for name in sets} for part in PARTS[:2])
        scores = Scores(fluency, truthfulness, values["helpfulness"], values["average"])
        return Figures(*means.figures, scores=scores)

    by_question = [
        (question, figures(means, question.answers)) for question, means in zip(questions, run.questions, strict=True)
    ]
    names = chain.from_iterable(question.answers for question in questions)
    return figures(run, dict.fromkeys(names)), by_question, run


def _scored_answers(trials: Trials, table: ScoreTable, rows: Sequence[int]) -> Iterator[ScoredAnswer]:
    all_written = table.records_json(rows, list(map(trials.lines.line, rows)), RECORD_DEPTH)
    for row, written in zip(rows, all_written, strict=True):
        if written is not None:
            yield ScoredAnswer(WrittenJson(written))
        else:
            record = trials.trial(row)
            del record["question"]
            yield ScoredAnswer({**record, "scores": table.details(row)})


def with_recorded_sum(
    path: Path, trials: Trials, table: ScoreTable, config: Mapping[str, Any] | None
) -> tuple[RunResult, ScoreTable, str | None]:
    """Aggregates trials with the float sum that reproduces their earlier result, which does not name its sum."""
    known: dict[tuple[int, float], ScoredAnswer] = {}
    result = _aggregate(trials, table, config, known)
    try:
        stored = read_stored(path, limit=MAX_JSON_BYTES)
    except TrialsError:
        return result, table, None
    hashes = result.input_hash.encode(), result.metadata_hash.encode()
    if stored == result.content or not all(part in stored for part in hashes):
        return result, table, None
    (other,) = (float_sum for float_sum in FLOAT_SUMS if float_sum != table.float_sum)
    other_table = table.added_up(other)
    other_result = _aggregate(trials, other_table, config, known)
    if stored == other_result.content:
        return other_result, other_table, None
    recorded = _figures_of(stored, path, result)  # without the configuration, which may be another
    if recorded is None or recorded == _without_config(result.to_dict()):
        return result, table, None
    if recorded == _without_config(other_result.to_dict()):
        return other_result, other_table, None
    problem = f"{path}: neither float sum reproduces its figures; the {table.float_sum} sum is used"
    return result, table, problem


def _figures_of(stored: bytes, path: Path, result: RunResult) -> Mapping[str, Any] | None:
    """The figures of a result.json; None if it was not made from the inputs of `result`."""
    try:
        recorded = checked(parse_json(stored, str(path)), any_object, str(path))
    except PfgenError:
        return None
    hashes = recorded.get("input_hash"), recorded.get("metadata_hash")
    return _without_config(recorded) if hashes == (result.input_hash, result.metadata_hash) else None


def _without_config(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in result.items() if key != "config"}
