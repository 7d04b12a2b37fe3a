"""The published runs that tests compare with: a checkout of pfgen-bench, at PFGEN_BENCH or in its usual folder.

Beside it are HelloBench's judgements and the worked examples of discernment. Without them, tests that need them are
skipped with a message; if PFGEN_BENCH_REQUIRED is set (as in CI), they fail.
"""

import csv
import json
import lzma
import os
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pfgen_fast import Suite

USUAL_PLACE = Path(__file__).parents[3] / "shared" / "pfgen-bench"
FOLDER = Path(os.environ.get("PFGEN_BENCH") or USUAL_PLACE).absolute()  # tests change the folder, and link to it
FOUND = (FOLDER / "runs.csv").is_file()


def needs(path: Path, reason: str) -> pytest.MarkDecorator:
    """A mark that skips tests where a file or a folder is missing."""
    return pytest.mark.skipif(not path.exists() and "PFGEN_BENCH_REQUIRED" not in os.environ, reason=reason)


needs_published_runs = needs(
    FOLDER / "runs.csv", "no published runs (PFGEN_BENCH names a checkout of pfgen-bench with a runs.csv)"
)


@dataclass(frozen=True)
class Run:
    name: str
    float_sum: str

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    def result(self) -> dict[str, Any]:
        return json.loads((self.folder / "result.json").read_bytes())

    def trials(self) -> list[dict[str, Any]]:
        packed = self.folder / "trials.jsonl.xz"
        content = lzma.decompress(packed.read_bytes()) if packed.is_file() else packed.with_suffix("").read_bytes()
        return [json.loads(line) for line in content.split(b"\n") if line.strip()]


@cache
def suite() -> Suite:
    return Suite.load(FOLDER / "data")


@cache
def runs() -> tuple[Run, ...]:
    with (FOLDER / "runs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # "either": both float sums give the recorded figures.
    return tuple(Run(row["run"], row["float_sum"].replace("either", "compensated")) for row in rows)


@cache
def results() -> tuple[dict[str, Any], ...]:
    """The results of all published runs, by question and without answers."""
    content = lzma.decompress((FOLDER / "published" / "results.jsonl.xz").read_bytes())
    return tuple(json.loads(line) for line in content.splitlines())


@cache
def answers_by_question() -> dict[str, list[str]]:
    """All answers of all runs, by the text of their question."""
    answers: dict[str, list[str]] = defaultdict(list)
    for run in runs():
        for trial in run.trials():
            answers[trial["question"]].append(trial["answer"])
    return dict(answers)


HELLOBENCH = FOLDER.parent / "hellobench"

needs_hellobench = needs(HELLOBENCH, "no published judgements of HelloBench (beside PFGEN_BENCH)")


def vectors(name: str) -> Any:
    """A file of worked examples."""
    return json.loads((HELLOBENCH / "vectors" / f"{name}.json").read_text(encoding="utf-8"))


def hellobench_table(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with (HELLOBENCH / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected() -> Any:
    """The scores of the 20 models."""
    return json.loads((HELLOBENCH / "expected.json").read_text(encoding="utf-8"))


DISCERNMENT = FOLDER.parent / "discernment"


needs_discernment_data = needs(DISCERNMENT / "vectors.json", "no worked examples of discernment (beside PFGEN_BENCH)")


@cache
def perturbations() -> dict[str, Any]:
    """Texts, the damaged texts by the rules, and the first numbers of the generator."""
    return json.loads((DISCERNMENT / "perturbations.json").read_bytes())


@cache
def discernment_vectors() -> dict[str, Any]:
    """Worked examples of all statistics."""
    return json.loads((DISCERNMENT / "vectors.json").read_bytes())
