"""Scores the checkpoints of Hugging Face's Trainer as they appear, and keeps a leaderboard of them.

It may be stopped and restarted at any time: scored checkpoints are not scored again, and an unfinished run resumes.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha1
from pathlib import Path

from ..errors import PfgenError
from ..files.writing import write_whole
from ..generation.engines import Sampling, open_engine
from ..generation.generating import generate
from ..generation.prompts import NUM_EXAMPLES, Mode
from ..generation.run_writer import run_folder
from ..generation.setting import Setting
from ..runs.leaderboard import find_results, rank, to_markdown
from ..runs.result import RunResult, read_result
from ..runs.run_scorer import RunScorer
from ..suite.suite import Suite

_NAME = re.compile(r"checkpoint-(\d+)")


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint of Hugging Face's Trainer.

    Attributes:
        folder: Where it is.
        step: The training step that it holds.
        digest: Distinguishes it from a checkpoint of the same step in an earlier training.
    """

    folder: Path
    step: int
    digest: str

    @property
    def model(self) -> str:
        """Its name on the leaderboard."""
        return f"{self.folder.resolve().parent.name}/{self.folder.name}-{self.digest}"


def complete_checkpoints(folder: Path) -> list[Checkpoint]:
    """The completely written checkpoints below a folder, by step.

    The Trainer writes `trainer_state.json` last; while it is missing or incomplete, so is the checkpoint.
    """
    found = []
    for path in folder.glob("checkpoint-*"):
        name = _NAME.fullmatch(path.name)
        try:
            state = (path / "trainer_state.json").read_bytes()
            json.loads(state)
        except (OSError, ValueError):
            continue  # not complete yet, or just deleted by save_total_limit
        if name:
            found.append(Checkpoint(path, int(name[1]), sha1(state).hexdigest()[:7]))
    return sorted(found, key=lambda checkpoint: checkpoint.step)


@dataclass(frozen=True)
class Watch:
    """The evaluation of each checkpoint.

    Attributes:
        suite: The suite of questions.
        output: The directory of runs and of the leaderboard.
        trials: The number of answers to each question.
        mode: The kind of prompts.
        sampling: The sampling parameters.
        num_examples: The number of sample answers in a prompt.
        device: The device of the checkpoints; by default a GPU if there is one.
        on_progress: Called with a checkpoint, the number of its answers, and their final number.
        on_problem: Called with a checkpoint, and the reason why one of its trials failed.
    """

    suite: Suite
    output: Path
    trials: int
    mode: Mode
    sampling: Sampling
    num_examples: int = NUM_EXAMPLES
    device: str | None = None
    on_progress: Callable[[Checkpoint, int, int], None] = lambda checkpoint, done, total: None
    on_problem: Callable[[Checkpoint, str], None] = lambda checkpoint, problem: None

    def score(self, checkpoint: Checkpoint) -> RunResult:
        """Generates the missing answers of a checkpoint, scores its run, and rewrites the leaderboard.

        Raises:
            PfgenError: The checkpoint cannot be loaded, or no trial is complete.
        """
        engine = open_engine(
            "transformers",
            suite=self.suite,
            model=str(checkpoint.folder.resolve()),
            mode=self.mode,
            sampling=self.sampling,
            device=self.device,
        )
        generated = generate(
            self.suite,
            engine,
            self._setting(checkpoint),
            trials=self.trials,
            output=self.output,
            on_progress=partial(self.on_progress, checkpoint),
        )
        for problem in generated.problems:
            self.on_problem(checkpoint, problem)
        if generated.run is None:
            raise PfgenError(f"{checkpoint.folder}: no trial is complete, so there is no score")
        (outcome,) = RunScorer(suite=self.suite).score([generated.run])
        if outcome.error:
            raise PfgenError(outcome.error)
        entries = rank(find_results([self.output]))
        write_whole(self.output / "leaderboard.md", to_markdown(entries, self.output).encode())
        return read_result(outcome.path)

    def is_scored(self, checkpoint: Checkpoint) -> bool:
        """Whether a checkpoint has its score, from this process or an earlier one."""
        folder = run_folder(self.output, self._setting(checkpoint).config(self.suite, "transformers"))
        try:
            result = read_result(folder / "result.json")
        except PfgenError:
            return False
        return result.num_trials >= self.trials

    def _setting(self, checkpoint: Checkpoint) -> Setting:
        return Setting(checkpoint.model, self.mode, self.sampling, num_examples=self.num_examples)


def watch(
    folder: Path, watching: Watch, *, seconds: float | None
) -> Iterator[tuple[Checkpoint, RunResult | PfgenError]]:
    """Yields every checkpoint of a directory once, with its result or an error; scored checkpoints are skipped.

    Args:
        folder: The directory in which the Trainer writes checkpoints; it need not exist yet.
        watching: The evaluation of each checkpoint.
        seconds: The seconds between two looks at the directory; None looks once.
    """
    failed: set[Checkpoint] = set()
    while True:
        for checkpoint in complete_checkpoints(folder):
            if checkpoint in failed or watching.is_scored(checkpoint):
                continue
            try:
                yield checkpoint, watching.score(checkpoint)
            except PfgenError as error:
                failed.add(checkpoint)
                yield checkpoint, error
        if seconds is None:
            return
        time.sleep(seconds)
