"""The text of --help: usage, description, examples that can be copied, and options in groups."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from typing import Any

from .parser import HELP_NAMES, Parameter, parameters_of

_HELP = (", ".join(HELP_NAMES), "Print this help.")
_LAST = ("--quiet", "--json")
_LEAST_COLUMNS, _MOST_COLUMNS = 50, 100
_MOST_LEFT_COLUMNS = 30
_MOST_UNGROUPED = 12
"""A command with more options shows them in groups."""


def of_command(program: str, cls: Any) -> str:
    """The help of a command."""
    parameters = parameters_of(cls)
    arguments = [parameter for parameter in parameters if not parameter.is_option]
    options = [parameter for parameter in parameters if parameter.is_option]
    options.sort(key=lambda option: option.names[0] in _LAST)
    usage = " ".join(["Usage:", program, "[OPTIONS]", *(argument.metavar for argument in arguments)])
    sections = [usage, *_paragraphs(cls.__doc__)]
    if arguments:
        sections.append(section("Arguments", ((argument.metavar, _explained(argument)) for argument in arguments)))
    titles = dict.fromkeys(["", *(option.group for option in options)]) if len(options) > _MOST_UNGROUPED else [""]
    for title in titles:
        rows = [(_names(option), _explained(option)) for option in options if option.group == title or len(titles) == 1]
        sections.append(section(title or "Options", rows if title else [*rows, _HELP]))
    return "\n\n".join(sections) + "\n"


def of_group(program: str, about: str, sections: Iterable[str], options: Iterable[tuple[str, str]] = ()) -> str:
    """The help of the program, or of a group of commands."""
    usage = f"Usage: {program} [OPTIONS] COMMAND [ARGS]..."
    return "\n\n".join([usage, *_paragraphs(about), section("Options", [*options, _HELP]), *sections]) + "\n"


def _names(option: Parameter) -> str:
    """The names of an option, the short one first, and its value."""
    names = "/".join([", ".join(reversed(option.names)), *option.off_names])
    return names if option.is_flag else f"{names} {option.metavar}"


def _explained(parameter: Parameter) -> str:
    text, default = parameter.help, parameter.default
    if default is ...:
        return f"{text} [required]"
    is_shown = parameter.show_default and default is not None and default is not False and default != ""
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"{text} [default: {shown}]" if is_shown else text


def section(title: str, rows: Iterable[tuple[str, str]], end: str = "") -> str:
    """A title and two columns; what is too long for the first column stands on a line of its own."""
    rows = list(rows)
    left = min(max(len(name) for name, _ in rows), _MOST_LEFT_COLUMNS)
    lines = [f"{title}:"]
    for name, text in rows:
        first, *others = _wrapped(text, _columns() - left - 4) or [""]
        if len(name) > left:
            lines.append(f"  {name}")
            name = ""
        lines += [f"  {name:{left}}  {first}", *(" " * (left + 4) + line for line in others)]
    return "\n".join([*lines, *(f"  {line}" for line in [end] if line)])


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a docstring; indented lines are commands, which are continued as a shell reads them."""
    for paragraph in cleandoc(text).split("\n\n"):
        if paragraph.startswith(" "):
            commands = re.split(r"\n(?=\s+(?:\w+=\S+ )*pfgen-fast )", paragraph)
            yield "\n".join(f"    {line}" for command in commands for line in _continued(command))
        else:
            yield "\n".join(f"  {line}" for line in _wrapped(paragraph, _columns() - 2))


def _continued(command: str) -> Iterator[str]:
    kept = re.sub(r" (--?[a-z][\w-]*) (?!-)", " \\1\u00a0", " ".join(command.split()))  # an option with its value
    *lines, last = _wrapped(kept, _columns() - 8)
    for number, line in enumerate([*lines, last]):
        text = ("  " if number else "") + line + (" \\" if number < len(lines) else "")
        yield text.replace("\u00a0", " ")


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _columns() -> int:
    return max(_LEAST_COLUMNS, min(shutil.get_terminal_size().columns, _MOST_COLUMNS))
