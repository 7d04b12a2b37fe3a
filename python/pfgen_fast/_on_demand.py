"""Lazy imports: a name of a package imports its module on first access, so importing the package is cheap."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from sys import modules as loaded

_IMPORT = re.compile(r"^    from (\.\S*) import (\w+) as \2$", re.MULTILINE)


def names_on_demand(package: str) -> Callable[[str], object]:
    """The `__getattr__` of a package, which imports the names that its block for type checkers imports."""

    def __getattr__(name: str) -> object:  # noqa: N807 - becomes the `__getattr__` of the package
        module = modules_of_names(package).get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module, package), name)
        setattr(loaded[package], name, value)
        return value

    return __getattr__


@cache
def modules_of_names(package: str) -> dict[str, str]:
    """The module of each name, read from the source of the package, so that a name is listed once."""
    # Not from the loader: pytest's loader of packages with a plugin has no source.
    with open(str(loaded[package].__file__), encoding="utf-8") as file:
        return {name: module for module, name in _IMPORT.findall(file.read())}
