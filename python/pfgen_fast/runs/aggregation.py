"""Aggregates the scored trials of a run into its result: docs/scoring.md, section 6. All rounding happens here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import PfgenError, TrialsError
from ..files.json_writing import WrittenObject
from ..files.untrusted_json import any_object, checked, read_json
from ..native import _core
from ..suite.questions import Question
from ..suite.rules import FLOAT_SUMS
from ..suite.suite import Suite
from .result import RECORD_DEPTH, Figures, QuestionResult, RunResult, ScoredAnswer, Scores
from .trials import RunFolder, Trials

if TYPE_CHECKING:
    from ..scoring.score_table import ScoreTable
    from ..scoring.scorer import Scorer

UnknownQuestions = Literal["error", "skip"]
"""How to treat trials of questions that the suite lacks: as an error of the run, or by leaving them out."""

_QUANTILES = (0, 0.25, 0.5, 0.75, 1)


def evaluate(run: RunFolder, scorer: Scorer, *, unknown: UnknownQuestions = "error") -> RunResult:
    """Scores a run; see `trials_of` for `unknown`."""
    trials = trials_of(scorer.suite, Trials.of(run), unknown=unknown)
    check_questions(trials, scorer.suite)
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


def check_questions(trials: Trials, suite: Suite) -> None:
    """Raises TrialsError if a question of the suite has no trial."""
    missing = [question for question in suite if question.question not in trials.rows_by_question]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise TrialsError(f"{trials.path}: no trial of question {missing[0].question_id}{more} of the suite")


def aggregate(trials: Trials, table: ScoreTable, config: Mapping[str, Any] | None) -> RunResult:
    """Aggregates scored trials into a result; `table` holds the scores of `trials` in the same order."""
    of_run, by_question, found = _figures(trials, table)
    return RunResult(
        input_hash=trials.input_hash,
        metadata_hash=table.scorer.suite.metadata_hash,
        config=config,
        num_trials=found.n_trials,
        **vars(of_run),
        questions={
            question.question_id: QuestionResult(
                question=question.question,
                **vars(figures),
                samples=tuple(_scored_answer(trials, table, row) for row in _picked(of.order)),
            )
            for (question, figures), of in zip(by_question, found.questions, strict=True)
        },
    )


def figures_by_question(trials: Trials, table: ScoreTable) -> tuple[Figures, dict[str, Figures]]:
    """The figures that a result holds, of the run and by the question's text, over the questions that have trials."""
    of_run, by_question, _ = _figures(trials, table)
    return of_run, {question.question: figures for question, figures in by_question}


def _figures(trials: Trials, table: ScoreTable) -> tuple[Figures, list[tuple[Question, Figures]], _core.RunFigures]:
    asked = (question for question in table.scorer.suite if question.question in trials.rows_by_question)
    questions = sorted(asked, key=lambda question: question.question_id)
    columns = table.columns[1:]  # without question_id
    scores, first = table.part
    figures = _core.aggregate(
        [trials.rows_by_question[question.question] for question in questions],
        scores,
        first,
        trials.lines.lengths,
        getattr(_core.FloatSum, table.scorer.float_sum),
    )
    by_question = [
        (
            question,
            Figures(
                **_rounded(of.score, of.length),
                scores=_mean_scores(question, dict(zip(columns, of.means, strict=True))),
            ),
        )
        for question, of in zip(questions, figures.questions, strict=True)
    ]
    overall = _overall_scores([of_question.scores for _, of_question in by_question])
    return Figures(**_rounded(figures.score, figures.length), scores=overall), by_question, figures


def _rounded(score: _core.Figures, length: _core.Figures) -> dict[str, float]:
    return {
        "score": round(score.mean, 4),
        "score_std": round(score.deviation, 4),
        "length": round(length.mean, 1),
        "length_std": round(length.deviation, 1),
    }


def _mean_scores(question: Question, means: Mapping[str, float]) -> Scores:
    return Scores(
        fluency={name: round(means[f"fluency_{name}"], 5) for name in question.answers},
        truthfulness={name: round(means[f"truthfulness_{name}"], 5) for name in question.answers},
        helpfulness=round(means["helpfulness"], 5),
        average=round(means["average"], 5),
    )


def _picked(rows: list[int]) -> list[int]:
    return [rows[index] for index in dict.fromkeys(round(quantile * (len(rows) - 1)) for quantile in _QUANTILES)]


def _scored_answer(trials: Trials, table: ScoreTable, row: int) -> ScoredAnswer:
    written = table.record_json(row, trials.lines.line(row), RECORD_DEPTH)
    if written is not None:
        return ScoredAnswer(WrittenObject(written))
    record = trials.trial(row)
    del record["question"]
    record["scores"] = table.details(row)
    return ScoredAnswer(record)


def _overall_scores(questions: Sequence[Scores]) -> Scores:
    """The means over questions, rounded at every step as in the published figures."""

    def mean(values: Iterable[float]) -> float:
        return reduce(lambda overall, value: round(overall + value / len(questions), 5), values, 0.0)

    def by_set(shares: Sequence[Mapping[str, float]]) -> dict[str, float]:
        names = dict.fromkeys(chain.from_iterable(shares))
        return {name: mean(of_question[name] for of_question in shares if name in of_question) for name in names}

    return Scores(
        by_set([scores.fluency for scores in questions]),
        by_set([scores.truthfulness for scores in questions]),
        mean(scores.helpfulness for scores in questions),
        mean(scores.average for scores in questions),
    )


def with_recorded_sum(
    path: Path, trials: Trials, table: ScoreTable, config: Mapping[str, Any] | None
) -> tuple[RunResult, ScoreTable, str | None]:
    """Aggregates trials with the float sum that reproduces their earlier result, which does not name its sum."""
    from ..scoring.scorer import Scorer

    usual = table.scorer.float_sum
    result = aggregate(trials, table, config)
    recorded = _figures_of(path, result)
    if recorded is None or recorded == _without_config(result.to_dict()):
        return result, table, None
    (other,) = (float_sum for float_sum in FLOAT_SUMS if float_sum != usual)
    scorer = Scorer(table.scorer.suite, profile=table.scorer.profile, float_sum=other)
    other_table = scorer.score(trials.lines.questions, trials.lines.answers)
    found = aggregate(trials, other_table, config)
    if recorded == _without_config(found.to_dict()):
        return found, other_table, None
    return result, table, f"{path}: neither float sum reproduces its figures; the {usual} sum is used"


def _figures_of(path: Path, result: RunResult) -> Mapping[str, Any] | None:
    """The figures of a result.json; None if it was not made from the inputs of `result`."""
    try:
        recorded = checked(read_json(path), any_object, str(path))
    except PfgenError:
        return None
    hashes = recorded.get("input_hash"), recorded.get("metadata_hash")
    return _without_config(recorded) if hashes == (result.input_hash, result.metadata_hash) else None


def _without_config(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in result.items() if key != "config"}
