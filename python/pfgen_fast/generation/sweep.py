"""Sweeps: runs of one suite at every point of a parameter grid.

The folder of a point's run depends only on its parameters. A sweep can therefore be resumed, and shares runs with
`generate` and other sweeps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..errors import EngineError, PfgenError
from ..files.cells import csv_text, markdown_table
from ..files.untrusted_text import did_you_mean, json_text, markdown_text, shown_value
from ..files.untrusted_toml import read_toml
from ..runs.precision import Interval, TrialScores
from ..runs.trials import RunFolder, Trials
from ..scoring.scorer import Scorer
from ..suite.rules import SCORES
from ..suite.suite import Suite
from .engines import engine_options, refuse_unknown_options
from .events import Events
from .generating import Generated, Generation, generate
from .json_parts import without_none
from .prompts import Mode
from .raw_replies import ReplySummary
from .reasoning import Reasoning
from .run_async import run_async
from .run_writer import check_trials
from .setting import usual_mode

USUAL_HALF_WIDTH = 0.005
"""The default half width of the interval for `trials_for`."""

PARAMETERS: Mapping[str, str] = {
    "model": "str",
    "mode": "str",
    "temperature": "float or none",
    "top_p": "float or none",
    "top_k": "int",
    "max_tokens": "int",
    "examples": "int",
    "seed": "str",
    "prefix": "str",
    "stop": "Sequence[str]",
    "system": "str",
    "instruction": "str",
    "context": "str",
    "sentences": "int",
    "reasoning": "str",
    "reasoning_tags": "Sequence[str]",
    "reasoning_tokens": "int",
    "retry_unfinished": "int",
}
"""Parameters of all engines with their types; the first parameter varies slowest. Options of engines follow."""

_OF_REASONING = ("reasoning", "reasoning_tags", "reasoning_tokens", "retry_unfinished")

_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "int": (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    "float": (lambda value: isinstance(value, int | float) and not isinstance(value, bool), "a number"),
    "float or none": (
        lambda value: value == "none" or (isinstance(value, int | float) and not isinstance(value, bool)),
        "a number or 'none'",
    ),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "Sequence[str]": (
        lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
        "a list of texts",
    ),
}


@dataclass(frozen=True)
class Point(Generation):
    """A point of a grid."""

    values: Mapping[str, Any] = field(default_factory=dict)  # values of the swept parameters
    why_mode: str = ""  # see `usual_mode`

    @property
    def name(self) -> str:
        """The values of the swept parameters, in one line."""
        return ", ".join(f"{key} {value_text(value)}" for key, value in self.values.items()) or self.setting.model


@dataclass(frozen=True)
class Measured:
    """The outcome of a point."""

    point: Point
    folder: Path | None  # folder of the run; None if it is unknown
    intervals: Mapping[str, Interval] = field(default_factory=dict)  # scores by metric; empty without a complete trial
    curve: Sequence[Interval] = ()  # score after 1, 2, 3, ... trials
    n_trials: int = 0  # number of complete trials
    n_new: int = 0  # see `Generated`
    trials_for: int | None = None  # estimated number of trials for the wanted half width; None if it is unknown
    problems: tuple[str, ...] = ()  # reasons why the point or some of its trials failed, one sentence each
    signature: str | None = None  # see `Scorer.signature`
    n_existing: int = 0  # see `Generated`
    oldest_answer: str = ""  # see `Generated`
    replies: ReplySummary | None = None  # see `Generated`


def grid(engine: str, parameters: Mapping[str, Any], *, asks_hub: bool = True) -> list[Point]:
    """Creates the points of a grid, in the order of their runs. The default mode may depend on files of a hub."""
    kinds = {**PARAMETERS, **engine_options(engine)}
    wanted = without_none(parameters)
    for name in wanted:
        if name not in kinds:
            if hint := did_you_mean(name, [*_OF_THE_SWEEP, *kinds]):
                raise EngineError(f"unknown parameter {shown_value(name)}{hint}")
            refuse_unknown_options(engine, [name])
    if "sentences" in wanted and "context" not in wanted:
        raise EngineError("sentences: expected with a context, from which they are drawn")
    axes = {key: _axis(key, wanted[key], kinds[key]) for key in kinds if key in wanted}
    swept = [key for key, values in axes.items() if len(values) > 1]
    chosen = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    modes: dict[str, tuple[Mode, str]] = {}
    return [_point(engine, values, swept, asks_hub, modes) for values in chosen]


def _axis(key: str, given: Any, annotation: str) -> tuple[Any, ...]:
    """The checked values of one parameter."""
    values: list[Any]
    kind = _kind(annotation)
    if kind == "Sequence[str]":  # a value is itself a list; a single text is a list of one
        is_swept = isinstance(given, list) and any(isinstance(value, list) for value in given)
        values = [[value] if isinstance(value, str) else value for value in (given if is_swept else [given])]
    else:
        values = given if isinstance(given, list) else [given]
    if not values or values == [[]]:
        raise EngineError(f"{key}: the list is empty, so the grid has no point; expected at least one value")
    for index, value in enumerate(values):
        _check_kind(key, kind, value, ", or a list of several values")
        if value in values[:index]:
            raise EngineError(f"{key}: {value_text(value)} occurs twice; expected each value once")
    if kind in ("float", "float or none"):
        values = [value if value == "none" else float(value) for value in values]
    return tuple(values)


def _check_kind(where: str, kind: str | None, value: Any, else_expected: str = "") -> None:
    if kind is not None and not _KINDS[kind][0](value):
        raise EngineError(f"{where}: expected {_KINDS[kind][1]}{else_expected}, not {shown_value(value)}")


def _kind(annotation: str) -> str | None:
    """The key of a type in `_KINDS`; None if values of the type are not checked."""
    return next((kind for kind in _KINDS if kind in annotation.split(" | ")), None)


def _point(
    engine: str, chosen: Mapping[str, Any], swept: Sequence[str], asks_hub: bool, modes: dict[str, tuple[Mode, str]]
) -> Point:
    """A point of the grid; `modes` keeps the usual modes, because a hub may take long to answer."""
    options = {key: value for key, value in chosen.items() if key not in PARAMETERS}
    of_run: dict[str, Any] = {key: value for key, value in chosen.items() if key in PARAMETERS}
    for key in ("temperature", "top_p"):
        if of_run.get(key) == "none":
            of_run[key] = None
    of_run["reasoning"] = Reasoning.of({key: of_run.pop(key) for key in _OF_REASONING if key in of_run})
    why = ""
    if "mode" not in of_run:
        model = of_run.get("model")
        key = repr((model, options))
        if key not in modes:
            modes[key] = usual_mode(engine, model, options, asks_hub=asks_hub)
        of_run["mode"], why = modes[key]
    point = Point.of(engine, options=options, **of_run)
    return replace(point, values={key: chosen[key] for key in swept}, why_mode=why)


def value_text(value: Any) -> str:
    """A value in readable form, such as `0.5`, `chat` or `A+B`."""
    if isinstance(value, str):
        return value or "(empty)"
    if isinstance(value, list):
        return "+".join(value)
    if isinstance(value, Mapping):
        return json_text(value)
    return f"{value:.12g}" if not isinstance(value, bool) else str(value).lower()


@dataclass(frozen=True)
class SweepOptions:
    """The options of a sweep in files and on the command line."""

    engine: str
    suite: str | None  # any argument of `Suite.load`; None without a suite
    parameters: Mapping[str, Any]
    trials: int = 10  # maximum number of trials of a point
    until_interval: float | None = None
    output: str = "result"  # folder below which the folders of runs are created
    questions: Sequence[str] = ()  # see `Suite.only`; by default all questions
    limit: int | None = None  # see `Suite.only`

    @classmethod
    def read(cls, file: Path | None = None, given: Mapping[str, Any] | None = None) -> SweepOptions:
        """Reads options from a TOML file. Its keys are the names of flags, and swept parameters are lists."""
        found = {} if file is None else _read_toml(file)
        found.update((key, value) for key, value in (given or {}).items() if value not in (None, []))
        if not found.get("engine"):
            raise EngineError("--engine is needed")
        own = {"suite": None, **{key: found.pop(key) for key in _OF_THE_SWEEP if key in found}}
        return cls(parameters=found, **own)

    def points(self, *, asks_hub: bool = True) -> list[Point]:
        """The points of the grid; see `grid`."""
        return grid(self.engine, self.parameters, asks_hub=asks_hub)


_OF_THE_SWEEP = {each.name: _kind(str(each.type)) for each in fields(SweepOptions) if each.name != "parameters"}


def _read_toml(path: Path) -> dict[str, Any]:
    content = {key.replace("-", "_"): value for key, value in read_toml(path, error=EngineError).items()}
    for key, value in content.items():
        _check_kind(f"{path}: {key}", _OF_THE_SWEEP.get(key), value)
    return content


def sweep(
    suite: Suite,
    points: Sequence[Point],
    *,
    trials: int,
    until_interval: float | None = None,
    output: str | Path = "result",
    on_progress: Callable[[int, int], None] | None = None,
    events: Events | None = None,
) -> Iterator[Measured]:
    """Generates and scores the run of each point, one after another, and yields the outcomes."""
    check_trials(trials)
    if until_interval is not None and not until_interval > 0:
        raise EngineError(f"until_interval: expected a number above 0, not {until_interval:g}")
    call = _Sweep(suite, trials, until_interval, Path(output), events, Scorer(suite))
    return call.run(points, on_progress or (lambda done, total: None))


@dataclass
class _Sweep:
    """A single call of `sweep`."""

    _suite: Suite
    _trials: int
    _until_interval: float | None
    _output: Path
    _events: Events | None
    _scorer: Scorer
    _point_of: dict[Path, Point] = field(default_factory=dict)

    def run(self, points: Sequence[Point], on_progress: Callable[[int, int], None]) -> Iterator[Measured]:
        n_answers = self._trials * len(self._suite)
        for number, point in enumerate(points):

            def on_answer(done: int, total: int, before: int = number * n_answers) -> None:
                on_progress(before + done, len(points) * n_answers)

            yield self._measured(point, on_answer)
            on_progress((number + 1) * n_answers, len(points) * n_answers)

    def _measured(self, point: Point, on_progress: Callable[[int, int], None]) -> Measured:
        folder, wanted, scores = None, self._until_interval, TrialScores(self._scorer)

        def is_enough(trial: Trials) -> bool:
            scores.add(trial)
            return wanted is not None and scores.is_known_to(wanted)

        try:
            engine = point.open(self._suite, loads=False)
            folder = point.folder(self._suite, self._output, engine)
            first = self._point_of.setdefault(folder, point)
            if first is not point:
                run_async(engine.close())
                raise EngineError(
                    f"has the same run as {first.name}, because the engine {engine.name} ignores the differences"
                )
            generated = generate(
                self._suite,
                engine,
                point.setting,
                trials=self._trials,
                output=self._output,
                until=None if wanted is None else is_enough,
                on_progress=on_progress,
                events=self._events,
            )
            return self._scored(point, generated)
        except PfgenError as error:
            return Measured(point, folder, problems=(f"{point.name}: {error}",))

    def _scored(self, point: Point, generated: Generated) -> Measured:
        outcome = generated.score(self._suite)
        problems = [*generated.problems, *([outcome.error] if outcome and outcome.error else ())]
        found = Measured(
            point,
            generated.folder,
            n_new=generated.n_new,
            problems=tuple(f"{point.name}: {problem}" for problem in problems),
            n_existing=generated.n_existing,
            oldest_answer=generated.oldest_answer,
            replies=generated.replies,
        )
        if generated.run is None:
            return found
        return with_scores(found, generated.run, self._scorer, self._until_interval or USUAL_HALF_WIDTH)


def with_scores(measured: Measured, run: RunFolder, scorer: Scorer, half_width: float = USUAL_HALF_WIDTH) -> Measured:
    """An outcome with the scores of its run."""
    scores = TrialScores.of(run, scorer)
    return replace(
        measured,
        intervals=scores.intervals(),
        curve=scores.curve(),
        n_trials=scores.n_trials,
        trials_for=scores.trials_for(half_width),
        signature=scorer.signature,
    )


def records(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """One record per point, with all values in full precision. Resuming a sweep does not change them."""
    found = []
    for point in measured:
        record = {**point.point.values, "n_trials": point.n_trials}
        for metric in SCORES:
            interval = point.intervals.get(metric)
            record |= {metric: interval and interval.value, f"{metric}_half_width": interval and interval.half_width}
        record |= {"trials_for_interval": point.trials_for, "run": point.folder and point.folder.as_posix()}
        found.append({**record, "problems": list(point.problems), "signature": point.signature})
    return found


def to_json(measured: Sequence[Measured]) -> str:
    """`records` and the curves as JSON."""
    rows = [
        {**record, "curve": [[step.n_trials, step.value, step.half_width] for step in point.curve]}
        for record, point in zip(records(measured), measured, strict=True)
    ]
    return json_text(rows, indent=2) + "\n"


def to_csv(measured: Sequence[Measured]) -> str:
    """`records` as CSV."""
    rows = [{**record, "problems": "; ".join(record["problems"])} for record in records(measured)]
    return csv_text(list(rows[0]), [list(row.values()) for row in rows])


def to_markdown(measured: Sequence[Measured]) -> str:
    """The table that the command prints, in Markdown."""
    swept = list(measured[0].point.values)
    heads = [*swept, *SCORES, "trials", "trials for the interval", "run"]
    rows = []
    for point in measured:
        values = map(value_text, point.point.values.values())
        figures = [interval_text(point.intervals.get(metric)) for metric in SCORES]
        trials_for = "–" if point.trials_for is None else str(point.trials_for)
        run = "–" if point.folder is None else point.folder.as_posix()
        rows.append([*values, *figures, str(point.n_trials), trials_for, run])
    signatures = dict.fromkeys(point.signature for point in measured if point.signature)
    table = markdown_table(heads, rows, [*range(len(swept)), len(heads) - 1])
    return "".join([table, *(f"\nSignature: {markdown_text(signature)}\n" for signature in signatures)])


def interval_text(interval: Interval | None) -> str:
    """A value with its interval, such as `0.6311 ±0.0050`."""
    if interval is None:
        return "–"
    return f"{interval.value:.4f}" + ("" if interval.half_width is None else f" ±{interval.half_width:.4f}")
