"""`stability`: would other reference answers, questions or trials rank the runs in the same way?"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..scoring.scorer import Scorer
from ..statistics.correlation import COEFFICIENTS, Floats, check_columns, coefficient, kendall
from ..statistics.ranking import SAME_RANKING, ranks
from ..suite.questions import Question
from ..suite.suite import Suite
from .charts import MAX_ROWS, Band, Bands, Matrix, Ranges, correlation_floor
from .finding import Cell, Finding, Picture, Table
from .scored_runs import AnswersOfRuns, ScoredRuns

REFERENCE_ANSWERS = (500, 200, 100, 50, 20, 10, 5)
"""Numbers of answers per set to try, besides all."""

_STEPS = (1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
_TAIL = 5


class CutReferences:
    """Scores every answer with fewer reference answers as well; `score_runs` calls it with each batch.

    Attributes:
        notes: Which numbers of answers some sets do not exceed, one sentence each; known after the first batch.

    Args:
        sizes: The numbers of answers to draw from each set, below the size of the largest set; by default some
            numbers from 500 to 5.
        n_draws: The number of draws per size.
        seed: The seed of the draws.
        threads: Number of threads; by default one per core.
    """

    def __init__(
        self,
        sizes: Sequence[int] | None = None,
        *,
        n_draws: int = 3,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self._is_usual = sizes is None
        self._wanted = sorted(set(REFERENCE_ANSWERS if sizes is None else sizes), reverse=True)
        if any(size < 1 for size in self._wanted) or n_draws < 1:
            raise ExperimentError(f"reference answers {self._wanted}, draws {n_draws}: expected at least 1 of each")
        self._n_draws, self._seed, self._threads = n_draws, seed, threads
        self.notes: list[str] = []
        self._scorers: dict[tuple[int, int], Scorer] = {}
        self._parts: dict[tuple[int, int], list[Floats]] = {}

    def __call__(self, suite: Suite, of_runs: AnswersOfRuns) -> None:
        """Scores the answers of a batch with all drawn references."""
        if not self._parts:
            self._open(suite)
        for key, scorer in self._scorers.items():
            scores = scorer.reward(of_runs.questions, of_runs.answers)
            self._parts[key].append(of_runs.question_means(scores, len(suite)))

    def _open(self, suite: Suite) -> None:
        largest = max(len(answers) for question in suite for answers in question.answers.values())
        if self._wanted[0] >= largest and not self._is_usual:
            raise ExperimentError(
                f"{self._wanted[0]} reference answers: expected fewer than {largest}, as many as the largest set has"
            )
        for size in self._wanted:
            if size < largest:
                self._note_small_sets(suite, size)
                for draw in range(self._n_draws):
                    cut = cut_suite(suite, size, np.random.default_rng((self._seed, size, draw)))
                    self._scorers[size, draw] = Scorer(cut, threads=self._threads)
                    self._parts[size, draw] = []

    def _note_small_sets(self, suite: Suite, size: int) -> None:
        sizes = [len(answers) for question in suite for answers in question.answers.values()]
        n_whole = sum(n <= size for n in sizes)
        if n_whole:
            self.notes.append(
                f"{n_whole:,} of {len(sizes):,} reference sets have no more than {size:,} answers and keep them all "
                f"where {size:,} are drawn; the smallest has {min(sizes):,}"
            )

    def scores(self) -> Iterator[tuple[int, Floats]]:
        """By number of answers and draw, the scores of the runs."""
        for (size, _), parts in self._parts.items():
            yield size, np.concatenate(parts).mean(axis=1)


def cut_suite(suite: Suite, size: int, generator: np.random.Generator) -> Suite:
    """The suite with `size` answers of each set, drawn without replacement and kept in order; all if a set has fewer.

    Example:
        >>> cut = cut_suite(Suite.load("mini"), 50, np.random.default_rng(0))
        >>> {len(answers) for question in cut for answers in question.answers.values()}
        {50}
    """

    def cut(question: Question) -> Question:
        return replace(
            question, answers=MappingProxyType({name: drawn(answers) for name, answers in question.answers.items()})
        )

    def drawn(answers: tuple[str, ...]) -> tuple[str, ...]:
        if len(answers) <= size:
            return answers
        return tuple(answers[i] for i in np.sort(generator.choice(len(answers), size, replace=False)))

    return Suite(f"{suite.name} cut to {size}", tuple(map(cut, suite)), derived_from=suite.metadata_hash)


@dataclass(frozen=True)
class Fewer:
    """Kendall's correlations of rankings from a part of the data with the full ranking.

    Attributes:
        what: What was reduced.
        n: How many are left.
        n_all: How many there are in total.
        values: The correlation of each draw.
    """

    what: str
    n: int
    n_all: int
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the draws."""
        return float(np.mean(self.values))

    def row(self) -> tuple[Cell, ...]:
        """The row of the table."""
        above = sum(value > SAME_RANKING for value in self.values) / len(self.values)
        return (self.what, self.n, len(self.values), self.mean, float(np.percentile(self.values, _TAIL)), above)


