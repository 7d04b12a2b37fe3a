"""Building a reference set: counting compared with polars, and the error of a selection compared with random subsets.

The texts are answers of the n-gram engine to the first of the questions with the most sets.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from pfgen_fast import NgramSampler, Suite
from pfgen_fast.base.native import _core, default_threads
from pfgen_fast.build.selection import distribution_error, document_frequencies, select_answers

from .inputs import Inputs
from .measuring import REPORTED, Disagreement, Measure, agree
from .processes import in_a_new_process

pytestmark = pytest.mark.benchmark(group="sets")
_N_TEXTS, SIZE = 30_000, 1_000
_LENGTH = 100
_RANDOM_SUBSETS = 100
_SECONDS = 60.0


def texts_of(suite: Suite, question: str, n_texts: int = _N_TEXTS) -> list[str]:
    """Draws twice as many answers as needed and keeps those whose length is nearest to `_LENGTH`."""
    drawn = NgramSampler(suite).sample(question, range(2 * n_texts))
    return sorted(drawn, key=lambda answer: abs(len(answer) - _LENGTH))[:n_texts]


def _asked(suite: Suite) -> str:
    return max(suite, key=lambda question: len(question.answers)).question_id


@pytest.fixture(scope="module")
def texts(pytestconfig: pytest.Config, suite: Suite) -> list[str]:
    return texts_of(suite, _asked(suite), _N_TEXTS // 10 if pytestconfig.getoption("quick") else _N_TEXTS)


@pytest.mark.benchmark(group="sets", timer=REPORTED)
def test_rare_ngrams(measure: Measure, inputs: Inputs, suite: Suite) -> None:
    """A process that draws raw answers, compares one thread with several, and counts."""
    n_answers = measure.amount(1_000_000)
    result = in_a_new_process("find_rare", inputs.suite, _asked(suite), n_answers)
    measure.seconds(1, lambda: REPORTED.add(result["seconds"]))
    what = f"rare 5-grams of {n_answers:,} answers, {result['n_code_points']:,} code points"
    memory = "  memory of the process, with the answers as list of str"
    measure.row(what, result["seconds"], "s")
    measure.row(memory, result["n_bytes"] / 1e6, "MB")


def test_document_frequencies(measure: Measure, texts: list[str]) -> None:
    """The core, without the texts of the n-grams, in turns with polars, which finds the same."""

    def count() -> object:
        return _core.document_frequencies(_core.TextColumn(texts, "answers"), 10, default_threads())

    what = f"document frequencies of orders 1 to 10, {len(texts):,} texts"
    try:
        import polars
    except ImportError:
        measure.row(what, measure.seconds(4, count), "s", note="no polars")
        return
    if document_frequencies(texts) != dict(_by_polars(polars, texts).iter_rows()):
        raise Disagreement("document frequencies: polars counts something else")
    ours, theirs = measure.times(4, count, {"polars": partial(_by_polars, polars, texts)})
    measure.row(what, ours, "s", theirs / ours, "faster than polars")


def _by_polars(polars: Any, texts: Sequence[str]) -> Any:
    """Document frequencies: lists each n-gram once per text and counts; a single query for all orders."""
    frame = polars.LazyFrame({"text": texts}).with_row_index("row")
    counts = []
    for order in range(1, 11):
        n_starts = polars.max_horizontal(polars.col("text").str.len_chars().cast(polars.Int64) - order + 1, 0)
        starts = frame.with_columns(start=polars.int_ranges(0, n_starts)).explode("start").drop_nulls("start")
        ngrams = starts.select("row", ngram=polars.col("text").str.slice("start", order)).unique()
        counts.append(ngrams.group_by("ngram").len())
    return polars.concat(counts).collect()


# Orders 1 to 5 as well as all orders, because most n-grams that few texts hold are longer.
@pytest.mark.parametrize("max_order", [10, 5])
def test_selection(measure: Measure, texts: list[str], max_order: int) -> None:
    """On one thread, next to random subsets; a recount finds the same error."""
    told: list[tuple[float, int]] = []
    listed: list[Any] = []
    size = len(texts) * SIZE // _N_TEXTS
    options: dict[str, Any] = {"max_order": max_order, "seed": "bench", "seconds": _SECONDS, "threads": 1}

    def choose() -> None:
        listed.append(
            select_answers(texts, size, progress=lambda n, _: told.append((time.perf_counter(), n)), **options)
        )

    measure.seconds(1, choose)
    error, chosen = partial(distribution_error, texts, max_order=max_order), listed[0]
    agree("error of a selection", error(chosen.rows), chosen.error)
    generator = np.random.default_rng(1)
    best = min(error(generator.choice(len(texts), size, replace=False)) for _ in range(measure.amount(_RANDOM_SUBSETS)))
    climbing = [point for point in told if point[1] > 0] or [(0.0, 0)]
    (begin, first), (end, last) = climbing[0], climbing[-1]
    rate = (last - first) / (end - begin) if end > begin else None
    case = f"selection, {size:,} of {len(texts):,} texts, orders 1 to {max_order}"
    ended = "no swap is better" if chosen.finished else f"{_SECONDS:.0f} s"
    to = f"lower than the best of {_RANDOM_SUBSETS} random subsets"
    measure.row(f"{case}: swaps tried, 1 thread", rate, "/s", note="too few swaps")
    measure.row(
        f"{case}: error, in millionths; ended by: {ended}", chosen.error * 1e6, ratio=best / chosen.error, to=to
    )
