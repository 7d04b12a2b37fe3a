"""Generation: a model answers the tasks of a suite with an engine of `generation`; existing answers are kept.

A task is sent as one user message, or as a text to continue. Answers are stored unchanged, with the reason why the
model stopped if its server gives one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any, Literal

from ...base.errors import ChecklistError
from ...base.file_writing import check_folder, write_whole
from ...base.journal import Journal, sole_writer
from ...base.untrusted_json import Fault, json_bytes, member, text
from ...base.untrusted_text import few_names, folder_names, in_one_line, unknown_name
from ...generation.engines.engine import Engine, run_async
from ...generation.engines.engine_registry import ENGINES as ALL_ENGINES
from ...generation.engines.engine_registry import open_engine
from ...generation.events import Events
from ...generation.generating import ask_until_answered
from ...generation.prompts import Prompt, Request, Sampling, sampling_seed
from ...generation.protocol import RawReply
from ...generation.setting import Reasoning
from ...scoring.reply_text import DividedReply
from .checklist_runs import CONFIG_FILE, Answer, answer_of, read_answers, read_config, shown_key, write_answers
from .checklist_suite import ChecklistSuite, keys_in_order
from .line_files import data_file
from .tasks import AnswerKey, ChecklistTask, check_instructions, sha256_of

_UNFINISHED = ".unfinished.jsonl"
_MAX_NAME_BYTES = 255


def run_name(model: str) -> str:
    """The name of the directory of a model's run, which is its key in tables."""
    name = "_".join(folder_names(model))
    if not name or not name.isprintable() or name.startswith(".") or len(name.encode()) > _MAX_NAME_BYTES:
        raise ChecklistError(
            f"the model {in_one_line(model)!r}: expected a valid name of a folder; --name gives the run another name"
        )
    return name


class AnswerWriter:
    """Writes the answers of one run; `opened` locks its directory, and closing writes the file of answers."""

    @classmethod
    @contextlib.contextmanager
    def opened(cls, folder: Path, suite: ChecklistSuite, config: Mapping[str, Any]) -> Iterator[AnswerWriter]:
        """Opens the directory of a run for writing."""
        check_folder(folder)
        with (
            sole_writer(folder, doing="writing answers to it", error=ChecklistError),
            contextlib.closing(cls(folder, suite, config)) as writer,
        ):
            yield writer

    def __init__(self, folder: Path, suite: ChecklistSuite, config: Mapping[str, Any]) -> None:
        self._folder, self._suite = folder, suite
        self._config = {name: value for name, value in sorted(config.items()) if value is not None}
        self._path = data_file(folder, "answers") or folder / "answers.jsonl"
        self._journal = Journal(folder / _UNFINISHED)
        times = [path.stat().st_mtime for path in (self._path, folder / _UNFINISHED) if path.exists()]
        self.last_written = (
            datetime.fromtimestamp(max(times), timezone.utc).isoformat(timespec="seconds") if times else ""
        )
        self._check_config()
        self.answers: dict[AnswerKey, Answer] = read_answers(self._path, suite) if self._path.exists() else {}
        self._is_changed = False
        for entry in self._journal.entries():
            answer = self._kept(entry)
            if answer is not None and answer.key not in self.answers:
                self.answers[answer.key] = answer
                self._is_changed = True

    def add(self, answer: Answer) -> None:
        """Stores an answer; it is on disk when this returns."""
        config = self._folder / CONFIG_FILE
        if not config.exists():
            write_whole(config, json_bytes(self._config))
        task = self._suite.by_key[answer.id, answer.length]
        self._journal.add({**asdict(answer), "instruction_sha256": sha256_of(task.instruction or "")})
        self.answers[answer.key] = answer
        self._is_changed = True

    def close(self) -> None:
        """Writes the file of answers, and removes the hidden file."""
        self._journal.close()
        if self._is_changed:
            write_answers(self._path, [self.answers[key] for _, key in keys_in_order(self._suite, self.answers)])
        self._journal.remove()

    def _check_config(self) -> None:
        """Raises ChecklistError if the existing answers have other parameters."""
        path = self._folder / CONFIG_FILE
        if not path.exists():
            return
        there, wanted = read_config(path), self._config
        differing = sorted(name for name in {*there, *wanted} - {"name"} if there.get(name) != wanted.get(name))
        if differing:
            raise ChecklistError(
                f"{path}: the existing answers were made with other parameters ({', '.join(differing[:5])}); "
                "expected the same parameters, or another --name or folder"
            )

    def _kept(self, entry: Mapping[str, Any]) -> Answer | None:
        """The answer in an entry of the hidden file; None if its task has changed since."""
        try:
            answer, instruction = answer_of(entry), member(entry, "instruction_sha256", text)
        except Fault:
            return None
        task = self._suite.by_key.get((answer.id, answer.length))
        return answer if task is not None and instruction == sha256_of(task.instruction or "") else None


