"""Sweeps: runs of one suite at every point of a parameter grid.

The folder of a point's run depends only on its parameters. A sweep can therefore be resumed, and shares runs with
`generate` and other sweeps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base.errors import EngineError, PfgenError
from ..base.table import Column, Table
from ..base.untrusted_text import in_one_line, json_text
from ..runs.trial_intervals import Interval, TrialScores
from ..scoring.reply_text import Mode
from ..scoring.scorer import Scorer
from ..suite.rules import SCORES
from ..suite.suite import Suite
from .engines.engine import run_async
from .engines.engine_registry import engine_options, refuse_unknown_options
from .events import Events
from .generating import Generated, Generation, generate
from .protocol import without_none
from .raw_replies import ReplySummary
from .run_writer import check_trials
from .setting import Reasoning, usual_mode

HALF_WIDTH = 0.005
"""The half width of the interval for `trials_for`."""

PARAMETERS = (
    *("model", "mode", "temperature", "top_p", "top_k", "max_tokens", "examples", "seed", "prefix", "stop", "system"),
    *("instruction", "context", "sentences"),
    *("reasoning", "reasoning_tags", "reasoning_tokens"),
)
"""Parameters of all engines; the first one varies slowest. Options of engines follow."""

_OF_REASONING = ("reasoning", "reasoning_tags", "reasoning_tokens")
_LISTS = ("stop", "reasoning_tags", "sets", "omit")  # parameters of which a value is a list


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
    n_trials: int = 0  # number of complete trials
    n_new: int = 0  # see `Generated`
    trials_for: int | None = None  # estimated number of trials for `HALF_WIDTH`; None if it is unknown
    problems: tuple[str, ...] = ()  # reasons why the point or some of its trials failed, one sentence each
    signature: str | None = None  # see `Scorer.signature`
    n_existing: int = 0  # see `Generated`
    oldest_answer: str = ""  # see `Generated`
    replies: ReplySummary | None = None  # see `Generated`


def grid(engine: str, parameters: Mapping[str, Any], *, asks_hub: bool = True) -> list[Point]:
    """Creates the points of a grid, in the order of their runs; a list has the values of a parameter.

    The default mode may depend on files of a hub.
    """
    wanted = without_none(parameters)
    refuse_unknown_options(engine, [name for name in wanted if name not in PARAMETERS])
    if "sentences" in wanted and "context" not in wanted:
        raise EngineError("sentences: expected with a context, from which they are drawn")
    keys = [key for key in (*PARAMETERS, *engine_options(engine)) if key in wanted]
    axes = {key: _axis(key, wanted[key]) for key in keys}
    swept = [key for key, values in axes.items() if len(values) > 1]
    chosen = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    modes: dict[str, tuple[Mode, str]] = {}
    return [_point(engine, values, swept, asks_hub, modes) for values in chosen]


def _axis(key: str, values_given: Any) -> list[Any]:
    """The values of a parameter, each once."""
    is_one = not isinstance(values_given, list) or (
        key in _LISTS and not any(isinstance(value, list) for value in values_given)
    )
    values = [values_given] if is_one else values_given
    for index, value in enumerate(values):
        if value in values[:index]:
            raise EngineError(f"{key}: {value_text(value)} occurs twice; expected each value once")
    return [float(value) if key in ("temperature", "top_p") and value != "none" else value for value in values]


def _point(
    engine: str, chosen: Mapping[str, Any], swept: Sequence[str], asks_hub: bool, modes: dict[str, tuple[Mode, str]]
) -> Point:
    """A point of the grid; `modes` keeps the usual modes, because a hub may take long to answer."""
    options = {key: value for key, value in chosen.items() if key not in PARAMETERS}
    settings: dict[str, Any] = {key: value for key, value in chosen.items() if key in PARAMETERS}
    for key in ("temperature", "top_p"):
        if settings.get(key) == "none":
            settings[key] = None
    settings["reasoning"] = Reasoning.of({key: settings.pop(key) for key in _OF_REASONING if key in settings})
    why = ""
    if "mode" not in settings:
        model = settings.get("model")
        key = repr((model, options))
        if key not in modes:
            modes[key] = usual_mode(engine, model, options, asks_hub=asks_hub)
        settings["mode"], why = modes[key]
    point = Point.of(engine, options=options, **settings)
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


def sweep(
    suite: Suite,
    points: Sequence[Point],
    *,
    trials: int,
    output: str | Path = "result",
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    events: Events | None = None,
) -> Iterator[Measured]:
    """Generates and scores the run of each point, one after another, and yields the outcomes."""
    check_trials(trials)
    n_answers, scorer = trials * len(suite), Scorer(suite)
    point_of_run: dict[Path, Point] = {}
    for number, point in enumerate(points):

        def on_answer(done: int, total: int, before: int = number * n_answers) -> None:
            on_progress(before + done, len(points) * n_answers)

        folder = None
        try:
            engine = point.open(suite, loads=False)
            folder = point.folder(suite, output, engine)
            first = point_of_run.setdefault(folder, point)
            if first is not point:
                run_async(engine.close())
                problem = f"has the same run as {first.name}, because the engine {engine.name} ignores the differences"
                raise EngineError(problem)
            generated = generate(
                suite, engine, point.setting, trials=trials, output=output, on_progress=on_answer, events=events
            )
            measured = _scored(point, generated, scorer)
        except PfgenError as error:
            measured = Measured(point, folder, problems=(f"{point.name}: {error}",))
        yield measured
        on_progress((number + 1) * n_answers, len(points) * n_answers)


def _scored(point: Point, generated: Generated, scorer: Scorer) -> Measured:
    outcome = generated.score(scorer.suite)
    problems = [*generated.problems, *([outcome.error] if outcome and outcome.error else ())]
    scores = TrialScores(scorer) if generated.run is None else TrialScores.of(generated.run, scorer)
    return Measured(
        point,
        generated.folder,
        scores.intervals() if scores.n_trials else {},
        scores.n_trials,
        generated.n_new,
        scores.trials_for(HALF_WIDTH),
        problems=tuple(f"{point.name}: {problem}" for problem in problems),
        signature=None if generated.run is None else scorer.signature,
        n_existing=generated.n_existing,
        oldest_answer=generated.oldest_answer,
        replies=generated.replies,
    )


def sweep_table(measured: Sequence[Measured]) -> Table:
    """A row for each point. Resuming a sweep does not change the rows."""
    columns = [Column(key, form=lambda value: in_one_line(value_text(value))) for key in measured[0].point.values]
    for metric in SCORES:
        is_optional = metric != SCORES[0]
        columns.append(Column(metric, form=_interval_text, view="readers", is_optional=is_optional))
        columns += [Column(name, view="files") for name in (metric, f"{metric}_half_width")]
    columns += [
        Column("n_trials", "trials"),
        Column("trials_for_interval", f"for ±{HALF_WIDTH:g}", is_optional=True),
        Column("run"),
        Column("problems", view="files"),
        Column("signature", view="files"),
    ]
    rows = []
    for point in measured:
        intervals = [point.intervals.get(metric) for metric in SCORES]
        scores = [(row, row.value, row.half_width) if row else (None, None, None) for row in intervals]
        run = point.folder and point.folder.as_posix()
        origin = (point.n_trials, point.trials_for, run, list(point.problems), point.signature)
        rows.append([*point.point.values.values(), *itertools.chain(*scores), *origin])
    return Table(columns, rows, name="sweep")


def _interval_text(interval: Interval) -> str:
    """A value with its interval, such as `0.6311 ±0.0050`."""
    return f"{interval.value:.4f}" + ("" if interval.half_width is None else f" ±{interval.half_width:.4f}")
