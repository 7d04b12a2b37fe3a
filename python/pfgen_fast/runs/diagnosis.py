"""Why a run scores less than a reference: the loss by causes, which are exclusive and add up. Rule: docs/diagnosis.md.

`loss_figures` has the figures of a run; here are the references, the causes and the words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from math import fsum, inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import PfgenError, SuiteError, TrialsError
from ..base.table import Column, Table, TableResult
from ..base.untrusted_text import counted, in_one_line
from ..suite.suite import Suite
from .checkout import recorded_suite, run_name, suite_of
from .leaderboard import find_results, is_system, model_of
from .loss_figures import (
    CAUSES,
    FAULTS,
    AnswerFaults,
    Figures,
    QuestionFigures,
    diagnosis_figures,
    has_suite,
    median_figures,
    question_losses,
)
from .run_result import RunResult, RunSummary, read_result

REFERENCES = ("median", "best")
REFERENCE_FILE = Path(__file__).parents[1] / "data" / "references" / "pfgen-bench.json"

CAUSE_WORDS = {
    "empty": "that are empty",
    "loop": "that repeat themselves",
    "cut": "that are cut off",
    "keywords": "by missing keywords",
    "wording": "by rare wording",
}
"""Losses by cause in words."""

_SHOWN, _MOST_SHOWN, _LEAST, _BAR = 0.005, 3, 0.0005, 20
_FEW = 10  # runs that are read for the sentence of another command


class Cause(NamedTuple):
    """A cause, and what it costs."""

    cause: str
    loss: float  # points of the score; negative for a gain
    answers: int | None  # number of judged answers that it costs; None for wording, other and gains without a fault
    share: float | None  # share of the answers with this fault; None for the other causes
    question_id: str | None  # question with the largest loss by it; None without any loss
    question: str | None  # its text


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Diagnosis(TableResult):
    """The loss of a run to a reference, by causes that add up to it."""

    run: str  # name of the run
    reference: str  # what it is compared with, such as `the median`
    about: str  # what that is, such as `the median of 522 published runs for each question`; "" for a run
    score: float  # mean over the questions that both have
    reference_score: float  # the same of the reference
    causes: tuple[Cause, ...]  # in the order of `CAUSES`
    n_questions: int  # number of questions that both have
    n_answers: int  # number of judged answers to these: all answers, or those that result.json records
    n_trials: int  # number of answers that each question has
    language: str  # language or script of the questions
    problems: tuple[str, ...] = ()  # results beside the run that cannot be read, one sentence each

    def __repr__(self) -> str:
        return f"Diagnosis({in_one_line(self.run, 60)}: {self.sentence()})"

    @property
    def loss(self) -> float:
        """The score of the reference less that of the run."""
        return self.reference_score - self.score

    @property
    def is_whole(self) -> bool:
        """Whether all answers are judged, so that nothing is estimated."""
        return self.n_answers >= self.n_trials * self.n_questions

    @property
    def faults(self) -> tuple[Cause, ...]:
        """The causes that an answer has or has not."""
        return self.causes[: len(FAULTS)]

    def sentence(self) -> str:
        """The loss and its largest causes, in a sentence."""
        largest = sorted(self.causes[:-1], key=lambda cause: -abs(cause.loss))
        least = max(_SHOWN, abs(largest[0].loss) / 10)
        shown = [[cause for cause in largest if sign * cause.loss >= least][:_MOST_SHOWN] for sign in (1, -1)]
        parts = [list(map(self._part, causes)) for causes in shown]
        rest = round(self.loss, 3) - fsum(round(cause.loss, 3) for causes in shown for cause in causes)
        if any(parts) and abs(rest) >= _SHOWN:
            parts[rest < 0].append(f"{abs(rest):.3f} by the rest")
        lost, gained = map(", ".join, parts)
        loses, gains = (lost and f"loses {lost}"), (gained and f"gains {gained}")
        if self.loss >= _SHOWN:
            head, tails = f"Loses {self.loss:.3f} to {self.reference}", (lost, gains)
        elif self.loss <= -_SHOWN:
            head, tails = f"Gains {-self.loss:.3f} on {self.reference}", (gained, loses)
        else:
            head, tails = f"Scores as {self.reference}", (loses, gains)
        return ": ".join(filter(None, (head, "; ".join(filter(None, tails))))) + "."

    def _part(self, cause: Cause) -> str:
        """A cause in words, such as `0.112 in 54 % of answers not in Japanese`."""
        points = f"{abs(cause.loss):.3f}"
        if cause.cause not in FAULTS:
            by = f"by {cause.cause}"
            return f"{points} {CAUSE_WORDS.get(cause.cause, by) if cause.loss > 0 else by}"
        where = f"not in {self.language}" if cause.cause == "language" else CAUSE_WORDS[cause.cause]
        if self.is_whole:
            return f"{points} in {cause.answers:,} of {counted(self.n_answers, 'answer')} {where}"
        share = 100 * (cause.share or 0)
        return f"{points} in {f'about {share:.0f}' if share >= 1 else 'under 1'} % of answers {where}"

    def words(self) -> list[str]:
        """The sentence, what the reference is, and what the causes are estimated from."""
        words = [f"{self.run}: {self.sentence()}", *([f"{self.reference}: {self.about}"] if self.about else [])]
        n_all = self.n_trials * self.n_questions
        estimated = f"losses and shares of all {n_all:,} answers are estimated from {self.n_answers:,} recorded samples"
        return words if self.is_whole else [*words, estimated]

    @property
    def table(self) -> Table:
        """The causes with bars, the largest loss first."""
        longest = max(abs(cause.loss) for cause in self.causes) or 1

        def bar(loss: float) -> str:
            return ("█" if loss > 0 else "░") * round(_BAR * abs(loss) / longest)

        columns = [
            Column("cause"),
            Column("loss", view="files"),
            Column("change", digits=3, is_signed=True, view="readers"),
            Column("bar", "", form=bar, view="readers", is_text=True, is_optional=True, picture="loss"),
            Column("answers", "answers" if self.is_whole else "in samples"),
            Column("share", form=lambda share: f"{share:.1%}".replace("%", " %")),
            Column("question_id", "example", is_text=True),
            Column("question", "", is_text=True, is_optional=True),
        ]
        *largest, other = sorted(self.causes, key=lambda cause: (cause.cause == "other", -cause.loss))
        shown = [cause for cause in largest if abs(cause.loss) >= _LEAST]
        return Table(columns, [(cause[0], cause[1], -cause[1], *cause[1:]) for cause in (*shown, other)])

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        names = ("run", "reference", "score", "reference_score", "loss", "n_questions", "n_answers", "n_trials")
        about = {name: getattr(self, name) for name in names}
        return {**about, "sentence": self.sentence(), "causes": [cause._asdict() for cause in self.causes]}


class Reference(NamedTuple):
    """What a run is compared with."""

    name: str
    figures: Figures
    about: str = ""
    problems: tuple[str, ...] = ()


def diagnose(
    run: str | Path | RunResult, against: str | Path | RunResult = "median", *, suite: Suite | None = None
) -> Diagnosis:
    """Finds the causes of the loss of a scored run to a reference.

    Args:
        run: Directory of a run with its result.json, that file, or the result itself.
        against: `median` or `best`: of the published runs if the run is of their suite, otherwise of all runs in its
            directory `result` or beside it, itself included. Or another run; or a directory of runs, for their median.
        suite: The suite of the run; by default that of its checkout, or the packaged or fetched one that its result
            records, or else usual lengths and units.

    Raises:
        TrialsError: There is no result or no reference, or both have no question in common.

    Example:
        >>> diagnose(RunResult(...), "best").sentence()  # doctest: +SKIP
        'Loses 0.205 to the best run: 0.142 in 54 % of answers not in Japanese, 0.063 by the rest.'
    """
    if isinstance(run, RunResult):
        name, result, path = model_of(run.config, "this run"), run, None
    else:
        path, *others = find_results([run])
        if others:
            raise TrialsError(f"{run}: contains {len(others) + 1} results; expected one")
        name, result = run_name(path.parent), read_result(path)
        suite = suite or _suite_of(result, path.parent)
    if suite is not None and not has_suite(result, suite.metadata_hash):
        raise TrialsError(f"{name}: not scored with suite {suite.name}; name its suite (--suite)")
    return diagnosis_of(name, result, _reference(result, path, against, suite), suite, path and path.parent)


def diagnosis_in_brief(path: Path, suite: Suite | None) -> Diagnosis:
    """The loss of a result.json to the median by causes; raises TrialsError if many runs are beside it."""
    result = read_result(path)
    reference = _reference(result, path, "median", suite, most=_FEW)
    return diagnosis_of(run_name(path.parent), result, reference, suite, path.parent)


def diagnosis_of(
    name: str, result: RunResult, reference: Reference, suite: Suite | None = None, folder: Path | None = None
) -> Diagnosis:
    """Finds the causes of the loss of a result to a reference; `folder` holds its trials."""
    own = diagnosis_figures(result, suite, folder)
    names = [key for key in own if key in reference.figures and all(map(isfinite, own[key][:4]))]
    if not names:
        raise TrialsError(f"{name}: has no question in common with {reference.name}")
    losses = {key: question_losses(own[key], reference.figures[key]) for key in names}
    shares = {fault: [own[key].faults.get(fault, (0.0, 0.0, 0)) for key in names] for fault in FAULTS}
    n_answers, *n_costly = map(sum, zip(*(own[key].judged for key in names), strict=True))
    n = {fault: sum(row[2] for row in rows) for fault, rows in shares.items()}
    n |= zip(("keywords", "length"), n_costly, strict=True)
    causes = []
    for cause in CAUSES:
        worst = max(names, key=lambda key: losses[key][cause])
        example = (
            (worst, result.questions[worst].question) if cause != "other" and losses[worst][cause] > 0 else (None,) * 2
        )
        loss, is_fault = _mean(losses[key][cause] for key in names), cause in FAULTS
        share = _mean(row[0] for row in shares[cause]) if is_fault else None
        causes.append(Cause(cause, loss, n.get(cause) if is_fault or loss > 0 else None, share, *example))
    return Diagnosis(
        run=name,
        reference=reference.name,
        about=reference.about,
        score=_mean(own[key].score for key in names),
        reference_score=_mean(reference.figures[key].score for key in names),
        causes=tuple(causes),
        n_questions=len(names),
        n_answers=n_answers,
        n_trials=result.num_trials,
        language=AnswerFaults(result, suite).language,
        problems=reference.problems,
    )


def _mean(values: Iterable[float]) -> float:
    return fsum(listed := list(values)) / len(listed)


# --- references


@cache
def _published() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(REFERENCE_FILE.read_text(encoding="utf-8"))
    return content


def published_reference(result: RunResult, name: str = "median") -> Reference | None:
    """The median or the best of the published runs; None if a result is of another suite."""
    content = _published()
    if not has_suite(result, content["metadata_hash"]):
        return None
    figures = {key: QuestionFigures.of_row(row) for key, row in content[name].items()}
    runs = f"of {content['n_runs']} published runs"
    if name == "best":
        return Reference("the best run", figures, f"{content['best_run']}, {runs}")
    return Reference("the median", figures, f"{runs}, for each question")


def _suite_of(result: RunResult, folder: Path) -> Suite | None:
    """The suite of a result: that of its checkout, or a packaged or fetched one; None if it is unknown."""
    with suppress(SuiteError):
        suite = suite_of(folder)
        if has_suite(result, suite.metadata_hash):
            return suite
    return recorded_suite(folder)


@lru_cache(maxsize=_FEW)
def _read(path: Path, changed: int, suite: Suite | None) -> tuple[RunSummary, Figures]:
    """A run to compare with; commands that diagnose several runs read it only once."""
    result = read_result(path)
    return result.summary(), diagnosis_figures(result, suite, path.parent)


def _reference(
    result: RunResult, path: Path | None, against: str | Path | RunResult, suite: Suite | None, *, most: float = inf
) -> Reference:
    if isinstance(against, RunResult):
        return Reference(model_of(against.config, "the reference"), diagnosis_figures(against, suite))
    folder, is_named = Path(against), against in REFERENCES
    if is_named:
        if published := published_reference(result, str(against)):
            return published
        if path is None:
            raise TrialsError("against: a result in memory has no runs beside it; expected a run or a directory")
        folder = next((parent for parent in path.absolute().parents if parent.name == "result"), path.parent.parent)
    paths, runs, problems = find_results([folder]), dict[Path, tuple[RunSummary, Figures]](), list[str]()
    if len(paths) > most:
        raise TrialsError(f"{folder}: has {len(paths)} results; expected at most {most}")
    for other in paths:
        try:
            run = _read(other.resolve(), other.stat().st_mtime_ns, suite)
        except PfgenError as error:
            problems.append(str(error))
        else:
            if has_suite(result, run[0].metadata_hash):
                runs[other] = run
    if not runs or (is_named and path and [other.resolve() for other in runs] == [path.resolve()]):
        expected = "expected a run or a directory of runs to compare with (--against)"
        raise TrialsError(f"{folder}: no other result of the suite of {path or 'the run'} there; {expected}")
    if len(runs) == 1 and not is_named:
        [(other, (_, figures))] = runs.items()
        return Reference(run_name(other.parent), figures, problems=tuple(problems))
    scores = {other: run.score for other, (run, _) in runs.items() if not is_system(model_of(run.config, ""))}
    ranked = [other for other, score in scores.items() if isfinite(score)] or [*runs]
    best, n_runs = max(ranked, key=lambda other: runs[other][0].score), counted(len(ranked), "run")
    if against == "best":
        about = f"{run_name(best.parent)}, of {n_runs} in {folder}"
        return Reference("the best run", runs[best][1], about, tuple(problems))
    median = median_figures([runs[other][1] for other in ranked])
    return Reference(f"the median of {n_runs}", median, f"in {folder}, for each question", tuple(problems))
