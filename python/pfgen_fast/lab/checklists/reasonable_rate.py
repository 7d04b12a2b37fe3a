"""The share of a judge's verdicts, or of instructions, that people call reasonable, and how far these people agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ...base.errors import ChecklistError
from ...base.untrusted_text import counted, in_one_line
from ..finding import Cell, Finding, finding_table
from ..statistics.correlation import pearson
from ..statistics.intervals_of_draws import clustered_rate
from ..statistics.raters import fleiss_kappa, krippendorff_alpha
from .answer_grid import part_of
from .checklist_runs import Run
from .checklist_suite import ChecklistSuite
from .marks import Opinion, judgement_key


def reasonable_finding(
    suite: ChecklistSuite, opinions: Sequence[Opinion], runs: Sequence[Run], notes: Sequence[str] = ()
) -> Finding:
    """The share of reasonable verdicts by judge and area, or without runs of instructions by question."""
    names = {opinion.subject: opinion.subject for opinion in opinions if opinion.question is None and not runs}
    names |= {
        judgement_key(row): row.version or row.judge or "unknown"
        for run in runs
        for row in run.judgements(suite, with_reasons=False)
    }
    known = [opinion for opinion in opinions if opinion.subject in names]
    subject = "a judgement of these runs as it is now" if runs else "an instruction"
    if not known:
        raise ChecklistError(
            f"none of {counted(len(opinions), 'opinion')} is about {subject}; expected exports of 'annotate --ask "
            "judgements', and the runs that the pages were made for, with their judgements unchanged, or exports of "
            "'annotate --ask instructions' and no runs"
        )
    remarks = list(notes)
    if n := len(opinions) - len(known):
        remarks.append(f"{counted(n, 'opinion')} left out: not about {subject}")
    parts: dict[tuple[str, str], list[Opinion]] = {}
    people: dict[tuple[str, str], list[bool]] = {}
    for opinion in known:
        people.setdefault((names[opinion.subject], opinion.annotator), []).append(opinion.is_reasonable)
        for part in ("all", part_of(suite.by_key[opinion.id, opinion.length])):
            parts.setdefault((names[opinion.subject], part), []).append(opinion)
    rows: list[tuple[Cell, ...]] = []
    for (judge, part), listed in parts.items():
        clusters = [(opinion.id, opinion.length, opinion.response_sha256) for opinion in listed]
        rate = clustered_rate([opinion.is_reasonable for opinion in listed], clusters)
        rows.append((judge, part, len(listed), len(set(clusters)), *(100 * end for end in rate)))
    shares = "; ".join(f"{row[4]:.1f} % ({in_one_line(row[0], 80)})" for row in rows if row[1] == "all")
    what, unit, texts = ("judge", "verdicts", "answers") if runs else ("question", "instructions", "instructions")
    yes, title = ("reasonable", "verdicts that people call reasonable") if runs else ("yes", "instructions with a yes")
    columns = (what, "part", "opinions", texts, yes, "low", "high")
    by_annotator = [(*key, len(own), 100 * sum(own) / len(own)) for key, own in sorted(people.items())]
    pairs, words = _agreement(known)
    pair_columns = ("annotator", "other", unit, "Pearson", "same")
    return Finding(
        "reasonable",
        f"People call these shares of {unit} reasonable: {shares}." if runs else f"People say yes about {shares}.",
        f"{words} Intervals (95 %) treat opinions on one text as dependent.",
        (
            finding_table("rates", f"Share of {title}, in percent", columns, rows, 2),
            finding_table(
                "annotators", "Share by annotator, in percent", (what, "annotator", "opinions", yes), by_annotator, 2
            ),
            finding_table("pairs", "Agreement of each two annotators", pair_columns, pairs, 3),
        ),
        (),
        tuple(remarks),
        question="How many verdicts of a judge are reasonable?" if runs else "About how many instructions is it yes?",
    )


def _agreement(opinions: Sequence[Opinion]) -> tuple[list[tuple[Cell, ...]], str]:
    """The agreement of each two annotators, and that of all in a sentence."""
    names = sorted({opinion.annotator for opinion in opinions})
    keys = [(opinion.subject, opinion.question, opinion.id, opinion.length) for opinion in opinions]
    units = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    values = np.full((len(names), len(units)), np.nan)
    for opinion, key in zip(opinions, keys, strict=True):
        values[names.index(opinion.annotator), units[key]] = opinion.is_reasonable
    rows: list[tuple[Cell, ...]] = []
    for i, j in combinations(range(len(names)), 2):
        both = ~np.isnan(values[[i, j]]).any(axis=0)
        x, y = values[i, both], values[j, both]
        rows.append((names[i], names[j], len(x), pearson(x, y), float((x == y).mean()) if len(x) else None))
    kappa = fleiss_kappa(np.stack([(values == level).sum(axis=0) for level in (0, 1)], axis=1))
    alpha = krippendorff_alpha(values)
    agreement = "is undefined: no two opinions are about the same, or all opinions are equal"
    if alpha is not None and not math.isnan(kappa):
        agreement = f"Fleiss' kappa {kappa:.3f}, Krippendorff's alpha {alpha:.3f}"
    n = f"{counted(len(opinions), 'opinion')} of {counted(len(names), 'annotator')}"
    return rows, f"{n}. Agreement of annotators: {agreement}."
