"""Answers drawn by the n-gram sampler on one thread, after the reference answers of all questions are counted."""

from __future__ import annotations

import pytest
from pfgen_fast import NgramSampler, Suite

from .measuring import Measure, agree
from .processes import seconds


@pytest.mark.benchmark(group="sampling")
@pytest.mark.parametrize("order", [5, 10])
def test_sampling(measure: Measure, suite: Suite, order: int) -> None:
    """The default order, and the largest that the scores use; two threads draw the same answers."""
    for question in suite:
        list(question.answers.values())  # a suite may read its files lazily
    sampler, seeds = NgramSampler(suite, order=order, threads=1), range(measure.amount(2_000))
    counting = seconds(lambda: [sampler.sample(question.question_id, [0]) for question in suite])
    by_two = NgramSampler(suite, order=order, threads=2)
    for question in suite:
        ask = question.question_id, seeds
        agree(f"answers of order {order} to {question.question_id}", by_two.sample(*ask), sampler.sample(*ask))
    taken = measure.seconds(3, lambda: [sampler.sample(question.question_id, seeds) for question in suite])
    n_answers, what = len(suite) * len(seeds), f"ngram engine, order {order}"
    measure.row(f"{what}: counting all questions", counting, "s")
    measure.row(f"{what}: {n_answers:,} answers, 1 thread", n_answers / taken, "answers/s")
