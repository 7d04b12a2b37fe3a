"""Declares commands as frozen dataclasses whose fields are options and arguments, and reads a command line into them.

    @option_group
    class Sampling:
        help_group = "Sampling"  # the title in --help; without it, the options are listed first
        temperature: float = Option(1.0, min=0, help="Set the temperature.")

    class Generate:
        paths: list[Path] = Argument(help="Runs.", metavar="PATH...")
        limit: Annotated[int | None, Option("--limit", "-l", help="Use the first N questions.", metavar="N")] = None
        sampling: Sampling

A command line is read here and not by argparse, which refuses values that begin with a hyphen and arguments between
options, and whose messages depend on the version of Python.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ..base.errors import PfgenError
from ..base.untrusted_text import did_you_mean, in_one_line, unknown_name

T = TypeVar("T")
_METAVARS = {int: "N", float: "NUMBER", Path: "PATH", str: "TEXT"}
_EXPECTED = {int: "an integer", float: "a number"}


class UsageError(PfgenError):
    """The command line cannot be read."""


class HelpWanted(Exception):
    """The command line has the option --help."""


class BadValue(ValueError):
    """The value of an option cannot be used; a parser raises it, and the message gets the name of the option."""


@dataclass(frozen=True)
class _Declared:
    """The settings of an option or an argument."""

    names: tuple[str, ...]
    help: str
    metavar: str | None
    min: float | None
    max: float | None
    parser: Callable[[str], Any] | None
    n_values: int
    group: str | None
    for_input: str | None
    show_default: bool
    is_option: bool


def Option(  # noqa: N802
    *words: Any,
    help: str,
    metavar: str | None = None,
    min: float | None = None,
    max: float | None = None,
    parser: Callable[[str], Any] | None = None,
    n_values: int = 1,
    group: str | None = None,
    for_input: Literal["runs", "tables"] | None = None,
    show_default: bool = True,
    is_option: bool = True,
) -> Any:
    """Declares an option, as the value of a field or within Annotated.

    Args:
        words: The default, if the option is the value of a field (`...` or nothing for a required option), and names;
            without a long name, the option is named after its field. `--on/--off` names a flag and its opposite.
        help: The text in --help.
        metavar: The name of the value in --help. Default: by type.
        min: The lowest number.
        max: The highest number.
        parser: Converts a text to the value, or to a list of values, or raises BadValue. Default: by type.
        n_values: The number of values; if more than one, they become a tuple.
        group: The title of the option's section in --help. Default: `help_group` of the class.
        for_input: The kind of input that the option is for; see `refuse_others`. Default: `for_input` of the class.
        show_default: Whether --help shows the default.
        is_option: False for an argument.
    """
    names = tuple(word for word in words if isinstance(word, str) and word.startswith("-"))
    default = next((word for word in words if word not in names and word is not ...), MISSING)
    declared = _Declared(names, help, metavar, min, max, parser, n_values, group, for_input, show_default, is_option)
    return field(default=default, metadata={"declared": declared})


def Argument(*default: Any, help: str, metavar: str | None = None, show_default: bool = True) -> Any:  # noqa: N802
    """Declares an argument, which has no name on the command line; see `Option`."""
    return Option(*default, help=help, metavar=metavar, show_default=show_default, is_option=False)


def option_group(cls: type[T]) -> type[T]:
    """Makes a frozen dataclass of a class of options, which may be a command or the type of a field of a command."""
    return dataclass(frozen=True, kw_only=True)(cls)


@dataclass(frozen=True, eq=False)
class Parameter:
    """An option or an argument of a command."""

    declared: _Declared
    field: str
    names: tuple[str, ...]
    off_names: tuple[str, ...]
    type: Any
    is_list: bool
    choices: tuple[str, ...]
    default: Any
    group: str
    for_input: str | None

    @property
    def is_flag(self) -> bool:
        """Whether the option has no value."""
        return self.type is bool

    @property
    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.default is MISSING

    @property
    def label(self) -> str:
        """The name in messages."""
        return self.names[0] if self.declared.is_option else self.metavar

    @property
    def metavar(self) -> str:
        """The name of the value."""
        usual = "|".join(self.choices) or _METAVARS.get(self.type, "VALUE")
        return self.declared.metavar or (usual if self.declared.is_option else self.field.upper())

    def converted(self, text: str) -> Any:
        """The value of a text; raises UsageError."""
        declared = self.declared
        try:
            if declared.parser is not None:
                return declared.parser(text)
            if self.choices and text not in self.choices:
                raise BadValue(unknown_name("value", text, self.choices))
            value: Any = text if self.choices else self._typed(text)
        except BadValue as error:
            raise UsageError(f"{self.label}: {error}") from None
        low, high = declared.min, declared.max
        if (low is not None and value < low) or (high is not None and value > high):
            limits = {"at least": low, "at most": high}
            limited = " and ".join(f"{bound} {limit:g}" for bound, limit in limits.items() if limit is not None)
            raise UsageError(f"{self.label}: expected {_EXPECTED[self.type]} of {limited}, not {in_one_line(text)!r}")
        return value

    def _typed(self, text: str) -> Any:
        try:
            value = self.type(text)
        except ValueError:
            value = None
        if value is None or value != value:
            raise BadValue(f"expected {_EXPECTED[self.type]}, not {in_one_line(text)!r}")
        return value


@cache
def _members(cls: Any) -> dict[str, Any]:
    """The fields of a command or group: each is an option or argument (Parameter), or a group (its class)."""
    hints = get_type_hints(cls, include_extras=True)
    members = {}
    for member in fields(cls):
        hint = hints[member.name]
        places = (member, *(place for place in getattr(hint, "__metadata__", ()) if isinstance(place, Field)))
        declared = next((place.metadata["declared"] for place in places if "declared" in place.metadata), None)
        members[member.name] = hint if declared is None else _parameter(cls, member, hint, declared)
    return members


@cache
def parameters_of(cls: Any) -> tuple[Parameter, ...]:
    """The options and arguments of a command, with those of the groups in it."""
    members = _members(cls).values()
    return tuple(chain(*([member] if isinstance(member, Parameter) else parameters_of(member) for member in members)))


def _parameter(cls: type, member: Field[Any], hint: Any, declared: _Declared) -> Parameter:
    owner = next(base for base in cls.__mro__ if member.name in getattr(base, "__annotations__", {}))
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if is_list := get_origin(hint) is list:
        (hint,) = get_args(hint)
    pairs = [name.partition("/") for name in declared.names]
    names = [name for name, _, _ in pairs]
    if declared.is_option and not any(name.startswith("--") for name in names):
        names.insert(0, f"--{member.name.replace('_', '-')}")
    return Parameter(
        declared=declared,
        field=member.name,
        names=tuple(sorted(names, key=lambda name: not name.startswith("--"))),
        off_names=tuple(off_name for _, _, off_name in pairs if off_name),
        type=hint,
        is_list=is_list,
        choices=get_args(hint) if get_origin(hint) is Literal else (),
        default=member.default,
        group=getattr(owner, "help_group", "") if declared.group is None else declared.group,
        for_input=declared.for_input or getattr(cls, "for_input", None),
    )


def options_set(command: Any) -> Iterator[Parameter]:
    """The options of a command whose values are not the defaults."""
    for name, member in _members(command.__class__).items():
        value = getattr(command, name)
        if not isinstance(member, Parameter):
            yield from options_set(value)
        elif member.declared.is_option and not (value is member.default or value == member.default):
            yield member


def refuse_others(command: Any, kind: Literal["runs", "tables"]) -> None:
    """Raises UsageError if an option is set that is for another kind of input than this one.

    An option is for one kind of input if it is declared with `for_input="tables"`, or in a class with this attribute.
    Call this where the kind of the inputs is known.
    """
    for option in options_set(command):
        if option.for_input not in (None, kind):
            raise UsageError(f"no such option for {kind}; it is for {option.for_input}: {option.label}")


def parse(cls: Any, words: Iterable[str]) -> Any:
    """Reads a command line into a command; raises UsageError."""
    values: dict[Parameter, Any] = {}
    texts: deque[str] = deque()
    for parameter, value in _values(cls, deque(words), texts):
        if parameter.is_list:
            values.setdefault(parameter, []).extend(value if isinstance(value, list) else [value])
        else:
            values[parameter] = value
    for parameter in parameters_of(cls):
        if parameter.declared.is_option:
            continue
        while texts and (parameter.is_list or parameter not in values):
            value = parameter.converted(texts.popleft())
            values[parameter] = [*values.get(parameter, ()), value] if parameter.is_list else value
    if texts:
        raise UsageError(f"unexpected argument: {in_one_line(texts[0])}")
    for parameter in parameters_of(cls):
        if parameter.is_required and parameter not in values:
            kind = "option" if parameter.declared.is_option else "argument"
            raise UsageError(f"missing {kind} {parameter.label}: {parameter.declared.help}")
    return _built(cls, values)


def _values(cls: Any, words: deque[str], texts: deque[str]) -> Iterator[tuple[Parameter, Any]]:
    """The options on a command line with their values; the other words are appended to `texts`."""
    options = {
        name: parameter
        for parameter in parameters_of(cls)
        if parameter.declared.is_option
        for name in (*parameter.names, *parameter.off_names)
    }
    while words:
        word = words.popleft()
        if word == "--":
            texts += words
            return
        if not word.startswith("-") or word == "-":
            texts.append(word)
            continue
        name, equals, text = word.partition("=") if word.startswith("--") else (word[:2], word[2:], word[2:])
        option = options.get(name)
        if option is None:
            if name in ("-h", "--help"):
                raise HelpWanted
            raise UsageError(f"no such option: {in_one_line(name)}{did_you_mean(name, options)}")
        if option.is_flag:
            if equals and word.startswith("--"):
                raise UsageError(f"{name}: expected no value, got {in_one_line(text)!r}")
            if equals:  # such as -qf
                words.appendleft(f"-{text}")
            yield option, name not in option.off_names
            continue
        parts = [text] if equals else []
        while len(parts) < option.declared.n_values:
            if not words or words[0] in options:
                got = f", got the option {words[0]}; {name}={words[0]} makes it the value" if words else ""
                raise UsageError(f"{name}: expected a value, {option.metavar}{got}")
            parts.append(words.popleft())
        converted = tuple(map(option.converted, parts))
        yield option, converted[0] if option.declared.n_values == 1 else converted


def _built(cls: Any, values: dict[Parameter, Any]) -> Any:
    """The command or group with these values, and the defaults of other fields."""
    arguments = {}
    for name, member in _members(cls).items():
        if not isinstance(member, Parameter):
            arguments[name] = _built(member, values)
        elif member in values:
            arguments[name] = values[member]
    return cls(**arguments)
