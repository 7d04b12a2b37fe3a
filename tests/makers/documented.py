"""Examples of the docs for tests: blocks of code with their places, and the reasons of blocks that are not run.

A comment in the line before a block, `<!-- not run: REASON -->`, says why no test runs it.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TESTS = ROOT / "tests"

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n+)?```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def tool(name: str, folder: str = "tools") -> Any:
    """A program of tools/ or examples/."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / folder), str(ROOT), *sys.path])
        return importlib.import_module(name)


@dataclass(frozen=True)
class Block:
    """A block of code between fences: its place, its language, and the reason if it is not run."""

    page: Path
    line: int
    language: str
    code: str
    reason: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """All pages of the docs and the READMEs."""
    return [ROOT / "README.md", ROOT / "README.ja.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The blocks between fences of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match["language"], match["code"], match["reason"] or "")
        for match in _BLOCK.finditer(text)
    ]


def documented_example(part: str) -> str:
    """The only block of Python in docs/ with this part, outside the translations, which repeat it."""
    [block] = [
        block.code
        for page in sorted(DOCS.rglob("*.md"))
        if "ja" not in page.relative_to(DOCS).parts
        for block in blocks(page)
        if block.language == "python" and part in block.code
    ]
    return block


def commands(page: Path) -> Iterator[str]:
    """Each `pfgen-fast ...` of a page in its blocks and in the text; lines are joined."""
    text = page.read_text(encoding="utf-8")
    code = [block.code for block in blocks(page) if block.language in ("sh", "")]
    for line in re.sub(r"\\\n\s*", " ", "\n".join(code)).splitlines():
        if match := re.match(r"\s*(?:\$ )?pfgen-fast .+", line):
            yield match[0].strip()
    for match in re.finditer(r"`(pfgen-fast [^`]+)`", _BLOCK.sub("", text)):
        yield " ".join(match[1].split())


def without_code(page: Path) -> str:
    """The text of a page without its blocks of code: between fences, or indented behind an empty line."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return re.sub(r"(?<=\n\n) {4}(?!\* ).*\n(?: {4}.*\n)*", "", text)


def tests_that_run(block: Block) -> list[Path]:
    """Test files that ask for a block by a part of it (`documented_example`), or that name its page to run it."""
    name = f"{block.page.parent.name}/{block.page.name}"
    return [
        path
        for path, (parts, names) in _what_tests_run().items()
        if any(part in block.code for part in parts) or name in names
    ]


@cache
def _what_tests_run() -> dict[Path, tuple[set[str], set[str]]]:
    """For each test file, the parts of blocks that it asks for, and the pages whose blocks it runs."""
    by_name = {}
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"documented_example|exec\(|run_python_blocks|subprocess|run_here", text):
            continue
        parts = {
            node.args[0].value
            for node in (ast.walk(ast.parse(text)) if "documented_example(" in text else ())
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "documented_example"
            if isinstance(node.args[0], ast.Constant)
        }
        by_name[path] = parts, set(re.findall(r"\w+/\w+\.md", text.replace('" / "', "/")))
    return by_name
