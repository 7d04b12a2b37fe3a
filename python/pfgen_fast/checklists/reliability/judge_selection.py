"""Sides: the judgements that one version of a judge gave of the answers of some models.

A path may contain judgements of several judges or versions; each of them is a side. Sides are compared on the answers
that both judged, with the same text and the same checklist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import ChecklistError
from ...files.untrusted_text import first_names, in_one_line, unknown_name
from ...native import _core
from ..judgements import AnswerKey, Judgement
from ..line_files import OnFault
from ..runs import Run, open_runs
from ..scoring.judged import is_stale, variant_of
from ..scoring.scores import WHY_STALE
from ..suite import ChecklistSuite
from ..words import count_words, counter_there

SENTINELS = "sentinels"
"""The directory of a run with repeated judgements of the same answers, a file for each time."""

Ratings = tuple[Judgement, ...]
"""The ratings of one answer by one judge, in their order."""


@dataclass(frozen=True, eq=False)
class Side:
    """The judgements of one version of a judge."""

    name: str
    judge: str
    version: str | None
    models: Mapping[str, Mapping[AnswerKey, Ratings]] = field(repr=False)
    unjudged: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def notes(self) -> list[str]:
        """A sentence for each reason why judgements do not count."""
        return [f"{self.name}: {sentence}" for sentence in _left_out(self.unjudged, self.stale)]


def signature_of_sides(suite: ChecklistSuite, sides: Sequence[Side], *, draws: int = 0, seed: int = 0) -> str:
    """The inputs of a comparison of sides, besides the verdicts."""
    judges = (f"{side.judge or 'unknown'} ({'; '.join(side.variants)})" for side in sides)
    parts = {
        "checklists": _core.__version__,
        "suite": f"{suite.name} {suite.hash}",
        "questions": suite.checklists_hash,
        "judges": " and ".join(judges),
        **({"draws": f"{draws}", "seed": f"{seed}"} if draws else {}),
    }
    return "|".join(f"{name}:{in_one_line(value, 400).replace('|', '/')}" for name, value in parts.items())


def check_number(sides: Sequence[Side], n: int, needed: str) -> None:
    """Raises ChecklistError unless there is this number of sides; the message begins with what a command needs."""
    if len(sides) != n:
        listed = "; ".join(f"{side.name}, {side.judge or 'unknown'} {side.version or ''}".strip() for side in sides)
        raise ChecklistError(
            f"{needed}, not {len(sides)}: {listed}; expected --judge for one of several judges, or --mixed for all "
            "versions of a judge together"
        )


def counted_words(paths: Sequence[Path], side: Side, suite: ChecklistSuite) -> dict[str, dict[AnswerKey, int]]:
    """By model and answer, the number of words: as published with the judgements, or else counted from the answer."""
    found: dict[str, dict[AnswerKey, int]] = {}
    runs = {run.key: run for run in open_runs(paths)}
    for model, answers in side.models.items():
        published = {key: ratings[0].words for key, ratings in answers.items()}
        # Lines that cannot be read were named when the sides were opened.
        texts = runs[model].answers(suite, on_fault=lambda _: None) if None in published.values() else {}
        found[model] = {
            key: count_words(texts[key].response, counter_there(suite.words)) if n is None else n
            for key, n in published.items()
            if n is not None or key in texts
        }
    return found


@dataclass(frozen=True)
class JudgeSelection:
    """Reads the judgements of one judge, or of all judges, and sorts them by judge and version."""

    suite: ChecklistSuite
    judge: str | None = None
    mixed: bool = False
    on_fault: OnFault | None = None

    def of_each(self, paths: Sequence[Path]) -> list[Side]:
        """The sides in each path; their names differ."""
        return _named_apart([side for path in paths for side in self._sides(str(path), open_runs([path]))], paths)

    def together(self, paths: Sequence[Path]) -> list[Side]:
        """The sides in all paths together."""
        return self._sides(", ".join(map(str, paths)), open_runs(paths))

    def of_sentinels(self, paths: Sequence[Path]) -> list[Side]:
        """The sides in the repeated judgements of all runs together: those of each round, in order."""
        rounds: dict[str, list[Run]] = {}
        for run in open_runs(paths):
            for path in (run.folder / SENTINELS).glob("*.jsonl"):
                if path.stem.isdecimal():
                    rounds.setdefault(path.stem, []).append(Run(run.key, path.parent, None, path))
        if not rounds:
            raise ChecklistError(
                f"{', '.join(map(str, paths))}: no run has sentinels; expected the output of "
                "'checklists judge --sentinel N'"
            )
        return [side for number in sorted(rounds) for side in self._sides(f"sentinels {number}", rounds[number])]

    def _sides(self, name: str, runs: Iterable[Run]) -> list[Side]:
        """The sides of some runs, in the order of their first judgements."""
        gathered: dict[tuple[str, str | None], list[tuple[str, Judgement, bool]]] = {}
        known: dict[str, None] = {}
        for run in runs:
            answers = run.answers(self.suite, on_fault=self.on_fault)
            for one in run.judgements(self.suite, with_reasons=False, on_fault=self.on_fault):
                known |= dict.fromkeys(filter(None, (one.judge, one.version)))
                if one.method == "checklist" and self.judge in (None, one.judge, one.version):
                    key = one.judge, None if self.mixed else one.version
                    gathered.setdefault(key, []).append((run.key, one, is_stale(one, self.suite, answers)))
        if self.judge is not None and known and self.judge not in known:
            raise ChecklistError(f"{name}: {unknown_name('judge', self.judge, list(known))}")
        sides = [_side(name, of_judge, rows) for (of_judge, _), rows in gathered.items()]
        if not sides:
            raise ChecklistError(f"{name}: holds no judgements by checklists; ask a judge first, or import judgements")
        if not any(side.models for side in sides):
            why = [sentence for side in sides for sentence in _left_out(side.unjudged, side.stale)]
            raise ChecklistError(f"{name}: no judgement counts: {'; '.join(why)}; ask the judge again")
        return [side for side in sides if side.models]


def _left_out(unjudged: Sequence[str], stale: Sequence[str]) -> list[str]:
    """A phrase for each reason why judgements do not count, with the first of them."""
    return [
        f"{len(ids):,} {'answer is' if len(ids) == 1 else 'answers are'} {what}: {first_names([*dict.fromkeys(ids)])}"
        for ids, what in ((unjudged, "unjudged"), (stale, f"stale ({WHY_STALE})"))
        if ids
    ]


def _side(name: str, judge: str, rows: Sequence[tuple[str, Judgement, bool]]) -> Side:
    """A side from its judgements, with their models and whether they are stale."""
    fresh = [(model, one) for model, one, stale in rows if not stale]
    models: dict[str, dict[AnswerKey, Ratings]] = {}
    for model, one in sorted(fresh, key=lambda each: each[1].rating):
        if one.scores is not None:
            answers = models.setdefault(model, {})
            answers[one.key] = (*answers.get(one.key, ()), one)
    variants = dict.fromkeys(variant_of(one) for _, one in fresh if one.scores is not None)
    versions = {one.version for _, one, _ in rows}
    return Side(
        name,
        judge,
        versions.pop() if len(versions) == 1 else None,
        models,
        unjudged=tuple(one.id for _, one in fresh if one.scores is None),
        stale=tuple(one.id for _, one, stale in rows if stale),
        variants=tuple(map(str, variants)),
    )


def _named_apart(sides: Sequence[Side], paths: Sequence[Path]) -> list[Side]:
    """The sides with names that tell them apart: the ends of their paths, and judge and version where needed."""
    short = _short_names([str(path) for path in paths])
    of_path = Counter(side.name for side in sides)
    found = []
    for side in sides:
        name = short[side.name]
        if of_path[side.name] > 1 or len(short) == 1:
            name = " ".join(filter(None, (name, side.judge, side.version)))
        found.append(replace(side, name=name))
    return found


def _short_names(paths: Sequence[str]) -> dict[str, str]:
    """The shortest ends of paths that tell them apart."""
    parts = {path: Path(path).parts for path in paths}
    for length in range(1, max(map(len, parts.values()), default=0) + 1):
        ends = {path: "/".join(part[-length:]) for path, part in parts.items()}
        if len(set(ends.values())) == len(parts):
            return ends
    return {path: path for path in parts}
