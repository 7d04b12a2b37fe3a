"""Commands and groups of options as frozen dataclasses: a field is an option, with typer's Option as its value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from inspect import Parameter, Signature, isfunction, signature
from typing import Annotated, Any, TypeVar, get_type_hints

from typer.models import OptionInfo, ParameterInfo

T = TypeVar("T")


def option_group(cls: type[T]) -> type[T]:
    """Makes a frozen dataclass of a class whose fields have typer's Option or Argument as values.

    An option without a long name is named after its field; a bool is then a flag that cannot be negated.
    """
    for name, hint in get_type_hints(cls, include_extras=True).items():
        info = vars(cls).get(name)
        if not isinstance(info, ParameterInfo):
            continue
        if isinstance(info, OptionInfo) and not any(text.startswith("--") for text in info.param_decls or ()):
            info.param_decls = (f"--{name.replace('_', '-')}", *(info.param_decls or ()))
        cls.__annotations__[name] = Annotated[hint, info]
        if info.default is ...:
            delattr(cls, name)
        else:
            setattr(cls, name, info.default)
        info.default = ...  # the field has it
    return dataclass(frozen=True, kw_only=True)(cls)


def command(cls: type[Any]) -> Callable[..., None]:
    """Makes a command of a class: its fields are the options, its docstring is the help, and calling it runs it.

    A field stands for a group of options if its type is a group, or if it is annotated with a function: then the
    parameters of the function are the options, and the function makes the value of the field.
    """
    parameters, make = _options_of(cls if "__dataclass_fields__" in vars(cls) else option_group(cls))

    def run(**values: Any) -> None:
        make(values)()

    run.__doc__ = cls.__doc__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _options_of(maker: Callable[..., Any]) -> tuple[list[Parameter], Callable[[dict[str, Any]], Any]]:
    """The options of a group, with those of groups in it, and a function that makes the group from all values."""
    hints = get_type_hints(maker, include_extras=True)
    fields = signature(maker).parameters
    groups = {name: _options_of(group) for name in fields if (group := _group_of(hints.get(name))) is not None}
    parameters: list[Parameter] = []
    for name, parameter in fields.items():
        own = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints.get(name, parameter.annotation))
        parameters += groups[name][0] if name in groups else [own]

    def make(values: dict[str, Any]) -> Any:
        return maker(**{name: groups[name][1](values) if name in groups else values[name] for name in fields})

    return parameters, make


def _group_of(hint: Any) -> Callable[..., Any] | None:
    if is_dataclass(hint):
        return hint  # type: ignore[return-value]
    return next((maker for maker in getattr(hint, "__metadata__", ()) if isfunction(maker)), None)
