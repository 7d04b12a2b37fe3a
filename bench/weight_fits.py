"""Weights fitted to people's marks and drawn again, after some draws are compared with SciPy."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from pfgen_fast.checklists.suite import Checklist, ChecklistSuite, Prompts, Task
from pfgen_fast.checklists.weights.fitting import Fit, fit_suite
from pfgen_fast.checklists.weights.marks import Mark, Marks
from pfgen_fast.judging.template import Template
from pfgen_fast.statistics.bounded_regression import bounded_fits
from pfgen_fast.statistics.resampling import bootstrap_counts

from .agreement import Disagreement
from .table import Bound, Row
from .timing import take_turns

_AREA = "area"
_N_QUESTIONS = {5: 8, 6: 19, 7: 11}
"""How many of the 38 published categories have so many questions."""
_N_ANSWERS, _N_ANNOTATORS = 68, 5
"""The mean of a category: 2,588 answers of four models, marked by five people."""
_N_DRAWS, _N_COMPARED = 1000, 20
_BOUND = 0.5
_ROUNDS = 3


def weight_fits() -> list[Row]:
    """Measures fitting all categories with their bootstrap on one thread, as processor time.

    Raises:
        Disagreement: SciPy finds other weights.
    """
    suite = _suite()
    marks = _marks(suite)
    _compare(suite, marks)
    alone, drawn = take_turns(
        _ROUNDS, partial(fit_suite, suite, marks), partial(_bootstrapped, suite, marks), clock=time.process_time
    )
    n_categories = len(suite.checklists)
    of_marks = f"{n_categories} categories, {len(marks.listed):,} marks"
    return [
        Row(f"exact weights, {of_marks}", alone, "s"),
        Row(f"weights and {_N_DRAWS:,} refits, {of_marks}", drawn, "s", must=Bound("value", "<=", 10)),
    ]


def _bootstrapped(suite: ChecklistSuite, marks: Marks) -> Fit:
    return fit_suite(suite, marks, draws=_N_DRAWS)


def _suite() -> ChecklistSuite:
    sizes = [n for n, times in _N_QUESTIONS.items() for _ in range(times)]
    names = [f"category {number}" for number in range(len(sizes))]
    checklists = {
        (_AREA, name): Checklist(_AREA, name, tuple(f"question {i}?" for i in range(n)), (100 / n,) * n)
        for name, n in zip(names, sizes, strict=True)
    }
    tasks = tuple(Task(name, _AREA, name, "Write.") for name in names)
    return ChecklistSuite("bench", "en", (_AREA,), tasks, checklists, Prompts(Template("{response}", ("response",))))


def _marks(suite: ChecklistSuite) -> Marks:
    generator = np.random.default_rng(0)
    found = []
    for area, category in suite.checklists:
        n_questions = len(suite.checklists[area, category].questions)
        rule = generator.uniform(-0.5, 3, n_questions)
        shape = (_N_ANSWERS, _N_ANNOTATORS, n_questions)
        verdicts = generator.choice(suite.levels, size=shape, p=(0.03, 0.06, 0.13, 0.35, 0.43))
        exact = verdicts @ (10 * rule / rule.clip(0.5).sum()) + generator.normal(0, 0.5, shape[:2])
        for answer, (rows, overall) in enumerate(zip(verdicts, exact.round().clip(0, 10), strict=True)):
            for annotator, (row, mark) in enumerate(zip(rows.tolist(), overall.tolist(), strict=True)):
                found.append(Mark(category, None, str(answer), str(annotator), area, category, tuple(row), mark))
    return Marks(tuple(found), "unit")


def _compare(suite: ChecklistSuite, marks: Marks) -> None:
    from scipy.optimize import nnls

    for key in suite.checklists:
        of_category = [mark for mark in marks.listed if (mark.area, mark.category) == key]
        x = np.array([mark.verdicts for mark in of_category])
        y = np.array([mark.overall for mark in of_category])
        counts = bootstrap_counts(len(x), _N_COMPARED, groups=[mark.answer for mark in of_category])
        for found, times in zip(bounded_fits(x, y, counts, bound=_BOUND), counts, strict=True):
            rows = np.repeat(x, times, axis=0)
            expected = _BOUND + nnls(rows, np.repeat(y, times) - _BOUND * rows.sum(axis=1))[0]
            if not np.allclose(found, expected, rtol=0, atol=1e-9):
                raise Disagreement(f"weights of {key[1]}: SciPy finds {expected}, not {found}")
