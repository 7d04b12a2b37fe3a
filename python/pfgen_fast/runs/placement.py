"""Places a run among other runs: its rank by score, and which runs differ from it by more than chance.

Rules: docs/statistics.md. The other runs are the published ones by default (`published`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import TrialsError
from ..files.cells import markdown_row, signed
from ..files.notebook import NotebookTable
from ..files.untrusted_text import in_one_line, markdown_text
from ..statistics.mean_interval import MeanInterval
from ..statistics.paired import MIN_QUESTIONS, against, corrected
from ..suite.suite import hash_of_cut
from .leaderboard import Entry, entry_of, find_results, is_system, model_of, order_key, rank
from .result import RunResult
from .result_tables import PUBLISHED, read_entries

ALPHA = 0.05
FEW_TRIALS = 10
_SAMPLING = ("temperature", "top_p", "num_examples", "max_tokens")
_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d{1,3})x)?(\d{1,5}(?:\.\d{1,4})?)\s?([bm])(?![a-z0-9])", re.IGNORECASE)
_SIMILAR = 1.5
_FROM_REFERENCES = ("ngram", "reference", "ground-truth", "system")
_N_NEAREST = 3
_N_NAMED = 3


class Other(NamedTuple):
    """A run that another run is compared with."""

    run: str
    model: str
    score: float
    low: float | None  # lower end of the 95 % interval of the score over questions
    high: float | None  # upper end of the interval
    difference: float  # the placed run's score less that of this run, over the questions that both have
    p_value: float  # of the paired t-test over questions; NaN without a verdict
    corrected: float  # the same, corrected for the number of runs by Benjamini and Hochberg
    verdict: str  # `better` or `worse` than the placed run by more than chance, or `tied`


class Standing(NamedTuple):
    """The rank of a run among the runs with which it has something in common."""

    what: str  # what they have in common, such as `mode qa`
    rank: int
    of: int


@dataclass(frozen=True, eq=False, repr=False)
class Placement(NotebookTable):
    """A run among other runs."""

    entry: Entry  # the placed run
    interval: MeanInterval  # its score with the 95 % interval over questions
    others: tuple[Other, ...]  # the other runs, best first, without yardsticks
    standings: tuple[Standing, ...]
    yardsticks: tuple[tuple[str, float], ...]  # names and scores of human and reference answers, which have no rank
    notes: tuple[str, ...]  # what makes the comparison weaker, one sentence each

    def __repr__(self) -> str:
        return f"Placement({self.run}: {self.figures()})"

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.entry.name

    @property
    def score(self) -> float:
        """The score of the run."""
        return self.entry.result.score

    @property
    def of(self) -> int:
        """The number of runs that are ranked, with this run."""
        return len(self.others) + 1

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(other.verdict for other in self.others)

    @property
    def rank(self) -> int | None:
        """1 and the number of runs with a higher score; None for a yardstick, which has no rank."""
        return self._rank(sum(other.score > self.score for other in self.others) + 1)

    @property
    def rank_low(self) -> int | None:
        """1 and the number of runs that are better by more than chance: the best rank that chance allows."""
        return self._rank(self._counts["better"] + 1)

    @property
    def rank_high(self) -> int | None:
        """The number of runs less those that are worse by more than chance: the last rank that chance allows."""
        return self._rank(self.of - self._counts["worse"])

    def _rank(self, number: int) -> int | None:
        return None if is_system(self.entry.model) else number

    def named(self, verdict: str) -> list[str]:
        """The runs that are `better`, `worse` or `tied`, best first."""
        return [other.run for other in self.others if other.verdict == verdict]

    @property
    def nearest(self) -> list[Other]:
        """The runs with the nearest scores, up to three on either side, best first."""
        above = [other for other in self.others if other.score > self.score]
        below = [other for other in self.others if other.score <= self.score]
        return above[-_N_NEAREST:] + below[:_N_NEAREST]

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {
            "run": self.run,
            "model": self.entry.model,
            "score": self.score,
            "low": self.interval.low,
            "high": self.interval.high,
            **{name: getattr(self, name) for name in ("rank", "rank_low", "rank_high", "of")},
            **{verdict: self.named(verdict) for verdict in ("better", "worse", "tied")},
            "nearest": [_finite(other._asdict()) for other in self.nearest],
            "standings": [standing._asdict() for standing in self.standings],
            "yardsticks": dict(self.yardsticks),
            "notes": list(self.notes),
        }

    def to_markdown(self) -> str:
        """The sentences as a list, and a table of the nearest runs."""
        lines = [f"**{markdown_text(self.run)}**: {self.figures()}\n\n"]
        lines += [f"- {markdown_text(sentence)}\n" for sentence in (*self.sentences(), *self.notes)]
        heads = ("Run", "Score", "Difference", "p (corrected)")
        lines += ["\n", markdown_row(heads), "|---|--:|--:|--:|\n"]
        for other in self.nearest:
            p_value = "–" if math.isnan(other.corrected) else f"{other.corrected:.3f}"
            figures = f"{other.score:.4f}", signed(other.difference, 4), p_value
            lines.append(markdown_row((markdown_text(other.run), *figures)))
        return "".join(lines)

    def _columns(self) -> dict[str, list[Any]]:
        return _by_name(self.others)

    def _words(self) -> list[str]:
        return [f"{self.run}: {self.figures()}", *self.sentences(), *self.notes]

    def _shown(self) -> tuple[Sequence[str], Iterable[Sequence[Any]], int]:
        """The nearest runs."""
        return Other._fields, self.nearest, len(self.nearest)

    def figures(self) -> str:
        """The score with its interval, and the rank with its range, in one line."""
        half = self.interval.half_width
        score = f"{self.score:.4f}" + ("" if half is None else f" ± {half:.4f} (95 %, over questions)")
        if self.rank is None:
            return f"{score}, a yardstick without a rank"
        return f"{score}, rank {self.rank} of {self.of}, between {self.rank_low} and {self.rank_high}"

    def sentences(self) -> list[str]:
        """What the comparisons say, one sentence each."""
        above = [other.run for other in self.others if other.verdict == "tied" and other.score > self.score]
        below = [other.run for other in self.others if other.verdict == "tied" and other.score <= self.score]
        counts = self._counts
        found = [
            f"runs that are better by more than chance: {counts['better']}, worse: {counts['worse']}, "
            f"neither: {counts['tied']}"
        ]
        found += [f"above it, but not by more than chance: {_list(above[::-1])}"] if above else []
        found += [f"below it, but not by more than chance: {_list(below)}"] if below else []
        ranks = ", ".join(f"{standing.what}: {standing.rank} of {standing.of}" for standing in self.standings)
        found += [f"rank among similar runs: {ranks}"] if ranks else []
        if self.yardsticks:
            shown = ", ".join(f"{in_one_line(name, 60)} {score:.4f}" for name, score in self.yardsticks)
            found.append(f"yardsticks, which have no rank: {shown}")
        return found


def place(run: str | Path | RunResult, against: str | Path = PUBLISHED) -> Placement:
    """Places a scored run among other runs.

    Args:
        run: Directory of a run with its result.json, as `pfgen-fast score` writes it, or the result itself.
        against: `published` for the 522 published results of pfgen-bench, a table of results, or a directory of runs.

    Raises:
        TrialsError: There is not one result, or it is of another suite than the other runs.
    """
    if isinstance(run, RunResult):
        scores = {question_id: question.scores for question_id, question in run.questions.items()}
        entries: Sequence[Entry] = [entry_of(run, scores, model_of(run.config, "this run"), "the result")]
    else:
        entries = rank(find_results([run]))
    if len(entries) != 1:
        raise TrialsError(f"{run}: contains {len(entries)} results; expected one")
    return Field(read_entries(against)).place(entries[0])


class Field:
    """Runs among which other runs are placed; yardsticks do not count."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        entries = list(entries)
        self._yardsticks = tuple((one.name, one.result.score) for one in entries if is_system(one.model))
        found = [entry for entry in entries if not is_system(entry.model)]
        if not found:
            raise TrialsError("no runs to compare with; expected the results of at least one model")
        hashes = {entry.result.metadata_hash for entry in found}
        if len(hashes) > 1:
            raise TrialsError(f"the runs to compare with are of {len(hashes)} suites; expected one suite")
        self._all, self.metadata_hash = entries, hashes.pop()
        self._entries = sorted(found, key=lambda entry: order_key(entry.result.score, entry.name))
        self._ids = list(dict.fromkeys(name for entry in found for name in entry.by_question))
        self._scores = np.array([self._row(entry) for entry in self._entries])
        intervals = [entry.interval() for entry in self._entries]
        self._heads = [
            (entry.name, entry.model, entry.result.score, interval.low, interval.high)
            for entry, interval in zip(self._entries, intervals, strict=True)
        ]
        self._names = np.array([entry.name for entry in self._entries], dtype=object)
        self._trials = np.array([entry.result.input_hash for entry in self._entries], dtype=object)
        self._sizes = np.array([size_of(entry.model) or math.nan for entry in self._entries])
        self._settings = [_settings(entry.config) for entry in self._entries]
        self._modes = np.array([settings["mode"] for settings in self._settings])
        self._organisations = np.array([_organisation(entry.model) for entry in self._entries])

    def _row(self, entry: Entry) -> list[float]:
        return [entry.by_question.get(name, math.nan) for name in self._ids]

    def place(self, entry: Entry) -> Placement:
        """Places a run among the other runs, on the questions that it has."""
        self._check_suite(entry)
        ids = [name for name in self._ids if name in entry.by_question]
        if not ids:
            raise TrialsError(f"{entry.name}: the other runs have no question in common with it")
        if len(ids) == len(self._ids):
            return self._place(entry)
        return Field(_on(ids, other) for other in self._all if not other.by_question.keys().isdisjoint(ids))._place(
            entry, f"{len(ids)} of {len(self._ids)} questions: all runs are ranked and compared on these questions only"
        )

    def _place(self, entry: Entry, *notes: str) -> Placement:
        """Places a run by the paired t-test over questions against each other run."""
        is_other = np.ones(len(self._entries), dtype=np.bool_)
        for row in np.flatnonzero((self._names == entry.name) | (self._trials == entry.result.input_hash)):
            is_other[row] = not entry.is_same_run(self._entries[row])
        if not is_other.any():
            raise TrialsError(f"{entry.name}: there is no other run to compare it with")
        differences, n, _, p, *_ = against([np.array(self._row(entry))], [self._scores[is_other]])
        p[n < MIN_QUESTIONS] = math.nan
        after = np.full(len(p), math.nan)
        has_verdict = ~np.isnan(p)
        if has_verdict.any():
            after[has_verdict] = corrected(p[has_verdict], "bh")
        verdicts = np.where(~(after <= ALPHA), "tied", np.where(differences > 0, "worse", "better"))
        figures = zip(differences.tolist(), p.tolist(), after.tolist(), verdicts.tolist(), strict=True)
        heads = (head for head, counts in zip(self._heads, is_other.tolist(), strict=True) if counts)
        found = tuple(Other(*head, *rest) for head, rest in zip(heads, figures, strict=True))
        standings = () if is_system(entry.model) else tuple(self._standings(entry, is_other))
        weaker = (*notes, *self._weaker(entry, is_other))
        return Placement(entry, entry.interval(), found, standings, self._yardsticks, weaker)

    def _check_suite(self, entry: Entry) -> None:
        """Raises TrialsError unless a run has the suite of the field, or some of its questions."""
        its, ours = entry.result.metadata_hash, self.metadata_hash
        if its not in (ours, hash_of_cut(ours, list(entry.by_question))):
            raise TrialsError(
                f"{entry.name}: scored with the suite of metadata hash {in_one_line(its, 40)}, and the other runs with "
                f"that of {in_one_line(ours, 40)}; scores of two suites cannot be compared. Score the run with the "
                "suite of the other runs (published runs: --suite pfgen-bench), or name runs of its suite (--against)"
            )

    def _weaker(self, entry: Entry, is_other: NDArray[np.bool_]) -> Iterable[str]:
        """What makes the comparison weaker."""
        n_trials = entry.result.num_trials
        usual = Counter(other.result.num_trials for other in self._entries).most_common(1)[0][0]
        if n_trials < min(FEW_TRIALS, usual):
            trials = "1 trial" if n_trials == 1 else f"{n_trials} trials"
            yield f"{trials}: the score depends on the draw of the answers; most other runs have {usual} trials"
        n_questions = len(entry.by_question)
        if n_questions < MIN_QUESTIONS:
            yield f"{n_questions} questions: no verdict, because a test needs at least {MIN_QUESTIONS}"
        engine = entry.config.get("engine")
        if engine in _FROM_REFERENCES:
            yield f"engine {engine}: its answers come from the suite itself, so its rank says nothing about a model"
            return
        own = _settings(entry.config)
        mode = own["mode"]
        rows = np.flatnonzero((self._modes == mode) & is_other)
        if not entry.config.get("mode"):
            yield "mode: unknown, because the run has no config.json that names it"
        elif not len(rows):
            yield f"mode: {mode}, which no other run has"
        for name in _SAMPLING if len(rows) else ():
            value, n = Counter(self._settings[row][name] for row in rows).most_common(1)[0]
            if own[name] != value:
                yield f"{name}: {own[name]}, but {value} in {n} of {len(rows)} other runs of mode {mode}"

    def _standings(self, entry: Entry, is_other: NDArray[np.bool_]) -> Iterable[Standing]:
        """The ranks among runs of the same organisation, of the same mode, and of a similar size by their names."""
        groups: dict[str, NDArray[np.bool_]] = {}
        organisation, mode, size = _organisation(entry.model), entry.config.get("mode"), size_of(entry.model)
        if organisation:
            groups[f"organisation {in_one_line(organisation, 40)}"] = self._organisations == organisation
        if isinstance(mode, str):
            groups[f"mode {in_one_line(mode, 40)}"] = self._modes == _settings(entry.config)["mode"]
        if size is not None:
            low, high = size / _SIMILAR, size * _SIMILAR
            groups[f"size {low:.2g}B to {high:.2g}B"] = (low <= self._sizes) & (self._sizes <= high)
        for what, members in groups.items():
            scores = [self._entries[row].result.score for row in np.flatnonzero(members & is_other)]
            if scores:
                yield Standing(what, sum(score > entry.result.score for score in scores) + 1, len(scores) + 1)


