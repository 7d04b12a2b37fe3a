"""Names that users give, such as names of kinds: finds the known name, and makes the error for an unknown one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from ..errors import DiscernmentError
from ..files.untrusted_text import unknown_name

TASKS = ("summarization", "story", "qa", "translation", "answers")
"""The tasks that this package knows something about; a collection may have any other."""

TASK_ALIASES: Mapping[str, str] = {
    "story completion": "story",
    "question answering": "qa",
    "summarisation": "summarization",
    "machine translation": "translation",
}
"""Other names of the tasks, in the form of `plain`."""


def plain(name: str) -> str:
    """A name in lower case, with a space for every run of separators."""
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().split())


@lru_cache(1024)
def task_named(name: str) -> str:
    """The task that a name stands for: one of `TASKS`, or else the name as it is."""
    form = plain(name)
    form = TASK_ALIASES.get(form, form)
    return form if form in TASKS else name


def metric_named(name: str) -> str:
    """A metric's name in the form in which names are compared: `Answer quality` and `answer_quality` are the same."""
    return plain(name).replace(" ", "_")


def unknown(what: str, name: object, known: Iterable[str], *, where: str = "") -> DiscernmentError:
    """The error for a name that is not known: it lists all that are, the nearest first."""
    place = f"{where}: " if where else ""
    return DiscernmentError(f"{place}{unknown_name(what, name, known)}")
