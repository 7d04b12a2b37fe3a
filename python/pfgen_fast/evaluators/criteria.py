"""Criteria by which a judge rates texts: the metrics of each task, and the instructions to the judge for each metric.

The packaged criteria are data (`criteria.toml`), and a user's file has the same form. A prompt is in the language of
the text, if the criterion is there in that language.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from ..errors import JudgingError, TrialsError
from ..files.untrusted_json import Fault, checked, count, entries, items, member, text, unexpected
from ..files.untrusted_text import unknown_name
from ..files.untrusted_toml import read_toml
from ..judging.template import Template
from .ratings import Scale

T = TypeVar("T")

LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "en": {"en": "English", "ja": "Japanese"},
    "ja": {"en": "英語", "ja": "日本語"},
}
"""The languages of prompts, each with the names of all languages in this language."""

DEFAULT_TASK = "default"
"""The task whose criteria are used for the texts of tasks without criteria of their own."""

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
    """What a judge is told about a criterion, in one language."""

    name: str
    definition: str
    steps: tuple[str, ...]  # how to find the rating, step by step


@dataclass(frozen=True)
class Task:
    """What a judge is told about the texts of a task.

    Attributes:
        criteria: The criterion of each metric in each language, in the order in which metrics are listed.
        what: A description of the texts, by language, such as "a summary of a source text".
        context: The name of the context that is shown with a text, by language, such as "Source text".
        needs_question: Whether a text can be rated only together with its question.
    """

    criteria: Mapping[str, Mapping[str, Criterion]]
    what: Mapping[str, str]
    context: Mapping[str, str]
    needs_question: bool = False


@dataclass(frozen=True)
class Criteria:
    """The criteria of all tasks."""

    tasks: Mapping[str, Task]
    scale: Scale  # scale of all ratings

    def task(self, name: str) -> Task:
        """The task with this name, or else the one for all others."""
        found = self.tasks.get(name) or self.tasks.get(DEFAULT_TASK)
        if found is None:
            raise JudgingError(f"the criteria: {unknown_name('task', name, self.tasks)}")
        return found

    def what(self, task: str, language: str) -> str:
        """The description of the texts of a task in a language."""
        return _in_language(self.task(task).what, language)[1]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything that prompts are made of, in hexadecimal."""
        tasks = {
            name: [
                {metric: {key: vars(one) for key, one in of.items()} for metric, of in task.criteria.items()},
                dict(task.what),
                dict(task.context),
                task.needs_question,
            ]
            for name, task in sorted(self.tasks.items())
        }
        frames = [_frame(language).hash for language in LANGUAGES]
        blocks = [_BLOCKS[language].hash for language in LANGUAGES]
        parts = [tasks, frames, blocks, self.scale.low, self.scale.high, _QUESTION]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False, sort_keys=True).encode()).hexdigest()

    def prompt(
        self,
        task: str,
        metric: str,
        *,
        language: str,
        text: str,
        context: str | None = None,
        question: str | None = None,
    ) -> str:
        """The prompt that asks for one rating."""
        of_task = self.task(task)
        spoken, criterion = _in_language(of_task.criteria[metric], language)
        shown = ((_QUESTION[spoken], question), (_in_language(of_task.context, spoken)[1], context))
        return _frame(spoken).fill(
            what=_in_language(of_task.what, spoken)[1],
            language=LANGUAGES[spoken].get(language, language),
            criterion=criterion.name,
            definition=criterion.definition,
            low=str(self.scale.low),
            high=str(self.scale.high),
            steps="\n".join(f"{number}. {step}" for number, step in enumerate(criterion.steps, start=1)),
            material="".join(_BLOCKS[spoken].fill(name=name, text=given) for name, given in shown if given is not None),
            text=text,
        )


def read_criteria(path: Path | None = None) -> Criteria:
    """Reads criteria from a TOML file; without a path, reads the packaged criteria."""
    path = path or _PACKAGED
    try:
        content = read_toml(path, error=JudgingError)
    except TrialsError as error:
        raise JudgingError(str(error)) from None
    return checked(content, _criteria, str(path), error=JudgingError)


def _criteria(content: Any) -> Criteria:
    _refuse_unknown(content, ("scale", "tasks", "criteria"))
    scale, for_all = member(content, "scale", _scale, Scale(1, 5)), _criteria_in(content)

    def tasks(value: Any) -> dict[str, Task]:
        return entries(value, lambda task: _task(task, for_all))

    if "tasks" in content:
        return Criteria(member(content, "tasks", tasks), scale)
    if not for_all:
        raise Fault("expected at least one criterion, as [criteria.NAME.en]")
    return Criteria({DEFAULT_TASK: _task({}, for_all)}, scale)


def _criteria_in(value: Any) -> dict[str, dict[str, Criterion]]:
    def criteria(tables: Any) -> dict[str, dict[str, Criterion]]:
        return entries(tables, _by_language)

    return member(value, "criteria", criteria) if "criteria" in value else {}


def _task(value: Any, for_all: Mapping[str, Mapping[str, Criterion]]) -> Task:
    _refuse_unknown(value, ("metrics", "what", "context", "needs_question", "criteria"))
    known = {**for_all, **_criteria_in(value)}
    metrics = member(value, "metrics", _names) if "metrics" in value else tuple(known)
    for metric in metrics:
        if metric not in known:
            raise Fault(unknown_name("criterion", metric, known)).inside(".metrics")
    if not metrics or len(set(metrics)) < len(metrics):
        raise Fault("expected at least one metric, and each metric only once").inside(".metrics")
    return Task(
        {metric: known[metric] for metric in metrics},
        member(value, "what", _texts, _USUAL_WHAT),
        member(value, "context", _texts, _USUAL_CONTEXT),
        member(value, "needs_question", _truth, False),
    )


def _by_language(value: Any) -> dict[str, Criterion]:
    _refuse_unknown(value, LANGUAGES)
    return _not_empty(entries(value, _criterion))


def _criterion(value: Any) -> Criterion:
    _refuse_unknown(value, ("name", "definition", "steps"))
    return Criterion(
        member(value, "name", _filled), member(value, "definition", _filled), member(value, "steps", _steps)
    )


def _steps(value: Any) -> tuple[str, ...]:
    return items(value, _filled)


def _names(value: Any) -> tuple[str, ...]:
    return items(value, text)


def _texts(value: Any) -> dict[str, str]:
    _refuse_unknown(value, LANGUAGES)
    return _not_empty(entries(value, _filled))


def _not_empty(by_language: dict[str, T]) -> dict[str, T]:
    if not by_language:
        raise Fault(f"expected at least one of {', '.join(LANGUAGES)}")
    return by_language


def _filled(value: Any) -> str:
    found = text(value).strip()
    if not found:
        raise Fault("expected a text that is not empty")
    return found


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
    """The entry in a language, or else in the first language that has one, together with the language of the entry."""
    for found in (language, *LANGUAGES):
        if found in by_language:
            return found, by_language[found]
    raise ValueError("no entry in any language")  # ruled out when the file was read


@cache
def _frame(language: str) -> Template:
    path = Path(__file__).with_name(f"criteria_{language}.txt")
    return Template.read(path, placeholders=_PLACEHOLDERS, needed=_PLACEHOLDERS)
