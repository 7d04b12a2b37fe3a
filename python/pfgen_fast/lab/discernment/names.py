"""Finds the known name for a name that users give, such as that of a kind, and makes the error for unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from ...base.errors import DiscernmentError
from ...base.untrusted_text import unknown_name

TASKS = ("summarization", "story", "qa", "translation", "answers")
"""The known tasks; a collection may have other tasks."""

TASK_ALIASES: Mapping[str, str] = {
    "story completion": "story",
    "question answering": "qa",
    "summarisation": "summarization",
    "machine translation": "translation",
}
"""Other names of the tasks, in the form of `plain`."""


def plain(name: str) -> str:
    """A name in lower case, with one space for each run of separators."""
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().split())


@lru_cache(1024)
def task_named(name: str) -> str:
    """The task that a name stands for: one of `TASKS`, or else the name itself."""
    form = plain(name)
    form = TASK_ALIASES.get(form, form)
    return form if form in TASKS else name


def metric_named(name: str) -> str:
    """A metric's name in the form for comparisons: `Answer quality` and `answer_quality` are the same."""
    return plain(name).replace(" ", "_")


def unknown(what: str, name: object, known: Iterable[str], *, where: str = "") -> DiscernmentError:
    """The error for an unknown name: it lists all known names, the nearest first."""
    place = f"{where}: " if where else ""
    return DiscernmentError(f"{place}{unknown_name(what, name, known)}")
