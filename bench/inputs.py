"""The input of the measurements: the published runs of a pfgen-bench checkout, or else the packaged suite.

Runs are read without the package, so that none of its readers affects the measurements.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar
from uuid import uuid4

import pfgen_fast
from pfgen_fast import Generation, Question, Suite

from .parse_runs import parse_trials

VARIABLE = "PFGEN_BENCH"
ROOT = Path(__file__).resolve().parent.parent
MINI = Path(pfgen_fast.__file__).parent / "data" / "mini"
_ORDERS = (3, 5, 8, 10)
_MOST_RUNS = 24
QUESTION_ID = "Q1"
Item = TypeVar("Item")


@dataclass(frozen=True)
class Mix:
    """Parallel columns of question texts and answers."""

    questions: list[str]
    answers: list[str]

    def __len__(self) -> int:
        return len(self.answers)

    def by_question(self) -> dict[str, list[str]]:
        answers: dict[str, list[str]] = {}
        for question, answer in zip(self.questions, self.answers, strict=True):
            answers.setdefault(question, []).append(answer)
        return answers

    def part(self, rows: Sequence[int]) -> Mix:
        return Mix([self.questions[row] for row in rows], [self.answers[row] for row in rows])

    def write(self, path: Path) -> None:
        path.write_text(json.dumps([self.questions, self.answers]), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Mix:
        return cls(*json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Inputs:
    """A suite and the folders of runs of it."""

    about: str  # what they are, for the table
    suite: Path
    runs: list[Path]  # some, at most 24
    all_runs: list[Path]
    published: bool  # with a `result.json` each

    def mix(self) -> Mix:
        """All answers of the runs, in the order of the files."""
        trials = [trial for run in self.runs for trial in parse_trials(run)]
        return Mix([trial["question"] for trial in trials], [trial["answer"] for trial in trials])


def checkout_folder() -> Path:
    """The folder that the environment names, or the folder next to the repository; it may be missing."""
    return Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "pfgen-bench")


def find_inputs(scratch: Path, *, trials: int = 100) -> Inputs:
    """The published runs if there is a checkout; else new runs of the n-gram engine on the packaged suite."""
    checkout = checkout_folder()
    if (checkout / "data").is_dir() and (checkout / "result").is_dir():
        return published(checkout)
    runs = [_drawn(order, trials, scratch) for order in _ORDERS]
    about = (
        f"the packaged suite mini and {len(runs)} runs of the n-gram engine, as there is no checkout of pfgen-bench at "
        f"{checkout} ({VARIABLE} names another)"
    )
    return Inputs(about, MINI, runs, runs, published=False)


def published(checkout: Path) -> Inputs:
    everything = sorted({path.parent for path in checkout.glob("result/**/trials.jsonl*")})
    runs = evenly(everything, _MOST_RUNS)
    about = f"published runs of pfgen-bench: {len(everything)} in the checkout, {len(runs)} of them in the mix"
    return Inputs(about, checkout / "data", runs, everything, published=True)


def _drawn(order: int, trials: int, scratch: Path) -> Path:
    generation = Generation.of("ngram", options={"order": order})
    return generation.run(Suite.load(MINI), trials=trials, output=scratch).folder


def suite_of_one_question(sets: Mapping[str, Sequence[str]]) -> Suite:
    """A suite with one question, which has these reference sets and no keyword rules."""
    answers = MappingProxyType({name: tuple(references) for name, references in sets.items()})
    # A new hash, so that no cache can hold an index of the suite.
    return Suite("bench", (Question(QUESTION_ID, "question", answers),), uuid4().hex)


def n_code_points(question: Question) -> int:
    return sum(len(reference) for references in question.answers.values() for reference in references)


def evenly(items: Sequence[Item], n: int) -> list[Item]:
    """At most `n` items, from the middles of `n` equal parts."""
    n = min(n, len(items))
    return [items[(2 * i + 1) * len(items) // (2 * n)] for i in range(n)]
