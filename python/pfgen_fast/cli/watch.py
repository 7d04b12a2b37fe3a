"""`pfgen-fast watch`: scores the checkpoints of a training as they appear, with a table and a picture by step."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from ..files.untrusted_text import few_names
from . import options
from .app import Json, Quiet, counted, exit_if_partial, fail, note, warn
from .asking import watch_over
from .command_class import command, option_group
from .engine_options import engine_options
from .generation_options import GenerationOptions
from .reasoning_options import ReasoningOptions
from .suite_line import print_origin, suite_or_here
from .sweep import TABLES, SweepRows, check_files, write_results

if TYPE_CHECKING:
    from ..checkpoints import Checkpoints, Watch
    from ..generation.sweep import Measured
    from .asking import Watch as AskingWatch

_STEP_WIDTH = 9
TrackerChoice = Literal["mlflow", "wandb", "tensorboard"]


@option_group
class CheckpointOptions:
    """The options that say which directories are checkpoints, and when one is complete."""

    pattern: str | None = Option(
        None,
        help="Take directories whose whole name this regular expression matches; its first group is the step. Default: "
        "checkpoint-N, iter_N, global_stepN, step-N, epoch_N.",
        metavar="REGEX",
    )
    ready_file: str | None = Option(
        None,
        help="Score a checkpoint when this file is in it. Default: when the Trainer's trainer_state.json can be read, "
        "or nothing has changed for --unchanged seconds.",
        metavar="NAME",
    )
    unchanged: float = Option(60.0, min=0, help="Take a checkpoint as complete after this time.", metavar="SECONDS")
    weights: str = Option(
        ".", help="Load the weights from this directory within a checkpoint, such as actor/huggingface."
    )

    def found(self, folder: Path) -> Checkpoints:
        """The checkpoints of a training."""
        from ..checkpoints import Checkpoints
        from ..checkpoints.found import USUAL_PATTERN

        return Checkpoints(folder, self.pattern or USUAL_PATTERN, self.ready_file, self.unchanged, self.weights)


class _Watch:
    """Scores every checkpoint of a training once, as soon as it is complete.

    Each checkpoint becomes a run as generate makes it; digits of its weights are part of its name, so new weights under
    an old name are scored again. The command may be stopped or killed at any time, and running it again continues.
    After each checkpoint it writes the scores by step as a table and a picture. A checkpoint that fails is named, and
    the others are scored; with --once the exit code is then 3. With --json, each checkpoint is a line of JSON.

    Examples

      pfgen-fast watch runs/my-training --suite my-suite --device cuda:1

      pfgen-fast watch runs/my-training -s my-suite -e vllm --ready-file done --log wandb --patience 5

      pfgen-fast watch runs/my-training -s my-suite -e openai --mode chat --serve 'vllm serve {path} --port {port}'

      pfgen-fast watch megatron/save -s my-suite -e openai --mode chat --base-url http://localhost:8000/v1 --once
    """

    folder: Path = Argument(..., help="The directory in which the training writes its checkpoints.", metavar="DIR")
    engine: str = Option(
        "transformers", "-e", help="Load the weights with transformers or vllm, or ask a server: openai."
    )
    serve: str | None = Option(
        None,
        help="Start a server for each checkpoint by this command, and end it afterwards. {path}, {name}, {step} and "
        "{port} are replaced.",
        metavar="COMMAND",
    )
    serve_timeout: float = Option(600.0, min=0.1, help="Set how long the server may take to start.", metavar="SECONDS")
    suite: options.SuiteToAsk = None
    questions: options.Questions = None
    limit: options.Limit = None
    trials: int = Option(10, "-n", min=1, help="Ask each question this often.")
    until_interval: float | None = Option(
        None, help="Stop asking when the score's 95 % interval is this narrow; see sweep."
    )
    mode: options.ModeChoice | None = Option(
        None,
        help="Use prompts of this kind; see generate. Default: chat where local weights have a template.",
    )
    how: GenerationOptions
    which: CheckpointOptions
    reasoning: ReasoningOptions
    of_engine: Annotated[dict[str, Any], engine_options(without=("input", "question_column", "answer_column", "path"))]
    output: options.Root = Path("result")
    table: Path | None = Option(
        None, help=f"Write the table here ({', '.join(TABLES)}). Default: watch.csv beside the runs."
    )
    plot: Path | None = Option(
        None, help="Draw the scores by step here (.png, .svg). Default: watch.png beside the runs."
    )
    log: TrackerChoice | None = Option(None, help="Log each score, its tables and its report to a tracker.")
    every: float = Option(30.0, min=0.01, help="Look for new checkpoints this often.", metavar="SECONDS")
    patience: int | None = Option(
        None, min=1, help="End after this many checkpoints in a row without a new best score.", metavar="N"
    )
    once: bool = Option(False, help="Score the complete checkpoints, and end.")
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        if not self.folder.is_dir():
            missing = f"{self.folder}: no such directory"
            if self.once:
                fail(missing)
            note(f"{missing} yet; waiting for it")
        answers = watch_over("answers", quiet=self.quiet or self.as_json)
        watching = self.watching(answers)
        results = _Results(watching, self)
        with answers, watching.alone():
            results.begin()
            while not self.is_over(watching, results):
                time.sleep(self.every)
        if self.once:
            self.say_what_is_missing(watching)
        exit_if_partial(self.once and (watching.failed or results.unlogged))

    def say_what_is_missing(self, watching: Watch) -> None:
        """Notes checkpoints that are not complete; ends the command if no checkpoint is."""
        n_complete = len(watching.checkpoints.complete())
        steps = [str(step) for step, _ in watching.checkpoints.named()]
        if not (watching.scored or watching.failed):
            pattern = f"names that match {self.which.pattern}" if self.which.pattern else "names such as checkpoint-100"
            why = f"not complete yet: step {few_names(steps)}" if steps else f"expected {pattern}"
            fail(f"{self.folder}: holds no complete checkpoint; {why}")
        if len(steps) > n_complete:
            note(f"{len(steps) - n_complete} of {counted(len(steps), 'checkpoint')} not complete yet; see --unchanged")

    def is_over(self, watching: Watch, results: _Results) -> bool:
        """Scores the complete checkpoints, and decides whether that was the last look."""
        for _ in results.take():
            if self.patience is not None and watching.n_since_best >= self.patience:
                note(f"no new best score in the last {watching.n_since_best} checkpoints; ending (--patience)")
                return True
        return self.once

    def watching(self, answers: AskingWatch) -> Watch:
        """How the checkpoints are scored, as the library takes it."""
        from ..checkpoints import ServerCommand, Watch

        loaded = suite_or_here(self.suite).only(options.names_of(self.questions), limit=self.limit)
        if self.log is not None and loaded.whole is not None:
            fail("--log: needs the results of all questions; leave out --questions and --limit")
        if self.serve is not None and "base_url" in self.of_engine:
            fail("--serve and --base-url: expected one of them")
        return Watch(
            self.which.found(self.folder),
            loaded,
            self.engine,
            self.of_engine,
            {**self.how.arguments, "mode": self.mode, "reasoning": self.reasoning.chosen},
            self.trials,
            self.until_interval,
            self.output,
            None if self.serve is None else ServerCommand.of(self.serve, seconds=self.serve_timeout),
            answers.count,
            answers.events,
        )


class _Results:
    """Prints, writes and logs the scores of checkpoints."""

    def __init__(self, watching: Watch, given: _Watch) -> None:
        self._watching, self._tracker, self._is_silent, self._as_json = watching, given.log, given.quiet, given.as_json
        self._table = given.table or watching.folder / "watch.csv"
        self._plot = given.plot or watching.folder / "watch.png"
        check_files(self._table, given.plot)
        self._draws = _can_draw(self._plot)
        self._rows = SweepRows({"step": _STEP_WIDTH}, watching.until_interval)
        self.unlogged: dict[str, str] = {}  # why a tracker does not have the scores of a checkpoint, by model

    def begin(self) -> None:
        """Prints the head of the table, and the checkpoints that were scored before."""
        self._write()  # a kill may have come between the journal and the files
        if self._as_json or self._is_silent:
            return
        if not self._draws:
            note(f"no picture: pip install 'pfgen-fast[plots]' draws {self._plot}")
        print_origin(self._watching.suite)
        self._rows.print_heads()
        for measured in self._watching.scored:
            self._rows.print(measured)

    def take(self) -> Iterator[Measured]:
        """Scores the complete checkpoints, and logs those that the tracker lacks."""
        self._log()
        for measured in self._watching.look():
            self._show(measured)
            if measured.intervals:
                self._write()
            self._log()
            yield measured
        self._log()

    def _show(self, measured: Measured) -> None:
        from ..generation.sweep import records

        for problem in (*measured.problems, *(measured.replies.problems if measured.replies else ())):
            warn(problem)
        if self._as_json:
            typer.echo(json.dumps(records([measured])[0]))
        elif measured.intervals and not self._is_silent:
            self._rows.print(measured)

    def _write(self) -> None:
        if scored := self._watching.scored:
            write_results(scored, self._table, self._plot if self._draws else None, None, with_trials=False)

    def _log(self) -> None:
        if self._tracker is None:
            return
        for measured in self._watching.scored:
            model = measured.point.setting.model
            if self._watching.logged(measured, self._tracker):
                continue
            try:
                _log_to(self._tracker, measured, self._watching)
            except Exception as error:  # a tracker raises errors of many types, and may be back at the next look
                if self.unlogged.get(model) != str(error):
                    self.unlogged[model] = str(error)
                    warn(f"step {measured.point.values['step']}: not logged to {self._tracker}: {error}")
            else:
                self.unlogged.pop(model, None)
                self._watching.note_logged(measured, self._tracker)


def _can_draw(path: Path) -> bool:
    from ..errors import PfgenError
    from ..report.sweep_plot import check_picture

    try:
        check_picture(path)
    except PfgenError:
        return False
    return True


def _log_to(tracker: str, measured: Measured, watching: Watch) -> None:
    """Logs into one run of the tracker for the whole training."""
    from importlib import import_module

    log_run = import_module(f"..integrations.{tracker}", __package__).log_run
    training = watching.checkpoints.folder.resolve()
    into: Any = training / "pfgen" if tracker == "tensorboard" else training.name
    step = measured.point.values["step"]
    log_run(measured.folder, into=into, step=step, suite=watching.suite, signature=measured.signature)


watch = command(_Watch)
