"""`sensitivity`: how scores and ranking depend on the constants of the rules, which are varied one at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..files.cells import place_cell
from ..native import _core
from ..native.threads import checked_threads
from ..scoring.index import index_of, spelled_sets
from ..scoring.scorer import core_question
from ..statistics.correlation import SAME_RANKING, Floats, check_columns, coefficient, kendall, ranks
from ..suite.rules import COLUMNS, MAX_ORDER, Constants
from ..suite.suite import Suite
from .chart_data import Curve, CurvePanel, Curves
from .finding import Cell, Finding, Picture, Table
from .scored_runs import AnswersOfRuns, DrawnAnswers, RunFigures

VARIED: dict[str, tuple[float, ...]] = {
    "last_order": tuple(range(1, MAX_ORDER + 1)),
    "first_order": tuple(range(1, MAX_ORDER + 1)),
    "threshold": (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
    "target_length": (50, 70, 80, 90, 100, 110, 120, 130, 140),
    "limit": (110, 120, 130, 140, 150, 160, 175, 200, 250, 300),
}
"""The values to try for each constant, while the others have their defaults."""

SET_WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""The weights to try for one reference set, while the others have weight 1."""

_TITLES = {
    "last_order": "longest n-gram",
    "first_order": "shortest n-gram",
    "threshold": "threshold of truthfulness",
    "target_length": "target length",
    "limit": "limit of length",
}
_USUAL = Constants()
_WEIGHT = "weight of set "
_AVERAGE = COLUMNS.index("average")


class VariantScorer:
    """Scores answers in profile leaderboard with several sets of constants."""

    def __init__(self, suite: Suite, constants: Sequence[Constants], *, threads: int | None = None) -> None:
        self._threads = checked_threads(threads)
        self.suite, self.constants = suite, tuple(constants)
        index = index_of(suite, "leaderboard", self._threads)
        questions, sets = [], []
        for number, question in enumerate(suite):
            sets.append(list(spelled_sets(suite, question).values()))
            questions.append(core_question(question, index[number], range(len(sets[-1]))))
        variants = [_core.Constants(**asdict(each)) for each in self.constants]
        self._core = _core.VariantScorer(questions, sets, variants, self._threads)
        for number, question in enumerate(suite):
            for each, by_set in zip(self.constants, self.baselines(number), strict=True):
                for name, baseline in zip(question.answers, by_set, strict=True):
                    if not baseline > 0:
                        raise ExperimentError(
                            f"suite {suite.name}, question {question.question_id}: with {each}, no answer of the set "
                            f"{name!r} has a score, so answers cannot be compared with it"
                        )

    def baselines(self, question_number: int) -> list[list[float]]:
        """The baselines of a question, by constants, then by set."""
        return self._core.baselines(question_number)

    def score(self, question_numbers: Sequence[int] | NDArray[Any], answers: Any) -> NDArray[np.float64]:
        """Scores answers; the axes of the result are constants, columns (`COLUMNS`) and answers."""
        column = answers if isinstance(answers, _core.TextColumn) else _core.TextColumn(answers, "answers")
        return self._core.score(np.asarray(question_numbers, dtype=np.int32), column, self._threads)


