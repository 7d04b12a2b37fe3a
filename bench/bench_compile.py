"""Compiling a suite, compared with the oracle's tables, and opening the compiled suite: each in a new process."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

import pytest
from pfgen_fast import Scorer, Suite
from pfgen_fast.oracle import Oracle

from .bench_scoring import each_in_turn
from .inputs import Inputs, Mix, n_code_points
from .measuring import REPORTED, Measure, agree
from .processes import CACHE, in_a_new_process, seconds

pytestmark = pytest.mark.benchmark(group="compiling", timer=REPORTED)
_ROUNDS = 3


def _compile(inputs: Inputs, threads: int) -> None:
    """In memory, like the tables of the oracle."""
    REPORTED.add(in_a_new_process("compile_suite", inputs.suite, threads, cache=""))


def test_compile_on_one_thread(
    measure: Measure, inputs: Inputs, suite: Suite, mix: Mix, sample: Mix, scorers: Mapping[int, Scorer]
) -> None:
    """All questions, after each question whose tables a new oracle builds; medians per code point.

    The oracle does no part of its work twice, so taking the fastest time would not be fair.
    """
    tabled = [suite[question] for question in sample.by_question()]
    n_all, oracle = sum(map(n_code_points, suite)), Oracle(suite)
    tables = each_in_turn([partial(oracle.tables, question) for question in tabled])
    core_times, oracle_times = measure.all_times(
        len(tabled), partial(_compile, inputs, 1), {"oracle": lambda: REPORTED.add(seconds(tables))}
    )
    scaled = [time / n_code_points(part) * n_all for time, part in zip(oracle_times, tabled, strict=False)]
    n_sets = sum(len(question.answers) for question in suite)
    what = f"compile {len(suite)} questions ({n_sets} sets, {n_all / 1e6:.1f} M code points)"
    measure.row(f"oracle: tables of {len(tabled)} questions, scaled to all", median(scaled), "s")
    measure.row(f"{what}, 1 thread", median(core_times), "s", median(scaled) / median(core_times), "faster than oracle")


def test_compile_on_two_threads(measure: Measure, inputs: Inputs, scorers: Mapping[int, Scorer]) -> None:
    taken = measure.seconds(2, partial(_compile, inputs, 2))
    measure.row("  with 2 threads", taken, "s")


def test_open(
    measure: Measure, inputs: Inputs, suite: Suite, mix: Mix, scorers: Mapping[int, Scorer], scratch: Path
) -> None:
    """The compiled suite in new processes, whose rewards of all references equal the rewards of this process."""
    answers = scratch / "answers.jsonl"
    references = {question.question_id: sum(question.answers.values(), ()) for question in suite}
    first = dict(zip(mix.questions, mix.answers, strict=True))
    with answers.open("w", encoding="utf-8") as file:
        for line in (list(first.items()), *references.items()):
            file.write(json.dumps(line) + "\n")
    expected = hashlib.sha1()
    for question_id, texts in references.items():
        expected.update(scorers[1].reward(question_id, list(texts)).tobytes())
    opened = [in_a_new_process("open_suite", inputs.suite, answers) for _ in range(_ROUNDS)]
    for process in opened:
        agree("rewards from the compiled suite", process["rewards"], expected.hexdigest())
    again = iter(opened)
    measure.seconds(_ROUNDS, lambda: REPORTED.add(next(again)["open_seconds"]))
    least = {name: min(process[f"{name}_seconds"] for process in opened) * 1e3 for name in ("load", "open", "unpickle")}
    slowest = max(min(times) for times in zip(*(process["first_seconds"] for process in opened), strict=True))
    on_disk = sum(path.stat().st_size for path in Path(os.environ[CACHE]).rglob("*") if path.is_file())
    resident = min(process["resident_bytes"] for process in opened)
    measure.row("Suite.load of the compiled suite, new process", least["load"], "ms")
    measure.row("open the compiled suite after that", least["open"], "ms")
    measure.row("unpickle a scorer in a process that has one", least["unpickle"], "ms")
    measure.row("first answer to a question after that, slowest of all questions", slowest * 1e3, "ms")
    measure.row("compiled file", on_disk / 1e6, "MB")
    measure.row("resident memory with the whole index in use", resident / 1e6, "MB")
