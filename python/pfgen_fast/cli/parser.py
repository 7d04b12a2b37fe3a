"""Declares commands as dataclasses whose fields are options and arguments, and reads a command line into them.

    @option_group
    class Sampling:
        help_group = "Sampling"  # the title in --help; options without a title are listed first
        temperature: float = Option(1.0, "Set the temperature.", min=0)

    class Generate:
        paths: list[Path] = Argument(..., "Runs.", metavar="PATH...")
        limit: int | None = Option(None, "Use the first N questions.", "--limit", "-l", metavar="N")
        sampling: Sampling

argparse refuses values that begin with a hyphen and arguments between options, and its messages depend on the version
of Python.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ..base.errors import PfgenError
from ..base.untrusted_text import did_you_mean, in_one_line, unknown_name

T = TypeVar("T")
HELP_NAMES = ("-h", "--help")
_METAVARS = {int: "N", float: "NUMBER", Path: "FILE", str: "NAME"}
_EXPECTED = {int: "an integer", float: "a number"}


class UsageError(PfgenError):
    """The command line cannot be read."""


class HelpWanted(Exception):
    """The command line has the option --help."""


class BadValue(ValueError):
    """The value of an option cannot be used; a parser raises it, and the message gets the name of the option."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameter:
    """An option or an argument; a field of a command adds what is below the line.

    Attributes:
        names: The names; without a long name, an option is named after its field. `--on/--off` is a flag and its
            opposite.
        help: The text in --help.
        metavar: The name of the value in --help. Default: by type.
        min: The lowest number.
        max: The highest number.
        parser: Converts a text to the value, or to a list of values, or raises BadValue. Default: by type.
        group: The title of the option's section in --help. Default: `help_group` of the class.
        for_input: The kind of input that the option is for; see `refuse_others`. Default: `for_input` of the class.
        is_option: Whether it is an option.
    """

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    min: float | None = None
    max: float | None = None
    parser: Callable[[str], Any] | None = None
    group: str | None = None
    for_input: Literal["runs", "tables"] | None = None
    is_option: bool = True
    # ---
    field: str = ""
    off_names: tuple[str, ...] = ()
    type: Any = str
    is_list: bool = False
    choices: tuple[str, ...] = ()
    default: Any = ...

    @property
    def label(self) -> str:
        """The name in messages."""
        return self.names[0] if self.is_option else self.metavar

    @property
    def is_flag(self) -> bool:
        """Whether the option has no value."""
        return self.type is bool

    def converted(self, text: str) -> Any:
        """The value of a text; raises UsageError."""
        try:
            if not text and (self.type is Path or not self.is_option):
                raise BadValue("expected a name, not ''")
            if self.parser is not None:
                return self.parser(text)
            if self.choices and text not in self.choices:
                raise BadValue(unknown_name("value", text, self.choices))
            return text if self.choices else self._typed(text)
        except BadValue as error:
            raise UsageError(f"{self.label}: {error}") from None

    def _typed(self, text: str) -> Any:
        expected = _EXPECTED.get(self.type)
        try:
            value = self.type(text)
        except ValueError:
            value = None
        if expected and (value is None or value != value):
            raise BadValue(f"expected {expected}, not {in_one_line(text)!r}")
        limits = {"at least": self.min, "at most": self.max}
        if (self.min is not None and value < self.min) or (self.max is not None and value > self.max):
            limited = " and ".join(f"{bound} {limit}" for bound, limit in limits.items() if limit is not None)
            raise BadValue(f"expected {expected} of {limited}, not {in_one_line(text)!r}")
        return value


def Option(default: Any, help: str, *names: str, **settings: Any) -> Any:  # noqa: N802
    """Declares an option, as the value of a field or within Annotated.

    Args:
        default: The default; `...` for a required option, and within Annotated, where the class has the default.
        help: The text in --help.
        names: The names; without a long name, the option is named after its field.
        settings: The settings of `Parameter`.
    """
    parameter = Parameter(names=names, help=help, **settings)
    return field(default=MISSING if default is ... else default, metadata={"parameter": parameter})


def Argument(default: Any, help: str, **settings: Any) -> Any:  # noqa: N802
    """Declares an argument, which has no name on the command line; see `Option`."""
    return Option(default, help, is_option=False, **settings)


def option_group(cls: type[T]) -> type[T]:
    """Makes a dataclass of a class of options, which may be a command or the type of a field of a command.

    It gets only an initializer, because each generated method delays the start by 0.1 ms.
    """
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


