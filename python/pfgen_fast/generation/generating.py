"""Generates runs: an engine answers all questions of a suite, trial by trial, and the answers go to the run's folder.

Existing answers are not requested again, and the process may be stopped at any time. Rules: docs/generation.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..base.errors import EngineError
from ..runs.run_scorer import Outcome, RunScorer
from ..runs.trials import RunFolder
from ..scoring.reply_text import STOP, DividedReply, Mode, check_mode
from ..suite.suite import Suite
from .engines.engine import Engine, run_async
from .engines.engine_registry import default_model, open_engine
from .events import Events, Trouble
from .prompts import N_SENTENCES, NUM_EXAMPLES, Context, Request, Sampling, Task
from .protocol import RawReply, without_none
from .raw_replies import ReplySummary
from .run_writer import RunWriter, check_trials, run_folder, writing_run
from .setting import Reasoning, Setting

if TYPE_CHECKING:
    from typing_extensions import Self

Asked = TypeVar("Asked", bound=Request)

NUM_TRIALS = 10
"""The default number of trials, that is, of answers to each question."""

MAX_ROUNDS = 10
"""The number of requests for an answer after which its trial fails."""

_STILL_REASONS = (
    "the model reasons despite --disable-thinking; a server that takes variables of the chat template needs "
    """--chat-template-kwargs '{"enable_thinking": false}'"""
)

_GROUP_TASKS = 2048
"""The number of tasks in a batch for an engine: enough to keep it busy, but not too many for the memory."""


@dataclass(frozen=True)
class Generated:
    """The outcome of generating a run."""

    run: RunFolder | None  # run with its packed trials; None if no trial is complete
    folder: Path
    n_new: int  # number of new answers
    failed: Mapping[int, str]  # the reason of each failed trial in one sentence, by trial number
    events: Events = field(default_factory=Events, kw_only=True)
    n_existing: int = field(default=0, kw_only=True)  # number of answers that already existed
    oldest_answer: str = field(default="", kw_only=True)  # time of the oldest existing answer in ISO 8601, or empty
    replies: ReplySummary | None = field(default=None, kw_only=True)  # how the replies ended; None without a record

    @property
    def problems(self) -> tuple[str, ...]:
        """All problems, one sentence each."""
        return tuple(self.failed.values())

    def score(self, suite: Suite) -> Outcome | None:
        """Scores the run and writes its result.json; None if no trial is complete.

        If only some questions of the suite were asked, these are scored and no result.json is written.
        """
        return None if self.run is None else next(iter(RunScorer(suite=suite).score([self.run])))


def generate(
    suite: Suite,
    engine: Engine,
    setting: Setting,
    *,
    trials: int | None = None,
    output: str | Path = "result",
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    events: Events | None = None,
) -> Generated:
    """Lets an engine answer every question of a suite in every trial, and packs the trials.

    The engine must be opened for the same model, mode and sampling (see `open_engine`). It is closed at the end. By
    default, the run gets `NUM_TRIALS` trials, or all trials of an engine with stored answers. The run's folder is
    created below `output`.

    `on_progress` is called with the number of answers so far and the total. Several calls may share `events`.

    Raises:
        EngineError: An error concerns all tasks. Answers received before are kept.
        SuiteError: The suite has no sample answers, but the engine reads prompts.
    """
    if trials is None:
        trials = NUM_TRIALS if engine.n_trials is None else max(1, engine.n_trials)
    check_trials(trials)
    config = setting.config(suite, engine.name, engine.parameters)
    if config["num_examples"] is None:
        setting = replace(setting, num_examples=0, context=None)  # for an engine that ignores prompts
    setting.tasks(suite, 1)  # reports errors of the suite before a folder is created
    folder = run_folder(Path(output), config)

    with writing_run(folder, config, suite) as writer:
        rounds = _Rounds(suite, engine, setting, writer, on_progress, events or Events(), config["stop"] or ())
        missing = {trial: set(writer.missing(trial)) for trial in range(1, trials + 1)}
        if any(missing.values()):
            engine.load()
        return run_async(rounds.run(missing))


@dataclass(frozen=True)
class Generation:
    """Everything that determines a run: the engine, its options and the setting.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from pfgen_fast import Suite
        >>> suite = Suite.load("mini")
        >>> with TemporaryDirectory() as folder:
        ...     generated = Generation.of("ngram", options={"order": 5}).run(suite, trials=2, output=folder)
        ...     generated.n_new, generated.score(suite).status
        (16, 'scored')
    """

    engine: str
    setting: Setting
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        engine: str,
        *,
        model: str | None = None,
        mode: Mode = "completion",
        examples: int = NUM_EXAMPLES,
        seed: str = "",
        prefix: str = "",
        stop: Sequence[str] = (),
        reasoning: Reasoning | None = None,
        system: str = "",
        instruction: str = "",
        context: Context | str | Path | None = None,
        sentences: int = N_SENTENCES,
        options: Mapping[str, Any] | None = None,
        **sampling: Any,
    ) -> Self:
        """Creates a generation, with defaults for missing arguments.

        The arguments are those of `Setting`; further keywords are arguments of `Sampling`. If `context` is a file, each
        prompt shows up to `sentences` of its sentences (see `Context.read`). `model` is optional for
        engines without a model. The strings in `stop` are added to the stop strings of the mode. With a temperature of
        None, requests have no temperature. An engine option of None has no effect.

        Raises:
            EngineError: The engine or mode is unknown, the model is missing, or a number is out of range.
        """
        known = without_none(options or {})
        if "temperature" in sampling and sampling["temperature"] is None:
            del sampling["temperature"]
            known["omit"] = [*known.get("omit", ()), "temperature"]
        check_mode(mode)
        if examples < 0:
            raise EngineError(f"examples: expected at least 0, not {examples}")
        setting = Setting(
            default_model(engine, known) if model is None else model,
            mode,
            Sampling(stop=(*STOP[mode], *stop), **sampling),
            num_examples=examples,
            seed=seed,
            prefix=prefix,
            reasoning=reasoning or Reasoning(),
            system=system,
            instruction=instruction,
            context=Context.read(context, n_drawn=sentences) if isinstance(context, str | Path) else context,
        )
        return cls(engine, setting, known)

    def open(self, suite: Suite, *, loads: bool = True) -> Engine:
        """Opens the engine; see `open_engine`.

        Raises:
            EngineError: The engine cannot be opened, or an option is unknown.
        """
        setting = self.setting
        return open_engine(
            self.engine,
            suite=suite,
            model=setting.model,
            mode=setting.mode,
            sampling=setting.sent_sampling,
            loads=loads,
            **self.options,
        )

    def folder(self, suite: Suite, output: str | Path = "result", engine: Engine | None = None) -> Path:
        """The run's folder. Its name depends on the parameters of the engine; no model is loaded for it."""
        opened = engine or self.open(suite, loads=False)
        try:
            return run_folder(Path(output), self.setting.config(suite, opened.name, opened.parameters))
        finally:
            if engine is None:
                run_async(opened.close())

    def run(
        self,
        suite: Suite,
        *,
        trials: int | None = None,
        output: str | Path = "result",
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        events: Events | None = None,
    ) -> Generated:
        """Opens the engine and generates the run; see `generate`."""
        known: Any = {"trials": trials, "output": output, "on_progress": on_progress, "events": events}
        return generate(suite, self.open(suite, loads=False), self.setting, **known)


