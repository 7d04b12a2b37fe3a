"""Batch APIs: writes prompts to an input file, and adds the answers in output files to a run.

The name of a request (`custom_id` or `key`) contains the run, the trial and the question. Therefore the lines of output
files may have any order, several files may be imported, and answers of another run are detected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import EngineError, TrialsError
from ..files.untrusted_json import any_object, checked, read_json
from ..files.untrusted_text import in_one_line, json_text, shown_value
from ..suite.suite import Suite
from ..tables.formats import table_rows
from .engines import Sampling, hosted, refuse_unknown_options
from .events import Events, TokenPrices
from .generating import Generated
from .json_parts import without_none
from .openai_protocol import GeminiForm, RequestForm
from .prompts import MODES, Mode
from .protocol import RawReply, ServerForm, Usage
from .reasoning import Reasoning
from .run_writer import config_hash, run_folder, writing_run
from .setting import Setting

_CUSTOM_ID = re.compile(r"(?P<run>.*?)-trial_0*(?P<trial>[1-9][0-9]{0,5})-(?P<question_id>.*)", re.DOTALL)
"""The name of a request; trial numbers have at most six digits."""

REQUEST_FORMS: Mapping[str, type[ServerForm]] = {engine.name: engine.form for engine in hosted.HOSTED_ENGINES}
"""The engines with batch files, and their protocols."""


def batch_config(suite: Suite, setting: Setting, *, engine: str = "openai", **options: Any) -> dict[str, Any]:
    """The config.json of the run that the batch becomes; see `batch_lines`."""
    form = request_form(engine, setting.model, setting.mode, setting.sent_sampling, options)
    return setting.config(suite, engine, form.parameters)


def batch_lines(
    suite: Suite, setting: Setting, *, trials: int, engine: str = "openai", **options: Any
) -> Iterator[dict[str, Any]]:
    """Yields the lines of an input file, with all questions in each of the trials 1 to `trials`."""
    form = request_form(engine, setting.model, setting.mode, setting.sent_sampling, options)
    digits = config_hash(setting.config(suite, engine, form.parameters))
    for trial in range(1, trials + 1):
        for task in setting.tasks(suite, trial):
            yield form.batch_line(f"{digits}-trial_{trial:03}-{task.question_id}", task)


def batch_file(lines: Iterable[Mapping[str, Any]], *, engine: str = "openai") -> Iterator[str]:
    """Yields the pieces of an input file: a JSON document for Anthropic, otherwise JSON Lines."""
    is_one_document = engine == "anthropic"
    yield '{"requests": [' if is_one_document else ""
    for number, line in enumerate(lines):
        between = (",\n" if number else "\n") if is_one_document else ""
        yield f"{between}{json_text(line)}{'' if is_one_document else chr(10)}"
    yield "\n]}\n" if is_one_document else ""


def request_form(engine: str, model: str, mode: Mode, sampling: Sampling, options: Mapping[str, Any]) -> ServerForm:
    """The protocol of an engine; raises EngineError if the engine uses no server, or an option is invalid."""
    if engine not in REQUEST_FORMS:
        raise EngineError(
            f"the engine {in_one_line(engine)} has no batch files; expected one of {', '.join(REQUEST_FORMS)}"
        )
    known = without_none(options)
    refuse_unknown_options(engine, known)
    return REQUEST_FORMS[engine](model, mode, sampling, **known)


def _reading_form(config: Mapping[str, Any]) -> ServerForm:
    """The protocol of the replies to the requests of a run."""
    form = REQUEST_FORMS.get(config["engine"], RequestForm)
    options: dict[str, Any] = {"multi_choice": config.get("multi_choice") is True} if form is GeminiForm else {}
    return form(config["model"], config["mode"], Sampling(), **options)


@dataclass(frozen=True)
class Imported(Generated):
    """The outcome of importing the output files of a batch."""

    refused: tuple[str, ...] = ()  # reasons of failed requests, one sentence each

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each failed request and each incomplete trial."""
        return (*self.refused, *self.failed.values())


def read_config(path: str | Path) -> dict[str, Any]:
    """Reads the parameters of a run from the file that belongs to a batch file."""
    config = read_json(Path(path), error=EngineError)
    if not isinstance(config, dict) or not all(isinstance(config.get(key), str) for key in ("engine", "mode", "model")):
        raise EngineError(f"{path}: expected the parameters of a run, with 'engine', 'mode' and 'model'")
    if config["mode"] not in MODES:
        raise EngineError(f"{path}: unknown mode '{in_one_line(config['mode'])}'; expected one of {', '.join(MODES)}")
    return checked(config, any_object, str(path), error=EngineError)


def import_batch(
    sources: Iterable[str | Path],
    suite: Suite,
    config: Mapping[str, Any],
    *,
    output: str | Path = "result",
    prices: TokenPrices | None = None,
) -> Imported:
    """Adds the answers in output files to the folder of their run; existing answers are kept."""
    digits = config_hash(config)
    form = _reading_form(config)
    reasoning, stop = Reasoning.of_config(config), _stop_of(config)
    events = Events(prices=prices or TokenPrices())
    replies, refused = _all_replies(sources, suite, digits, form)
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
            divided = reasoning.divided(raw, config["mode"], stop)
            if divided.answer or (divided.state == "unfinished" and not config.get("retry_unfinished")):
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
        writer.note_usage(events.usage())
        found = writer.pack(), writer.folder, events.n_answers, failed, tuple(refused)
        return Imported(*found, events=events, replies=writer.replies.summary())


def _stop_of(config: Mapping[str, Any]) -> list[str]:
    stop = config.get("stop") or []
    if not isinstance(stop, list) or not all(isinstance(text, str) for text in stop):
        raise EngineError(f"stop: expected a list of texts, got {shown_value(stop)}")
    return stop


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
    sources: Iterable[str | Path], suite: Suite, digits: str, form: ServerForm
) -> tuple[list[_Reply], list[str]]:
    """The replies in all files, and the reasons why files are not imported; raises TrialsError without a reply."""
    replies: list[_Reply] = []
    unusable: list[TrialsError] = []
    source: str | Path = "the output of the batch"
    for source in sources:
        try:
            replies += list(_replies(Path(source), suite, digits, form))
        except TrialsError as error:
            unusable.append(error)
    if not replies:
        raise unusable[0] if unusable else TrialsError(f"{source}: no replies; expected one reply on each line")
    return replies, [f"{error}; no reply of this file is imported" for error in unusable]


def _replies(source: Path, suite: Suite, digits: str, form: ServerForm) -> Iterator[_Reply]:
    for location, row in table_rows(source):
        custom_id = row.get(form.batch_id)
        parts = _CUSTOM_ID.fullmatch(custom_id) if isinstance(custom_id, str) else None
        if parts is None or parts["question_id"] not in suite:
            usual = f"{digits}-trial_001-{suite.questions[0].question_id}"
            raise TrialsError(f"{location}: expected a '{form.batch_id}' such as {usual}, not {in_one_line(custom_id)}")
        if parts["run"] != digits:
            raise TrialsError(
                f"{location}: belongs to a run {in_one_line(parts['run'])} with other parameters, not to {digits}"
            )
        body, raw, problem = form.batch_answer(row)
        question, name = suite[parts["question_id"]].question, f"{location} ({in_one_line(custom_id)})"
        yield _Reply(name, int(parts["trial"]), question, raw, form.usage_in(body), problem)
