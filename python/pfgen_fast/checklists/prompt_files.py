"""Reads the prompts of a judge: a suite's own, or the packaged ones in its language.

A prompt is a Python format string: `{response}` is a placeholder, and doubled braces are literal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path, PurePosixPath
from string import Formatter
from typing import Any

from ..errors import ChecklistError
from ..files.reading import read_text
from ..files.untrusted_json import Fault, entries, text
from ..files.untrusted_text import in_one_line, unknown_name
from ..judging.template import Template
from .tasks import Prompts

PLACES = ("instruction", "response", "checklists", "num_checklist")
"""The placeholders in prompts: the task, the answer, the questions as JSON, and their number."""

PROMPTS = tuple(field.name for field in fields(Prompts))
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "user": ("response", "checklists"),
    "overall_user": ("response",),
    "overall_with_checklist_user": ("response", "checklists"),
}
_PACKAGED = Path(__file__).with_name("prompts")
_MAX_BYTES = 1 << 20


def read_prompt(path: Path, name: str) -> Template:
    """Reads a prompt from its file."""
    return prompt_of(read_text(path, error=ChecklistError, limit=_MAX_BYTES), name, str(path))


def prompt_of(content: str, name: str, where: str) -> Template:
    """Makes a prompt of its text, and checks its placeholders."""
    found = []
    try:
        for _, place, form, conversion in Formatter().parse(content):
            if place is not None:
                if form or conversion:
                    raise ValueError(f"the placeholder {in_one_line(place, 40)} has a format")
                found.append(place)
    except ValueError as error:
        raise ChecklistError(
            f"{where}: not a format string: {error}; double each brace that does not enclose a placeholder"
        ) from None
    for place in found:
        if place not in PLACES:
            raise ChecklistError(f"{where}: {unknown_name('placeholder', place, PLACES)}")
    for place in _NEEDED.get(name, ()):
        if place not in found:
            raise ChecklistError(f"{where}: expected the placeholder {{{place}}} in the prompt")
    return Template(content, PLACES)


@cache
def packaged_prompts(language: str) -> Prompts:
    """The packaged prompts in Japanese or, for any other language, English."""
    folder = _PACKAGED / ("ja" if language.partition("-")[0].lower() == "ja" else "en")
    return Prompts(**{name: read_prompt(folder / f"{name}.txt", name) for name in PROMPTS})


def read_prompts(folder: Path, files: Mapping[str, str | None], language: str) -> Prompts:
    """Reads the prompts of a suite: each from its file, None for null, and the packaged prompt without an entry."""
    packaged = packaged_prompts(language)
    given = {name: None if file is None else read_prompt(folder / file, name) for name, file in files.items()}
    return Prompts(**{name: given.get(name, getattr(packaged, name)) for name in PROMPTS})


def prompt_names(value: Any) -> dict[str, str | None]:
    """A check of the prompts in suite.json: by name, a file in the suite's directory, or null."""
    found = entries(value, _file_name)
    for name in found:
        if name not in PROMPTS:
            raise Fault(unknown_name("prompt", name, PROMPTS))
    if "user" in found and found["user"] is None:
        raise Fault("expected the name of a file, not null").inside(".user")
    return found


def _file_name(value: Any) -> str | None:
    if value is None:
        return None
    path = PurePosixPath(text(value))
    if not value or path.is_absolute() or ".." in path.parts or "\\" in value or "\0" in value:
        raise Fault(f"expected a file in the folder of the suite, not '{in_one_line(value, 60)}'")
    return str(value)