def stability(
    scored: ScoredRuns,
    cut: CutReferences | None = None,
    *,
    sets: Sequence[str] | None = None,
    n_draws: int = 100,
    seed: int = 0,
) -> Finding:
    """Measures how the ranking depends on the reference sets, the questions, and the number of answers and trials.

    Args:
        scored: The runs.
        cut: Has scored the same batches with fewer reference answers; None leaves this part out.
        sets: The reference sets to compare; by default those that most questions have together.
        n_draws: The number of draws of questions and of trials.
        seed: The seed of these draws.

    Raises:
        ExperimentError: All runs have the same score, or the suite lacks a set.
    """
    check_columns({"score": scored.means["score"]}, "runs")
    notes = [*scored.problems, *(cut.notes if cut else ())]
    tables, pictures, words = [], [], []
    answer = "Nothing could be left out to see whether the ranking stays the same."
    chosen = _chosen_sets(scored.suite, sets)
    if chosen:
        by_sets, question_numbers = scores_by_sets(scored, chosen)
        check_columns({f"the score with set {name}": column for name, column in by_sets.items()}, "runs")
        tables += [_matrix(by_sets), _set_pairs(by_sets)]
        pictures.append(Picture("sets", "Pearson's correlations between sets", _sets_chart(by_sets)))
        words.append(_words_on_sets(by_sets, chosen, len(question_numbers), len(scored.names)))
    else:
        notes.append("the questions have one reference set each, so that sets cannot be compared")
    without = leave_one_out(scored)
    tables.append(_ranges(scored, without))
    title = "Ranks of the runs when any one question is left out"
    pictures.append(Picture("ranks", title, _ranks_chart(scored, without)))
    words.append(_words_on_ranks(scored, without))
    fewer = [
        *_fewer_answers(scored, cut),
        *_fewer_questions(scored, n_draws, seed),
        *_fewer_trials(scored, n_draws, seed),
    ]
    if fewer:
        tables.append(_fewer_table(fewer))
        title = "Kendall's correlation with the full ranking (band: 5 % to 95 % of the draws)"
        pictures.append(Picture("fewer", title, _fewer_chart(fewer)))
        words.append(_words_on_fewer(fewer))
        answer = _answer(fewer)
    return Finding(
        "stability",
        answer,
        " ".join(words),
        tuple(tables),
        tuple(pictures),
        tuple(notes),
        question="Would other reference answers, questions or trials rank the runs in the same way?",
        runs=scored.names,
    )


# --- reference sets