@cache
def _members(cls: Any) -> dict[str, Any]:
    """The fields of a command or group: each is an option or argument (Parameter), or a group (its class)."""
    hints = get_type_hints(cls, include_extras=True)
    members = {}
    for member in fields(cls):
        hint = hints[member.name]
        places = [place.metadata for place in (member, *getattr(hint, "__metadata__", ())) if isinstance(place, Field)]
        declared = next((place["parameter"] for place in places if "parameter" in place), None)
        members[member.name] = hint if declared is None else _bound(declared, cls, member, hint)
    return members


def _bound(parameter: Parameter, cls: type, member: Field[Any], hint: Any) -> Parameter:
    """A parameter with what its field and the class say."""
    owner = next(base for base in cls.__mro__ if member.name in getattr(base, "__annotations__", {}))
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if is_list := get_origin(hint) is list:
        (hint,) = get_args(hint)
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    pairs = [name.partition("/") for name in parameter.names]
    names = sorted((name for name, _, _ in pairs), key=lambda name: not name.startswith("--"))
    if parameter.is_option and not (names and names[0].startswith("--")):
        names.insert(0, f"--{member.name.replace('_', '-')}")
    usual = "|".join(choices) or _METAVARS.get(hint, "VALUE")
    return replace(
        parameter,
        names=tuple(names),
        off_names=tuple(off_name for _, _, off_name in pairs if off_name),
        field=member.name,
        metavar=parameter.metavar or (usual if parameter.is_option else member.name.upper()),
        type=hint,
        is_list=is_list,
        choices=choices,
        default=... if member.default is MISSING else member.default,
        group=getattr(owner, "help_group", "") if parameter.group is None else parameter.group,
        for_input=parameter.for_input or getattr(cls, "for_input", None),
    )


@cache
def parameters_of(cls: Any) -> tuple[Parameter, ...]:
    """The options and arguments of a command, with those of the groups in it."""
    members = _members(cls).values()
    return tuple(chain(*([member] if isinstance(member, Parameter) else parameters_of(member) for member in members)))


def options_set(command: Any) -> Iterator[Parameter]:
    """The options of a command whose values are not the defaults."""
    for name, member in _members(command.__class__).items():
        value = getattr(command, name)
        if not isinstance(member, Parameter):
            yield from options_set(value)
        elif member.is_option and not (value is member.default or value == member.default):
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
    for option, value in _options(cls, deque(words), texts):
        if option.is_list:
            values.setdefault(option, []).extend(value if isinstance(value, list) else [value])
        else:
            values[option] = value
    for parameter in parameters_of(cls):
        if not parameter.is_option and texts:
            several = [parameter.converted(texts.popleft()) for _ in range(len(texts) if parameter.is_list else 1)]
            values[parameter] = several if parameter.is_list else several[0]
    if texts:
        raise UsageError(f"unexpected argument: {in_one_line(texts[0])}")
    for parameter in parameters_of(cls):
        if parameter.default is ... and parameter not in values:
            kind = "option" if parameter.is_option else "argument"
            raise UsageError(f"missing {kind} {parameter.label}: {parameter.help}")
    return _built(cls, values)


def _options(cls: Any, words: deque[str], texts: deque[str]) -> Iterator[tuple[Parameter, Any]]:
    """The options on a command line with their values; the other words are appended to `texts`."""
    options = {name: option for option in parameters_of(cls) for name in (*option.names, *option.off_names)}
    while words:
        word = words.popleft()
        if word == "--":
            texts += words
            return
        if not word.startswith("-") or word == "-":
            texts.append(word)
            continue
        is_long = word.startswith("--")
        name, equals, text = word.partition("=") if is_long else (word[:2], word[2:], word[2:])
        option = options.get(name)
        if option is None and name in HELP_NAMES:
            raise HelpWanted
        if option is None:
            raise UsageError(f"no such option: {in_one_line(name)}{did_you_mean(name, options, cutoff=0.75)}")
        if option.is_flag:
            if equals and is_long:
                raise UsageError(f"{name}: expected no value, got {in_one_line(text)!r}")
            if equals:  # such as -qf
                words.appendleft(f"-{text}")
            yield option, name not in option.off_names
            continue
        if not equals:
            if not words or words[0].partition("=")[0] in (*options, *HELP_NAMES):
                shown = in_one_line(words[0]) if words else ""
                got = f", got the option {shown}; {name}={shown} makes it the value" if words else ""
                raise UsageError(f"{name}: expected a value, {option.metavar}{got}")
            text = words.popleft()
        yield option, option.converted(text)


def _built(cls: Any, values: dict[Parameter, Any]) -> Any:
    """The command or group with these values, and the defaults of other fields."""
    arguments = {}
    for name, member in _members(cls).items():
        if not isinstance(member, Parameter):
            arguments[name] = _built(member, values)
        elif member in values:
            arguments[name] = values[member]
    return cls(**arguments)
