"""Programs that score texts, well or badly: Python scripts that `command:` runs."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pfgen_fast.lab.evaluators.evaluator import Item, text_column

_BEGIN = """\
import json, os, signal, subprocess, sys, time
def asked():
    for line in sys.stdin:
        yield json.loads(line)
def say(row, **scores):
    print(json.dumps({"row": row, "scores": scores}), flush=True)
"""

LENGTHS = """\
for each in asked():
    say(each["row"], length=len(each["text"]))
"""
"""Scores a text with its length, as soon as it is read."""

FAILS_AT_LAST = """\
for each in asked():
    if "sinks" in each["text"]:
        sys.exit(3)
    say(each["row"], length=len(each["text"]))
"""
"""Exits with 3 at the first text that has the word sinks."""


def script(path: Path, body: str) -> list[str]:
    """Writes a script and returns the command that runs it."""
    path.write_text(_BEGIN + body, encoding="utf-8")
    return [sys.executable, str(path)]


def items_of(texts: Sequence[str | None]) -> list[Item]:
    """An item for each text, with the text as its own."""
    return [Item(f"i{row}", text or "-", "answers", "en", question="Q07") for row, text in enumerate(texts)]


def scored(evaluator, texts: Sequence[str | None]) -> dict[str, list[float]]:
    """The scores of texts, each with its own item."""
    return {name: column.tolist() for name, column in evaluator.score(items_of(texts), text_column(texts)).items()}