def _chosen_sets(suite: Suite, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The sets to compare: the given ones, or those that most questions have together; none if all have one set."""
    if wanted is None:
        together = Counter(frozenset(question.answers) for question in suite if len(question.answers) > 1)
        if not together:
            return ()
        most = max(together, key=lambda names: (together[names], len(names), sorted(names)))
        return tuple(name for name in sorted(most))
    for name in wanted:
        if name not in suite.set_names:
            raise ExperimentError(f"the suite has no set {name!r}; it has {', '.join(suite.set_names)}")
    if len(set(wanted)) < 2:
        raise ExperimentError(f"sets {', '.join(wanted)}: expected at least two to compare")
    return tuple(dict.fromkeys(wanted))


def scores_by_sets(scored: ScoredRuns, sets: Sequence[str]) -> tuple[dict[str, Floats], NDArray[np.int_]]:
    """The scores of the runs with each set alone, with each combination of sets, and with all sets.

    A score is the mean, over the questions that have all sets, of (fluency + truthfulness + helpfulness) / 3, where
    fluency and truthfulness are the means of their values for each set.

    Returns:
        scores: By the names of the sets, joined with `+`.
        question_numbers: The questions that have all sets.

    Raises:
        ExperimentError: No question has all sets.
    """
    have_all = [number for number, question in enumerate(scored.suite) if set(sets) <= set(question.answers)]
    if not have_all:
        raise ExperimentError(f"no question has all of the sets {', '.join(sets)}")
    question_numbers = np.array(have_all)
    helpfulness = scored.question_scores["helpfulness"][:, question_numbers]

    def score(names: Sequence[str]) -> Floats:
        fluency, truthfulness = (
            np.mean([scored.set_scores[metric][name][:, question_numbers] for name in names], axis=0)
            for metric in ("fluency", "truthfulness")
        )
        mean: Floats = ((fluency + truthfulness + helpfulness) / 3).mean(axis=1)
        return mean

    combinations = itertools.chain.from_iterable(itertools.combinations(sets, n) for n in range(1, len(sets) + 1))
    by_sets = {"+".join(names): score(names) for names in combinations if len(names) in (1, 2, len(sets))}
    return by_sets, question_numbers


def _matrix(by_sets: dict[str, Floats]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(coefficient("Pearson", column, other) for other in by_sets.values()))
        for name, column in by_sets.items()
    )
    return Table("sets", "Pearson's correlations between the scores with these sets", ("sets", *by_sets), rows, 5)


def _set_pairs(by_sets: dict[str, Floats]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (a, b, *(coefficient(name, by_sets[a], by_sets[b]) for name in COEFFICIENTS))
        for a, b in itertools.combinations(by_sets, 2)
    )
    return Table("set-pairs", "The same by Pearson, Spearman and Kendall", ("sets", "and", *COEFFICIENTS), rows, 5)


def _words_on_sets(by_sets: dict[str, Floats], sets: Sequence[str], n_questions: int, n_runs: int) -> str:
    pairs = ", ".join(
        f"{a}-{b} {coefficient('Pearson', by_sets[a], by_sets[b]):.5f}" for a, b in itertools.combinations(sets, 2)
    )
    return (
        f"With one reference set alone, the scores of the {n_runs} runs correlate by {pairs} (Pearson). "
        f"This is over the {n_questions} questions that have the sets {', '.join(sets)}."
    )


# --- questions left out


def leave_one_out(scored: ScoredRuns) -> Floats:
    """The ranks of the runs (rows) without each of the questions (columns)."""
    scores = scored.question_scores["score"]
    n_questions = scores.shape[1]
    if n_questions < 2:
        return np.empty((len(scores), 0))
    without = (scores.sum(axis=1, keepdims=True) - scores) / (n_questions - 1)
    # Rounded, because sums in another order could distinguish equal scores.
    return np.stack([ranks(column) for column in without.round(12).T], axis=1)


def _ranges(scored: ScoredRuns, without: Floats) -> Table:
    usual = ranks(scored.means["score"].round(12))
    rows = []
    for run in np.argsort(usual, kind="stable"):
        moved = without[run] - usual[run]
        farthest = int(np.argmax(np.abs(moved))) if len(moved) else None
        question = None if farthest is None or moved[farthest] == 0 else scored.suite.questions[farthest].question_id
        low, high = (_rank(without[run].min()), _rank(without[run].max())) if len(moved) else (None, None)
        rows.append((scored.names[run], float(scored.means["score"][run]), _rank(usual[run]), low, high, question))
    columns = ("run", "score", "place", "best place", "worst place", "moved most without")
    return Table("ranks", "Ranks when any one question is left out", columns, tuple(rows))


def _rank(rank: float) -> int | float:
    return int(rank) if rank == int(rank) else float(rank)


def _words_on_ranks(scored: ScoredRuns, without: Floats) -> str:
    if not without.size:
        return "The suite has one question only, which cannot be left out."
    usual = ranks(scored.means["score"].round(12))
    moved = np.abs(without - usual[:, None])
    correlations = [value for column in without.T if (value := kendall(usual, column)) is not None]
    farthest = f" by more than {moved.max():g} {'rank' if moved.max() <= 1 else 'ranks'}" if moved.max() else ""
    return (
        f"Without any one of the {without.shape[1]} questions, no run moves{farthest}. "
        f"{int((moved.max(axis=1) == 0).sum())} of {len(usual)} runs never move. Kendall's correlation with the "
        f"full ranking is {min(correlations, default=1.0):.4f} at least."
    )


# --- fewer of something


def _fewer_answers(scored: ScoredRuns, cut: CutReferences | None) -> list[Fewer]:
    if cut is None:
        return []
    n_all = max(len(answers) for question in scored.suite for answers in question.answers.values())
    by_size: dict[int, list[float]] = {}
    for size, scores in cut.scores():
        by_size.setdefault(size, []).append(kendall(scored.means["score"], scores) or 0.0)
    return [Fewer("reference answers", size, n_all, tuple(values)) for size, values in by_size.items()]


def _fewer_questions(scored: ScoredRuns, n_draws: int, seed: int) -> list[Fewer]:
    scores = scored.question_scores["score"]
    n_all = scores.shape[1]
    generator = np.random.default_rng((seed, 1))
    by_n: dict[int, list[float]] = {n: [] for n in reversed(_STEPS) if n < n_all}
    for _ in range(n_draws):
        drawn = scores[:, generator.permutation(n_all)]
        for n, values in by_n.items():
            values.append(kendall(scored.means["score"], drawn[:, :n].mean(axis=1)) or 0.0)
    return [Fewer("questions", n, n_all, tuple(values)) for n, values in by_n.items()]


def _fewer_trials(scored: ScoredRuns, n_draws: int, seed: int) -> list[Fewer]:
    """Correlations with fewer trials; a run that has fewer trials keeps all of them."""
    cells, scores = scored.cells, scored.answer_scores["score"]
    counts = np.bincount(cells, minlength=len(scored.names) * len(scored.suite))
    begins = np.cumsum(counts) - counts
    generator = np.random.default_rng((seed, 2))
    by_n: dict[int, list[float]] = {n: [] for n in reversed(_STEPS) if n < counts.max()}
    for _ in range(n_draws if by_n else 0):
        # Shuffles the answers within each cell: the first n of a cell are n trials drawn without replacement.
        order = np.argsort(cells + generator.random(len(cells)))
        sorted_cells, sorted_scores = cells[order], scores[order]
        number = np.arange(len(cells)) - begins[sorted_cells]
        for n, values in by_n.items():
            taken = number < n
            sums = np.bincount(sorted_cells[taken], sorted_scores[taken], len(counts))
            means = (sums / np.minimum(counts, n)).reshape(len(scored.names), -1).mean(axis=1)
            values.append(kendall(scored.means["score"], means) or 0.0)
    return [Fewer("trials", n, int(counts.max()), tuple(values)) for n, values in by_n.items()]


def smallest_with_same_ranking(fewer: Sequence[Fewer]) -> int | None:
    """The smallest number from which on the mean of Kendall's correlations is above 0.95; None if there is none."""
    enough = None
    for step in sorted(fewer, key=lambda step: -step.n):
        if step.mean <= SAME_RANKING:
            break
        enough = step.n
    return enough


def _by_what(fewer: Sequence[Fewer]) -> dict[str, list[Fewer]]:
    found: dict[str, list[Fewer]] = {}
    for step in fewer:
        found.setdefault(step.what, []).append(step)
    return found


def _fewer_table(fewer: Sequence[Fewer]) -> Table:
    columns = ("what", "how many", "draws", "mean Kendall", "lowest 5 %", f"draws above {SAME_RANKING}")
    return Table("fewer", "Kendall's correlation with the full ranking", columns, tuple(step.row() for step in fewer))


def _answer(fewer: Sequence[Fewer]) -> str:
    found = [
        f"{n:,} of {steps[0].n_all:,} {what}" if (n := smallest_with_same_ranking(steps)) else f"no fewer {what}"
        for what, steps in _by_what(fewer).items()
    ]
    *others, last = found
    return f"The ranking stays the same with {', '.join(others)}{' or ' if others else ''}{last}."


def _words_on_fewer(fewer: Sequence[Fewer]) -> str:
    found = []
    for what, steps in _by_what(fewer).items():
        n = smallest_with_same_ranking(steps)
        if n is None:
            found.append(f"it takes all {steps[0].n_all:,} {what}")
        elif 1 < n == min(step.n for step in steps):
            found.append(f"{n:,} {what} are the fewest that were tried")
    words = f"The same ranking means that Kendall's correlation is above {SAME_RANKING} in the mean of the draws."
    return " ".join([words, *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in found)])


