"""Findings on annotators: how far people and judges agree, and which verdicts of judges people call reasonable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...base.errors import ChecklistError
from ...base.native import _core
from ...base.table import Table
from ...base.untrusted_text import counted, in_one_line
from ..chart_data import Matrix
from ..finding import Cell, Finding, Picture, finding_table
from ..statistics.correlation import pearson
from ..statistics.intervals_of_draws import clustered_rate
from ..statistics.raters import FEWEST_UNITS, fleiss_kappa, krippendorff_alpha
from .answer_grid import Estimate, part_of, ranges_of, with_ends
from .checklist_runs import Run
from .checklist_suite import ChecklistSuite
from .marks import Opinion, judgement_key
from .rater_agreement import MarkedAnswers

_FIGURES: Mapping[str, str] = {
    "pearson": "mean Pearson",
    "spearman": "mean Spearman",
    "alpha_of_marks": "alpha of marks",
    "alpha_of_verdicts": "alpha of verdicts",
    "kappa_of_verdicts": "Fleiss' kappa of verdicts",
}


def agreement_finding(marks: MarkedAnswers, judges: Sequence[str] = (), notes: Sequence[str] = ()) -> Finding:
    """The agreement of annotators; `judges` names those among them that are judges, for the signature."""
    parts = {part: {name: marks.estimate(value) for name, value in marks.of_part(part).items()} for part in marks.parts}
    suite = marks.suite
    settings = {
        "checklists": _core.__version__,
        "suite": f"{suite.name} {suite.hash}",
        "questions": suite.checklists_hash,
        **({"judges": " and ".join(judges)} if judges else {}),
        "draws": f"{marks.grid.n_draws}",
        "seed": f"{marks.grid.seed}",
    }
    signature = "|".join(f"{name}:{in_one_line(value, 400).replace('|', '/')}" for name, value in settings.items())
    return Finding(
        "agreement",
        _answer(parts["all"]),
        f"{_words(marks)} Signature: {signature}",
        (_parts(marks, parts), _annotators(marks), _pairs(marks)),
        tuple(_pictures(marks)),
        tuple(notes),
        question="How far do annotators agree?",
    )


def _parts(marks: MarkedAnswers, parts: Mapping[str, Mapping[str, Estimate]]) -> Table:
    n_raters = (~np.isnan(marks.overall)).sum(axis=0)
    rows = tuple(
        (part, int((n_raters[marks.parts[part]] > 1).sum()), *(cell for value in row.values() for cell in value.cells))
        for part, row in parts.items()
    )
    columns = ("part", "shared answers", *with_ends(tuple(_FIGURES.values())))
    return finding_table(
        "parts", "Agreement of all annotators", columns, rows, 3, ("part", "shared answers", *_FIGURES.values())
    )


def _pairs(marks: MarkedAnswers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (i, j), pair in marks.pairs.items():
        own = (*marks.estimate(pair.pearson).cells, *marks.estimate(pair.spearman).cells)
        verdicts = marks.same_verdicts(i, j)
        levels = (verdicts.n, *verdicts.same.cells, *verdicts.kappa.cells)
        rows.append((marks.annotators[i], marks.annotators[j], pair.n, *own, *levels))
    names = ("Pearson", "Spearman"), ("same level", "quadratic kappa")
    columns = ("annotator", "other", "answers", *with_ends(names[0]), "verdicts", *with_ends(names[1]))
    shown = ("annotator", "other", "answers", *names[0], "verdicts", *names[1])
    return finding_table(
        "pairs", "Overall marks and verdicts of each two annotators", columns, tuple(rows), 3, shown=shown
    )


def _annotators(marks: MarkedAnswers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for number, (name, against) in enumerate(zip(marks.annotators, marks.against_others, strict=True)):
        own = marks.overall[number][~np.isnan(marks.overall[number])]
        remarks = [_direction(against.shift)] * against.is_shifted + ["unlike the others"] * against.is_unlike
        shift = None if math.isnan(against.shift) else against.shift
        n_flags = sum(mark.is_unclear for mark in marks.marks if mark.annotator == name)
        spread = float(own.std(ddof=1)) if len(own) > 1 else None
        compared = (*marks.estimate(against.pearson).cells, shift, against.low, against.high, against.p_value)
        rows.append((name, len(own), against.n, *compared, spread, n_flags, "; ".join(remarks)))
    columns = (
        *("annotator", "answers", "shared answers", *with_ends(("Pearson with the mean of the others",))),
        *(*with_ends(("mean minus others",)), "p (Holm)"),
        *("spread of marks", "flagged as unclear", "remark"),
    )
    shown = (*columns[:4], *columns[6:9], "spread of marks", "flagged as unclear", "remark")
    return finding_table(
        "annotators", "Annotators against the mean of the others", columns, tuple(rows), 3, shown=shown
    )


def _direction(shift: float) -> str:
    return "strict" if shift < 0 else "lenient"


def _answer(figures: Mapping[str, Estimate]) -> str:
    pearson, alpha = figures["pearson"], figures["alpha_of_verdicts"]
    marks = "have no defined correlation"
    if pearson.value is not None:
        marks = f"correlate by {pearson.value:.2f}{pearson.between(2)} on average (Pearson)"
    verdicts = "undefined" if alpha.value is None else f"{alpha.value:.2f}{alpha.between(2)}"
    return f"The overall marks of two annotators {marks}; Krippendorff's alpha of verdicts is {verdicts}."


def _words(marks: MarkedAnswers) -> str:
    parts = [
        f"{counted(len(marks.annotators), 'annotator')} marked {counted(len(marks.answers), 'answer')}, "
        f"{marks.n_shared:,} of them by two annotators or more."
    ]
    named = []
    for name, against in zip(marks.annotators, marks.against_others, strict=True):
        shown, r = in_one_line(name, 40), against.pearson.value
        if against.is_shifted:
            named.append(f"{shown} is {_direction(against.shift)} ({against.shift:+.2f} of 10 against the others)")
        if against.is_unlike:
            how = f"agrees less with the others (Pearson {r:.2f})"
            named.append(f"{shown} {'gives all answers the same mark' if math.isnan(r) else how}")
    if len(marks.annotators) > 2 and max(against.n for against in marks.against_others) < FEWEST_UNITS:
        parts.append(f"To name annotators who differ takes {FEWEST_UNITS} shared answers of an annotator.")
    elif len(marks.annotators) > 2:
        parts.append(f"{'; '.join(named)}." if named else "No annotator differs from the others.")
    else:
        parts.append("With two annotators, nobody can say which of them differs.")
    return " ".join(parts) + marks.grid.words


def _pictures(marks: MarkedAnswers) -> list[Picture]:
    values = np.eye(len(marks.annotators))
    for (i, j), agreement in marks.pairs.items():
        r = agreement.pearson.value
        values[i, j] = values[j, i] = 0.0 if math.isnan(r) else r
    lowest = -1.0 if (values < 0).any() else 0.0
    matrix = Matrix(marks.annotators, marks.annotators, values, "Pearson", lowest, 1.0, 2)
    against = [
        (name, marks.estimate(rest.pearson)) for name, rest in zip(marks.annotators, marks.against_others, strict=True)
    ]
    shown = [(name, figure) for name, figure in against if figure.value is not None]
    pictures = [Picture("pairs", "Overall marks of each two annotators", matrix)]
    if shown:
        chart = ranges_of(shown, "Pearson with the mean of the others")
        pictures.append(Picture("annotators", "Annotators against the mean of the others", chart))
    return pictures


@dataclass(frozen=True)
class Rate:
    """The share of reasonable verdicts of a judge on a part of the suite."""

    judge: str
    part: str
    n_opinions: int
    n_answers: int
    share: Estimate


def reasonable_finding(
    suite: ChecklistSuite, opinions: Sequence[Opinion], runs: Iterable[Run], notes: Sequence[str] = ()
) -> Finding:
    """The share of reasonable verdicts by judge and area, and the agreement of those who said it."""
    judges = {
        judgement_key(row): row.version or row.judge or "unknown"
        for run in runs
        for row in run.judgements(suite, with_reasons=False)
    }
    if not opinions:
        raise ChecklistError("no opinions on verdicts: expected exports of 'annotate --ask judgements'")
    known = [opinion for opinion in opinions if opinion.judgement in judges]
    if not known:
        raise ChecklistError(
            f"none of {counted(len(opinions), 'opinion')} is about a judgement of these runs; expected the runs that "
            "the pages were made for, with their judgements unchanged"
        )
    remarks = list(notes)
    if n := len(opinions) - len(known):
        remarks.append(f"{counted(n, 'opinion')} left out: their judgements have changed since, or are of other runs")
    rates = list(_rates(suite, known, judges))
    whole = [row for row in rates if row.part == "all"]
    shares = [f"{100 * (row.share.value or 0):.1f} % of {in_one_line(row.judge, 60)}" for row in whole]
    pairs, kappa, alpha = _opinion_agreement(known)
    tables = (
        finding_table(
            "rates",
            "Share of verdicts that people call reasonable, in percent",
            ("judge", "part", "opinions", "answers", "reasonable", "low", "high"),
            tuple((row.judge, row.part, row.n_opinions, row.n_answers, *row.share.times(100).cells) for row in rates),
            2,
        ),
        finding_table(
            "pairs", "Agreement of each two annotators", ("annotator", "other", "verdicts", "Pearson", "same"), pairs, 3
        ),
    )
    return Finding(
        "reasonable",
        f"People call these shares of verdicts reasonable: {'; '.join(shares)}.",
        _reasonable_words(known, kappa, alpha),
        tables,
        (),
        tuple(remarks),
        question="How many verdicts of a judge are reasonable?",
    )


def _rates(suite: ChecklistSuite, opinions: Sequence[Opinion], judges: dict[str, str]) -> Iterable[Rate]:
    parts: dict[tuple[str, str], list[Opinion]] = {}
    for opinion in opinions:
        for part in ("all", part_of(suite.by_key[opinion.id, opinion.length])):
            parts.setdefault((judges[opinion.judgement], part), []).append(opinion)
    for (judge, part), listed in parts.items():
        clusters = [opinion.answers[0] for opinion in listed]
        share, low, high = clustered_rate([opinion.is_reasonable for opinion in listed], clusters)
        yield Rate(judge, part, len(listed), len(set(clusters)), Estimate(share, low, high))


def _opinion_agreement(opinions: Sequence[Opinion]) -> tuple[tuple[tuple[Cell, ...], ...], float | None, float | None]:
    """The agreement of each two annotators, and Fleiss' kappa and Krippendorff's alpha of all."""
    names = sorted({opinion.annotator for opinion in opinions})
    units = {key: number for number, key in enumerate(dict.fromkeys((o.judgement, o.question) for o in opinions))}
    values = np.full((len(names), len(units)), np.nan)
    for opinion in opinions:
        values[names.index(opinion.annotator), units[opinion.judgement, opinion.question]] = opinion.is_reasonable
    rows: list[tuple[Cell, ...]] = []
    for i, j in combinations(range(len(names)), 2):
        both = ~np.isnan(values[[i, j]]).any(axis=0)
        x, y = values[i, both], values[j, both]
        rows.append((names[i], names[j], len(x), pearson(x, y), float((x == y).mean()) if len(x) else None))
    votes = np.stack([(values == level).sum(axis=0) for level in (0, 1)], axis=1)
    kappa = fleiss_kappa(votes)
    return tuple(rows), None if math.isnan(kappa) else kappa, krippendorff_alpha(values)


def _reasonable_words(opinions: Sequence[Opinion], kappa: float | None, alpha: float | None) -> str:
    n = len({opinion.annotator for opinion in opinions})
    words = f"{counted(len(opinions), 'opinion')} of {counted(n, 'annotator')}."
    if kappa is None or alpha is None:
        words += " Agreement of annotators is undefined: no verdict has two opinions, or all opinions are the same."
    else:
        words += f" Agreement of annotators: Fleiss' kappa {kappa:.3f}, Krippendorff's alpha {alpha:.3f}."
    return f"{words} Intervals (95 %) treat opinions on one answer as dependent."
