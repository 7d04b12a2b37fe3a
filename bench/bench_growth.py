"""Scaling of cost with work: more answers, larger reference sets, more sets. All should scale linearly."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pytest
from pfgen_fast import Scorer, Suite

from .inputs import QUESTION_ID, Mix, evenly, suite_of_one_question
from .measuring import Measure
from .processes import Work

pytestmark = pytest.mark.benchmark(group="growth")
_ROUNDS = 3
_PARTS_OF_THE_MIX = (0.01, 0.03, 0.1, 0.3, 1.0)
_REFERENCES = (100, 300, 1_000, 3_000, 10_000)
_SETS = (1, 2, 4, 8, 16, 32, 64)
_N_ANSWERS = 2_000


def exponent(times: Mapping[int, float]) -> float:
    """The slope of the log-log plot over the last decade, where fixed costs are small; 1 means linear growth."""
    last_decade = [(amount, taken) for amount, taken in times.items() if amount * 10 >= max(times)]
    amounts, taken = np.log(last_decade).T
    return float(np.polyfit(amounts, taken, 1)[0])


def _grow(measure: Measure, part: str, work: str, sizes: Mapping[int, Work]) -> None:
    """Measures all amounts of work in turns; the benchmark shows the largest."""
    *smaller, largest = sizes
    taken = measure.times(_ROUNDS, sizes[largest], {f"{n:,} {work}": sizes[n] for n in smaller})
    times = dict(zip([largest, *smaller], taken, strict=True))
    growth = exponent(times)
    measure.info["growth"] = {"of": part, "work": work, "exponent": growth, "seconds": dict(sorted(times.items()))}
    # A quadratic cost has exponent 2; a linear one can exceed 1 once the data no longer fits into the CPU caches.
    measure.row(f"cost of {part} against {work}: exponent", growth)


def test_answers(measure: Measure, scorers: Mapping[int, Scorer], mix: Mix) -> None:
    """Parts of the mix, each with all questions and with the answers grouped by question."""
    sizes: dict[int, Work] = {}
    for part in _PARTS_OF_THE_MIX:
        chosen = [
            (question, text)
            for question, texts in mix.by_question().items()
            for text in evenly(texts, max(1, round(part * len(texts))))
        ]
        questions, answers = map(list, zip(*chosen, strict=True))
        sizes[len(answers)] = partial(scorers[1].score, questions, answers)
    _grow(measure, "scoring", "answers", sizes)


@pytest.mark.parametrize("does", ["building", "scoring"])
@pytest.mark.parametrize("work", ["references in a set", "sets of a question"])
def test_references(measure: Measure, suite: Suite, mix: Mix, work: str, does: str) -> None:
    """Building a question of each size, or scoring the same answers with it.

    Reference answers and sets are taken from all questions and shuffled, because a single question has too few.
    """
    reference_sets = [references for question in suite for references in question.answers.values()]
    pool = [reference for references in reference_sets for reference in references]
    chosen = random.Random(0)
    pool, reference_sets = chosen.sample(pool, len(pool)), chosen.sample(reference_sets, len(reference_sets))
    created: dict[int, dict[str, Sequence[str]]] = (
        {n: {"A": pool[:n]} for n in _REFERENCES if n <= len(pool)}
        if work == "references in a set"
        else {
            n: {f"S{i}": references_of_set for i, references_of_set in enumerate(reference_sets[:n])}
            for n in _SETS
            if n <= len(reference_sets)
        }
    )
    answers = evenly(mix.answers, _N_ANSWERS)
    builders: dict[int, Callable[[], Scorer]] = {n: partial(_scorer_of, sets) for n, sets in created.items()}
    if does == "building":
        _grow(measure, does, work, builders)
    else:
        scorers = {n: build() for n, build in builders.items()}
        works: dict[int, Work] = {n: partial(scorer.score, QUESTION_ID, answers) for n, scorer in scorers.items()}
        _grow(measure, f"scoring {len(answers):,} answers", work, works)


def _scorer_of(sets: Mapping[str, Sequence[str]]) -> Scorer:
    return Scorer(suite_of_one_question(sets), threads=1)
