"""The data of the plots of a sweep: runs that differ in a few parameters, as lines over each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError
from ..base.untrusted_text import in_one_line
from ..runs.precision import TrialScores
from ..runs.trials import RunFolder
from ..scoring.scorer import Scorer
from ..suite.suite import Suite
from .safe_runs import ReportRun

MAX_PARAMETERS = 4
MAX_VALUES = 30
MAX_RUNS = 500

# These may follow from other parameters: a model's name may be derived from them, the stop texts depend on the mode.
_MAY_FOLLOW = ("model", "stop")
_NOT_THERE = "–"


@dataclass(frozen=True)
class Line:
    """Points that differ only in one parameter, ordered by it."""

    name: str
    points: tuple[int, ...]  # indices of the points


def swept_values(configs: Sequence[Mapping[str, Any] | None]) -> list[dict[str, Any]] | None:
    """The values of each run for the parameters in which the runs differ; None if the runs are not a sweep."""
    known = [plain_values(config) for config in configs if isinstance(config, Mapping)]
    if len(known) < len(configs) or not 2 <= len(configs) <= MAX_RUNS:
        return None
    known = [{in_one_line(key): value for key, value in config.items()} for config in known]
    columns = {key: [config.get(key, _NOT_THERE) for config in known] for config in known for key in config}
    differing = {key: values for key, values in columns.items() if len(set(values)) > 1}
    for key in _MAY_FOLLOW:
        others = [values for other, values in differing.items() if other != key]
        if key in differing and any(
            len(set(zip(other, differing[key], strict=True))) == len(set(other)) for other in others
        ):
            del differing[key]
    if not 1 <= len(differing) <= MAX_PARAMETERS or any(len(set(v)) > MAX_VALUES for v in differing.values()):
        return None
    return [dict(zip(differing, values, strict=True)) for values in zip(*differing.values(), strict=True)]


def _plain(value: object) -> float | str:
    """A parameter as a number if possible, otherwise as a bounded text; a missing parameter is a dash."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:
        return float(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return in_one_line("+".join(value), 60)
    try:
        return _NOT_THERE if value is None else in_one_line(value, 60) or "(empty)"
    except RecursionError:
        return "(nested)"


def plain_values(values: Mapping[str, Any]) -> dict[str, float | str]:
    """The swept parameters of one point, as numbers and bounded texts."""
    return {key: _plain(value) for key, value in values.items()}


def lines(points: Sequence[Mapping[str, float | str]], parameter: str) -> list[Line]:
    """The points as lines over one parameter, one for each combination of the others."""
    orders = {key: {value: number for number, value in enumerate(axis(points, key))} for key in points[0]}

    def order(number: int) -> tuple[list[int], int]:
        values = points[number]
        return [orders[key][values[key]] for key in values if key != parameter], orders[parameter][values[parameter]]

    grouped: dict[str, list[int]] = {}
    for number in sorted(range(len(points)), key=order):
        others = {key: value for key, value in points[number].items() if key != parameter}
        grouped.setdefault(point_name(others), []).append(number)
    return [Line(name, tuple(numbers)) for name, numbers in grouped.items()]


def axis(points: Sequence[Mapping[str, float | str]], parameter: str) -> list[float | str]:
    """The values of a parameter in the order of an axis: numbers in ascending order, then others as they occur."""
    values = list(dict.fromkeys(point[parameter] for point in points))
    numbers = sorted(value for value in values if isinstance(value, float))
    return [*numbers, *(value for value in values if isinstance(value, str))]


def point_name(values: Mapping[str, float | str]) -> str:
    """Parameters in one line."""
    return ", ".join(f"{key} {f'{value:.12g}' if isinstance(value, float) else value}" for key, value in values.items())


def with_intervals(runs: Sequence[tuple[Path, ReportRun]], suite: Suite) -> list[ReportRun]:
    """The runs, each given with its result.json; runs of a sweep get intervals from their trials."""
    if swept_values([run.result.config for _, run in runs]) is None:
        return [run for _, run in runs]
    scorer = Scorer(suite)
    with_scores = []
    for path, run in runs:
        try:
            scores = TrialScores.of(RunFolder(path.parent, None), scorer)
        except PfgenError:  # a result can be reported without its trials
            scores = TrialScores(scorer)
        with_scores.append(replace(run, intervals=scores.intervals() if scores.n_trials else {}))
    return with_scores
