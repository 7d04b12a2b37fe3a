"""The report page: leaderboard, plots, and the answers of all runs, in a single file or in a folder; needs no network.

Untrusted text enters the page in two ways only: through the template, which escapes it, and as JSON that the page's
script puts into text nodes. The page allows no code but its own. The answers, which make up most of the page, are
compressed by question, and unpacked when they are looked at. A single file is bounded, and cuts long answers if many
runs would exceed that; a folder has files with the data beside the page, and holds everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import TrialsError
from ..files.writing import writing_whole
from ..suite.suite import Suite
from .answers import RunAnswers, packed, packed_answers
from .overview import FLUENT, UNHELPFUL, overview_of
from .page_folders import PageKind, write_page_folder
from .safe_runs import N_SHOWN, CheckedQuestion, CheckedRun, ReportRun, by_score, check_run
from .templating import library, own_code, page_json, source, template
from .tinting import LEVELS

MAX_BYTES = 30_000_000
"""The maximum size of a page in one file; answers are cut shorter if many runs would exceed it."""

_OVERVIEW = ("leaderboard", "filters", "csv", "plots", "heat_map", "sweep")
_ANSWERS = ("intervals", "answers", "run_view", "question_view", "pair_view")
_SCRIPTS = (
    *("page.js", "unpacking.js", "charts.js", "report/state.js", "address.js", "dialog.js"),
    *(f"report/{name}.js" for name in (*_OVERVIEW, *_ANSWERS, "keys", "main")),
)

# What no rule reads is cut first: nothing beyond 150 code points can raise a score.
_SHORTER = (4000, 2000, 1000, 700, 500, 400, 300, 200, 150, 100, 50, 20, 0)

_KIND = PageKind("pfgen-fast report", "answers")


def write_report(entries: Sequence[ReportRun], suite: Suite, path: Path) -> None:
    """Writes a page in one file, of at most `MAX_BYTES`."""
    page = _Page(entries, suite)
    room = MAX_BYTES - sum(len(piece.encode()) for piece in page.pieces(N_SHOWN, [])) - 100 * len(suite)
    n_shown, answers = page.answers_that_fit(room)
    with writing_whole(path) as file:
        for piece in page.pieces(n_shown, answers):
            file.write(piece.encode())


def write_report_folder(entries: Sequence[ReportRun], suite: Suite, folder: Path, *, is_live: bool = False) -> None:
    """Writes a page into a folder, as index.html with files of data beside it; the data are not bounded.

    The files of an earlier report are replaced, the page after its data. Other files in the folder stay as they are.
    """
    page = _Page(entries, suite, is_folder=True, is_live=is_live)
    write_page_folder(folder, _KIND, page.answers(N_SHOWN), lambda files: "".join(page.pieces(N_SHOWN, [], files)))


class _Page:
    """A page before it is known how much of the answers fits into it."""

    def __init__(
        self, entries: Sequence[ReportRun], suite: Suite, *, is_folder: bool = False, is_live: bool = False
    ) -> None:
        if not entries:
            raise TrialsError("a report needs at least one run")
        self._template = template("report.html.jinja", figure=_figure)
        self._suite = suite
        self._runs = by_score(check_run(entry, suite) for entry in entries)
        self._code = own_code(
            style=source("report.css") + source("report/answers.css"),
            early_script=source("theme.js"),
            script="".join(map(source, (*_SCRIPTS, *(["report/live.js"] if is_live else [])))),
            loads_scripts=is_folder,
            asks_server=is_live,
        )
        self._overview = overview_of(self._runs, suite)
        self._by_question = _by_question(self._runs, suite)
        self._figures = packed(_figures(self._by_question))

    def pieces(self, n_shown: int, answers: Sequence[Sequence[str]], files: Sequence[str] = ()) -> Iterator[str]:
        """The text of the page."""
        markup = library("markupsafe").Markup
        overview = {**self._overview, "n_shown": n_shown, "files": files}
        pieces: Iterator[str] = self._template.generate(
            version=__version__,
            suite=Path(self._suite.name).name,
            n_questions=len(self._suite),
            runs=overview["runs"],
            place=_scale(overview["runs"]),
            fluent=FLUENT,
            unhelpful=UNHELPFUL,
            levels=list(enumerate(LEVELS)),
            n_shown=n_shown,
            is_cut=n_shown < N_SHOWN,
            max_megabytes=MAX_BYTES // 1_000_000,
            overview=markup(page_json(overview)),
            figures=markup(self._figures),
            sweep=overview["sweep"],
            answers=[markup("\n".join(lines)) for lines in answers],
            **self._code,
        )
        return pieces

    def answers(self, n_shown: int) -> Iterator[list[str]]:
        """The lines of each question, with answers of at most so many code points."""
        for question, of_runs in zip(self._suite, self._by_question, strict=True):
            answers = [RunAnswers(number, found.samples) for number, found in enumerate(of_runs) if found]
            yield packed_answers(question, answers, n_shown)

    def answers_that_fit(self, n_bytes: int) -> tuple[int, list[list[str]]]:
        """The lines of all questions, with answers as long as the space allows, and that length."""
        of_runs = (found for of_question in self._by_question for found in of_question if found)
        longest = max((len(sample.answer) for found in of_runs for sample in found.samples), default=0)
        for n_shown in (N_SHOWN, *(n for n in _SHORTER if n < longest)):
            answers = list(_while_they_fit(self.answers(n_shown), n_bytes))
            if len(answers) == len(self._suite):
                return n_shown, answers
        raise TrialsError(
            f"{len(self._runs)} runs are too many for one page of {MAX_BYTES // 1_000_000} MB; "
            "report fewer, or write a folder (without .html)"
        )


def _scale(runs: Sequence[Mapping[str, Any]]) -> Callable[[float | None], str]:
    """Places scores within a width of 100: from 0, or the lowest, to the end of the highest interval."""
    ends = [value for run in runs for value in (run["low"], run["high"]) if value is not None]
    low, high = min([0.0, *ends]), max([0.1, *ends])
    return lambda value: f"{100 * ((value or 0) - low) / (high - low):.1f}"


def _figure(value: float | None, n_digits: int) -> str:
    return "–" if value is None else f"{value:.{n_digits}f}"


def _by_question(runs: Sequence[CheckedRun], suite: Suite) -> list[list[CheckedQuestion | None]]:
    """For each question of the suite, what each run has of it."""
    of_runs = [{question.question_id: question for question in run.questions} for run in runs]
    return [[found.get(question.question_id) for found in of_runs] for question in suite]


def _figures(by_question: Sequence[Sequence[CheckedQuestion | None]]) -> dict[str, Any]:
    """The figures of each run in each question that the overview lacks, by question."""
    names = ("average", "score_std", "length", "fluency", "truthfulness", "helpfulness")
    return {
        name: [[getattr(found.figures, name) if found else None for found in of_runs] for of_runs in by_question]
        for name in names
    }


def _while_they_fit(answers: Iterable[list[str]], n_bytes: int) -> Iterator[list[str]]:
    for of_question in answers:
        n_bytes -= sum(len(line) + 1 for line in of_question)
        if n_bytes < 0:
            return
        yield of_question
