"""Writes the few questions of pfgen-bench that keep the order of models, and what they cost, for `evaluate --quick`.

    python tools/quick_questions.py

The list is chosen on all published runs. Its size and its costs are those of lists that are chosen on some models and
tested on the others: the size is the smallest from which on both orders agree by Kendall's correlation of 0.95.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pfgen_fast.runs.leaderboard import Entry
from pfgen_fast.runs.result_tables import QUICK_FILE, published
from scipy import stats

Floats = NDArray[np.float64]
Rows = NDArray[np.int_]

AGREEMENT = 0.95
N_SPLITS, N_FOLDS = 20, 5


def chosen_order(scores: Floats) -> list[int]:
    """The questions (columns) in an order in which the mean of the first ones predicts the mean of all best.

    Each question is the one that raises the correlation of the two means over the runs (rows) most.
    """
    between = np.cov(scores.T)
    with_all, own, whole = between.sum(axis=1), np.diagonal(between), between.sum()
    order: list[int] = []
    for _ in own:
        with_chosen = between[order].sum(axis=0)
        covariance = with_all[order].sum() + with_all
        variance = with_chosen[order].sum() + 2 * with_chosen + own
        correlations = (covariance / np.sqrt(variance * whole)).round(12)
        correlations[order] = -np.inf
        order.append(int(np.argmax(correlations)))
    return order


def splits(entries: list[Entry], generator: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
    """The runs that choose questions, and those that test them; the runs of an organisation are on one side."""
    organisations = np.array([entry.model.split("/")[0].casefold() for entry in entries])
    names, sizes = np.unique(organisations, return_counts=True)
    shuffled = generator.permutation(len(names))
    folds: list[list[str]] = [[] for _ in range(N_FOLDS)]
    n_runs = np.zeros(N_FOLDS, dtype=np.int_)
    for number in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:  # the largest first, into the smallest fold
        smallest = int(np.argmin(n_runs))
        folds[smallest].append(names[number])
        n_runs[smallest] += sizes[number]
    for fold in folds:
        is_tested = np.isin(organisations, fold)
        yield np.flatnonzero(~is_tested), np.flatnonzero(is_tested)


def half_widths(scores: Floats) -> Floats:
    """Half of the 95 % interval of each run's mean over questions."""
    n = scores.shape[1]
    widths: Floats = stats.t.ppf(0.975, n - 1) * scores.std(axis=1, ddof=1) / n**0.5
    return widths


def quick_questions(entries: list[Entry], seed: int = 0) -> dict[str, Any]:
    """The content of the file."""
    ids = list(entries[0].by_question)
    scores = np.array([[entry.by_question[name] for name in ids] for entry in entries])
    totals, generator = scores.mean(axis=1), np.random.default_rng(seed)
    tests = [
        (chosen_order(scores[choosing]), tested)
        for _ in range(N_SPLITS)
        for choosing, tested in splits(entries, generator)
    ]

    def kendall(n: int) -> float:
        """The mean over the tests, each with the weight of its number of pairs of runs."""
        values = [
            stats.kendalltau(scores[tested][:, order[:n]].mean(axis=1), totals[tested])[0] for order, tested in tests
        ]
        return float(np.average(values, weights=[len(tested) * (len(tested) - 1) for _, tested in tests]))

    size = len(ids)
    while size > 1 and kendall(size - 1) >= AGREEMENT:
        size -= 1
    differences, widths, moves = [], [], []
    for order, tested in tests:
        few = scores[:, order[:size]]
        differences.append(np.abs(few.mean(axis=1) - totals)[tested])
        widths.append(half_widths(few[tested]))
        moves.append(np.abs(stats.rankdata(few.mean(axis=1)) - stats.rankdata(totals))[tested])
    return {
        "metadata_hash": entries[0].result.metadata_hash,
        "questions": [ids[question] for question in chosen_order(scores)[:size]],
        "kendall": round(kendall(size), 3),
        "score_difference": round(float(np.concatenate(differences).mean()), 4),
        "half_width": round(float(np.median(np.concatenate(widths))), 4),
        "half_width_of_all": round(float(np.median(half_widths(scores))), 4),
        "rank_difference": round(float(np.median(np.concatenate(moves)))),
        "n_runs": len(entries),
    }


if __name__ == "__main__":
    QUICK_FILE.write_text(json.dumps(quick_questions(published()), indent=1) + "\n", encoding="utf-8")
