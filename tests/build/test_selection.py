"""The native selection, against the rules in plain Python."""

import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import plain_rules, strategies
from makers.effort import examples
from pfgen_fast import NgramSampler, TrialsError
from pfgen_fast.build.selection import (
    coverage,
    distribution_error,
    document_frequencies,
    find_rare_ngrams,
    select_answers,
)

COLUMNS = st.lists(strategies.texts(10), min_size=1, max_size=9)
ORDERS = st.one_of(st.integers(1, 4), st.sampled_from([10, 13, 64]))


@pytest.fixture(scope="module")
def answers():
    return NgramSampler("mini", order=4).sample("Q07", range(400))


@examples(200)
@given(COLUMNS, ORDERS, st.data())
def test_error_and_coverage_are_those_of_plain_counting(answers, max_order, data):
    rows = data.draw(st.lists(st.integers(0, len(answers) - 1), min_size=1, unique=True))
    held = [plain_rules.ngrams(answer, max_order) for answer in answers]
    expected = rounded(plain_rules.error_of(held, rows))
    assert distribution_error(answers, rows, max_order=max_order) == expected
    chosen = set().union(*(held[row] for row in rows))
    for by_order in coverage(answers, rows, max_order=max_order):
        counts = {g: n for g, n in plain_rules.frequencies(held).items() if len(g) == by_order.order}
        assert (by_order.n_ngrams, by_order.n_held) == (len(counts), len(chosen & set(counts)))
        kept = sum(n for g, n in counts.items() if g in chosen)
        assert by_order.share == (kept / sum(counts.values()) if counts else 1)


@examples(100)
@given(COLUMNS, st.integers(1, 4), st.text(max_size=3), st.integers(1, 3), st.data())
def test_a_climb_equals_recounting_after_every_swap(answers, max_order, seed, restarts, data):
    size = data.draw(st.integers(1, len(answers)))
    proposals = data.draw(st.one_of(st.none(), st.integers(1, 100)))
    options = {"max_order": max_order, "seed": seed, "restarts": restarts, "proposals": proposals}
    expected, restart, n_proposals = plain_rules.select(answers, size, **options)
    actual = select_answers(answers, size, **options, threads=data.draw(st.integers(1, 3)))
    assert actual.rows.tolist() == sorted(expected.order)
    assert actual.error == rounded(expected.error)
    assert actual.initial_error == rounded(expected.initial_error)
    assert (actual.proposals, actual.accepted) == (n_proposals, expected.accepted)
    assert (actual.restart, actual.finished) == (restart, expected.finished)


def rounded(error: Fraction) -> float:
    return error.numerator / error.denominator


@pytest.mark.slow
def test_every_point_of_the_curve_is_exact(answers):
    """No drift: after thousands of swaps, the error equals one that is computed from scratch."""
    result = select_answers(answers, 40, seed="curve")
    assert result.error == rounded(plain_rules.error(answers, result.rows.tolist(), 10))
    errors = [error for _, error in result.curve]
    assert errors == sorted(errors, reverse=True)
    assert result.curve[0] == (0, result.initial_error)
    assert result.curve[-1] == (result.proposals, result.error)
    assert result.proposals % 360 == 0
    for created, error in result.curve[1:]:
        assert select_answers(answers, 40, seed="curve", proposals=created).error == error


def test_a_timed_selection_is_repeated_by_its_number_of_proposals(answers):
    timed = select_answers(answers * 5, 100, seconds=0.2)
    again = select_answers(answers * 5, 100, proposals=max(timed.proposals, 1))
    assert timed.proposals > 0
    assert again.rows.tolist() == timed.rows.tolist()


def test_progress_is_reported_and_its_errors_end_the_work(answers):
    told = []

    def stop_at_the_third(created, error):
        told.append((created, error))
        if len(told) == 3:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        select_answers(answers * 10, 400, restarts=1000, progress=stop_at_the_third)
    assert [created for created, _ in told] == sorted(created for created, _ in told)
    assert all(0 <= error < 1 for _, error in told)


