"""Checklists: as many judgements and models as were published, scored; and weights fitted to people's marks.

All on one thread, as processor time. The scores need the published judgements, `../hellobench` next to the checkout.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from pfgen_fast.lab.checklists.checklist_runs import Run, open_runs
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.fitting import fit_suite
from pfgen_fast.lab.checklists.hellobench import import_suite
from pfgen_fast.lab.checklists.judgements import write_judgements
from pfgen_fast.lab.checklists.marks import Mark, People
from pfgen_fast.lab.checklists.tasks import Checklist, ChecklistTask, JudgePrompts

from .inputs import checkout_folder
from .measuring import Disagreement, Measure

pytestmark = pytest.mark.benchmark(group="checklists", timer=time.process_time)
_ROUNDS, _N_MODELS = 3, 26
_N_QUESTIONS = {5: 8, 6: 19, 7: 11}
"""The number of published categories, of 38, by their number of questions."""
_N_ANSWERS, _N_ANNOTATORS = 68, 5
"""The mean of a category: 2,588 answers of four models, marked by five people."""


def test_scoring(measure: Measure, tmp_path: Path) -> None:
    """The scores equal the published scores."""
    folder = checkout_folder().parent / "hellobench"
    if not (folder / "judgements").is_dir():
        pytest.skip(f"no published judgements in {folder}")
    suite = import_suite(folder)
    published = open_runs(sorted((folder / "judgements").iterdir()))
    _compare_scores(suite, published, folder / "expected.json")
    runs = _copies(suite, published, tmp_path)
    n = sum(len(model.answers) for model in score_judged_runs(suite, runs).models)
    seconds = measure.seconds(_ROUNDS, partial(score_judged_runs, suite, runs))
    measure.row(f"checklists: {n:,} judgements of {len(runs)} models scored", seconds, "s")


def _copies(suite: ChecklistSuite, published: list[Run], scratch: Path) -> list[Run]:
    """Judgements of the published number of models."""
    judgements = {run.key: run.judgements(suite) for run in published}
    by_size = sorted(judgements, key=lambda key: len(judgements[key]))
    for key in (*by_size[-3:], *by_size[:3]):  # three that wrote answers of wanted lengths, and three that did not
        judgements[f"{key}_again"] = judgements[key]
    if len(judgements) != _N_MODELS:
        raise Disagreement(f"{len(judgements)} models; expected {_N_MODELS}")
    paths = [scratch / f"{key}.jsonl.xz" for key in sorted(judgements)]
    for path, key in zip(paths, sorted(judgements), strict=True):
        write_judgements(path, [replace(judgement, judge="gpt-4o") for judgement in judgements[key]])
    return open_runs(paths)


def _compare_scores(suite: ChecklistSuite, runs: list[Run], path: Path) -> None:
    expected = json.loads(path.read_text(encoding="utf-8"))
    for model in score_judged_runs(suite, runs).models:
        theirs = expected[model.model]["average"]["rescaled"]
        if model.average.rescaled is None or abs(model.average.rescaled - theirs) > 1e-9:
            raise Disagreement(f"{model.model}: average {model.average.rescaled}, but {theirs} without this package")


def test_fitting_weights(measure: Measure) -> None:
    """All categories."""
    suite = _suite()
    people = _people(suite)
    seconds = measure.seconds(_ROUNDS, partial(fit_suite, suite, people))
    measure.row(f"weights, {len(suite.checklists)} categories, {len(people.marks):,} marks", seconds, "s")


def _suite() -> ChecklistSuite:
    sizes = [n for n, times in _N_QUESTIONS.items() for _ in range(times)]
    names = [f"category {number}" for number in range(len(sizes))]
    checklists = {
        ("area", name): Checklist("area", name, tuple(f"question {i}?" for i in range(n)), (100 / n,) * n)
        for name, n in zip(names, sizes, strict=True)
    }
    tasks = tuple(ChecklistTask(name, "area", name, "Write.") for name in names)
    return ChecklistSuite("bench", "en", ("area",), tasks, checklists, JudgePrompts("{response}"))


def _people(suite: ChecklistSuite) -> People:
    generator = np.random.default_rng(0)
    listed = []
    for area, category in suite.checklists:
        n_questions = len(suite.checklists[area, category].questions)
        rule = generator.uniform(-0.5, 3, n_questions)
        shape = (_N_ANSWERS, _N_ANNOTATORS, n_questions)
        verdicts = generator.choice(suite.levels, size=shape, p=(0.03, 0.06, 0.13, 0.35, 0.43))
        exact = verdicts @ (10 * rule / rule.clip(0.5).sum()) + generator.normal(0, 0.5, shape[:2])
        for answer, (rows, overall) in enumerate(zip(verdicts, exact.round().clip(0, 10), strict=True)):
            for annotator, (row, mark) in enumerate(zip(rows.tolist(), overall.tolist(), strict=True)):
                listed.append(
                    Mark(
                        id=category,
                        length=None,
                        annotator=str(annotator),
                        area=area,
                        category=category,
                        response_sha256=str(answer),
                        verdicts=tuple(row),
                        overall=mark,
                    )
                )
    return People(tuple(listed))
