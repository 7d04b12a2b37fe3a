"""The structure of the code base: no circular imports, no file over 400 lines, and names that can be searched."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from makers.documented import ROOT

PYTHON = ROOT / "python"
MOST_LINES = 400
UNSEARCHABLE = {"found", "one", "each", "made", "said", "given"}
GENERATED = ("normalisation_table.cpp", "unicode_table.cpp")


def imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules that a module imports, for types and within functions too."""
    package = path.relative_to(PYTHON).parent.parts
    pattern = r"^ *from (\.*)([\w.]*) import (\([^)]*\)|.*)"
    for dots, module, names in re.findall(pattern, path.read_text(encoding="utf-8"), flags=re.MULTILINE):
        above = package[: len(package) - len(dots) + 1] if dots else ()
        source = ".".join([*above, *module.split(".")]).strip(".")
        for alias in names.strip("() \n").split(","):
            name = f"{source}.{alias.split()[0]}" if alias.split() else source
            yield name if name in modules else source


def test_modules_form_no_circle():
    paths = [path for path in (PYTHON / "pfgen_fast").rglob("*.py") if path.name != "__init__.py"]
    modules = {".".join(path.relative_to(PYTHON).with_suffix("").parts): path for path in paths}
    imports = {name: (set(imported(path, modules)) & modules.keys()) - {name} for name, path in modules.items()}
    assert sum(map(len, imports.values())) > 1000
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"modules that import each other: {' -> '.join(error.args[1])}")


def test_pytest_leaves_out_no_directory_of_tests(pytestconfig):
    """By default, it leaves out each directory `build`, as ruff does."""
    names = {path.name for path in (ROOT / "tests").rglob("*") if path.is_dir() and path.name != "__pycache__"}
    patterns = pytestconfig.getini("norecursedirs")
    assert [name for name in sorted(names) if any(fnmatch(name, pattern) for pattern in patterns)] == []


def test_no_file_is_too_long():
    files = [path for name in ("python", "cpp") for path in (ROOT / name).rglob("*")]
    sources = [path for path in files if path.suffix in {".py", ".cpp", ".hpp", ".js"} and path.name not in GENERATED]
    assert len(sources) > 400
    assert not [path for path in sources if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES]


def test_the_name_of_a_variable_says_what_it_is():
    named = [
        f"{path.name}:{node.lineno}: {node.id if isinstance(node, ast.Name) else node.arg}"
        for path in PYTHON.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in UNSEARCHABLE)
        or (isinstance(node, ast.arg) and node.arg in UNSEARCHABLE)
    ]
    assert not named