# --- charts


def _sets_chart(by_sets: dict[str, Floats]) -> Matrix:
    values = np.array([[coefficient("Pearson", a, b) for b in by_sets.values()] for a in by_sets.values()])
    return Matrix(tuple(by_sets), tuple(by_sets), values, "Pearson", correlation_floor(values))


def _ranks_chart(scored: ScoredRuns, without: Floats) -> Ranges:
    usual = ranks(scored.means["score"].round(12))
    shown = np.argsort(usual, kind="stable")[:MAX_ROWS]
    return Ranges(
        names=tuple(scored.labels[run] for run in shown),
        values=usual[shown],
        low=without[shown].min(axis=1) if without.size else None,
        high=without[shown].max(axis=1) if without.size else None,
        x_label="rank (bar: best to worst without any one question)",
        runs=tuple(scored.names[run] for run in shown),
        n_all=len(usual),
    )


def _fewer_chart(fewer: Sequence[Fewer]) -> Bands:
    panels = []
    for what, steps in _by_what(fewer).items():
        steps = sorted(steps, key=lambda step: step.n)
        bounds = np.array([np.percentile(step.values, [_TAIL, 100 - _TAIL]) for step in steps])
        panels.append(
            Band(
                x=np.array([step.n for step in steps]),
                middle=np.array([step.mean for step in steps]),
                low=bounds[:, 0],
                high=bounds[:, 1],
                x_label=f"{what}, of {steps[0].n_all:,}",
            )
        )
    return Bands(tuple(panels), y_label="Kendall", threshold=SAME_RANKING)
