"""Figures of the docs and the functions that compute them: a registry for blocks of prose and tables.

A comment before a block, `<!-- measured elsewhere: DATE, DATA -->`, states the source of other figures.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from makers.documented import DOCS, without_code

_NUMBER = re.compile(r"(?<![\w.,/-])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w|-\w)")
_MEASURED = re.compile(r"(?<![\d.])[01]\.\d{3,}|\d of (?:the )?\d|\d\.\d+ %")
_CONSTANTS = re.compile(
    r"\b(?:0\.(?:0005|001|0025|005|0625|33333|5 %)|2\.5 %|97\.5 %)(?!\d)"
)  # of the rules, of options, of theorems
_ELSEWHERE = re.compile(r"<!-- measured elsewhere: .*20\d\d.*?, .+ -->")
_WRITTEN = re.compile(
    r"<!-- (?:what \S+ wrote|simulated) -->.*?<!-- (?:end of what it wrote|/simulated) -->", re.DOTALL
)
_NO_NUMBERS = re.compile(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->")

Compute = Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Figures:
    """A block of a page in docs/, by its beginning, and the function that yields all of its numbers in order."""

    page: str
    begins: str
    compute: Compute
    marks: tuple[pytest.MarkDecorator, ...]


REGISTRY: list[Figures] = []


def figures(page: str, begins: str, *marks: pytest.MarkDecorator) -> Callable[[Compute], Compute]:
    """Registers a function that yields texts with the numbers of a block; the test of it gets the marks."""

    def register(compute: Compute) -> Compute:
        REGISTRY.append(Figures(page, begins, compute, marks))
        return compute

    return register


def blocks(page: Path) -> Iterator[str]:
    """The paragraphs, list entries and tables of a page, each in one line, without code and the output of programs."""
    text = _WRITTEN.sub("", without_code(page))
    for block in re.split(r"\n\s*\n|(?<!-->)\n(?=[ >]*\* )", text):
        line = " ".join(block.split())
        if line and not line.startswith("#"):
            yield line


def numbers(block: str) -> list[str]:
    """The numbers of a block, without those in code, names and addresses."""
    return _NUMBER.findall(_NO_NUMBERS.sub(" ", block))


def needs_a_program(block: str) -> bool:
    """Whether a block has figures that look measured, and does not say that they were measured elsewhere."""
    text = _CONSTANTS.sub(" ", _NO_NUMBERS.sub(" ", block))
    return bool(_MEASURED.search(text)) and not _ELSEWHERE.match(block)


def pages() -> list[Path]:
    """The English pages; another test compares the figures of translations with them."""
    return [page for page in sorted(DOCS.rglob("*.md")) if "ja" not in page.relative_to(DOCS).parts]
