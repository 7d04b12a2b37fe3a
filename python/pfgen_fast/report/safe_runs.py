"""Runs as reports show them: the contents of a result, bounded in size and with untrusted text made safe.

`runs.run_result` has already checked types and numbers, but not lengths, texts and links.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from ..base.errors import TrialsError
from ..base.file_reading import file_sha1
from ..base.untrusted_text import in_one_line, link_target
from ..generation.raw_replies import sentence_of
from ..runs.checkout import run_name
from ..runs.leaderboard import medal, model_of, order_key
from ..runs.loss_figures import QuestionFigures, diagnosis_figures
from ..runs.run_result import Figures, RunResult, ScoredAnswer, Scores, read_result
from ..suite.keywords import REGEX_SYNTAX
from ..suite.questions import Question
from ..suite.suite import Suite

if TYPE_CHECKING:
    from ..runs.trial_intervals import Interval

N_SHOWN = 100_000
"""The maximum number of code points shown of an answer: more than models write, and no browser is slowed by it."""

MAX_SAMPLES = 5
"""The maximum number of sample answers shown of a question."""

# The 3-grams over the last code point that is shown reach two code points further.
_N_KEPT = N_SHOWN + 2
_MAX_ENTRIES = 50
_NO_SCHEME = re.compile(r"https?://|[^:/?#]*(?:[/?#]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class ReportRun:
    """A run to report."""

    name: str  # name in the report, such as `"openai/gpt-4o/5e1e9f4"`; replaces the model if the config lacks it
    link: str | None  # address of its folder relative to the report, or None
    result: RunResult  # contents of result.json, as `read_result` returns them
    # intervals of its scores, by metric, if they are to be shown; result.json has none
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    replies: str = ""  # how its replies ended, in one sentence; "" if this is not recorded
    folder: Path | None = None  # its folder, if all its answers are to be searched in a report in a folder
    result_hash: str = ""  # SHA-1 of its result.json, which a README.md names; "" if unknown


ShownFigures = dict[str, float | None]
"""The figures of a run, a question or an answer by name; None if there is no finite number.

