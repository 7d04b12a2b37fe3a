"""Scores each checkpoint of a training run once. A journal lists the scored checkpoints, so a restart continues."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha1
from pathlib import Path
from typing import Any

from ..errors import EngineError, PfgenError
from ..files.journal import Journal
from ..files.untrusted_text import in_one_line
from ..generation.engines import HOSTED, engine_options, refuse_unknown_options
from ..generation.events import Events
from ..generation.setting import usual_mode
from ..generation.sweep import Measured, Point, sweep, with_scores
from ..runs.trials import RunFolder
from ..scoring.scorer import Scorer
from ..suite.suite import Suite
from .found import Checkpoint, Checkpoints
from .server_command import ServerCommand

_OF_THE_MACHINE = frozenset(
    {"base_url", "key_env", "concurrency", "timeout", "retries", "requests_per_minute", "tokens_per_minute", "device"}
)
"""Options that do not change answers."""


@dataclass(frozen=True)
class Watch:
    """Scores the checkpoints of a training run."""

    checkpoints: Checkpoints
    suite: Suite
    engine: str = "transformers"
    options: Mapping[str, Any] = field(default_factory=dict)  # options of the engine
    # further arguments of `Generation.of`; the model is the checkpoint, and the default mode depends on it
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trials: int = 10  # maximum number of trials
    until_interval: float | None = None  # see `sweep`
    output: Path = Path("result")  # directory below which runs are written
    # starts a server for each checkpoint; without it, the name of the model in requests is that of the checkpoint
    server: ServerCommand | None = None
    # called with the number of answers for the current checkpoint, and their final number
    on_progress: Callable[[int, int], None] | None = None
    events: Events | None = None  # counts events such as timeouts
    _scored: dict[str, Measured] = field(default_factory=dict, init=False)
    _failed: dict[str, Measured] = field(default_factory=dict, init=False)
    _logged: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        refuse_unknown_options(self.engine, self.options)
        mode = self.parameters.get("mode") or "qa"
        _ = Point.of(self.engine, **{**self.parameters, "model": "checkpoint", "mode": mode})
        if self.server is not None and self.engine not in HOSTED:
            raise EngineError(f"--serve: the engine {self.engine} uses no server; expected an engine such as openai")

    @property
    def folder(self) -> Path:
        """The directory of all runs, of the journal, and of the servers' logs."""
        return self.output / self.checkpoints.folder.resolve().name

    @property
    def scored(self) -> list[Measured]:
        """The scored checkpoints in the order of steps; those of one step in the order of scoring."""
        return sorted(self._scored.values(), key=lambda one: int(one.point.values["step"]))

    @property
    def failed(self) -> list[Measured]:
        """The checkpoints without a score, or with fewer trials than wanted."""
        return list(self._failed.values())

    @property
    def n_since_best(self) -> int:
        """The number of checkpoints after the checkpoint with the best score."""
        scores = [one.intervals["score"].value for one in self.scored]
        return len(scores) - 1 - scores.index(max(scores)) if scores else 0

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Locks the journal, and reads which checkpoints are scored."""
        training = str(self.checkpoints.folder.resolve())
        with self._journal.locked(what="scores of checkpoints", error=EngineError):
            entries = list(self._journal.entries())
            others = [entry["training"] for entry in entries if entry.get("training") not in (None, training)]
            if others:
                other = in_one_line(others[0], 1000)
                raise EngineError(
                    f"{self._journal.path}: has the scores of the training run {other}; choose another --output, or "
                    "delete the file if that training run was moved"
                )
            if not entries:
                self._journal.add({"training": training})
            for entry in entries:
                if isinstance(entry.get("logged"), str):
                    self._logged.add(entry["logged"])
                elif entry.get("settings") == self._settings:
                    self._restore(entry)
            yield

    def look(self) -> Iterator[Measured]:
        """Scores the complete checkpoints without a score, and yields the outcome of each."""
        for checkpoint in self.checkpoints.complete():
            key = checkpoint.model
            if key in self._failed or self._is_scored(key):
                continue
            measured = self._measured(checkpoint)
            if measured.problems:
                self._failed[key] = measured
            else:
                self._scored[key] = measured
                place = None if measured.folder is None else str(measured.folder.relative_to(self.output))
                self._journal.add({"model": key, "settings": self._settings, "step": checkpoint.step, "folder": place})
            yield measured

    def logged(self, measured: Measured, tracker: str) -> bool:
        """Whether a tracker has the scores of a checkpoint; see `note_logged`."""
        return self._log_key(measured, tracker) in self._logged

    def note_logged(self, measured: Measured, tracker: str) -> None:
        """Records that a tracker has the scores of a checkpoint."""
        self._logged.add(self._log_key(measured, tracker))
        self._journal.add({"logged": self._log_key(measured, tracker)})

    @cached_property
    def _journal(self) -> Journal:
        return Journal(self.folder / "watch.jsonl")

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self.suite)

    @cached_property
    def _settings(self) -> str:
        """A hash of everything that affects the scores besides the checkpoint."""
        options = {name: value for name, value in self.options.items() if name not in _OF_THE_MACHINE}
        parts = [self.engine, options, dict(self.parameters), self.suite.metadata_hash, self.trials]
        parts += [self.until_interval, self.server and list(self.server.words)]
        return sha1(json.dumps(parts, sort_keys=True, default=repr).encode()).hexdigest()

    def _measured(self, checkpoint: Checkpoint) -> Measured:
        server = None
        with contextlib.ExitStack() as stack:
            try:
                of_server: dict[str, Any] = {}
                if self.server is not None:
                    log = self.folder / f"server-{checkpoint.folder.name}.log"
                    key = os.environ.get(self.options.get("key_env", "OPENAI_API_KEY"), "")
                    server = stack.enter_context(self.server.running(checkpoint, log, key=key))
                    of_server = {"base_url": server.base_url, "served_model": server.model}
                point = self._point(checkpoint, of_server)
            except PfgenError as error:
                problem = f"step {checkpoint.step}: {error}"
                return Measured(self._named(checkpoint.model, checkpoint.step), None, problems=(problem,))
            (measured,) = sweep(
                self.suite,
                [point],
                trials=self.trials,
                until_interval=self.until_interval,
                output=self.output,
                on_progress=self.on_progress,
                events=self.events,
            )
            if measured.problems and server is not None and server.ending:
                return replace(measured, problems=(*measured.problems, f"step {checkpoint.step}: {server.ending}"))
            return measured

    def _point(self, checkpoint: Checkpoint, of_server: Mapping[str, Any]) -> Point:
        """The generation of a checkpoint."""
        options = dict(self.options)
        if "path" in engine_options(self.engine):
            options["path"] = str(checkpoint.weights)
        elif self.engine in HOSTED:
            options = {"served_model": checkpoint.folder.name, **of_server, **options}
        parameters = dict(self.parameters)
        if parameters.get("mode") is None:
            usual, _ = usual_mode(self.engine, checkpoint.model, options)
            parameters["mode"] = usual if self.server is None else "chat"
        return self._named(checkpoint.model, checkpoint.step, options=options, **parameters)

    def _named(self, model: str, step: int, **parameters: Any) -> Point:
        return replace(Point.of(self.engine, model=model, **parameters), values={"step": step})

    def _is_scored(self, key: str) -> bool:
        measured = self._scored.get(key)
        return measured is not None and measured.folder is not None and measured.folder.exists()

    def _restore(self, entry: Mapping[str, Any]) -> None:
        """Reads a scored checkpoint from the journal, unless its run was deleted."""
        model, folder, step = (entry.get(name) for name in ("model", "folder", "step"))
        if isinstance(model, str) and isinstance(folder, str) and isinstance(step, int):
            with contextlib.suppress(PfgenError, ValueError):
                run = RunFolder(self.output / folder, None)
                self._scored[model] = with_scores(Measured(self._named(model, step), run.folder), run, self._scorer)

    @staticmethod
    def _log_key(measured: Measured, tracker: str) -> str:
        return f"{tracker} {measured.point.setting.model} {measured.folder and measured.folder.name}"
