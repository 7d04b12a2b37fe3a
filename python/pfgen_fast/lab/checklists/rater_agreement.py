"""How far annotators agree, people and judges, from their marks of the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...base.arrays import Ints
from ...base.errors import ChecklistError, PfgenError
from ...base.untrusted_text import counted, first_names, in_one_line, unknown_name
from ...tables.formats import table_rows
from ...tables.table_rows import STANDARD_STREAM
from ..statistics.intervals_of_draws import Scale as DrawScale
from ..statistics.raters import (
    Against,
    Correlated,
    Figure,
    against_others,
    alpha,
    correlated,
    fleiss,
    mean_of,
    same_levels,
    tables_of,
)
from .answer_grid import AnswerGrid, Estimate
from .checklist_runs import open_runs
from .checklist_suite import ChecklistSuite
from .judged import WHY_STALE, is_stale, score_of, variant_of
from .judgements import Judgement
from .line_files import OnFault
from .marks import Mark, MarkedAnswer, People, Scale, read_marks


@dataclass(frozen=True)
class JudgeMarks:
    """The verdicts of judges as marks; the overall mark is the tenth part of the score."""

    marks: tuple[Mark, ...] = ()
    judges: tuple[str, ...] = ()  # names with versions and prompts, for the signature
    notes: tuple[str, ...] = ()


def is_of_judges(path: Path) -> bool:
    """Whether a path is a directory or pattern of runs, or a file of judgements; other files have marks of people."""
    if str(path) == STANDARD_STREAM:
        return False  # it can be read only once
    if path.is_dir() or (not path.exists() and "*" in str(path)):
        return True
    if not path.exists():
        raise ChecklistError(f"{path}: no such file or folder")
    try:
        return any("scores" in cells for _, cells in next(zip(table_rows(path), strict=False), ()))
    except PfgenError:
        return False  # the reader of marks names the fault


def judge_marks(
    paths: Iterable[Path],
    suite: ChecklistSuite,
    *,
    answers: Iterable[MarkedAnswer] = (),
    judge: str | None = None,
    mixed: bool = False,
    on_fault: OnFault | None = None,
) -> JudgeMarks:
    """The marks of each judge and version in some runs, by default of all answers; several ratings are averaged."""
    wanted, known = set(answers), dict[str, None]()
    by_judge: dict[tuple[str, str | None], list[Judgement]] = {}
    stale: list[str] = []
    for run in (run for path in paths for run in open_runs([path])):
        texts = run.answers(suite, on_fault=on_fault)
        for row in run.judgements(suite, with_reasons=False, on_fault=on_fault):
            known |= dict.fromkeys(filter(None, (row.judge, row.version)))
            if row.method != "checklist" or row.verdicts is None or judge not in (None, row.judge, row.version):
                continue
            if is_stale(row, suite, run, texts):
                stale.append(row.id)
            elif not wanted or (row.id, row.length, row.response_sha256) in wanted:
                by_judge.setdefault((row.judge, None if mixed else row.version), []).append(row)
    listed = ", ".join(map(str, paths))
    if judge is not None and known and judge not in known:
        raise ChecklistError(f"{listed}: {unknown_name('judge', judge, list(known))}")
    n_stale = f"{counted(len(stale), 'judgement')} {'is' if len(stale) == 1 else 'are'}"
    left_out = f"{n_stale} stale ({WHY_STALE}): {first_names([*dict.fromkeys(stale)])}"
    if not by_judge:
        why = left_out if stale else "no judgements by checklists of these answers; ask a judge first"
        raise ChecklistError(f"{listed}: {why}")
    names = _names(list(by_judge))
    return JudgeMarks(
        tuple(mark for key, rows in by_judge.items() for mark in _marks(names[key], rows, suite)),
        tuple(
            f"{names[key]} ({'; '.join(sorted({str(variant_of(row)) for row in rows}))})"
            for key, rows in by_judge.items()
        ),
        (left_out,) if stale else (),
    )


def marks_of(
    sources: Sequence[Path], suite: ChecklistSuite, *, scale: Scale | None = None, **of_judge: Any
) -> JudgeMarks:
    """The marks of people in exports and tables, and of the judges of runs on the answers that people marked."""
    runs = [path for path in sources if is_of_judges(path)]
    files = [path for path in sources if path not in runs]
    people = read_marks(files, suite, scale=scale) if files else People()
    answers = {mark.answer for mark in people.marks}
    judges = judge_marks(runs, suite, answers=answers, **of_judge) if runs else JudgeMarks()
    same = {mark.annotator for mark in people.marks} & {mark.annotator for mark in judges.marks}
    if same:
        raise ChecklistError(f"{min(same)}: a judge and a person have this name; expected different names")
    return JudgeMarks((*people.marks, *judges.marks), judges.judges, (*people.notes, *judges.notes))


def _names(judges: Sequence[tuple[str, str | None]]) -> dict[tuple[str, str | None], str]:
    """The name of each judge, with its version if it is one of several."""
    names = [name for name, _ in judges]
    return {
        (name, version): in_one_line(" ".join([name or "judge"] + [version or ""] * (names.count(name) > 1)).strip())
        for name, version in judges
    }


def _marks(name: str, rows: Sequence[Judgement], suite: ChecklistSuite) -> Iterable[Mark]:
    ratings: dict[MarkedAnswer, list[Sequence[float]]] = {}
    for row in rows:
        ratings.setdefault((row.id, row.length, row.response_sha256), []).append(row.verdicts or ())
    for (id, length, sha256), listed in ratings.items():
        task = suite.by_key[id, length]
        verdicts = tuple(map(fmean, zip(*listed, strict=True)))
        yield Mark(
            id=id,
            length=length,
            annotator=name,
            area=task.area,
            category=task.category,
            response_sha256=sha256,
            verdicts=verdicts,
            overall=score_of(verdicts, suite.checklist(task).weights) / 10,
        )


_SCALES: tuple[DrawScale, DrawScale] = ("share", "fisher")  # of the share of equal levels, and of kappa


@dataclass(frozen=True)
class SameVerdicts:
    """How far two annotators give the same verdicts on the questions that both answered."""

    n: int
    same: Estimate  # share of equal levels
    kappa: Estimate  # quadratic kappa


class MarkedAnswers:
    """Marks as matrices: a row for each annotator, a column for each answer or for each verdict."""

    def __init__(self, suite: ChecklistSuite, marks: Sequence[Mark], *, draws: int = 0, seed: int = 0) -> None:
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
        self.grid = AnswerGrid.of(suite, keys, tasks, n_draws=draws if len(used) > 1 else 0, seed=seed)
        self.overall = np.full((len(row), len(column)), np.nan)
        n_questions = [suite.n_questions[answer[:2]] for answer in self.answers]
        self.begins = np.concatenate([[0], np.cumsum(n_questions)]).astype(np.int64)
        self.verdicts = np.full((len(row), int(self.begins[-1])), np.nan)
        self.marks = list(marks)
        for mark in marks:
            answer = column[mark.answer]
            self.overall[row[mark.annotator], answer] = mark.overall
            self.verdicts[row[mark.annotator], self.begins[answer] : self.begins[answer + 1]] = mark.verdicts
        if not ((~np.isnan(self.overall)).sum(axis=0) > 1).any():
            raise ChecklistError(
                f"{counted(len(self.annotators), 'annotator')} without an answer in common: agreement needs answers "
                "that two annotators marked (annotate --overlap 0.2)"
            )
        self.answer_of_verdict = np.repeat(np.arange(len(self.answers)), n_questions)

    @property
    def n_shared(self) -> int:
        """The number of answers with two annotators or more."""
        return int(((~np.isnan(self.overall)).sum(axis=0) > 1).sum())

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

    @cached_property
    def pairs(self) -> dict[tuple[int, int], Correlated]:
        """The correlation of the overall marks of each two annotators."""
        return {
            (i, j): correlated(self.overall[i], self.overall[j], self.grid.task_of, self.grid.counts)
            for i, j in combinations(range(len(self.annotators)), 2)
        }

    def of_part(self, part: str) -> dict[str, Figure]:
        """The figures of all annotators together on a part of the suite."""
        answers = self.parts[part]
        columns = np.isin(self.answer_of_verdict, answers)
        tasks, counts = self.grid.task_of, self.grid.counts
        pairs = list(self.pairs.values())
        if part != "all":
            marks = self.overall[:, answers]
            pairs = [
                correlated(marks[i], marks[j], tasks[answers], counts)
                for i, j in combinations(range(len(self.annotators)), 2)
            ]
        verdict_tasks = tasks[self.answer_of_verdict[columns]]
        chosen = self.levels[:, columns]
        votes = np.stack([(chosen == level).sum(axis=0) for level in range(len(self.suite.levels))])
        return {
            "pearson": mean_of([pair.pearson for pair in pairs]),
            "spearman": mean_of([pair.spearman for pair in pairs]),
            "alpha_of_marks": alpha(self.overall[:, answers], tasks[answers], counts),
            "alpha_of_verdicts": alpha(self.verdicts[:, columns], verdict_tasks, counts),
            "kappa_of_verdicts": fleiss(votes.astype(np.float64), verdict_tasks, counts),
        }

    def estimate(self, figure: Figure) -> Estimate:
        """The figure, which is from -1 to 1, with its interval."""
        return self.grid.estimate(figure.value, figure.draws, figure.clusters)

    @cached_property
    def against_others(self) -> list[Against]:
        """Each annotator against the mean of the others."""
        return against_others(self.overall, self.grid.task_of, self.grid.counts)

    def same_verdicts(self, i: int, j: int) -> SameVerdicts:
        """How far two annotators give the same verdicts; a judge's mean verdict counts as the nearest level."""
        both = np.flatnonzero((self.levels[i] >= 0) & (self.levels[j] >= 0))
        tasks, levels = self.grid.task_of[self.answer_of_verdict[both]], self.suite.levels
        tables = tables_of(self.levels[[i, j]][:, both], tasks, len(self.grid.tasks), len(levels)).astype(np.float64)
        whole, draws = (
            same_levels(np.tensordot(counts, tables, 1), levels)
            for counts in (np.ones((1, len(tables))), self.grid.counts.astype(np.float64))
        )
        same, kappa = (
            self.grid.estimate(float(value[0]), drawn, np.unique(tasks), scale=scale)
            for value, drawn, scale in zip(whole, draws, _SCALES, strict=True)
        )
        return SameVerdicts(len(both), same, kappa)
