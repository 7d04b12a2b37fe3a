"""The agreement of annotators, people and judges, in words, tables and pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...experiments.finding import Cell, Finding, Picture, Table
from ...files.untrusted_text import counted, few_names, in_one_line
from ...native import _core
from ...statistics.raters import FEWEST_UNITS, Against
from .answer_grid import Estimate, matrix_of_pairs, ranges_of, with_ends
from .rater_agreement import MarkedAnswers

_FIGURES: Mapping[str, str] = {
    "pearson": "mean Pearson",
    "spearman": "mean Spearman",
    "alpha_of_marks": "alpha of marks",
    "alpha_of_verdicts": "alpha of verdicts",
    "kappa_of_verdicts": "Fleiss' kappa of verdicts",
}


def agreement_finding(found: MarkedAnswers, judges: Sequence[str] = (), notes: Sequence[str] = ()) -> Finding:
    """The agreement of annotators; `judges` names those among them that are judges, for the signature."""
    parts = {part: {name: found.estimate(one) for name, one in found.of_part(part).items()} for part in found.parts}
    suite = found.suite
    settings = {
        "checklists": _core.__version__,
        "suite": f"{suite.name} {suite.hash}",
        "questions": suite.checklists_hash,
        **({"judges": " and ".join(judges)} if judges else {}),
        "draws": f"{found.grid.n_draws}",
        "seed": f"{found.grid.seed}",
    }
    signature = "|".join(f"{name}:{in_one_line(value, 400).replace('|', '/')}" for name, value in settings.items())
    return Finding(
        "agreement",
        _answer(parts["all"]),
        f"{_words(found)} Signature: {signature}",
        (_parts(found, parts), _annotators(found), _pairs(found), _questions(found)),
        tuple(_pictures(found)),
        tuple(notes),
        question="How far do annotators agree?",
    )


def _parts(found: MarkedAnswers, parts: Mapping[str, Mapping[str, Estimate]]) -> Table:
    n_raters = (~np.isnan(found.overall)).sum(axis=0)
    rows = tuple(
        (part, int((n_raters[found.parts[part]] > 1).sum()), *(cell for one in of.values() for cell in one.cells))
        for part, of in parts.items()
    )
    columns = ("part", "shared answers", *with_ends(tuple(_FIGURES.values())))
    return Table(
        "parts", "Agreement of all annotators", columns, rows, 3, ("part", "shared answers", *_FIGURES.values())
    )


def _pairs(found: MarkedAnswers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (i, j), one in found.pairs.items():
        of_marks = (*found.estimate(one.pearson).cells, *found.estimate(one.spearman).cells)
        verdicts = found.same_verdicts(i, j)
        of_verdicts = (verdicts.n, *verdicts.same.cells, *verdicts.kappa.cells)
        rows.append((found.annotators[i], found.annotators[j], one.n, *of_marks, *of_verdicts))
    names = ("Pearson", "Spearman"), ("same level", "quadratic kappa")
    columns = ("annotator", "other", "answers", *with_ends(names[0]), "verdicts", *with_ends(names[1]))
    shown = ("annotator", "other", "answers", *names[0], "verdicts", *names[1])
    return Table("pairs", "Overall marks and verdicts of each two annotators", columns, tuple(rows), 3, shown)


def _annotators(found: MarkedAnswers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for number, (name, one) in enumerate(zip(found.annotators, found.against_others, strict=True)):
        own = found.overall[number][~np.isnan(found.overall[number])]
        remarks = [_direction(one.shift)] * one.is_shifted + ["unlike the others"] * one.is_unlike
        shift = None if math.isnan(one.shift) else one.shift
        n_flags = sum(mark.is_unclear for mark in found.marks if mark.annotator == name)
        spread = float(own.std(ddof=1)) if len(own) > 1 else None
        r = found.estimate(one.pearson)
        rows.append(
            (
                name,
                len(own),
                one.n,
                *r.cells,
                shift,
                one.low,
                one.high,
                one.p_value,
                spread,
                n_flags,
                "; ".join(remarks),
            )
        )
    columns = (
        *("annotator", "answers", "shared answers", *with_ends(("Pearson with the mean of the others",))),
        *(*with_ends(("mean minus others",)), "p (Holm)"),
        *("spread of marks", "flagged as unclear", "remark"),
    )
    shown = (*columns[:4], *columns[6:9], "spread of marks", "flagged as unclear", "remark")
    return Table("annotators", "Annotators against the mean of the others", columns, tuple(rows), 3, shown)


def _unlike(one: Against) -> str:
    r = one.pearson.value
    return "gives all answers the same mark" if math.isnan(r) else f"agrees less with the others (Pearson {r:.2f})"


def _direction(shift: float) -> str:
    return "strict" if shift < 0 else "lenient"


def _questions(found: MarkedAnswers) -> Table:
    rows = tuple(
        (
            *question.labels,
            one.n,
            one.difference,
            one.excess,
            one.p_value,
            one.n_flags,
            one.is_named,
            question.checklist.questions[question.number],
        )
        for question, one in found.questions
    )
    columns = (
        *("area", "category", "number", "shared answers", "mean difference", "more than other questions", "p (Holm)"),
        *("flags in category", "unclear", "question"),
    )
    return Table("questions", "Mean difference of two annotators' verdicts by question", columns, rows, 3)


def _answer(figures: Mapping[str, Estimate]) -> str:
    pearson, alpha = figures["pearson"], figures["alpha_of_verdicts"]
    marks = "have no defined correlation"
    if pearson.value is not None:
        marks = f"correlate by {pearson.value:.2f}{pearson.between(2)} on average (Pearson)"
    verdicts = "undefined" if alpha.value is None else f"{alpha.value:.2f}{alpha.between(2)}"
    return f"The overall marks of two annotators {marks}; Krippendorff's alpha of verdicts is {verdicts}."


def _words(found: MarkedAnswers) -> str:
    parts = [
        f"{counted(len(found.annotators), 'annotator')} marked {counted(len(found.answers), 'answer')}, "
        f"{found.n_shared:,} of them by two annotators or more."
    ]
    named = [
        f"{in_one_line(name, 40)} is {_direction(one.shift)} ({one.shift:+.2f} of 10 against the others)"
        for name, one in zip(found.annotators, found.against_others, strict=True)
        if one.is_shifted
    ]
    named += [
        f"{in_one_line(name, 40)} {_unlike(one)}"
        for name, one in zip(found.annotators, found.against_others, strict=True)
        if one.is_unlike
    ]
    if len(found.annotators) > 2 and max(one.n for one in found.against_others) < FEWEST_UNITS:
        parts.append(f"To name annotators who differ takes {FEWEST_UNITS} shared answers of an annotator.")
    elif len(found.annotators) > 2:
        parts.append(f"{'; '.join(named)}." if named else "No annotator differs from the others.")
    else:
        parts.append("With two annotators, nobody can say which of them differs.")
    unclear = ["/".join(map(str, question.labels)) for question, one in found.questions if one.is_named]
    if unclear:
        parts.append(f"Annotators disagree more on {few_names(unclear)} than on other questions: revise the question.")
    return " ".join(parts) + found.grid.words


def _pictures(found: MarkedAnswers) -> list[Picture]:
    values = {pair: one.pearson.value for pair, one in found.pairs.items()}
    matrix = matrix_of_pairs(found.annotators, values, "Pearson")
    against = [
        (name, found.estimate(one.pearson)) for name, one in zip(found.annotators, found.against_others, strict=True)
    ]
    shown = [(name, one) for name, one in against if one.value is not None]
    pictures = [Picture("pairs", "Overall marks of each two annotators", matrix)]
    if shown:
        chart = ranges_of(shown, "Pearson with the mean of the others")
        pictures.append(Picture("annotators", "Annotators against the mean of the others", chart))
    return pictures
