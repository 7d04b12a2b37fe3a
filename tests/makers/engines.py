"""Packages that only `make engines` and `make integrations` install, and rows for them.

Where a package is missing, its tests are skipped, unless it must be there.
"""

import os
import random
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from pfgen_fast import Scorer, ScorerSpec, Suite


def engine(module: str) -> Any:
    """A module of an engine, at the top of its tests; with PFGEN_ENGINES_REQUIRED a missing one is a failure."""
    return _module(module, "PFGEN_ENGINES_REQUIRED")


def integration(module: str) -> Any:
    """A module of a program that calls the scores; with PFGEN_INTEGRATIONS_REQUIRED a missing one is a failure."""
    return _module(module, "PFGEN_INTEGRATIONS_REQUIRED")


def _module(module: str, required: str) -> Any:
    return import_module(module) if required in os.environ else pytest.importorskip(module)


SUITE = Suite.load("mini")
SPEC = ScorerSpec(SUITE, threads=1)


def rows(n_rows: int, *, nulls: bool = False) -> dict[str, list[Any]]:
    """Columns `id`, `question` (ids and texts) and `answer` (pieces of references; with `nulls`, a tenth missing)."""
    draw = random.Random(1)
    by_name: dict[str, list[Any]] = {"id": list(range(n_rows)), "question": [], "answer": []}
    for _ in range(n_rows):
        question = draw.choice(SUITE.questions)
        references = [text for texts in question.answers.values() for text in texts]
        answer = " ".join(text[: draw.randrange(90)] for text in draw.choices(references, k=draw.randrange(4)))
        by_name["question"].append(draw.choice([question.question_id, question.question]))
        by_name["answer"].append(None if nulls and draw.random() < 0.1 else answer)
    return by_name


def write_rows(path: Path, n_rows: int) -> dict[str, list[Any]]:
    """Writes rows into a Parquet file of several row groups, and returns them."""
    created = rows(n_rows)
    pq.write_table(pa.table(created), path, row_group_size=n_rows // 3)
    return created


def expected_bits(
    questions: Sequence[Any], answers: Sequence[Any], columns: Iterable[str] = SPEC.columns
) -> dict[str, bytes]:
    """The bits of the scores of one process."""
    table = Scorer(SUITE, threads=1).score(list(questions), list(answers), nulls="null")
    return {name: bits(table[name]) for name in columns}


def bits(scores: Iterable[float | None] | NDArray[np.float64]) -> bytes:
    """The bits of a column of scores, where all that is missing is the same."""
    column = np.array([np.nan if score is None else score for score in scores], dtype=np.float64)
    column[np.isnan(column)] = np.nan
    return column.tobytes()


def run_python_blocks(page: Path) -> int:
    """Runs the examples of a page in the current folder, each for itself, and returns how many there are."""
    blocks = page.read_text(encoding="utf-8").split("```python\n")[1:]
    for block in blocks:
        exec(compile(block.partition("```")[0], str(page), "exec"), {"__name__": "example"})
    return len(blocks)
