"""Criteria by which a judge rates texts: the metrics of each task, and the instructions to the judge for each metric.

The packaged criteria are in `criteria.toml`, and a user's file has the same format. A prompt is in the language of the
text, if the criterion exists in this language.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from ...base.errors import JudgingError
from ...base.untrusted_json import Fault, checked, count, entries, items, member, read_toml, text, unexpected
from ...base.untrusted_text import unknown_name
from ...suite.questions import language_of
from ..judging.judge_requests import Template
from .asking_evaluator import Scale
from .evaluator import Item

T = TypeVar("T")

LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "en": {"en": "English", "ja": "Japanese"},
    "ja": {"en": "英語", "ja": "日本語"},
}
"""The languages of prompts; for each, the names of all languages in that language."""

DEFAULT_TASK = "default"
"""The task whose criteria are used for tasks without criteria."""

_PACKAGED = Path(__file__).with_name("criteria.toml")
_PLACEHOLDERS = ("what", "language", "criterion", "definition", "low", "high", "steps", "material", "text")
_QUESTION = {"en": "Question", "ja": "質問"}
_BLOCKS = {
    "en": Template("[{name}]\n{text}\n[End of: {name}]\n\n", ("name", "text")),
    "ja": Template("［{name}］\n{text}\n［{name}の終わり］\n\n", ("name", "text")),
}
_USUAL_WHAT = {"en": "a text", "ja": "文章"}
_USUAL_CONTEXT = {"en": "Context", "ja": "文脈"}


@dataclass(frozen=True)
class Criterion:
    """The instructions to a judge for one criterion, in one language."""

    name: str
    definition: str
    steps: tuple[str, ...]  # the steps by which the judge finds the rating


@dataclass(frozen=True)
class Task:
    """The instructions to a judge about the texts of a task."""

    criteria: Mapping[str, Mapping[str, Criterion]]  # criteria by metric and language; the order is that of the metrics
    what: Mapping[str, str]  # description of the texts by language, such as "a summary of a source text"
    context: Mapping[str, str]  # name of the context by language, such as "Source text"
    example: Mapping[str, str]  # a text by language, which surveys damage
    needs_question: bool = False  # whether a text can only be rated together with its question


@cache
def _frame(language: str) -> Template:
    path = Path(__file__).with_name(f"criteria_{language}.txt")
    return Template.read(path, placeholders=_PLACEHOLDERS, needed=_PLACEHOLDERS)


@dataclass(frozen=True)
class Criteria:
    """The criteria of all tasks."""

    tasks: Mapping[str, Task]
    scale: Scale  # scale of all ratings
    frames: Mapping[str, Template] = field(default_factory=dict)  # by language, prompts in place of the packaged ones

    def frame(self, language: str) -> Template:
        """The prompt around a criterion."""
        return self.frames.get(language) or _frame(language)

    def task(self, name: str) -> Task:
        """The task with this name, or the default task."""
        task = self.tasks.get(name) or self.tasks.get(DEFAULT_TASK)
        if task is None:
            raise JudgingError(f"the criteria: {unknown_name('task', name, self.tasks)}")
        return task

    def what(self, task: str, language: str) -> str:
        """The description of the texts of a task in a language."""
        return _in_language(self.task(task).what, language)[1]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything that affects prompts."""
        tasks = {
            name: [
                {metric: {key: vars(text) for key, text in row.items()} for metric, row in task.criteria.items()},
                dict(task.what),
                dict(task.context),
                task.needs_question,
            ]
            for name, task in sorted(self.tasks.items())
        }
        frames = [self.frame(language).hash for language in LANGUAGES]
        blocks = [_BLOCKS[language].hash for language in LANGUAGES]
        parts = [tasks, frames, blocks, self.scale.low, self.scale.high, _QUESTION]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True).encode()).hexdigest()

    @property
    def signature(self) -> str:
        """The hash, with its name."""
        return f"criteria:{self.hash}"

    def metrics_of(self, task: str) -> Sequence[str]:
        """The metrics by which texts of a task are rated."""
        return tuple(self.task(task).criteria)

    def prompt_for(self, item: Item, metric: str, text: str) -> str:
        """The prompt that asks for one rating, in the language of the item if the criterion exists in it."""
        wanted, language = self.task(item.task), item.language or language_of(item.text)
        if item.question is None and wanted.needs_question:
            raise JudgingError(f"item {item.id}: has no question, which the judge needs for the task {item.task}")
        spoken, criterion = _in_language(wanted.criteria[metric], language)
        shown = ((_QUESTION[spoken], item.question), (_in_language(wanted.context, spoken)[1], item.context))
        return self.frame(spoken).fill(
            what=_in_language(wanted.what, spoken)[1],
            language=LANGUAGES[spoken].get(language, language),
            criterion=criterion.name,
            definition=criterion.definition,
            low=str(self.scale.low),
            high=str(self.scale.high),
            steps="\n".join(f"{number}. {step}" for number, step in enumerate(criterion.steps, start=1)),
            material="".join(_BLOCKS[spoken].fill(name=name, text=part) for name, part in shown if part is not None),
            text=text,
        )


