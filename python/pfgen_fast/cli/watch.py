"""`pfgen-fast watch`: scores each new checkpoint of a training run, with a table and a picture by step."""

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
from .app import Json, Quiet, counted, exit_if_partial, fail, note, print_line, warn
from .asking import watch_over
from .command_class import option_group
from .engine_options import engine_options
from .generation_options import GenerationOptions
from .reasoning_options import ReasoningOptions
from .suite_line import about_interval, print_origin, suite_or_here
from .sweep import TABLES, SweepRows, check_files, write_results

if TYPE_CHECKING:
    from ..checkpoints import Checkpoints, Watch
    from ..generation.sweep import Measured
    from .asking import Watch as AskingWatch

_STEP_WIDTH = 9
TrackerChoice = Literal["mlflow", "wandb", "tensorboard"]


@option_group
class CheckpointOptions:
    """The options that define which directories are checkpoints, and when a checkpoint is complete."""

    pattern: str | None = Option(
        None,
        help="Use directories whose whole name matches this regular expression; its first group is the step. Default: "
        "checkpoint-N, iter_N, global_stepN, step-N, epoch_N.",
        metavar="REGEX",
    )
    ready_file: str | None = Option(
        None,
        help="Score a checkpoint when it contains this file. Default: when the Trainer's trainer_state.json "
        "can be read, or nothing has changed for --unchanged seconds.",
        metavar="NAME",
    )
    unchanged: float = Option(
        60.0, min=0, help="Treat a checkpoint as complete when nothing has changed for this time.", metavar="SECONDS"
    )
    weights: str = Option(
        ".", help="Load the weights from this directory within a checkpoint, such as actor/huggingface."
    )

    def found(self, folder: Path) -> Checkpoints:
        """The checkpoints of a training run."""
        from ..checkpoints import Checkpoints
        from ..checkpoints.found import USUAL_PATTERN

        return Checkpoints(folder, self.pattern or USUAL_PATTERN, self.ready_file, self.unchanged, self.weights)


class _Watch:
    """Scores every checkpoint of a training run once, as soon as it is complete.

    Each checkpoint becomes a run as in generate. The run's name contains a hash of the weights, so new weights under an
    old name are scored again. The command may be stopped or killed at any time, and running it again continues.
    After each checkpoint it writes the scores by step as a table and a picture. A checkpoint that fails is named, and
    the others are scored; with --once the exit code is then 3. With --json, each checkpoint is a line of JSON.

    Examples

      pfgen-fast watch runs/my-training --suite my-suite --device cuda:1

      pfgen-fast watch runs/my-training -s my-suite -e vllm --ready-file done --log wandb --patience 5

      pfgen-fast watch runs/my-training -s my-suite -e openai --mode chat --serve 'vllm serve {path} --port {port}'

      pfgen-fast watch megatron/save -s my-suite -e openai --mode chat --base-url http://localhost:8000/v1 --once
    """

    folder: Path = Argument(..., help="Directory where the training run writes its checkpoints.", metavar="DIR")
    engine: str = Option(
        "transformers", "-e", help="Load the weights with transformers or vllm, or ask a server: openai."
    )
    serve: str | None = Option(
        None,
        help="Start a server for each checkpoint with this command, and stop it afterwards. {path}, {name}, {step} and "
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
        help="Use prompts of this kind; see generate. Default: chat for local weights with a chat template.",
    )
    how: GenerationOptions
    which: CheckpointOptions
    reasoning: ReasoningOptions
    of_engine: Annotated[dict[str, Any], engine_options(without=("input", "question_column", "answer_column", "path"))]
    output: options.Root = Path("result")
    table: Path | None = Option(
        None, help=f"Write the table to this file ({', '.join(TABLES)}). Default: watch.csv next to the runs."
    )
    plot: Path | None = Option(
        None, help="Draw the scores by step to this file (.png, .svg). Default: watch.png next to the runs."
    )
    log: TrackerChoice | None = Option(None, help="Log each score, its tables and its report to a tracker.")
    every: float = Option(
        30.0, min=0.01, help="Set the time between two searches for new checkpoints.", metavar="SECONDS"
    )
    patience: int | None = Option(
        None, min=1, help="End after this many checkpoints in a row without a new best score.", metavar="N"
    )
    once: bool = Option(False, help="Score the complete checkpoints, then end.")
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
            why = f"these steps are not complete yet: {few_names(steps)}" if steps else f"expected {pattern}"
            fail(f"{self.folder}: holds no complete checkpoint; {why}")
        if len(steps) > n_complete:
            of_all = f"{len(steps) - n_complete} of {counted(len(steps), 'checkpoint')}"
            note(f"{of_all} are not complete yet; see --unchanged")

    def is_over(self, watching: Watch, results: _Results) -> bool:
        """Scores the complete checkpoints; returns whether the command ends."""
        for _ in results.take():
            if self.patience is not None and watching.n_since_best >= self.patience:
                note(f"no new best score in the last {watching.n_since_best} checkpoints (--patience)")
                return True
        return self.once

    def watching(self, answers: AskingWatch) -> Watch:
        """Creates the library's object for the checkpoints and their settings."""
        from ..checkpoints import ServerCommand, Watch

        loaded = suite_or_here(self.suite).only(options.names_of(self.questions), limit=self.limit)
        if self.log is not None and loaded.whole is not None:
            fail("--log: expected results of all questions; leave out --questions and --limit")
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
        self.unlogged: dict[str, str] = {}  # by model, the reason why a tracker lacks its scores

    def begin(self) -> None:
        """Prints the head of the table, and the checkpoints that were scored before."""
        self._write()  # after a kill, the journal may be newer than the files
        if self._as_json or self._is_silent:
            return
        if not self._draws:
            note(f"{self._plot} is not drawn: it needs pip install 'pfgen-fast[plots]'")
        print_origin(self._watching.suite)
        print_line((about_interval("trials"), "dim"))
        self._rows.print_heads()
        for measured in self._watching.scored:
            self._rows.print(measured)

    def take(self) -> Iterator[Measured]:
        """Scores the complete checkpoints, and logs scores that the tracker lacks."""
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
            except Exception as error:  # trackers raise errors of many types; logging is tried again
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
    """Logs a score into the tracker's run for this training run."""
    from importlib import import_module

    log_run = import_module(f"..integrations.{tracker}", __package__).log_run
    training = watching.checkpoints.folder.resolve()
    into: Any = training / "pfgen" if tracker == "tensorboard" else training.name
    step = measured.point.values["step"]
    log_run(measured.folder, into=into, step=step, suite=watching.suite, signature=measured.signature)
