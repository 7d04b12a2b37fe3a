"""The report page: leaderboard, plots and the details of each run in a single file that needs no network.

Untrusted text enters the page in two ways only: through the template, which escapes it, and as JSON that the page's
script puts into text nodes. The page allows no code but its own. The details of a run, which make up most of the page,
are compressed until they are opened.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import TrialsError
from ..files.foreign_text import harmless_with_tints, in_one_line
from ..files.writing import writing_whole
from ..suite.suite import Suite
from .checked import (
    N_SHOWN,
    CheckedAnswer,
    CheckedFigures,
    CheckedQuestion,
    CheckedRun,
    ReportRun,
    by_score,
    check_run,
    ranks,
)
from .sweeps import Line, axis, lines, plain_values, point_name, swept_values
from .templating import library, own_code, page_json, source, template
from .tinting import LEVELS, tints

MAX_BYTES = 30_000_000
"""The maximum size of a page; answers are cut shorter if many runs would exceed it."""

_OF_THE_REPORT = ("state", "dialog", "leaderboard", "plots", "heat_map", "sweep", "run_view", "main")
_SCRIPTS = ("page.js", *(f"report/{name}.js" for name in _OF_THE_REPORT))

_SHORTER = (N_SHOWN, 300, 200, 150, 100, 50, 20, 0)

# The tints of a run: for each question and sample, one digit per code point that may be shown.
_RunTints = list[list[str]]


def write_report(entries: Sequence[ReportRun], suite: Suite, path: Path) -> None:
    """Writes the page for runs of the same suite.

    Args:
        entries: The runs, in any order.
        suite: The suite that they were scored with; its reference answers tint the samples.
        path: The path of the page.

    Raises:
        PfgenError: Plotly or Jinja is not installed, or the page cannot be written.
        TrialsError: There is no run, or a run is not a result of this suite.
    """
    if not entries:
        raise TrialsError("a report needs at least one run")
    page = template("report.html.jinja", figure=_figure)
    markup = library("markupsafe").Markup
    runs = by_score(check_run(entry, suite) for entry in entries)
    code = own_code(
        style=source("report.css"),
        early_script=source("theme.js"),
        plotly=library("plotly.offline").get_plotlyjs(),
        script="".join(map(source, _SCRIPTS)),
    )
    overview_of_runs = _overview(runs, suite)
    overview = page_json(overview_of_runs)
    # A row of the table takes about 1,200 bytes.
    room = MAX_BYTES - len(code["plotly"].encode()) - len(overview.encode()) - 1_500 * len(runs) - 100_000
    n_shown, details = _details_that_fit(runs, _tints_of_runs(runs, suite), suite, room)
    pieces = page.generate(
        version=__version__,
        suite=suite.name,
        n_questions=len(suite),
        rows=list(zip(runs, ranks(runs), strict=True)),
        levels=list(enumerate(LEVELS)),
        n_shown=n_shown,
        overview=markup(overview),
        sweep=overview_of_runs["sweep"],
        details=[markup(detail) for detail in details],
        **code,
    )
    with writing_whole(path) as file:
        for piece in pieces:
            file.write(piece.encode())


def _figure(value: float | None, n_digits: int) -> str:
    return "–" if value is None else f"{value:.{n_digits}f}"


def _overview(runs: Sequence[CheckedRun], suite: Suite) -> dict[str, Any]:
    """The data of the plots."""
    questions = [{"id": question.question_id, "text": question.question} for question in suite]
    return {"questions": questions, "runs": [_points(run, suite) for run in runs], "sweep": _sweep(runs)}


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
                "lines": [_line(line) for line in lines(points, parameter)],
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


def _line(line: Line) -> dict[str, Any]:
    return {"name": line.name, "runs": line.points}


def _points(run: CheckedRun, suite: Suite) -> dict[str, Any]:
    scores = {question.question_id: question.figures.score for question in run.questions}
    return {
        "name": run.name,
        "group": "system" if run.medal else run.mode[:20] or "mode unknown",
        "score": run.figures.score,
        "length": run.figures.length,
        "fluency": run.figures.fluency,
        "truthfulness": run.figures.truthfulness,
        "helpfulness": run.figures.helpfulness,
        "questions": [scores.get(question.question_id) for question in suite],
    }


def _tints_of_runs(runs: Sequence[CheckedRun], suite: Suite) -> list[_RunTints]:
    """Tints all runs question by question, so that the references of each question are counted only once."""
    tints_of: list[dict[str, list[str]]] = [{} for _ in runs]
    for question in suite:
        asked = [
            (number, [sample.answer for sample in result.samples])
            for number, run in enumerate(runs)
            for result in run.questions
            if result.question_id == question.question_id
        ]
        made = iter(tints(question, [answer for _, answers in asked for answer in answers]))
        for number, answers in asked:
            tints_of[number][question.question_id] = [next(made) for _ in answers]
    return [[tints_of[number][question.question_id] for question in run.questions] for number, run in enumerate(runs)]


def _details_that_fit(
    runs: Sequence[CheckedRun], tints_of: Sequence[_RunTints], suite: Suite, n_bytes: int
) -> tuple[int, list[str]]:
    """The compressed details of all runs, with answers as long as the space allows, and that length."""
    for n_shown in _SHORTER:
        details: list[str] = []
        room = n_bytes
        for run, run_tints in zip(runs, tints_of, strict=True):
            details.append(_packed(_details(run, run_tints, suite, n_shown)))
            room -= len(details[-1])
            if room < 0:
                break
        else:
            return n_shown, details
    raise TrialsError(f"{len(runs)} runs are too many for one page of {MAX_BYTES // 1_000_000} MB; report fewer")


def _packed(value: Any) -> str:
    return base64.b64encode(gzip.compress(page_json(value).encode(), 6, mtime=0)).decode("ascii")


def _details(run: CheckedRun, run_tints: _RunTints, suite: Suite, n_shown: int) -> dict[str, Any]:
    """The details of a run; texts and tints are kept apart from the figures, which compresses best."""
    shown = [
        harmless_with_tints(sample.answer[:n_shown], tint[:n_shown])
        for question, of_question in zip(run.questions, run_tints, strict=True)
        for sample, tint in zip(question.samples, of_question, strict=True)
    ]
    numbers = {question.question_id: number for number, question in enumerate(suite)}
    return {
        "link": run.link,
        "parameters": list(run.parameters.items()),
        "sets": [[name, *values] for name, values in run.by_set.items()],
        "questions": [_question(question, numbers[question.question_id], n_shown) for question in run.questions],
        "texts": [text for text, _ in shown],
        "tints": [tint for _, tint in shown],
    }


def _question(question: CheckedQuestion, number: int, n_shown: int) -> dict[str, Any]:
    return {
        "number": number,
        "deviation": question.figures.score_std,
        **_parts(question.figures),
        "samples": [_sample(sample, n_shown) for sample in question.samples],
    }


def _sample(sample: CheckedAnswer, n_shown: int) -> dict[str, Any]:
    return {
        **_parts(sample.figures),
        "hidden": max(0, sample.n_code_points - n_shown),
        "missing": sample.missing,
        "excess": sample.excess,
    }


def _parts(figures: CheckedFigures) -> dict[str, float | None]:
    return {
        "score": figures.score,
        "length": figures.length,
        "fluency": figures.fluency,
        "truthfulness": figures.truthfulness,
        "helpfulness": figures.helpfulness,
    }
