"""`python tools/selection_scores.py [QUESTION]`: how well a selection represents all answers, for docs/selection.md.

Compares random subsets and selections of answers of the n-gram engine, by n-grams of different orders: their error
by order, and how far scores with the subset are from scores with all answers. Measures no times.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pfgen_fast import NgramSampler, Question, Scorer, Suite
from pfgen_fast.build.selection import distribution_error, document_frequencies, select_answers
from pfgen_fast.runs.trials import Trials

TEXTS, LENGTH, SIZE = 30_000, 100, 1_000
_MAX_ORDERS = (1, 3, 5, 10)
_RANDOM_SUBSETS = 3
_SECONDS = 40.0


def main(question_id: str = "") -> None:
    """Prints a line for each subset and a table of the remaining error."""
    checkout = Path(os.environ.get("PFGEN_BENCH", "../shared/pfgen-bench"))
    suite = Suite.load(checkout / "data")
    question = suite[question_id] if question_id else suite.questions[0]
    drawn = NgramSampler(suite).sample(question.question_id, range(2 * TEXTS))
    texts = sorted(drawn, key=lambda answer: abs(len(answer) - LENGTH))[:TEXTS]
    asked = {question.question_id, question.question}
    runs = [Trials.read(path) for path in sorted(checkout.glob("result/**/trials.jsonl*"))]
    answers = [answer for run in runs for part, answer in zip(run.questions, run.answers, strict=True) if part in asked]
    answers += NgramSampler(suite, order=3).sample(question.question_id, range(len(answers)))
    by_all = _scores(texts, answers)
    generator = np.random.default_rng(1)
    subsets = {
        f"random {i}": generator.choice(len(texts), SIZE, replace=False).tolist() for i in range(_RANDOM_SUBSETS)
    }
    for max_order in _MAX_ORDERS:
        chosen = select_answers(texts, SIZE, max_order=max_order, seconds=_SECONDS, threads=1)
        subsets[f"selected by orders 1 to {max_order}"] = chosen.rows.tolist()
    print(
        f"{question.question_id}, {len(texts):,} texts; error in millionths; RMS difference of scores from those by all"
    )
    for name, rows in subsets.items():
        apart = np.sqrt(np.mean((_scores([texts[row] for row in rows], answers) - by_all) ** 2, axis=1))
        error = distribution_error(texts, rows) * 1e6
        print(f"{name:26} error {error:.4f}  fluency {apart[0]:.5f}  truthfulness {apart[1]:.5f}")
    _print_bands(texts, subsets["random 0"], subsets["selected by orders 1 to 10"])


def _scores(references: Sequence[str], answers: Sequence[str]) -> NDArray[np.float64]:
    question = Question("Q", "why?", {"made": tuple(references)})
    table = Scorer(Suite("made", (question,), "0" * 40)).score("Q", answers)
    return np.array([table.fluency, table.truthfulness])


def _print_bands(texts: Sequence[str], random: Sequence[int], chosen: Sequence[int]) -> None:
    """Prints the error by order, and by the document frequency of the n-grams."""
    actual = document_frequencies(texts)
    counts, orders = np.array(list(actual.values())), np.array(list(map(len, actual)))
    random_squares, chosen_squares = (
        _squares(texts, rows, list(actual), counts / len(texts)) for rows in (random, chosen)
    )
    expected = counts / len(texts) * len(chosen)
    bands = [(f"order {order}", orders == order) for order in range(1, 11)]
    for low, high in ((0.0, 1.0), (1.0, 10.0), (10.0, np.inf)):
        bands.append((f"{low:g} to {high:g} expected among the chosen", (expected >= low) & (expected < high)))
    for name, band in bands:
        share = counts[band].sum() / counts.sum()
        left = random_squares[band].sum(), chosen_squares[band].sum()
        print(
            f"{name:40} share of n-grams {share:.3f}  error {left[0]:.4f} -> {left[1]:.4f}, / {left[0] / left[1]:.1f}"
        )


def _squares(
    texts: Sequence[str], rows: Sequence[int], ngrams: Sequence[str], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The contribution of each n-gram to the error, in millionths."""
    counts = document_frequencies([texts[row] for row in rows])
    held = np.array([counts.get(ngram, 0) for ngram in ngrams])
    return (held / len(rows) - shares) ** 2 / len(ngrams) * 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
