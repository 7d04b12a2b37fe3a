"""Generation: a model answers the tasks of a suite with an engine of `generation`; existing answers are not asked for.

A task is sent as one user message, or as a text to continue. What is kept is the whole answer as it came, with the
reason why the model stopped where its server says so.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from ..errors import ChecklistError
from ..files.untrusted_text import in_one_line, unknown_name
from ..generation.engines import ENGINES as ALL_ENGINES
from ..generation.engines import ModelEngine, Sampling, open_engine
from ..generation.events import Events, Trouble, reports_to
from ..generation.prompts import Prompt, Request, is_encodable, sampling_seed
from ..generation.protocol import RawReply
from ..generation.reasoning import Reasoning
from .answer_writer import AnswerWriter, writing_answers
from .judgements import AnswerKey
from .runs import Answer
from .suite import ChecklistSuite
from .tasks import Task

ENGINES = ("openai", "anthropic", "gemini", "gemini-native", "transformers", "vllm", "openai-api", "hf")
"""The engines that answer whatever they are sent; the others answer the questions of an n-gram suite."""

Mode = Literal["qa", "completion"]
"""One user message, or a text to continue, for models without a chat template."""

TEMPERATURE = 0.8
MAX_TOKENS = 16_384
"""The settings of the published answers."""

TRIES = 3
"""How often a task is asked before its answer counts as missing."""

_NAMED = 3


@dataclass(frozen=True)
class Setting:
    """How a model is asked."""

    model: str
    sampling: Sampling = field(default_factory=lambda: Sampling(MAX_TOKENS, TEMPERATURE, None, stop=()))
    mode: Mode = "qa"
    seed: str = ""
    reasoning: Reasoning = field(default_factory=Reasoning)

    def config(self, suite: ChecklistSuite, engine: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """What config.json records; the engine's `parameters` take precedence."""
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
class Generated:
    """The outcome of a call."""

    folder: Path
    n_answers: int
    n_new: int
    n_cut: int
    missing: tuple[AnswerKey, ...] = ()
    trouble: str = ""
    events: Events = field(default_factory=Events)
    last_written: str = ""  # when the existing answers were last written, in ISO 8601; empty if there were none

    @property
    def problem(self) -> str | None:
        """A sentence about the answers that are missing; None if none are."""
        if not self.missing:
            return None
        why = f" ({self.trouble})" if self.trouble else ""
        return f"{self.folder}: {len(self.missing):,} answers are missing: {_listed(self.missing)}{why}"


def chosen_tasks(
    suite: ChecklistSuite,
    *,
    lengths: Iterable[str] = (),
    areas: Iterable[str] = (),
    limit: int | None = None,
) -> list[Task]:
    """The tasks of the main table, or those with some lengths."""
    wanted, chosen = tuple(lengths), tuple(areas)
    for name in wanted:
        if name not in suite.lengths:
            raise ChecklistError(f"suite {suite.name}: {unknown_name('length', name, suite.lengths)}")
    for name in chosen:
        if name not in suite.areas:
            raise ChecklistError(f"suite {suite.name}: {unknown_name('area', name, suite.areas)}")
    found = [
        task
        for task in suite.tasks
        if (task.length in wanted if wanted else task.length is None) and (not chosen or task.area in chosen)
    ]
    if limit is not None:
        found = _first_of_each_area(found, limit)
    if not found:
        raise ChecklistError(f"suite {suite.name}: has no such tasks; expected at least one")
    _check_instructions(suite, found)
    return found


def requests_of(tasks: Sequence[Task], setting: Setting, trials: int = 1) -> list[AnswerRequest]:
    """The requests for the answers to tasks; the sampling seed depends on the task, the trial and `setting.seed`."""
    if trials < 1:
        raise ChecklistError(f"trials: expected at least 1, not {trials}")
    return [_request(task, setting, trial) for trial in range(1, trials + 1) for task in tasks]


def open_answering(engine: str, setting: Setting, **options: Any) -> ModelEngine:
    """Opens an engine for `generate_answers`."""
    if engine in ALL_ENGINES and engine not in ENGINES:
        raise ChecklistError(
            f"the engine {engine} answers the questions of n-gram suites; expected one of {', '.join(ENGINES)}"
        )
    opened = open_engine(
        engine,
        model=setting.model,
        mode=setting.mode,
        sampling=setting.reasoning.sent(setting.sampling, setting.mode),
        **options,
    )
    return cast(ModelEngine, opened)


def generate_answers(
    suite: ChecklistSuite,
    engine: ModelEngine,
    setting: Setting,
    folder: Path,
    *,
    tasks: Sequence[Task] | None = None,
    trials: int = 1,
    tries: int = TRIES,
    on_progress: Callable[[int, int], None] | None = None,
    events: Events | None = None,
) -> Generated:
    """Lets a model answer tasks; the answers that the folder of the run has already are kept.

    Args:
        suite: The suite.
        engine: The engine, opened with the same setting; see `open_answering`. It is closed at the end.
        setting: How the model is asked.
        folder: The folder of the run.
        tasks: The tasks; by default those of the main table.
        trials: How often each task is answered.
        tries: How often an answer is asked for that does not come, each time with another seed.
        on_progress: Called with the number of existing answers and the total.
        events: Counts what happens.

    Raises:
        ChecklistError: The folder holds answers that were made in another way, or another process writes to it.
        EngineError: An error concerns all tasks. The answers that came before are kept.
    """
    wanted = requests_of(chosen_tasks(suite) if tasks is None else tasks, setting, trials)
    config = setting.config(suite, engine.name, engine.parameters)
    tell = on_progress or (lambda done, total: None)

    async def run() -> Generated:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(engine.close)
            writer = stack.enter_context(writing_answers(folder, suite, config))
            return await _Call(engine, setting, wanted, writer, tell, events or Events()).run(folder, tries)

    return asyncio.run(run())


