"""Generation: a model answers the tasks of a suite with an engine of `generation`; existing answers are kept.

A task is sent as one user message. Answers are stored unchanged, with the reason why the model stopped if its server
gives one. The file of answers is a journal while a model answers; at the end it has the order of the suite.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from ...base.errors import ChecklistError
from ...base.file_writing import check_folder, write_whole
from ...base.journal import Journal, sole_writer
from ...base.untrusted_json import json_bytes
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
from .checklist_runs import ANSWERS_FILE, CONFIG_FILE, Answer, answer_row, read_answers, read_config, shown_key
from .checklist_suite import ChecklistSuite, keys_in_order
from .line_files import data_file
from .tasks import AnswerKey, ChecklistTask, check_instructions

ENGINES = ("openai", "anthropic", "transformers", "vllm", "openai-api", "hf")
"""The engines that answer any prompt; the others answer the questions of an n-gram suite."""

_TRIES = 3
"""The number of requests for an answer, each with another seed, before it counts as missing."""


def run_name(model: str) -> str:
    """The name of the directory of a model's run, which is its key in tables."""
    name = "_".join(folder_names(model))
    if not name or name.startswith("."):
        raise ChecklistError(f"the model {in_one_line(model)!r}: expected a valid name of a folder")
    return name


@dataclass(frozen=True)
class ChecklistSetting:
    """The model and its parameters; the defaults are those of the published answers."""

    model: str
    sampling: Sampling = field(default_factory=lambda: Sampling(16_384, 0.8, None, stop=()))
    seed: str = ""
    reasoning: Reasoning = field(default_factory=Reasoning)

    def config(self, suite: ChecklistSuite, engine: Engine) -> dict[str, Any]:
        """The content of config.json; the engine's parameters take precedence."""
        config = {
            "engine": engine.name,
            **self.sampling.config(),
            "stop": list(self.sampling.stop) or None,
            **self.reasoning.config(),
            "model": self.model,
            "seed": self.seed or None,
            "suite": suite.name,
            **engine.parameters,
        }
        return {name: value for name, value in sorted(config.items()) if value is not None}


@dataclass(frozen=True)
class AnswerRequest(Request):
    """A request for one answer."""

    key: AnswerKey


@dataclass(frozen=True)
class GeneratedAnswers:
    """The outcome of a call; the problem is a sentence about missing answers."""

    n_answers: int
    n_new: int
    n_cut: int
    missing: tuple[AnswerKey, ...]
    problem: str | None


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


def requests_of(tasks: Sequence[ChecklistTask], setting: ChecklistSetting, trials: int) -> list[AnswerRequest]:
    """The requests for the answers to tasks; the sampling seed depends on the task, the trial and `setting.seed`."""
    requests = []
    for trial in range(1, trials + 1):
        for task in tasks:
            key = (*task.key, trial)
            prompt = Prompt(messages=({"role": "user", "content": task.instruction or ""},))
            seed = sampling_seed(f"{setting.seed}::{task.id}::{task.length or ''}", trial)
            requests.append(AnswerRequest(prompt, seed, f"the answer to {shown_key(key)}", key))
    return requests


def open_answering(engine: str, setting: ChecklistSetting, **options: Any) -> Engine:
    """Opens an engine for `generate_answers`."""
    if engine in ALL_ENGINES and engine not in ENGINES:
        raise ChecklistError(
            f"the engine {engine} answers the questions of n-gram suites; expected one of {', '.join(ENGINES)}"
        )
    sampling = setting.reasoning.sent(setting.sampling, "qa")
    return open_engine(engine, model=setting.model, mode="qa", sampling=sampling, **options)


def generate_answers(
    suite: ChecklistSuite,
    engine: Engine,
    setting: ChecklistSetting,
    folder: Path,
    *,
    tasks: Sequence[ChecklistTask] | None = None,
    trials: int = 1,
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
        on_progress: Called with the number of existing answers and the total.
        events: Counts retries and other events.

    Raises:
        ChecklistError: The directory holds answers with other parameters, or another process writes to it.
        EngineError: An error concerns all tasks. Earlier answers are kept.
    """
    wanted = requests_of(chosen_tasks(suite) if tasks is None else tasks, setting, trials)
    config, events = setting.config(suite, engine), events or Events()
    check_folder(folder)

    async def run() -> GeneratedAnswers:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(engine.close)
            stack.enter_context(sole_writer(folder, doing="writing answers to it", error=ChecklistError))
            answers = _existing_answers(folder, suite, config)
            journal = stack.enter_context(contextlib.closing(Journal(folder / ANSWERS_FILE)))
            missing = [request for request in wanted if request.key not in answers]
            n_before, n_known, unfinished = len(wanted) - len(missing), len(answers), set[AnswerKey]()

            def take(request: AnswerRequest, reply: RawReply, divided: DividedReply) -> None:
                if divided.state == "unfinished" and not divided.answer:
                    unfinished.add(request.key)
                    return
                if not (folder / CONFIG_FILE).exists():
                    write_whole(folder / CONFIG_FILE, json_bytes(config))
                id, length, trial = request.key
                text = reply.text if divided.answer == reply.text.strip() else divided.answer
                answer = Answer(id, text, length, trial, reply.details.finish_reason)
                journal.add(answer_row(answer))  # it is on disk when this returns
                answers[answer.key] = answer
                events.n_answers += 1
                on_progress(n_before + len(answers) - n_known, len(wanted))

            on_progress(n_before, len(wanted))
            try:
                if missing:
                    stop = setting.sampling.stop
                    await ask_until_answered(
                        engine, missing, setting.reasoning, "completion", stop, events, rounds=_TRIES, take=take
                    )
            finally:
                in_order = [key for _, key in keys_in_order(suite, answers)]
                if len(answers) > n_known or in_order != list(answers):
                    journal.rewrite(answer_row(answers[key]) for key in in_order)
            there = [answers[request.key] for request in wanted if request.key in answers]
            lacking = tuple(request.key for request in wanted if request.key not in answers)
            problem = None
            if lacking:
                problem = f"{folder}: {len(lacking):,} answers are missing: {few_names(list(map(shown_key, lacking)))}"
                problem += f" ({engine.trouble})" if engine.trouble else ""
            if unfinished:
                n = f"{len(unfinished):,}"
                problem = f"{problem}; in {n} replies the reasoning did not end: give --reasoning-tokens"
            n_cut = sum(answer.finish_reason == "length" for answer in there)
            return GeneratedAnswers(len(there), len(there) - n_before, n_cut, lacking, problem)

    return run_async(run())


def _existing_answers(folder: Path, suite: ChecklistSuite, config: dict[str, Any]) -> dict[AnswerKey, Answer]:
    """The answers of a run, which must have the same parameters; a line that a kill has cut is asked for again."""
    path = data_file(folder, "answers")
    if path is not None and path.name != ANSWERS_FILE:
        raise ChecklistError(f"{path}: answers are added to {ANSWERS_FILE}; expected it unpacked, or another folder")
    there = read_config(folder / CONFIG_FILE) if (folder / CONFIG_FILE).exists() else {}
    differing = sorted(name for name in {*there, *config} if there.get(name) != config.get(name))
    if there and differing:
        raise ChecklistError(
            f"{folder / CONFIG_FILE}: the existing answers were made with other parameters "
            f"({', '.join(differing[:5])}); expected the same parameters, or another folder"
        )
    return {} if path is None else read_answers(path, suite, on_fault=lambda fault: None)
