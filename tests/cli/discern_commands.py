"""What tests of `pfgen-fast discern` share: a working folder with evaluators, tables of items, and what is written."""

import csv
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from makers.hostile import acting
from makers.pages import leave_out_drawing
from makers.tested_evaluators import some_items

KINDS = "char_delete/300,negate/1000,identity"

_EVALUATORS = """
def score(items, texts):
    return {"same": [sum(a == b for a, b in zip(i.text, t)) / len(i.text) for i, t in zip(items, texts)]}
def two(items, texts):
    return {**score(items, texts), "length": [len(t) for t in texts]}
def raises(items, texts):
    raise ValueError("no \\x1b[2J idea")
def stops(items, texts):
    raise KeyboardInterrupt
state = []
def restless(items, texts):
    state.append(1)
    return {"x": [float(len(t) + len(state)) for t in texts]}
"""


def begin_work(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Goes to a folder with evaluators and `texts.jsonl`; no pictures are drawn."""
    patch.chdir(folder)
    patch.syspath_prepend(str(folder))
    sys.modules.pop("mine", None)
    Path("mine.py").write_text(_EVALUATORS, encoding="utf-8")
    write_lines("texts.jsonl", rows_of())
    leave_out_drawing(patch)


def rows_of(n: int = 12, **more: Any) -> list[dict[str, Any]]:
    """The items of a collection as rows of a table."""
    usual = {"task": "summarization", **more}
    return [
        {"id": some_item.id, "text": some_item.text, "references": some_item.text.replace("cold", "deep"), **usual}
        for some_item in some_items(n)
    ]


def write_lines(path: str, rows: Iterable[dict[str, Any]]) -> str:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(call: Callable[..., Any], *arguments: object, kinds: str | None = KINDS) -> Any:
    return call("discern", "run", *arguments, "-o", "out", *(("--kinds", kinds) if kinds else ()))


def cells(table: str = "cells") -> list[dict[str, str]]:
    """The rows of a table that a command has written."""
    with Path(f"out/discernment-{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tables(folder: str = "out") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.csv"))}


def one_error(result: tuple[int, str, str], code: int = 2) -> str:
    """The only line on stderr, which is an error; nothing was printed, and no file of results was written."""
    assert (result[0], result[1]) == (code, "")
    (line,) = result[2].splitlines()
    assert line.startswith("error: ")
    assert not acting(line)
    assert not list(Path("out").glob("discernment*"))
    return line.removeprefix("error: ")
