"""How far annotators agree, people and judges, from their marks of the same answers or their opinions on verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...base.arrays import Ints
from ...base.errors import ChecklistError
from ...base.native import _core
from ...base.table import Table
from ...base.untrusted_text import counted, first_names, in_one_line
from ..finding import Cell, Finding, finding_table
from ..statistics.correlation import pearson
from ..statistics.intervals_of_draws import clustered_rate
from ..statistics.raters import (
    Correlated,
    Figure,
    alpha,
    correlated,
    fleiss,
    fleiss_kappa,
    krippendorff_alpha,
    mean_of,
    same_levels,
)
from .answer_grid import AnswerGrid, Estimate, part_of, with_ends
from .checklist_runs import Run, open_runs
from .checklist_suite import ChecklistSuite
from .judged import WHY_STALE, is_stale, score_of
from .judgements import Judgement
from .line_files import OnFault
from .marks import Mark, MarkedAnswer, Opinion, People, judgement_key, place_of, read_marks

_FIGURES: Mapping[str, str] = {
    "pearson": "mean Pearson",
    "spearman": "mean Spearman",
    "alpha_of_marks": "alpha of marks",
    "alpha_of_verdicts": "alpha of verdicts",
    "kappa_of_verdicts": "Fleiss' kappa of verdicts",
}


def marks_of(sources: Sequence[Path], suite: ChecklistSuite, *, on_fault: OnFault | None = None) -> People:
    """The marks of people in files, and of the judges of runs (directories) on the answers that people marked."""
    files = [path for path in sources if not path.is_dir()]
    people = read_marks(files, suite) if files else People()
    runs = [path for path in sources if path.is_dir()]
    if not runs:
        return people
    judges = judge_marks(runs, suite, answers={mark.answer for mark in people.marks}, on_fault=on_fault)
    same = {mark.annotator for mark in people.marks} & {mark.annotator for mark in judges.marks}
    if same:
        raise ChecklistError(f"{min(same)}: a judge and a person have this name; expected different names")
    return People((*people.marks, *judges.marks), notes=(*people.notes, *judges.notes))


def judge_marks(
    paths: Iterable[Path], suite: ChecklistSuite, *, answers: set[MarkedAnswer], on_fault: OnFault | None = None
) -> People:
    """The verdicts of each judge and version in some runs as marks, by default of all answers.

    Several ratings are averaged; the overall mark is the tenth part of the score.
    """
    ratings: dict[str, dict[MarkedAnswer, list[Judgement]]] = {}
    stale: dict[str, None] = {}
    for run in (run for path in paths for run in open_runs([path])):  # names of runs may repeat
        texts = run.answers(suite, on_fault=on_fault)
        for row in run.judgements(suite, with_reasons=False, on_fault=on_fault):
            answer = row.id, row.length, row.response_sha256
            if row.method != "checklist" or row.verdicts is None:
                continue
            if is_stale(row, suite, run, texts):
                stale[row.id] = None
            elif not answers or answer in answers:
                name = in_one_line(row.version or row.judge or "judge")
                ratings.setdefault(name, {}).setdefault(answer, []).append(row)
    left_out = f"stale judgements ({WHY_STALE}): {first_names([*stale])}" if stale else ""
    if not ratings:
        why = left_out or "no judgements by checklists of these answers; ask a judge first"
        raise ChecklistError(f"{', '.join(map(str, paths))}: {why}")
    marks = []
    for name, by_answer in ratings.items():
        for (id, length, sha256), rows in by_answer.items():
            task = suite.by_key[id, length]
            verdicts = tuple(map(fmean, zip(*(row.verdicts or () for row in rows), strict=True)))
            overall = score_of(verdicts, suite.checklist(task).weights) / 10
            figures: dict[str, Any] = {"response_sha256": sha256, "verdicts": verdicts, "overall": overall}
            marks.append(Mark(**place_of(task, {"annotator": name}), **figures))
    return People(tuple(marks), notes=(left_out,) if stale else ())


class MarkedAnswers:
    """Marks as matrices: a row for each annotator, a column for each answer or for each verdict."""

    def __init__(self, suite: ChecklistSuite, marks: Sequence[Mark], *, draws: int = 1000) -> None:
        self.suite = suite
        self.annotators = tuple(sorted({mark.annotator for mark in marks}))
        if len(self.annotators) < 2:
            raise ChecklistError(
                f"one annotator only ({self.annotators[0]}): expected two or more, people or judges of runs"
            )
        order = {key: number for number, key in enumerate(suite.by_key)}
        self.answers = sorted({mark.answer for mark in marks}, key=lambda answer: (order[answer[:2]], answer[2]))
        column = {answer: number for number, answer in enumerate(self.answers)}
        row = {name: number for number, name in enumerate(self.annotators)}
        keys = [("people", (*answer[:2], number)) for number, answer in enumerate(self.answers, start=1)]
        used = {answer[:2] for answer in self.answers}
        tasks = [task for task in suite.tasks if task.key in used]
        # One task says nothing about other tasks, so it has no intervals.
        self.grid = AnswerGrid.of(suite, keys, tasks, n_draws=draws if len(used) > 1 else 0)
        self.overall = np.full((len(row), len(column)), np.nan)
        n_questions = [suite.n_questions[answer[:2]] for answer in self.answers]
        begins = np.concatenate([[0], np.cumsum(n_questions)]).astype(np.int64)
        self.verdicts = np.full((len(row), int(begins[-1])), np.nan)
        for mark in marks:
            answer = column[mark.answer]
            self.overall[row[mark.annotator], answer] = mark.overall
            self.verdicts[row[mark.annotator], begins[answer] : begins[answer + 1]] = mark.verdicts
        self.is_shared = (~np.isnan(self.overall)).sum(axis=0) > 1
        if not self.is_shared.any():
            raise ChecklistError(
                f"{counted(len(self.annotators), 'annotator')} without an answer in common: agreement needs answers "
                "that two annotators marked (annotate --overlap 0.2)"
            )
        self.answer_of_verdict = np.repeat(np.arange(len(self.answers)), n_questions)

    @cached_property
    def levels(self) -> Ints:
        """The number of the level nearest to each verdict; -1 for a missing verdict."""
        levels = np.asarray(self.suite.levels)
        nearest = np.abs(self.verdicts[..., np.newaxis] - levels).argmin(axis=-1)
        return np.where(np.isnan(self.verdicts), -1, nearest)

    @cached_property
    def parts(self) -> dict[str, Ints]:
        """The numbers of all answers, and of those of each part of the suite."""
        return {"all": np.arange(len(self.answers)), **self.grid.answers_of_parts}

    def pairs(self, part: str = "all") -> dict[tuple[int, int], Correlated]:
        """The correlation of the overall marks of each two annotators on a part of the suite."""
        marks, tasks = self.overall[:, self.parts[part]], self.grid.task_of[self.parts[part]]
        return {
            (i, j): correlated(marks[i], marks[j], tasks, self.grid.counts)
            for i, j in combinations(range(len(self.annotators)), 2)
        }

    def of_part(self, part: str) -> dict[str, Estimate]:
        """The figures of all annotators together on a part of the suite."""
        answers, pairs = self.parts[part], list(self.pairs(part).values())
        columns = np.isin(self.answer_of_verdict, answers)
        tasks, counts = self.grid.task_of, self.grid.counts
        verdict_tasks, chosen = tasks[self.answer_of_verdict[columns]], self.levels[:, columns]
        votes = np.stack([(chosen == level).sum(axis=0) for level in range(len(self.suite.levels))])
        figures = {
            "pearson": mean_of([pair.pearson for pair in pairs]),
            "spearman": mean_of([pair.spearman for pair in pairs]),
            "alpha_of_marks": alpha(self.overall[:, answers], tasks[answers], counts),
            "alpha_of_verdicts": alpha(self.verdicts[:, columns], verdict_tasks, counts),
            "kappa_of_verdicts": fleiss(votes.astype(np.float64), verdict_tasks, counts),
        }
        return {name: self.estimate(figure) for name, figure in figures.items()}

    def estimate(self, figure: Figure) -> Estimate:
        """The figure, which is from -1 to 1, with its interval."""
        return self.grid.estimate(figure.value, figure.draws, figure.clusters)

    def same_verdicts(self, i: int, j: int) -> tuple[int, float | None, float | None]:
        """The number of questions that two annotators answered, the share of equal levels, and quadratic kappa.

        A judge's mean verdict counts as the nearest level.
        """
        both = np.flatnonzero((self.levels[i] >= 0) & (self.levels[j] >= 0))
        return len(both), *same_levels(self.levels[i, both], self.levels[j, both], self.suite.levels)


def agreement_finding(marks: MarkedAnswers, notes: Sequence[str] = ()) -> Finding:
    """The agreement of annotators in words and tables."""
    parts = {part: marks.of_part(part) for part in marks.parts}
    pearson, verdicts = parts["all"]["pearson"], parts["all"]["alpha_of_verdicts"]
    words = "have no defined correlation"
    if pearson.value is not None:
        words = f"correlate by {pearson.value:.2f}{pearson.between(2)} on average (Pearson)"
    shown = "undefined" if verdicts.value is None else f"{verdicts.value:.2f}{verdicts.between(2)}"
    suite = marks.suite
    return Finding(
        "agreement",
        f"The overall marks of two annotators {words}; Krippendorff's alpha of verdicts is {shown}.",
        f"{counted(len(marks.annotators), 'annotator')} marked {counted(len(marks.answers), 'answer')}, "
        f"{marks.is_shared.sum():,} of them by two annotators or more.{marks.grid.words} Signature: "
        f"checklists:{_core.__version__}|suite:{in_one_line(suite.name)} {suite.hash}|draws:{marks.grid.n_draws}",
        (_parts(marks, parts), _pairs(marks)),
        (),
        tuple(notes),
        question="How far do annotators agree?",
    )


def _parts(marks: MarkedAnswers, parts: Mapping[str, Mapping[str, Estimate]]) -> Table:
    rows = [
        (part, int(marks.is_shared[marks.parts[part]].sum()), *(cell for name in _FIGURES for cell in row[name].cells))
        for part, row in parts.items()
    ]
    columns = ("part", "shared answers", *with_ends(_FIGURES.values()))
    shown = ("part", "shared answers", *_FIGURES.values())
    return finding_table("parts", "Agreement of all annotators", columns, rows, 3, shown)


def _pairs(marks: MarkedAnswers) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (i, j), pair in marks.pairs().items():
        figures = (*marks.estimate(pair.pearson).cells, *marks.estimate(pair.spearman).cells)
        rows.append((marks.annotators[i], marks.annotators[j], pair.n, *figures, *marks.same_verdicts(i, j)))
    ends = ("verdicts", "same level", "quadratic kappa")
    columns = ("annotator", "other", "answers", *with_ends(("Pearson", "Spearman")), *ends)
    shown = ("annotator", "other", "answers", "Pearson", "Spearman", *ends)
    return finding_table("pairs", "Overall marks and verdicts of each two annotators", columns, rows, 3, shown)


# ---- The share of a judge's verdicts, or of instructions, that people call reasonable


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
    interval_alpha = krippendorff_alpha(values)
    agreement = "is undefined: no two opinions are about the same, or all opinions are equal"
    if interval_alpha is not None and not math.isnan(kappa):
        agreement = f"Fleiss' kappa {kappa:.3f}, Krippendorff's alpha {interval_alpha:.3f}"
    n = f"{counted(len(opinions), 'opinion')} of {counted(len(names), 'annotator')}"
    return rows, f"{n}. Agreement of annotators: {agreement}."
