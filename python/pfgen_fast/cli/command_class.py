"""Commands and groups of options as frozen dataclasses: a field is an option, with typer's Option as its value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from inspect import signature
from typing import Annotated, Any, TypeVar, get_type_hints

from typer.models import OptionInfo, ParameterInfo

from .engine_options import with_options

T = TypeVar("T")


def option_group(cls: type[T]) -> type[T]:
    """Makes a frozen dataclass of a class whose fields have typer's Option or Argument as values.

    An option without a long name is named after its field; a bool is then a flag that cannot be negated.
    """
    for name, hint in get_type_hints(cls, include_extras=True).items():
        info = vars(cls).get(name)
        if not isinstance(info, ParameterInfo):
            continue
        if isinstance(info, OptionInfo) and not any(one.startswith("--") for one in info.param_decls or ()):
            info.param_decls = (f"--{name.replace('_', '-')}", *(info.param_decls or ()))
        cls.__annotations__[name] = Annotated[hint, info]
        if info.default is ...:
            delattr(cls, name)
        else:
            setattr(cls, name, info.default)
        info.default = ...  # the field has it
    return dataclass(frozen=True, kw_only=True)(cls)


def command(cls: type[Any], **makers: Callable[..., Any]) -> Callable[..., None]:
    """Makes a command of a class: its fields are the options, its docstring is the help, and calling it runs it.

    A field whose type is a group of options, or that has a maker as in `with_options`, stands for these options.
    """
    made = option_group(cls)

    def run(**values: Any) -> None:
        made(**values)()

    run.__name__, run.__doc__ = cls.__name__.strip("_").lower(), cls.__doc__
    hints = get_type_hints(made, include_extras=True)
    fields = signature(made).parameters.values()
    run.__signature__ = signature(made).replace(  # type: ignore[attr-defined]
        parameters=[one.replace(annotation=hints[one.name]) for one in fields]
    )
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    return with_options(**{**groups, **makers})(run)
