"""The report page: leaderboard, plots, and the answers of all runs, in a single file or in a folder; needs no network.

Untrusted text enters the page through the template, which escapes it, or as JSON that scripts put into text nodes. The
answers are compressed by question and unpacked on demand. A single file is bounded: it cuts long answers of many runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from ..base.errors import PfgenError, TrialsError
from ..runs.checkpoint_steps import STEP
from ..runs.diagnosis import published_reference
from ..runs.loss_figures import Figures, QuestionFigures, median_figures
from ..runs.trial_intervals import Interval, TrialScores
from ..runs.trials import RunFolder
from ..scoring.scorer import Scorer
from ..scoring.tinting import LEVELS
from ..suite.rules import PARTS
from ..suite.suite import Suite
from . import pages
from .answers import packed, packed_answers, packed_trial_answers
from .overview import FLUENT, UNHELPFUL, headline, missed_keywords, overview_of, sweep_of
from .pages import markup, page_json, page_text, write_bounded_page, write_page_folder
from .safe_runs import N_SHOWN, CheckedQuestion, ReportRun, by_score, check_run
from .trying import FIELD, packed_core

_OVERVIEW = (
    *("tabs", "leaderboard", "distributions", "intervals", "figures"),
    *("filters", "plots", "heat_map", "subjects", "sweep"),
)
_VIEWS = (
    *("answers", "question_table", "questions", "diagnosis", "run_view", "question_view"),
    *("differences", "comparison", "search", "palette"),
)
SCRIPTS = (
    *("unpacking.js", "charts.js", "row_charts.js", "marks.js", "report/state.js", "address.js", "dialog.js"),
    *(f"report/{name}.js" for name in (*_OVERVIEW, *_VIEWS, "keys")),
    "report/main.js",
)
TRY_SCRIPTS = (*SCRIPTS[:-1], *FIELD, "report/try.js", SCRIPTS[-1])
"""The scripts of a page that scores answers, too."""

_PLOTS = (
    ("truthfulness", "fluency", "Fluency against truthfulness"),
    ("helpfulness", "fluency", "Fluency against helpfulness"),
    ("helpfulness", "truthfulness", "Truthfulness against helpfulness"),
    ("length", "score", "Score against length"),
)

_NO_PARTS: dict[str, Any] = {
    **dict.fromkeys(("levels", "notes"), ()),
    **dict.fromkeys(("fluent", "unhelpful", "n_shown", "is_cut", "is_every_second", "max_megabytes", "tried"), 0),
}

# The lengths to which the answers of a page that is too large are cut; short ones are of every second answer.
_SHORTER = (4000, 2000, 1000, 700, 500, 400, 300, 200, 150, 120, 100, 90, 80, 50, 20, 0)
_SHORT = 300

T = TypeVar("T")


Track = Callable[[Iterable[T], int, str], Iterable[T]]
"""Passes items on and shows the progress, given their number and their name."""


def untracked(items: Iterable[T], total: int, what: str) -> Iterable[T]:
    """Shows nothing."""
    return items


def write_report(
    entries: Sequence[ReportRun],
    suite: Suite,
    output: Path,
    *,
    track: Track[Any] = untracked,
    is_live: bool = False,
    can_try: bool = False,
) -> None:
    """Writes a page in one file of at most `pages.MAX_BYTES`, or a page of any size and its data into a directory.

    The search of a page in a directory reads all answers of the runs whose trials are known. A page that `can_try`
    scores other answers, too.
    """
    is_one_file = pages.is_one_file(output)
    tried = packed_core(suite, is_one_file=is_one_file, is_live=is_live) if can_try else ()
    page = _Page(entries, suite, track, is_live=is_live, tried=tried)
    if not is_one_file:
        listed = '["' + '","'.join(tried) + '"]'
        data = {"answers": page.answers(N_SHOWN), "trials": page.trials(), "try": [listed.encode()] if can_try else []}
        write_page_folder(output, data, lambda files: page.pieces(N_SHOWN, [], files))
        return
    samples = (sample for run in page.runs for question in run.questions.values() for sample in question.samples)
    longest = max((len(sample.answer) for sample in samples), default=0)
    write_bounded_page(
        output,
        len(suite),
        [N_SHOWN, *(n for n in _SHORTER if n < longest)],
        lambda n_shown, step: map("\n".join, page.answers(n_shown, step, every=1 if n_shown > _SHORT else 2)),
        page.pieces,
        n_runs=len(entries),
        error=TrialsError,
    )


class _Page:
    """A page before it is known how much of the answers fits into it."""

    def __init__(
        self, entries: Sequence[ReportRun], suite: Suite, track: Track[Any], *, is_live: bool, tried: Sequence[str]
    ) -> None:
        if not entries:
            raise TrialsError("a report needs at least one run")
        self.runs = by_score(check_run(entry, suite) for entry in track(entries, len(entries), "runs"))
        self._suite, self._is_live, self._track, self._tried = suite, is_live, track, tried
        self._overview = overview_of(self.runs, suite)
        self._by_question = [[run.questions.get(question.question_id) for run in self.runs] for question in suite]
        # Figures by run and question, without the figures of the overview.
        figures: dict[str, Any] = {
            name: [[part.figures[name] if part else None for part in by_run] for by_run in self._by_question]
            for name in ("average", "score_std", "length", *PARTS)
        }
        figures["samples"] = [[len(part.samples) if part else 0 for part in by_run] for by_run in self._by_question]
        figures["missed"] = list(map(missed_keywords, self._by_question))
        figures |= _loss_columns(self._by_question)
        published = published_reference(self.runs[0].source.result)
        rows = published and _reference_rows(published.figures, suite)
        figures["published"] = published and {"about": published.about, "rows": rows}
        ranked = [run for run, shown in zip(self.runs, self._overview["runs"], strict=True) if shown["rank"]]
        median = median_figures([{key: part.losses for key, part in run.questions.items()} for run in ranked])
        figures["median"] = {"rows": _reference_rows(median, suite)}
        self._figures = packed(figures)

    def trials(self) -> Iterator[list[str] | None]:
        """The lines of all answers of each run, if its trials are known."""
        for run in self._track(self.runs, len(self.runs), "runs with all answers"):
            yield packed_trial_answers(run.source, self._suite)

    def pieces(
        self, n_shown: int, answers: Sequence[str], files: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> Iterator[str]:
        """The text of the page."""
        overview = {**self._overview, "n_shown": n_shown, "files": files}
        return overview_page(
            overview,
            self._figures,
            section="Runs",
            suite=self._suite.title,
            scripts=TRY_SCRIPTS if self._tried else SCRIPTS,
            is_live=self._is_live,
            plots=_PLOTS,
            fluent=FLUENT,
            unhelpful=UNHELPFUL,
            levels=list(enumerate(LEVELS)),
            n_shown=n_shown,
            is_cut=n_shown < N_SHOWN,
            is_every_second=n_shown <= _SHORT,
            max_megabytes=pages.MAX_BYTES // 1_000_000,
            answers=answers,
            tried=markup("" if files else "\n".join(self._tried)),
        )

    def answers(self, n_shown: int, step: int = 1, *, every: int = 1) -> Iterator[list[str]]:
        """The lines of every `step`-th question, with answers of at most so many code points, `every` as packed."""
        questions = list(islice(zip(self._suite, self._by_question, strict=True), 0, None, step))
        for question, by_run in self._track(questions, len(questions), "questions of the page"):
            answers = [(number, part.samples) for number, part in enumerate(by_run) if part]
            yield packed_answers(question, answers, n_shown, every)


def _loss_columns(by_question: Sequence[Sequence[CheckedQuestion | None]]) -> dict[str, list[list[Any]]]:
    """What the losses of each question and run need beside their means, as `loss_figures` computes them."""
    rows = [[_loss_row(part.losses) if part else None for part in by_run] for by_run in by_question]
    names = ("late", "short", "clean", "faults", "judged")
    return {name: [[row and row[place] for row in by_run] for by_run in rows] for place, name in enumerate(names)}


def _loss_row(losses: QuestionFigures) -> tuple[Any, ...] | None:
    if not all(map(math.isfinite, (*losses[:6], *(losses.clean or ())))):
        return None
    faults = [(fault, round(share, 5), round(part, 5), n) for fault, (share, part, n) in losses.faults.items()]
    late, short, *means = (round(value, 5) for value in (losses.late, losses.short, *(losses.clean or ())))
    return late, short, means or None, faults, losses.judged


def _reference_rows(figures: Figures, suite: Suite) -> list[Sequence[float] | None]:
    rows = [figures.get(question.question_id) for question in suite]
    return [row and row[:6] for row in rows]


def overview_page(
    overview: Mapping[str, Any], figures: str, *, answers: Sequence[str] = (), **values: Any
) -> Iterator[str]:
    """Yields the page of an overview; pages without n-gram scores lack the values of `_NO_PARTS`."""
    sentence, named = headline(overview)
    of_overview = {
        **{key: overview.get(key) for key in ("runs", "words", "columns", "digits", "sweep", "target", "means")},
        **{key: overview[key] for key in ("has_answers", "has_parts", "few_items", "interval_head")},
        "n_questions": len(overview["questions"]),
        "sweep_title": "Steps" if overview["sweep"] and overview["sweep"]["parameters"][0]["name"] == STEP else "Sweep",
        "has_subjects": any(question["subject"] for question in overview["questions"]),
        "headline": sentence.format(*(shown for shown, _ in named)),
        "headline_parts": list(zip(sentence.split("{}"), [*named, None], strict=True)),
        "place": _scale(overview["runs"]),
        "overview": markup(page_json(overview)),
        "loads_scripts": bool(overview["files"]),
        "figures": markup(figures),
        "answers": list(map(markup, answers)),
    }
    return page_text("report.html.jinja", style="report/answers.css", **_NO_PARTS | of_overview | values)


def _scale(runs: Sequence[Mapping[str, Any]]) -> Callable[[float | None], str]:
    """Returns a function that maps scores to 0 to 100, from the lowest to the highest end of models' intervals."""
    shown = [run for run in runs if run["rank"] is not None] or runs
    ends = [value for run in shown for value in (run["low"], run["high"]) if value is not None] or [0.0]
    low, high = min(ends), max(*ends, min(ends) + 0.01)
    return lambda value: f"{100 * min(1.0, max(0.0, ((value or 0) - low) / (high - low))):.1f}"


def with_intervals(runs: Sequence[tuple[Path, ReportRun]], suite: Suite) -> list[ReportRun]:
    """The runs, each given with its result.json; runs on lines of a sweep get intervals from their trials."""
    sweep = sweep_of([(run.name, run.result.config) for _, run in runs]) or {"parameters": []}
    swept = {number for parameter in sweep["parameters"] for line in parameter["lines"] for number in line["runs"]}
    scorer = Scorer(suite) if swept else None
    with_scores = []
    for number, (path, run) in enumerate(runs):
        intervals: Mapping[str, Interval] = {}
        if scorer is not None and number in swept:
            try:
                scores = TrialScores.of(RunFolder(path.parent, None), scorer)
                intervals = scores.intervals() if scores.n_trials else {}
            except PfgenError:  # a result can be reported without its trials
                pass
        with_scores.append(replace(run, intervals=intervals))
    return with_scores
