"""OpenAI's Batch API: writes prompts to an input file, and adds the answers in output files to their run.

The `custom_id` of a request contains the run, the trial and the question. Therefore the lines of output files may have
any order, several files may be read, and answers of another run are detected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import EngineError, TrialsError
from ..base.file_writing import writing_whole
from ..base.untrusted_text import in_one_line, json_text
from ..suite.suite import Suite
from ..tables.formats import table_rows
from .engines.hosted import REQUEST_FORMS, RequestForm, request_form
from .events import Events
from .generating import Generated, Generation
from .protocol import RawReply, Usage
from .run_writer import config_hash, run_folder, writing_run

_CUSTOM_ID = re.compile(r"(?P<run>.*?)-trial_0*(?P<trial>[1-9][0-9]{0,5})-(?P<question_id>.*)", re.DOTALL)
"""The name of a request; trial numbers have at most six digits."""


def write_batch(generation: Generation, suite: Suite, path: Path, *, trials: int) -> int:
    """Writes an input file with all questions in each of the trials 1 to `trials`; returns the number of requests."""
    form, config = _form_and_config(generation, suite)
    digits, setting = config_hash(config), generation.setting
    with writing_whole(path) as file:
        for trial in range(1, trials + 1):
            for task in setting.tasks(suite, trial):
                line = form.batch_line(f"{digits}-trial_{trial:03}-{task.question_id}", task)
                file.write(f"{json_text(line)}\n".encode())
    return trials * len(suite)


def _form_and_config(generation: Generation, suite: Suite) -> tuple[RequestForm, dict[str, Any]]:
    """The protocol of OpenAI with the options of a run, and the run's config.json; another engine is an error."""
    setting, engine = generation.setting, generation.engine
    if not issubclass(REQUEST_FORMS.get(engine, object), RequestForm):
        raise EngineError("only the engine openai has batch files, because they have the format of OpenAI's Batch API")
    form: Any = request_form(engine, setting.model, setting.mode, setting.sent_sampling, generation.options)
    return form, setting.config(suite, engine, form.parameters)


@dataclass(frozen=True)
class Imported(Generated):
    """The outcome of reading output files."""

    refused: tuple[str, ...] = ()  # reasons of failed requests, one sentence each

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each failed request and each incomplete trial."""
        return (*self.refused, *self.failed.values())


def read_batch(
    generation: Generation, suite: Suite, sources: Iterable[Path], *, output: str | Path = "result"
) -> Imported:
    """Adds the answers in output files to the folder of their run; existing answers are kept."""
    form, config = _form_and_config(generation, suite)
    setting, stop = generation.setting, config["stop"]
    events = Events()
    replies, refused = _all_replies(sources, suite, config_hash(config), form)
    failed: dict[int, str] = {}
    came: set[tuple[int, str]] = set()
    with writing_run(run_folder(Path(output), config), config, suite) as writer:
        for reply in replies:
            request = reply.trial, reply.question
            if request in came:
                refused.append(f"{reply.location}: this request has an earlier answer, which is kept")
            if reply.question not in writer.missing(reply.trial):
                continue
            events.add_usage(reply.usage)  # a reply without an answer costs money too
            raw = reply.raw or RawReply("")
            divided = setting.reasoning.divided(raw, setting.mode, stop)
            if divided.answer or divided.state == "unfinished":
                writer.replies.add(*request, raw, divided)
                writer.add(*request, divided.answer)
                came.add(request)
                events.n_answers += 1
            else:
                refused.append(f"{reply.location}: {reply.problem or 'the answer is empty'}")
        for trial in sorted({reply.trial for reply in replies}):
            if missing := writer.missing(trial):
                names = ", ".join(suite[question].question_id for question in missing)
                failed[trial] = f"trial {trial}: no usable answer to {names}"
        imported = writer.pack(), writer.folder, events.n_answers, failed, tuple(refused)
        return Imported(*imported, events=events, replies=writer.replies.summary())


@dataclass(frozen=True)
class _Reply:
    """One line of an output file."""

    location: str
    trial: int
    question: str
    raw: RawReply | None
    usage: Usage
    problem: str


def _all_replies(
    sources: Iterable[Path], suite: Suite, digits: str, form: RequestForm
) -> tuple[list[_Reply], list[str]]:
    """The replies in all files, and the reasons why files are not read; raises TrialsError without a reply."""
    replies: list[_Reply] = []
    unusable: list[TrialsError] = []
    source = Path("the output of the batch")
    for source in sources:
        try:
            replies += list(_replies(source, suite, digits, form))
        except TrialsError as error:
            unusable.append(error)
    if not replies:
        raise unusable[0] if unusable else TrialsError(f"{source}: no replies; expected one reply on each line")
    return replies, [f"{error}; no reply of this file is read" for error in unusable]


def _replies(source: Path, suite: Suite, digits: str, form: RequestForm) -> Iterator[_Reply]:
    for location, row in table_rows(source):
        custom_id = row.get("custom_id")
        parts = _CUSTOM_ID.fullmatch(custom_id) if isinstance(custom_id, str) else None
        if parts is None or parts["question_id"] not in suite:
            usual = f"{digits}-trial_001-{suite.questions[0].question_id}"
            raise TrialsError(f"{location}: expected a 'custom_id' such as {usual}, not {in_one_line(custom_id)}")
        if parts["run"] != digits:
            raise TrialsError(
                f"{location}: belongs to a run {in_one_line(parts['run'])} with other parameters, not to {digits}; "
                "expected the options with which the batch was written"
            )
        if "response" not in row and "url" in row:
            raise TrialsError(
                f"{location}: a request; expected an output or error file of the batch, not its input file"
            )
        body, raw, problem = form.batch_answer(row)
        question, name = suite[parts["question_id"]].question, f"{location} ({in_one_line(custom_id)})"
        yield _Reply(name, int(parts["trial"]), question, raw, form.usage_in(body), problem)