ENGINES = ("openai", "anthropic", "transformers", "vllm", "openai-api", "hf")
"""The engines that answer any prompt; the others answer the questions of an n-gram suite."""

Mode = Literal["qa", "completion"]
"""One user message, or a text to continue, for models without a chat template."""


@dataclass(frozen=True)
class ChecklistSetting:
    """The model and its parameters; the defaults are those of the published answers."""

    model: str
    sampling: Sampling = field(default_factory=lambda: Sampling(16_384, 0.8, None, stop=()))
    mode: Mode = "qa"
    seed: str = ""
    reasoning: Reasoning = field(default_factory=Reasoning)

    def config(self, suite: ChecklistSuite, engine: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The content of config.json; the engine's `parameters` take precedence."""
        return {
            "engine": engine,
            **self.sampling.config(),
            "stop": list(self.sampling.stop) or None,
            **self.reasoning.config(),
            "mode": self.mode,
            "model": self.model,
            "seed": self.seed or None,
            "suite": suite.name,
            **parameters,
        }


@dataclass(frozen=True)
class AnswerRequest(Request):
    """A request for one answer."""

    key: AnswerKey


@dataclass(frozen=True)
class GeneratedAnswers:
    """The outcome of a call."""

    folder: Path
    n_answers: int
    n_new: int
    n_cut: int
    missing: tuple[AnswerKey, ...] = ()
    trouble: str = ""
    events: Events = field(default_factory=Events)
    n_unfinished: int = 0  # how many answers are missing because the reasoning did not end
    last_written: str = ""  # when the existing answers were last written, in ISO 8601; empty if there were none

    @property
    def problem(self) -> str | None:
        """A sentence about missing answers; None if all are there."""
        if not self.missing:
            return None
        why = f" ({self.trouble})" if self.trouble else ""
        if self.n_unfinished:
            why += f"; in {self.n_unfinished:,} replies the reasoning did not end: give --reasoning-tokens"
        named = few_names(list(map(shown_key, self.missing)))
        return f"{self.folder}: {len(self.missing):,} answers are missing: {named}{why}"


def chosen_tasks(
    suite: ChecklistSuite, *, lengths: Iterable[str] = (), areas: Iterable[str] = (), limit: int | None = None
) -> list[ChecklistTask]:
    """The tasks of the main table, or the tasks with the given lengths; a limit takes tasks of all areas in turn."""
    wanted, chosen = tuple(lengths), tuple(areas)
    for what, names, known in (("length", wanted, suite.lengths), ("area", chosen, suite.areas)):
        for name in names:
            if name not in known:
                raise ChecklistError(f"suite {suite.name}: {unknown_name(what, name, known)}")
    tasks = [
        task
        for task in suite.tasks
        if (task.length in wanted if wanted else task.length is None) and (not chosen or task.area in chosen)
    ]
    if limit is not None:
        turns = {task.area: count() for task in tasks}
        first = set(sorted(tasks, key=lambda task: next(turns[task.area]))[:limit])
        tasks = [task for task in tasks if task in first]
    if not tasks:
        raise ChecklistError(f"suite {suite.name}: no task has these lengths and areas; expected at least one task")
    check_instructions(tasks, f"suite {suite.name}")
    return tasks


def requests_of(tasks: Sequence[ChecklistTask], setting: ChecklistSetting, trials: int = 1) -> list[AnswerRequest]:
    """The requests for the answers to tasks; the sampling seed depends on the task, the trial and `setting.seed`."""
    if trials < 1:
        raise ChecklistError(f"trials: expected at least 1, not {trials}")
    requests = []
    for trial in range(1, trials + 1):
        for task in tasks:
            instruction, key = task.instruction or "", (*task.key, trial)
            if setting.mode == "completion":
                prompt = Prompt(text=f"{instruction}\n\n")
            else:
                prompt = Prompt(messages=({"role": "user", "content": instruction},))
            seed = sampling_seed(f"{setting.seed}::{task.id}::{task.length or ''}", trial)
            requests.append(AnswerRequest(prompt, seed, f"the answer to {shown_key(key)}", key))
    return requests


def open_answering(engine: str, setting: ChecklistSetting, **options: Any) -> Engine:
    """Opens an engine for `generate_answers`."""
    if engine in ALL_ENGINES and engine not in ENGINES:
        raise ChecklistError(
            f"the engine {engine} answers the questions of n-gram suites; expected one of {', '.join(ENGINES)}"
        )
    return open_engine(
        engine,
        model=setting.model,
        mode=setting.mode,
        sampling=setting.reasoning.sent(setting.sampling, setting.mode),
        **options,
    )


def generate_answers(
    suite: ChecklistSuite,
    engine: Engine,
    setting: ChecklistSetting,
    folder: Path,
    *,
    tasks: Sequence[ChecklistTask] | None = None,
    trials: int = 1,
    tries: int = 3,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    events: Events | None = None,
) -> GeneratedAnswers:
    """Lets a model answer tasks; existing answers of the run are kept.

    Args:
        suite: The suite.
        engine: The engine, opened with the same setting; see `open_answering`. It is closed at the end.
        setting: The model and its parameters.
        folder: The directory of the run.
        tasks: The tasks; by default all tasks of the main table.
        trials: The number of answers to each task.
        tries: The number of requests for an answer, each with another seed, before it counts as missing.
        on_progress: Called with the number of existing answers and the total.
        events: Counts retries and other events.

    Raises:
        ChecklistError: The directory holds answers with other parameters, or another process writes to it.
        EngineError: An error concerns all tasks. Earlier answers are kept.
    """
    wanted = requests_of(chosen_tasks(suite) if tasks is None else tasks, setting, trials)
    config = setting.config(suite, engine.name, engine.parameters)
    counted = events or Events()
    unfinished: set[AnswerKey] = set()

    async def run() -> GeneratedAnswers:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(engine.close)
            writer = stack.enter_context(AnswerWriter.opened(folder, suite, config))
            missing = [request for request in wanted if request.key not in writer.answers]
            n_before = n_there = len(wanted) - len(missing)

            def take(request: AnswerRequest, reply: RawReply, divided: DividedReply) -> None:
                nonlocal n_there
                if divided.state == "unfinished" and not divided.answer:
                    unfinished.add(request.key)
                    return
                id, length, trial = request.key
                answer = reply.text if divided.answer == reply.text.strip() else divided.answer
                writer.add(Answer(id, answer, length, trial, reply.details.finish_reason))
                counted.n_answers += 1
                n_there += 1
                on_progress(n_there, len(wanted))

            on_progress(n_before, len(wanted))
            if missing:
                stop = setting.sampling.stop
                await ask_until_answered(
                    engine, missing, setting.reasoning, "completion", stop, counted, rounds=tries, take=take
                )
            there = [writer.answers[request.key] for request in wanted if request.key in writer.answers]
            lacking = tuple(request.key for request in wanted if request.key not in writer.answers)
            return GeneratedAnswers(
                folder,
                len(there),
                len(there) - n_before,
                sum(answer.finish_reason == "length" for answer in there),
                lacking,
                engine.trouble if lacking else "",
                counted,
                len(unfinished),
                writer.last_written if n_before else "",
            )

    return run_async(run())
