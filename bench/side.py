"""One side of a comparison of revisions: a process that measures the package of its revision on request.

It reads the names of measures, one a line, and answers each with a line of JSON. It uses only what all revisions have.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pfgen_fast import Scorer, Suite

CACHE = "PFGEN_FAST_CACHE"
GROUPS = (1, 8, 16, 64)


def main(suite_folder: str, answers: str) -> None:
    """Answers until stdin ends; the first line names the package, its results, and the size of its index."""
    suite = Suite.load(suite_folder)
    questions, texts = json.loads(Path(answers).read_text(encoding="utf-8"))
    arrow = pa.array(questions, pa.string()), pa.array(texts, pa.string())
    single, two = Scorer(suite, threads=1), Scorer(suite, threads=2)
    n_bytes = sum(path.stat().st_size for path in Path(os.environ[CACHE]).rglob("*") if path.is_file())
    works: dict[str, Callable[[], Any]] = {
        "lists": lambda: single.score(questions, texts),
        "Arrow": lambda: single.score(*arrow),
        "lists by two": lambda: two.score(questions, texts),
        "reward": lambda: [single.reward(question, [text]) for question, text in zip(questions, texts, strict=True)],
    }
    for size in GROUPS:
        works[f"groups of {size}"] = partial(_reward_groups, single, _groups(questions, texts, size))
    results = {name: _digest(work()) for name, work in works.items()}
    _say({"package": sys.modules["pfgen_fast"].__file__, "results": results, "n_bytes": n_bytes})
    os.environ[CACHE] = ""  # from here on, suites are compiled in memory
    for line in sys.stdin:
        name = line.strip()
        _say(_timed(works.get(name) or partial(Scorer, _read(suite_folder), threads=1)))


def _groups(questions: list[str], texts: list[str], size: int) -> list[tuple[str, list[str]]]:
    """As many answers as there are, in groups of answers to one question, each to a random question."""
    by_question: dict[str, list[str]] = {}
    for question, text in zip(questions, texts, strict=True):
        by_question.setdefault(question, []).append(text)
    usable = [question for question, answers in by_question.items() if len(answers) >= size]
    chosen = random.Random(size)
    groups = []
    for question in chosen.choices(usable, k=len(texts) // size):
        first = chosen.randrange(len(by_question[question]) - size + 1)
        groups.append((question, by_question[question][first : first + size]))
    return groups


def _reward_groups(scorer: Scorer, groups: list[tuple[str, list[str]]]) -> list[Any]:
    return [scorer.reward(question, answers) for question, answers in groups]


def _timed(work: Callable[[], Any]) -> dict[str, float]:
    begin, begin_cpu = time.perf_counter(), time.process_time()
    work()
    return {"processor": time.process_time() - begin_cpu, "clock": time.perf_counter() - begin}


def _read(folder: str) -> Suite:
    suite = Suite.load(folder)
    for question in suite:
        len(question.answers)  # a suite may read its files lazily, and reading is not part of compiling
    return suite


def _digest(result: Any) -> str:
    """All bits of a table of scores, or of a list of rewards."""
    digest = hashlib.sha256()
    if isinstance(result, list):
        digest.update(b"".join(reward.tobytes() for reward in result))
    else:
        for column in result.columns:
            digest.update(column.encode() + result[column].tobytes())
    return digest.hexdigest()


def _say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
