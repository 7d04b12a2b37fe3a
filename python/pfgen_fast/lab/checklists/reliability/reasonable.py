"""The share of a judge's verdicts that people call reasonable, and how far these people agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ....base.errors import ChecklistError
from ....base.untrusted_text import counted, in_one_line
from ...experiments.finding import Cell, Finding, finding_table
from ...statistics.correlation import pearson
from ...statistics.intervals_of_draws import clustered_rate
from ...statistics.raters import fleiss_kappa, krippendorff_alpha
from ..checklist_runs import Run
from ..checklist_suite import ChecklistSuite
from ..judgements import Judgement
from ..people.marks import Opinion, judgement_key
from .answer_grid import Estimate, part_of


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
    judges = {judgement_key(row): _name(row) for run in runs for row in run.judgements(suite, with_reasons=False)}
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
    pairs, kappa, alpha = _agreement(known)
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
        _answer([row for row in rates if row.part == "all"]),
        _words(known, kappa, alpha),
        tables,
        (),
        tuple(remarks),
        question="How many verdicts of a judge are reasonable?",
    )


def _name(judgement: Judgement) -> str:
    return judgement.version or judgement.judge or "unknown"


def _rates(suite: ChecklistSuite, opinions: Sequence[Opinion], judges: dict[str, str]) -> Iterable[Rate]:
    parts: dict[tuple[str, str], list[Opinion]] = {}
    for opinion in opinions:
        for part in ("all", part_of(suite.by_key[opinion.id, opinion.length])):
            parts.setdefault((judges[opinion.judgement], part), []).append(opinion)
    for (judge, part), listed in parts.items():
        clusters = [opinion.answers[0] for opinion in listed]
        share, low, high = clustered_rate([opinion.is_reasonable for opinion in listed], clusters)
        yield Rate(judge, part, len(listed), len(set(clusters)), Estimate(share, low, high))


def _agreement(opinions: Sequence[Opinion]) -> tuple[tuple[tuple[Cell, ...], ...], float | None, float | None]:
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


def _answer(rates: Sequence[Rate]) -> str:
    shares = [f"{100 * (row.share.value or 0):.1f} % of {in_one_line(row.judge, 60)}" for row in rates]
    return f"People call these shares of verdicts reasonable: {'; '.join(shares)}."


def _words(opinions: Sequence[Opinion], kappa: float | None, alpha: float | None) -> str:
    n = len({opinion.annotator for opinion in opinions})
    words = f"{counted(len(opinions), 'opinion')} of {counted(n, 'annotator')}."
    if kappa is None or alpha is None:
        words += " Agreement of annotators is undefined: no verdict has two opinions, or all opinions are the same."
    else:
        words += f" Agreement of annotators: Fleiss' kappa {kappa:.3f}, Krippendorff's alpha {alpha:.3f}."
    return f"{words} Intervals (95 %) treat opinions on one answer as dependent."