@dataclass
class _Rounds:
    """A single call of `generate`."""

    _suite: Suite
    _engine: Engine
    _setting: Setting
    _writer: RunWriter
    _on_progress: Callable[[int, int], None]
    _events: Events
    _stop: Sequence[str]  # empty for stored answers
    _n_new: int = 0

    async def run(self, missing: Mapping[int, set[str]]) -> Generated:
        """Asks for the missing answers, given the questions by trial, and packs the run."""
        failed: dict[int, str] = {}
        engine, writer, setting = self._engine, self._writer, self._setting
        self._total = len(missing) * len(self._suite)
        self._n_there = self._total - sum(map(len, missing.values()))
        oldest = writer.oldest_answer() if self._n_there else ""
        self._on_progress(self._n_there, self._total)
        try:
            for group in self._groups(missing):
                asking = setting.reasoning, setting.mode, self._stop, self._events
                for task in await ask_until_answered(engine, group, *asking, rounds=MAX_ROUNDS, take=self._take):
                    why = f" ({engine.trouble})" if engine.trouble else ""
                    problem = f"trial {task.trial}: no usable answer to {task.question_id} in {MAX_ROUNDS} rounds{why}"
                    failed.setdefault(task.trial, problem)
        finally:
            await engine.close()
        return Generated(
            writer.pack(),
            writer.folder,
            self._n_new,
            failed,
            events=self._events,
            n_existing=self._n_there,
            oldest_answer=oldest,
            replies=writer.replies.summary(),
        )

    def _groups(self, missing: Mapping[int, set[str]]) -> Iterator[list[Task]]:
        """The tasks without an answer, in groups of a few trials."""
        group: list[Task] = []
        for trial, questions in missing.items():
            if questions:
                group += (task for task in self._setting.tasks(self._suite, trial) if task.question in questions)
            if len(group) >= _GROUP_TASKS:
                yield group
                group = []
        if group:
            yield group

    def _take(self, task: Task, reply: RawReply, divided: DividedReply) -> None:
        self._writer.replies.add(task.trial, task.question, reply, divided, task.context)
        self._writer.add(task.trial, task.question, divided.answer)
        self._n_new += 1
        self._events.n_answers += 1
        self._on_progress(self._n_there + self._n_new, self._total)


async def ask_until_answered(
    engine: Engine,
    requests: Sequence[Asked],
    reasoning: Reasoning,
    mode: Mode,
    stop: Sequence[str],
    events: Events,
    *,
    rounds: int,
    take: Callable[[Asked, RawReply, DividedReply], None],
) -> Sequence[Asked]:
    """Asks until every request has an answer or the rounds are used up; returns the unanswered requests.

    `take` is called with each reply that has an answer, or whose reasoning did not end: if this led to another request,
    short reasoning would be preferred.
    """
    reports_trouble = engine.events is not None
    if reports_trouble:
        engine.events = events
    is_disabled = engine.parameters.get("enable_thinking") is False
    for _ in range(rounds):
        unanswered = dict(enumerate(requests))
        async with contextlib.aclosing(engine.answers(requests)) as replies:
            async for index, raw in replies:
                reply = raw or RawReply("")
                divided = reasoning.divided(reply, mode, stop)
                if is_disabled and (divided.reasoning_text or reply.usage.n_reasoning_tokens):
                    events.add(Trouble.REASONED, _STILL_REASONS)
                is_unfinished = divided.state == "unfinished"
                if index in unanswered and (divided.answer or is_unfinished):
                    take(unanswered.pop(index), reply, divided)
                elif not divided.answer and not is_unfinished and (reply.text.strip() or not reports_trouble):
                    # in all other cases, the engine has reported the reason
                    events.add(Trouble.EMPTY, "the answer is empty before the first stop string")
        # The same seed would produce the same empty answer again.
        requests = [replace(request, seed=(request.seed + 1) % 2**31) for request in unanswered.values()]
        if not requests:
            break
    return requests
