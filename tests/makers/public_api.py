"""The public names of the package, one to a line, and its commands, each in a line with its options.

Read from the source, so that it needs no optional package and is the same on every Python. Running this file writes
tests/public_api.txt, which is how a change of the public API is made deliberately.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pfgen_fast
from pfgen_fast.cli import commands
from pfgen_fast.cli.parser import Parameter, parameters_of

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "tests" / "public_api.txt"
PACKAGE = ROOT / "python" / "pfgen_fast"

MODULES = (
    "base.errors",
    "compat",
    "integrations.lm_eval",
    "lab.evaluators.evaluator",
    "lab.evaluators.function_evaluator",
    "lab.evaluators.ngram_evaluator",
    "oracle",
)
OPEN_PACKAGES = ("integrations",)  # all modules of which are public

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def public_api() -> list[str]:
    """Every public name with its signature, sorted, and every command with its options."""
    package = [(name, name, module) for name, module in pfgen_fast.MODULES.items()]
    names = {line for place in (*package, *_of_modules()) for line in _described(*place)}
    return sorted(names, key=lambda line: line.removeprefix("class ").removeprefix("def ")) + sorted(_of_commands())


def _of_modules() -> Iterator[tuple[str, str, str]]:
    """What modules define, or list in `__all__` and have from another module: path, name and defining module."""
    paths = [path for package in OPEN_PACKAGES for path in (PACKAGE / package).rglob("[!_]*.py")]
    for module in (*MODULES, *(".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in paths)):
        tree = _tree(module)
        listed = {name for node in tree.body if "__all__" in _targets(node) for name in ast.literal_eval(node.value)}  # type: ignore[attr-defined]
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and listed:
                origin = _origin(module, "." * node.level + (node.module or ""))
                result = [(alias.name, origin) for alias in node.names if alias.name in listed]
            else:
                result = [(name, module) for name in _targets(node) if not name.startswith("_")]
            yield from ((f"{module}.{name}", name, origin) for name, origin in result)


def _described(path: str, name: str, module: str) -> Iterator[str]:
    """A name with its signature, and its public methods and fields if it is a class."""
    [node] = [node for node in _tree(module).body if name in _targets(node)][-1:]
    if isinstance(node, ast.ClassDef):
        yield f"class {path}" + (f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else "")
        for member in node.body:
            yield from (f"{path}.{line}" for line in _member(member))
    else:
        yield f"def {path}{_signature(node)}" if isinstance(node, _Definition) else path


def _member(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _Definition):
        kinds = {ast.unparse(decorator) for decorator in node.decorator_list}
        if not node.name.startswith("_") or node.name == "__init__":
            is_field = not kinds.isdisjoint(("property", "cached_property"))
            yield f"{node.name}: {_annotation(node.returns)}" if is_field else node.name + _signature(node)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
        yield f"{node.target.id}: {ast.unparse(node.annotation)}"


def _signature(node: _Definition) -> str:
    return f"({ast.unparse(node.args)}) -> {_annotation(node.returns)}"


def _annotation(node: ast.expr | None) -> str:
    return ast.unparse(node) if node else "None"


def _targets(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.ClassDef | _Definition):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _origin(package: str, module: str) -> str:
    """A module that is named relative to a package, where each dot in front goes up by one."""
    name = module.lstrip(".")
    above = package.split(".")[: -(len(module) - len(name)) or None]
    return ".".join(filter(None, (*above, name)))


def _tree(module: str) -> ast.Module:
    path = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(source.read_text(encoding="utf-8"))


GROUPS = ["", *(name for name in commands.LINES if name not in commands.COMMANDS)]
"""The commands that have commands of their own; the program itself has no name."""
LEAVES = list(commands.COMMANDS)


def options_of(name: str) -> list[Parameter]:
    """The options of a command."""
    return [option for option in parameters_of(commands.command_class(name)) if option.is_option]


def _of_commands() -> Iterator[str]:
    yield from ("pfgen-fast --version/-V", "pfgen-fast help COMMAND")
    yield from (f"pfgen-fast {name}" for name in GROUPS[1:])
    for name in LEAVES:
        parameters = parameters_of(commands.command_class(name))
        arguments = [parameter.field.upper() for parameter in parameters if not parameter.is_option]
        shown = sorted("/".join([*option.names, *option.off_names]) for option in options_of(name))
        yield " ".join(["pfgen-fast", name, *arguments, *shown])


def expanded(lines: Iterable[str]) -> Iterator[str]:
    """The lines, where each name of an option of a command has a line of its own."""
    for line in lines:
        if not line.startswith("pfgen-fast"):
            yield line
            continue
        command, *options = line.split(" -")
        yield command
        yield from (
            f"{re.sub(' [A-Z].*', '', command)} {name}" for option in options for name in f"-{option}".split("/")
        )


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]
    RECORD.write_text("\n".join(public_api()) + "\n", encoding="utf-8")
