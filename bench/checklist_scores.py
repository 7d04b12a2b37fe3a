"""Scores by checklists: as many judgements and models as were published, after the scores are compared with theirs."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from pfgen_fast.checklists import open_runs, score_runs
from pfgen_fast.checklists.importing.hellobench_suite import import_suite
from pfgen_fast.checklists.judgement_files import write_judgements
from pfgen_fast.checklists.runs import Run
from pfgen_fast.checklists.scoring.intervals import with_intervals
from pfgen_fast.checklists.suite import ChecklistSuite

from .agreement import Disagreement
from .table import Bound, Row
from .timing import take_turns

_N_MODELS = 26
_N_DRAWS = 10_000
_ROUNDS = 3


def checklist_scores(folder: Path) -> list[Row]:
    """Measures all on one thread, as processor time.

    Args:
        folder: The published judgements; some of them stand for those of models that are not there.

    Raises:
        Disagreement: Scores are not those that were computed without this package.
    """
    suite = import_suite(folder)
    published = open_runs(sorted((folder / "judgements").iterdir()))
    _compare(suite, published, folder / "expected.json")
    with tempfile.TemporaryDirectory() as scratch:
        tables, lines = _copies(suite, published, Path(scratch))
        scores = score_runs(suite, tables, draws=0)
        n = sum(len(model.answers) for model in scores.models)
        times = take_turns(
            _ROUNDS,
            partial(score_runs, suite, tables, draws=0),
            partial(score_runs, suite, lines, draws=0),
            partial(with_intervals, scores, _N_DRAWS),
            clock=time.process_time,
        )
    what = f"checklists: {n:,} judgements of {len(tables)} models scored from"
    draws = f"checklists: {_N_DRAWS:,} bootstrap draws of {len(tables)} models, all pairs compared"
    return [
        Row(f"{what} Parquet", times[0], "s", must=Bound("value", "<=", 0.5)),
        Row(f"{what} JSONL.xz", times[1], "s", must=Bound("value", "<=", 3)),
        Row(draws, times[2], "s", must=Bound("value", "<=", 2)),
    ]


def _copies(suite: ChecklistSuite, published: list[Run], scratch: Path) -> tuple[list[Run], list[Run]]:
    """The judgements of as many models as were published, as Parquet and as compressed lines."""
    judgements = {run.key: run.judgements(suite) for run in published}
    by_size = sorted(judgements, key=lambda key: len(judgements[key]))
    for key in (*by_size[-3:], *by_size[:3]):  # three that wrote answers of wanted lengths, and three that did not
        judgements[f"{key}_again"] = judgements[key]
    found: list[list[Run]] = []
    for ending in ("parquet", "jsonl.xz"):
        paths = [scratch / f"{key}.{ending}" for key in sorted(judgements)]
        for path, key in zip(paths, sorted(judgements), strict=True):
            write_judgements(path, [replace(one, judge="gpt-4o") for one in judgements[key]])
        found.append(open_runs(paths))
    tables, lines = found
    if len(tables) != _N_MODELS:
        raise Disagreement(f"{len(tables)} models; expected {_N_MODELS}")
    return tables, lines


def _compare(suite: ChecklistSuite, runs: list[Run], path: Path) -> None:
    expected = json.loads(path.read_text(encoding="utf-8"))
    for model in score_runs(suite, runs, draws=0).models:
        theirs = expected[model.model]["average"]["rescaled"]
        if model.average.rescaled is None or abs(model.average.rescaled - theirs) > 1e-9:
            raise Disagreement(f"{model.model}: average {model.average.rescaled}, but {theirs} without this package")