class _Call:
    def __init__(
        self,
        engine: ModelEngine,
        setting: Setting,
        wanted: Sequence[AnswerRequest],
        writer: AnswerWriter,
        on_progress: Callable[[int, int], None],
        events: Events,
    ) -> None:
        self._engine, self._setting, self._wanted, self._writer = engine, setting, wanted, writer
        self._on_progress, self._events = on_progress, events
        self._engine_reports = reports_to(engine, events)
        self._received: dict[AnswerKey, RawReply] = {}
        self._unfinished: set[AnswerKey] = set()
        self._n_there = sum(request.key in writer.answers for request in wanted)
        if hasattr(engine, "on_reply"):
            engine.on_reply = self._note

    async def run(self, folder: Path, tries: int) -> Generated:
        n_before = self._n_there
        self._on_progress(n_before, len(self._wanted))
        missing = self._still(self._wanted)
        for number in range(tries):
            again = missing if number <= self._setting.reasoning.retries else self._without_unfinished(missing)
            if not again:
                break
            await self._ask(again)
            # The same seed would only bring the same empty answer again.
            missing = [replace(request, seed=(request.seed + 1) % 2**31) for request in self._still(missing)]
        there = [self._writer.answers[one.key] for one in self._wanted if one.key in self._writer.answers]
        return Generated(
            folder,
            len(there),
            len(there) - n_before,
            sum(answer.finish_reason == "length" for answer in there),
            tuple(request.key for request in missing),
            getattr(self._engine, "trouble", "") if missing else "",
            self._events,
            self._writer.last_written if n_before else "",
        )

    async def _ask(self, requests: Sequence[AnswerRequest]) -> None:
        async with contextlib.aclosing(self._engine.answers(requests)) as answers:
            async for index, text in answers:
                key = requests[index].key
                reply = self._received.pop(key, RawReply(text))
                divided = self._setting.reasoning.divided(reply, "completion", self._setting.sampling.stop)
                if divided.answer:
                    id, length, trial = key
                    answer = text if divided.answer == text.strip() else divided.answer
                    self._writer.add(Answer(id, answer, length, trial, reply.details.finish_reason))
                    self._events.n_answers += 1
                    self._n_there += 1
                    self._on_progress(self._n_there, len(self._wanted))
                elif divided.state == "unfinished":
                    self._unfinished.add(key)
                elif text or not self._engine_reports:  # else the engine has told why there is none
                    self._events.add(Trouble.EMPTY, f"{requests[index].name}: the answer is empty")

    def _note(self, request: Request, reply: RawReply) -> None:
        if isinstance(request, AnswerRequest):
            self._received[request.key] = reply

    def _without_unfinished(self, requests: Sequence[AnswerRequest]) -> list[AnswerRequest]:
        """The requests but those whose reasoning did not end: asking again would prefer short reasoning."""
        return [request for request in requests if request.key not in self._unfinished]

    def _still(self, requests: Sequence[AnswerRequest]) -> list[AnswerRequest]:
        return [request for request in requests if request.key not in self._writer.answers]


def _request(task: Task, setting: Setting, trial: int) -> AnswerRequest:
    instruction = task.instruction or ""
    if setting.mode == "completion":
        prompt = Prompt(text=f"{instruction}\n\n")
    else:
        prompt = Prompt(messages=({"role": "user", "content": instruction},))
    name = f"the answer to {_shown((task.id, task.length, trial))}"
    seed = sampling_seed(f"{setting.seed}::{task.id}::{task.length or ''}", trial)
    return AnswerRequest(prompt, seed, name, (task.id, task.length, trial))


def _first_of_each_area(tasks: Sequence[Task], limit: int) -> list[Task]:
    """The first tasks of the areas in turn, in the order of the suite."""
    numbers: dict[str, int] = {}
    ranked = []
    for place, task in enumerate(tasks):
        numbers[task.area] = numbers.get(task.area, -1) + 1
        ranked.append((numbers[task.area], place))
    return [tasks[place] for _, place in sorted(sorted(ranked)[:limit], key=lambda pair: pair[1])]


def _check_instructions(suite: ChecklistSuite, tasks: Sequence[Task]) -> None:
    cut = [task.id for task in tasks if not task.is_whole]
    if cut:
        named = ", ".join(in_one_line(id, 60) for id in cut[:_NAMED])
        raise ChecklistError(
            f"suite {suite.name}: {len(cut):,} of {len(tasks):,} tasks lack their instruction or a part of it "
            f"({named}{', ...' if len(cut) > _NAMED else ''}); expected whole ones, since a model is asked"
        )
    for task in tasks:
        if not is_encodable(task.instruction or ""):
            raise ChecklistError(f"suite {suite.name}: {in_one_line(task.id, 60)}: holds a lone surrogate")


def _listed(keys: Sequence[AnswerKey]) -> str:
    return ", ".join(map(_shown, keys[:_NAMED])) + (", ..." if len(keys) > _NAMED else "")


def _shown(key: AnswerKey) -> str:
    id, length, trial = key
    parts = [in_one_line(id, 60), *([] if length is None else [f"at {in_one_line(length, 20)}"])]
    return " ".join([*parts, *([] if trial == 1 else [f"in trial {trial}"])])
