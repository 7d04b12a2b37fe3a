"""The uncompressed data of the report page: runs with scores, intervals and parameters, and lines of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..files.untrusted_text import in_one_line
from ..runs.leaderboard import ranks
from ..statistics.mean_interval import mean_interval, quantile
from ..statistics.paired import MIN_QUESTIONS, tied_ranks
from ..suite.rules import PARTS
from ..suite.suite import Suite
from .safe_runs import CheckedRun, ShownFigures
from .sweeps import axis, lines, plain_values, point_name, swept_values

FLUENT = 0.7
"""An answer of at least this fluency is fluent; the fluency of reference answers is 1 on average."""

UNHELPFUL = 0.3
"""An answer of at most this helpfulness is not helpful."""


def overview_of(runs: Sequence[CheckedRun], suite: Suite) -> dict[str, Any]:
    """The overview of runs that are sorted by score."""
    of_ranks = ranks((run.model, run.figures["score"]) for run in runs)
    scores, averages = ([_by_question(run, suite, figure) for run in runs] for figure in ("score", "average"))
    tied = tied_ranks(of_ranks, averages)
    return {
        "questions": [{"id": question.question_id, "text": question.question} for question in suite],
        "runs": [
            {**_figures(run), "rank": rank, "tied": ties, **_interval(exact), "questions": of_run}
            for run, rank, ties, of_run, exact in zip(runs, of_ranks, tied, scores, averages, strict=True)
        ],
        "sweep": _sweep(runs),
        "quantiles": [quantile(n - 1) for n in range(2, len(suite) + 1)],
        "min_questions": MIN_QUESTIONS,
    }


def _by_question(run: CheckedRun, suite: Suite, figure: str) -> list[float | None]:
    found = (run.questions.get(question.question_id) for question in suite)
    return [of_question.figures[figure] if of_question else None for of_question in found]


def _interval(scores: Sequence[float | None]) -> dict[str, float | None]:
    known = [score for score in scores if score is not None]
    interval = mean_interval(known) if known else None
    return {end: getattr(interval, end, None) for end in ("low", "high")}


def _figures(run: CheckedRun) -> dict[str, Any]:
    samples = [sample for question in run.questions.values() for sample in question.samples]
    return {
        "name": run.name,
        "medal": run.medal,
        "group": "system" if run.medal else run.parameters.get("mode", "")[:20] or "mode unknown",
        **{name: run.figures[name] for name in ("score", "length", *PARTS)},
        "trials": float(run.source.result.num_trials),
        "link": run.link,
        "parameters": run.parameters,
        "replies": run.source.replies,
        "sets": [[name, *values] for name, values in run.by_set.items()],
        "samples": len(samples),
        "missing": sum(bool(sample.missing) for sample in samples),
        "too_long": sum(bool(sample.excess) for sample in samples),
        "unhelpful": sum(_is_fluent_but_not_helpful(sample.figures) for sample in samples),
    }


def _is_fluent_but_not_helpful(figures: ShownFigures) -> bool:
    fluency, helpfulness = figures["fluency"], figures["helpfulness"]
    return fluency is not None and helpfulness is not None and fluency >= FLUENT and helpfulness <= UNHELPFUL


def _sweep(runs: Sequence[CheckedRun]) -> dict[str, Any] | None:
    """The lines over each parameter in which the runs differ; None if they are not a sweep."""
    swept = swept_values([run.source.result.config for run in runs])
    if swept is None:
        return None
    points = [plain_values(values) for values in swept]
    return {
        "parameters": [
            {
                "name": in_one_line(parameter),
                "values": axis(points, parameter),
                "points": [values[parameter] for values in points],
                "lines": [{"name": line.name, "runs": line.points} for line in lines(points, parameter)],
            }
            for parameter in swept[0]
        ],
        "names": [point_name(values) for values in points],
        "intervals": [
            {metric: interval.half_width for metric, interval in run.source.intervals.items()} for run in runs
        ],
        "curves": [
            [[step.n_trials, step.value, step.half_width] for step in run.source.curve if step.half_width is not None]
            for run in runs
        ],
    }