`score` is rounded as shown. Differences and intervals are computed from `average`, which has more digits.
"""


AnswerCosts = tuple[str | None, float, float]
"""The fault of an answer, and what its keywords and its length cost, as `QuestionFigures.answers` has them."""


@dataclass(frozen=True)
class CheckedAnswer:
    """A sample answer; `answer` is unchanged except that it may be cut off."""

    answer: str
    n_code_points: int
    figures: ShownFigures
    missing: tuple[str, ...]
    excess: str  # how far its last keyword ends after the target length, in words; "" if it ends before
    is_long: bool  # whether it is longer than the target length
    costs: AnswerCosts


@dataclass(frozen=True)
class CheckedQuestion:
    """A question of a run."""

    figures: ShownFigures
    samples: tuple[CheckedAnswer, ...]
    losses: QuestionFigures


@dataclass(frozen=True)
class CheckedRun:
    """A run whose texts, except for the answers, are safe and bounded."""

    name: str
    link: str | None
    model: str
    parameters: Mapping[str, str]
    figures: ShownFigures
    by_set: Mapping[str, tuple[float | None, float | None]]
    questions: Mapping[str, CheckedQuestion]  # by ID
    source: ReportRun

    @property
    def medal(self) -> str:
        """The symbol of a yardstick; "" for a model."""
        return medal(self.model)


def read_run(path: Path, suite: Suite, *, page_folder: Path | None = None) -> ReportRun:
    """Reads the run of a result.json, checked; with the folder of a page, the page links to the run."""
    folder = path.parent
    result_hash = file_sha1(path)  # of the file that is read next, or of an older one
    run = ReportRun(
        run_name(folder),
        None if page_folder is None else link_target(folder, page_folder),
        read_result(path),
        replies=sentence_of(folder),
        folder=folder,
        result_hash=result_hash,
    )
    check_questions(run, suite)
    return run


def check_questions(run: ReportRun, suite: Suite) -> None:
    """Raises TrialsError if a run has questions that are not in the suite."""
    for key, question in run.result.questions.items():
        if key not in suite or suite[key].question != question.question:
            name = in_one_line(run.name, 200)
            raise TrialsError(f"{name}: its question {in_one_line(key)} is not in suite {suite.name}")


def check_run(run: ReportRun, suite: Suite) -> CheckedRun:
    """Prepares a run for reports."""
    check_questions(run, suite)
    result = run.result
    questions, losses = {}, diagnosis_figures(result, suite, run.folder)
    for key, question in result.questions.items():
        asked, shown = suite[key], question.samples[:MAX_SAMPLES]
        samples = tuple(
            _answer(sample, asked, costs) for sample, costs in zip(shown, losses[key].answers, strict=False)
        )
        questions[asked.question_id] = CheckedQuestion(_figures(question), samples, losses[key])
    fluency, truthfulness = result.scores.fluency, result.scores.truthfulness
    link = in_one_line(run.link, 2000) if run.link else ""
    sets = list(dict.fromkeys([*fluency, *truthfulness]))[:_MAX_ENTRIES]
    return CheckedRun(
        name=in_one_line(run.name, 200),
        link=link if link and _NO_SCHEME.match(link) else None,  # links that could run a script are dropped
        model=model_of(result.config, run.name),
        parameters={
            in_one_line(key): in_one_line(
                value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 200
            )
            for key, value in islice((result.config or {}).items(), _MAX_ENTRIES)
        },
        figures=_figures(result, n_digits=None),
        by_set={in_one_line(key): (_shown(fluency.get(key)), _shown(truthfulness.get(key))) for key in sets},
        questions=questions,
        source=run,
    )


def _answer(sample: ScoredAnswer, asked: Question, costs: AnswerCosts) -> CheckedAnswer:
    scores, (missing, excess) = sample.scores, _missing(sample.missing, asked)
    figures = {"score": _shown(scores.average), **_scores(scores)}
    kept = sample.answer[:_N_KEPT]
    is_long = asked.n_units(kept) > asked.lengths.target
    return CheckedAnswer(kept, len(sample.answer), figures, missing, excess, is_long, costs)


def _missing(names: Sequence[str], asked: Question) -> tuple[tuple[str, ...], str]:
    """The names of the missing keywords, and how far after the target length the last keyword ends."""
    shown = list(names[:_MAX_ENTRIES])
    excess = asked.excess_shown(shown[-1]) if shown else ""
    if excess:
        shown.pop()
    return tuple(in_one_line(keyword_words(name)) for name in shown), excess


def keyword_words(name: str) -> str:
    """A keyword's name; alternatives of plain text are joined by "or", without those that only differ in width."""
    parts = name.split("|")
    is_plain = len(parts) > 1 and all(part and REGEX_SYNTAX.isdisjoint(part) for part in parts)
    return " or ".join(dict.fromkeys(normalize("NFKC", part) for part in parts)) if is_plain else name


def _figures(figures: Figures, n_digits: int | None = 5) -> ShownFigures:
    own = {name: _shown(getattr(figures, name)) for name in ("score", "score_std", "length")}
    return {**own, **_scores(figures.scores, n_digits)}


def _scores(scores: Scores, n_digits: int | None = 5) -> ShownFigures:
    """The parts; those of a run are not rounded, because leaderboards round the sums over the sets only once."""
    sums = {metric: scores.total(metric) for metric in ("fluency", "truthfulness")}
    if n_digits is not None:
        sums = {metric: round(value, n_digits) for metric, value in sums.items()}
    parts = {**sums, "helpfulness": scores.helpfulness, "average": scores.average}
    return {metric: _shown(value) for metric, value in parts.items()}


def _shown(value: float | None) -> float | None:
    """The number if it is present and finite."""
    return None if value is None or math.isnan(value) else value


def by_score(runs: Iterable[CheckedRun]) -> list[CheckedRun]:
    """The runs in the order of a leaderboard."""
    return sorted(runs, key=lambda run: order_key(run.figures["score"], run.name))
