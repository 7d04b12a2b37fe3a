"""The structure of the code base: no circular imports, names that can be searched, and a size that one can read."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from makers.documented import ROOT

PYTHON = ROOT / "python"
MOST_LINES = 400
UNSEARCHABLE = ("found", "one", "each", "made", "said", "given")
GENERATED = ("normalisation_table.cpp", "unicode_table.cpp", "pfgen.js")
MOST = {
    "lines of the package": 55_580,
    "files of the package": 302,
    "files, of 1,000 lines": 6,
    "lines of tests": 45_800,
    "lines of makers": 3_000,
    "modules of makers": 25,
    "imports, of 1,000 lines": 78,
    "functions of three lines or fewer, of 1,000": 276,
}
"""What `sizes` may be at the most; the next to make one of them smaller lowers its limit."""


@cache
def sources(folder: str) -> dict[Path, str]:
    """The Python files below a folder."""
    return {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*.py"))}


def n_lines(folder: str) -> int:
    return sum(text.count("\n") for text in sources(folder).values())


@cache
def nodes(path: Path, text: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(text)))


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


def test_no_file_is_too_long():
    files = [path for name in ("python", "cpp") for path in (ROOT / name).rglob("*")]
    sources = [path for path in files if path.suffix in {".py", ".cpp", ".hpp", ".js"} and path.name not in GENERATED]
    assert len(sources) > 400
    assert not [path for path in sources if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES]


@pytest.fixture(scope="module")
def sizes():
    every = [node for path, text in sources("python").items() for node in nodes(path, text)]
    imports = sum(node.end_lineno - node.lineno + 1 for node in every if isinstance(node, ast.Import | ast.ImportFrom))
    functions = [node.end_lineno - node.lineno + 1 for node in every if isinstance(node, ast.FunctionDef)]
    native = (ROOT / "cpp" / "tests").rglob("*.?pp")
    return {
        "lines of the package": n_lines("python"),
        "files of the package": len(sources("python")),
        "files, of 1,000 lines": 1000 * len(sources("python")) // n_lines("python"),
        "lines of tests": n_lines("tests") + sum(path.read_text(encoding="utf-8").count("\n") for path in native),
        "lines of makers": n_lines("tests/makers"),
        "modules of makers": len(sources("tests/makers")),
        "imports, of 1,000 lines": 1000 * imports // n_lines("python"),
        "functions of three lines or fewer, of 1,000": 1000 * sum(n <= 3 for n in functions) // len(functions),
    }


@pytest.mark.parametrize("what", MOST)
def test_the_code_stays_as_small_as_it_is(sizes, what):
    assert sizes[what] <= MOST[what]


def test_a_module_is_found_by_its_name():
    """But in the package of commands, whose modules are named as the commands are."""
    names = Counter(
        path.name
        for path in sources("python")
        if "cli" not in path.relative_to(PYTHON).parts and not path.name.startswith("__")
    )
    assert len(names) > 200
    assert not [name for name, n in names.items() if n > 1]


def test_the_name_of_a_variable_says_what_it_is():
    may_have = re.compile(rf"\b({'|'.join(UNSEARCHABLE)})\b")
    files = [file for folder in ("python", "tests", "bench", "tools", "examples") for file in sources(folder).items()]
    named = [
        f"{path.name}:{node.lineno}: {node.id if isinstance(node, ast.Name) else node.arg}"
        for path, text in files
        if may_have.search(text)
        for node in nodes(path, text)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in UNSEARCHABLE)
        or (isinstance(node, ast.arg) and node.arg in UNSEARCHABLE)
    ]
    assert not named