class VariedConstants:
    """Scores answers with other constants, too; `read_figures` calls it with each batch."""

    def __init__(
        self,
        varied: Mapping[str, Sequence[float]] | None = None,
        *,
        trials: int | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.constants = (_USUAL, *_variants(VARIED if varied is None else varied))
        self.drawn = DrawnAnswers(trials, seed)
        self._threads = threads
        self._scorer: VariantScorer | None = None
        self._parts: list[Floats] = []

    def __call__(self, suite: Suite, of_runs: AnswersOfRuns) -> None:
        """Scores the answers of a batch with all constants."""
        if self._scorer is None:
            self._scorer = VariantScorer(suite, self.constants, threads=self._threads)
        drawn = self.drawn.of(suite, of_runs)
        averages = self._scorer.score(drawn.question_numbers, drawn.answers)[:, _AVERAGE]
        means = np.stack([drawn.question_means(scores, len(suite)) for scores in averages])
        self._parts.append(means.mean(axis=2))

    def scores(self) -> Floats:
        """The scores of the runs (columns) with each of `constants` (rows), after all batches."""
        self._scorer = None  # takes much memory
        return np.concatenate(self._parts, axis=1)


def _variants(varied: Mapping[str, Sequence[float]]) -> list[Constants]:
    for name in varied:
        if name not in VARIED:
            raise ExperimentError(f"unknown constant {name!r}; expected one of {', '.join(VARIED)}")
    try:
        found = dict.fromkeys(_changed(name, value) for name, values in varied.items() for value in values)
    except ValueError as error:
        raise ExperimentError(str(error)) from None
    return [constants for constants in found if constants != _USUAL]


def _changed(name: str, value: float) -> Constants:
    if name != "threshold" and value != int(value):
        raise ValueError(f"{name} {value:g}: expected a whole number")
    values: dict[str, Any] = {name: value if name == "threshold" else int(value)}
    return replace(_USUAL, **values)


@dataclass(frozen=True)
class Variation:
    """The scores of the runs with one value of a constant or weight."""

    value: float
    is_usual: bool  # whether this is the default value
    scores: Floats  # scores of the runs
    usual: Floats  # scores of the same answers with the default value

    @property
    def kendall(self) -> float | None:
        """Kendall's correlation with the usual scores."""
        return kendall(self.usual, self.scores)

    @property
    def largest_change(self) -> float:
        """The largest change of a score."""
        return float(np.abs(self.scores - self.usual).max())

    @property
    def most_places(self) -> float:
        """The largest number of places that a run moves."""
        # Rounded, because sums in another order could distinguish equal scores.
        return float(np.abs(ranks(self.scores.round(9)) - ranks(self.usual.round(9))).max())


_ByWhat = Mapping[str, Sequence[Variation]]
"""By constant or weight, the scores with each value."""


def sensitivity(scored: RunFigures, varied: VariedConstants) -> Finding:
    """Measures how far scores and ranking move as each constant and the weight of each reference set varies."""
    scores = varied.scores()
    check_columns({"score": scores[0]}, "runs")
    by_what = {**_of_constants(varied.constants, scores), **_of_weights(scored)}
    if not by_what:
        raise ExperimentError(
            "nothing is varied: expected values other than the defaults, or questions with several sets"
        )
    notes = [*scored.problems, *varied.drawn.notes("with other constants")]
    alone = [name for name in scored.suite.set_names if name not in _weighable(scored.suite)]
    if alone:
        notes.append(f"not weighted, because no question has them together with another set: {', '.join(alone)}")
    columns = ((f"{what} {step.value:g}", step.scores) for what, steps in by_what.items() for step in steps)
    return Finding(
        "sensitivity",
        _answer(by_what),
        _words(by_what),
        (_table(by_what), scored.table("scores", "The scores of the runs", columns)),
        (Picture("curves", "Ranking (Kendall with the usual one) and scores of the runs", _chart(by_what)),),
        tuple(notes),
        question="How do the scores depend on the constants of the rules?",
        runs=scored.names,
    )


def _of_constants(constants: Sequence[Constants], scores: Floats) -> dict[str, list[Variation]]:
    found = {}
    for name, title in _TITLES.items():
        values = {row: getattr(each, name) for row, each in enumerate(constants)}
        rows = [row for row, value in values.items() if constants[row] == _changed(name, value)]
        if len(rows) > 1:  # not only the default
            found[title] = [
                Variation(float(values[row]), constants[row] == _USUAL, scores[row], scores[0])
                for row in sorted(rows, key=values.__getitem__)
            ]
    return found


def _of_weights(scored: RunFigures) -> dict[str, list[Variation]]:
    usual = weighted_scores(scored, {})
    return {
        f"{_WEIGHT}{name}": [
            Variation(weight, weight == 1, weighted_scores(scored, {name: weight}), usual) for weight in SET_WEIGHTS
        ]
        for name in _weighable(scored.suite)
    }


def _weighable(suite: Suite) -> list[str]:
    """The sets that share a question with others; the weight of a set that is always alone has no effect."""
    return [
        name
        for name in suite.set_names
        if any(name in question.answers and len(question.answers) > 1 for question in suite)
    ]


def weighted_scores(scored: RunFigures, weights: dict[str, float]) -> Floats:
    """The scores of the runs if fluency and truthfulness of a question are weighted means over its sets."""
    total = scored.question_scores["helpfulness"].copy()
    for metric in ("fluency", "truthfulness"):
        of_sets = scored.set_scores[metric]
        for number, question in enumerate(scored.suite):
            of_question = np.array([weights.get(name, 1.0) for name in question.answers])
            if not of_question.any():
                of_question[:] = 1.0
            columns = np.stack([of_sets[name][:, number] for name in question.answers])
            # No matrix product, because its order of sums depends on the BLAS.
            total[:, number] += (of_question[:, np.newaxis] * columns).sum(axis=0) / of_question.sum()
    mean: Floats = (total / 3).mean(axis=1)
    return mean


def _table(by_what: _ByWhat) -> Table:
    columns = ("what", "value", "usual", "mean score", "largest change", "Pearson", "Kendall", "most places moved")
    rows: list[tuple[Cell, ...]] = []
    for what, steps in by_what.items():
        for step in steps:
            pearson = None if np.ptp(step.scores) == 0 else coefficient("Pearson", step.usual, step.scores)
            means = float(step.scores.mean()), step.largest_change
            figures = *means, pearson, step.kendall, place_cell(step.most_places)
            rows.append((what, f"{step.value:g}", "usual" if step.is_usual else "", *figures))
    return Table("variations", "Scores and ranking as each constant is varied", columns, tuple(rows))


def _places(most: float) -> str:
    return f"{most:g} {'place' if most == 1 else 'places'}"


def _answer(by_what: _ByWhat) -> str:
    others = [(what, step) for what, steps in by_what.items() for step in steps if not step.is_usual]
    n_alike = sum((step.kendall or 0.0) > SAME_RANKING for _, step in others)
    what, farthest = max(others, key=lambda other: other[1].most_places)
    return (
        f"In {n_alike} of {len(others)} variations of one constant the {len(farthest.scores)} runs keep their ranking, "
        f"but single runs move by up to {_places(farthest.most_places)} ({what} {farthest.value:g})."
    )


def _words(by_what: _ByWhat) -> str:
    parts = []
    for what, steps in by_what.items():
        others = [step for step in steps if not step.is_usual]
        known = [(value, step) for step in others if (value := step.kendall) is not None]
        if known:
            low, step = min(known, key=lambda found: found[0])
            span = f"{min(each.value for each in others):g} to {max(each.value for each in others):g}"
            change, places = (max(getattr(each, most) for each in others) for most in ("largest_change", "most_places"))
            parts.append(
                f"{what} {span}: {low:.4f} at {step.value:g} (at most, a score moves by {change:.4f} and a run by "
                f"{_places(places)})"
            )
    return (
        f"A ranking is kept if Kendall's correlation with the usual one is above {SAME_RANKING}. "
        f"The lowest Kendall of each constant: {'; '.join(parts)}."
    )


def _chart(by_what: _ByWhat) -> Curves:
    titles = {what: [what] for what in by_what if not what.startswith(_WEIGHT)}
    if weights := [what for what in by_what if what.startswith(_WEIGHT)]:
        titles["weight of one set, the others 1"] = weights
    panels = []
    for title, members in titles.items():
        curves = tuple(_curve(what.removeprefix(_WEIGHT), by_what[what]) for what in members)
        usual_x = next(step.value for step in by_what[members[-1]] if step.is_usual)
        panels.append(CurvePanel(title, curves, usual_x, is_logarithmic=title == _TITLES["threshold"]))
    return Curves(
        tuple(panels),
        summary_label="Kendall with the usual ranking",
        lines_label="score of each run",
        threshold=SAME_RANKING,
        legend_title="set",
    )


def _curve(name: str, steps: Sequence[Variation]) -> Curve:
    return Curve(
        name,
        x=np.array([step.value for step in steps]),
        summary=np.array([math.nan if (value := step.kendall) is None else value for step in steps]),
        lines=np.stack([step.scores for step in steps]),
    )