def read_criteria(path: Path | None = None) -> Criteria:
    """Reads criteria from a TOML file; without a path, reads the packaged criteria."""
    path = path or _PACKAGED
    return checked(read_toml(path, error=JudgingError), _criteria, str(path), error=JudgingError)


def _criteria(content: Any) -> Criteria:
    _refuse_unknown(content, ("scale", "frame", "tasks", "criteria"))
    frames: dict[str, Template] = member(content, "frame", lambda texts: _by_language(texts, _own_frame), {})
    scale, for_all = member(content, "scale", _scale, Scale(1, 5)), _criteria_in(content)
    if any("[[" not in frame.text for frame in frames.values()):
        scale = replace(scale, is_bare=True)
    if "tasks" in content:
        tasks = member(content, "tasks", lambda value: entries(value, lambda task: _task(task, for_all)))
    elif for_all:
        tasks = {DEFAULT_TASK: _task({}, for_all)}
    else:
        raise Fault("expected at least one criterion, as [criteria.NAME.en]")
    return Criteria(tasks, scale, frames)


def _own_frame(value: Any) -> Template:
    try:
        return Template.checked(text(value), placeholders=_PLACEHOLDERS, needed=("text",))
    except JudgingError as error:
        raise Fault(str(error)) from None


def _criteria_in(value: Any) -> dict[str, dict[str, Criterion]]:
    return member(value, "criteria", lambda tables: entries(tables, lambda table: _by_language(table, _criterion)), {})


def _task(value: Any, for_all: Mapping[str, Mapping[str, Criterion]]) -> Task:
    _refuse_unknown(value, ("metrics", "what", "context", "example", "needs_question", "criteria"))
    known = {**for_all, **_criteria_in(value)}
    metrics = member(value, "metrics", lambda names: items(names, text), tuple(known))
    for metric in metrics:
        if metric not in known:
            raise Fault(unknown_name("criterion", metric, known)).inside(".metrics")
    if not metrics or len(set(metrics)) < len(metrics):
        raise Fault("expected at least one metric, and each metric only once").inside(".metrics")
    return Task(
        {metric: known[metric] for metric in metrics},
        member(value, "what", _texts, _USUAL_WHAT),
        member(value, "context", _texts, _USUAL_CONTEXT),
        member(value, "example", _texts, {}),
        member(value, "needs_question", _truth, False),
    )


def _criterion(value: Any) -> Criterion:
    _refuse_unknown(value, ("name", "definition", "steps"))
    steps = member(value, "steps", lambda lines: items(lines, _filled))
    return Criterion(member(value, "name", _filled), member(value, "definition", _filled), steps)


def _texts(value: Any) -> dict[str, str]:
    return _by_language(value, _filled)


def _by_language(value: Any, read: Callable[[Any], T]) -> dict[str, T]:
    _refuse_unknown(value, LANGUAGES)
    if not value:
        raise Fault(f"expected at least one of {', '.join(LANGUAGES)}")
    return entries(value, read)


def _filled(value: Any) -> str:
    content = text(value).strip()
    if not content:
        raise Fault("expected a text that is not empty")
    return content


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise unexpected("true or false", value)
    return value


def _scale(value: Any) -> Scale:
    bounds = items(value, count)
    if len(bounds) != 2:
        raise Fault("expected two numbers, the lowest and the highest rating")
    try:
        return Scale(*bounds)
    except JudgingError as error:
        raise Fault(str(error)) from None


def _refuse_unknown(value: Any, known: Iterable[str]) -> None:
    if not isinstance(value, dict):
        raise unexpected("a table", value)
    names = list(known)
    for key in value:
        if key not in names:
            raise Fault(unknown_name("key", key, names))


def _in_language(by_language: Mapping[str, T], language: str) -> tuple[str, T]:
    """The language and the entry for a language; if there is no entry, those of the first language with an entry."""
    spoken = next(name for name in (language, *LANGUAGES) if name in by_language)  # the reader has checked this
    return spoken, by_language[spoken]