def _on(ids: Sequence[str], entry: Entry) -> Entry:
    """A run on some questions: its score is the mean over those that it has."""
    by_question = {name: entry.by_question[name] for name in ids if name in entry.by_question}
    score = round(math.fsum(by_question.values()) / len(by_question), 4)
    return replace(entry, by_question=by_question, result=replace(entry.result, score=score))


def _settings(config: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the mode and the sampling settings."""
    return {name: _text(config.get(name)) for name in ("mode", *_SAMPLING)}


def _text(value: Any) -> str:
    if value is None:
        return "not set"
    return f"{value:g}" if isinstance(value, float) else in_one_line(str(value), 40)


def _organisation(model: str) -> str:
    """The part of a model's name before the first slash; "" without a slash."""
    return model.split("/")[0].casefold() if "/" in model else ""


def size_of(model: str) -> float | None:
    """The number of parameters in a model's name, in billions; None if the name does not say it."""
    found = _SIZE.search(model.split("/")[-1])
    if found is None:
        return None
    return int(found[1] or 1) * float(found[2]) / (1 if found[3] in "bB" else 1000)


def _by_name(others: Sequence[Other]) -> dict[str, list[Any]]:
    columns = zip(*others, strict=True) if others else [()] * len(Other._fields)
    return {name: list(column) for name, column in zip(Other._fields, columns, strict=True)}


def _list(names: Sequence[str]) -> str:
    more = len(names) - _N_NAMED
    return ", ".join(in_one_line(name, 60) for name in names[:_N_NAMED]) + (f" and {more} more" if more > 0 else "")


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with null in place of NaN, which JSON lacks."""
    return {name: None if value != value else value for name, value in values.items()}