def test_ctrl_c_ends_the_work():
    # In a separate process, because workers of pytest-xdist ignore SIGINT; a process begun in the background does too.
    script = (
        "import os, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pfgen_fast import NgramSampler\n"
        "from pfgen_fast import select_answers\n"
        "answers = NgramSampler('mini', order=4).sample('Q07', range(400)) * 10\n"
        "threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    select_answers(answers, 400, restarts=100_000)\n"
        "except KeyboardInterrupt:\n    print('ended')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.stdout == "ended\n", done.stderr


def test_answers_that_are_too_few_or_no_texts_are_errors():
    with pytest.raises(TrialsError, match=r"^answers: expected at least 3 answers to select from, not 2$"):
        select_answers(["a", "b"], 3)
    for count in (find_rare_ngrams, document_frequencies):
        with pytest.raises(TrialsError, match=r"^answers\[1\]: expected a str, not NoneType$"):
            count(["a", None])


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("size", 0, "a whole number from 1 to 2147483647, not 0"),
        ("max_order", 65, "a whole number from 1 to 64, not 65"),
        ("proposals", 0, "a whole number from 1 to 9223372036854775807, not 0"),
        ("seconds", float("nan"), "a number above 0, not nan"),
        ("threads", 0, "1 to .*, not 0"),
    ],
)
def test_an_option_that_is_out_of_range_is_named(option, value, expected):
    options = {"size": 1, option: value}
    with pytest.raises(ValueError, match=f"{option}: expected {expected}"):
        select_answers(["a"], **options)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "rows: expected at least one row"),
        ([2], "rows: expected numbers from 0 to 1, not 2"),
        ([0, 0], "rows: expected each row once"),
    ],
)
def test_rows_that_cannot_be_are_named(rows, problem):
    for ask in (distribution_error, coverage):
        with pytest.raises(ValueError, match=problem):
            ask(["a", "b"], rows)


@pytest.mark.slow  # no smaller answer is too long
def test_answers_too_long_to_count_exactly_are_an_error():
    """No overflow: 67.2 million code points in 64 orders exceed the limit of the core."""
    with pytest.raises(TrialsError, match="answers: too many and too long"):
        select_answers(["x" * 67_200_000, "y"], 1, max_order=64)


# ---- Counts of n-grams among many answers: by hand, and against straightforward counting


ANSWERS = st.lists(strategies.texts(), max_size=12)
MANY_ORDERS = st.one_of(st.integers(1, 8), st.sampled_from([13, 20, 21, 22, 40, 1000]))


def grams(answer: str, order: int) -> list[str]:
    return [answer[i : i + order] for i in range(len(answer) - order + 1)]


@examples(200)
@given(ANSWERS, MANY_ORDERS, st.integers(1, 4), st.integers(1, 3))
def test_rare_ngrams_are_those_that_plain_counting_finds(answers, order, below, threads):
    counts = Counter(gram for answer in answers for gram in grams(answer, order))
    rare = {gram for gram, count in counts.items() if count < below}
    first = [next((i for i, gram in enumerate(grams(answer, order)) if gram in rare), -1) for answer in answers]
    rare_ngrams = find_rare_ngrams(answers, order=order, below=below, threads=threads)
    assert rare_ngrams.first.tolist() == first
    assert (rare_ngrams.n_rare, rare_ngrams.n_distinct) == (len(rare), len(counts))


@examples(200)
@given(ANSWERS, st.one_of(st.integers(1, 5), st.sampled_from([10, 13, 64])), st.integers(1, 3), st.integers(1, 3))
def test_document_frequencies_are_those_that_plain_counting_finds(answers, max_order, least, threads):
    counts = plain_rules.frequencies(plain_rules.ngrams(answer, max_order) for answer in answers)
    result = document_frequencies(answers, max_order=max_order, least=least, threads=threads)
    assert list(result.items()) == [(ngram, n) for ngram, n in sorted(counts.items()) if n >= least]


@pytest.mark.slow
@pytest.mark.parametrize("n_symbols", [2, 3, 4, 4095, 4096, 65_536])
@pytest.mark.parametrize("order", [5, 16, 33, 64])
def test_alphabets_of_any_size_are_counted_exactly(n_symbols, order):
    """From the smallest alphabet to one whose 5-grams do not fit into a machine word."""
    every = "".join(map(chr, range(0x10000, 0x10000 + n_symbols)))
    text = (every * order)[: order + 7]
    answers = [every, every, text, text, text[:-1] + (every[0] if text[-1] != every[0] else every[-1])]
    rare_ngrams = find_rare_ngrams(answers, order=order)
    counts = Counter(gram for answer in answers for gram in grams(answer, order))
    assert (rare_ngrams.n_rare, rare_ngrams.n_distinct) == (sum(n == 1 for n in counts.values()), len(counts))


@pytest.mark.parametrize(
    ("option", "value"),
    [*product(["order", "below", "threads"], [0, -1, 2**31]), *product(["order"], [True, 2.0, "2"])],
)
def test_an_option_of_counting_that_is_out_of_range_is_named(option, value):
    with pytest.raises(ValueError, match=f"{option}: expected .*1 to .*, not {value!r}"):
        find_rare_ngrams(["abcde"], **{option: value})
