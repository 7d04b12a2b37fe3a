"""The fixture `pfgen` of pytest: gates as assertions, such as `pfgen.assert_not_worse("result/new", "result/old")`.

pytest finds this plugin by its entry point. It imports nothing else of the package before a test uses the fixture.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from ..gates.checks import Check
    from ..scoring.scorer import Scorer


class UndecidedWarning(UserWarning):
    """The data cannot tell the answer of a gate, and the gate counts it as passed."""


class Gates:
    """The assertions of the fixture `pfgen`. Each returns its check, and adds it to the properties of the test.

    A run is a directory. A table of scores is a file, a data frame, rows, columns, or `ItemScores`. `scores` names one
    table with both models; without it, a table has one model.
    """

    def __init__(self, test: pytest.Item) -> None:
        self._test = test

    def assert_not_worse(
        self,
        new: Any,
        old: Any,
        *,
        scores: Any = None,
        metric: str | None = None,
        margin: float = 0.0,
        confidence: float = 0.95,
        undecided: Literal["pass", "fail"] = "pass",
        scorer: Scorer | None = None,
    ) -> Check:
        """Fails the test if `new` is worse than `old` by more than the margin, with the confidence asked for.

        Where the data cannot tell, the test gets an `UndecidedWarning`, or fails with `undecided="fail"`.

        Args:
            new: The run or table that is checked; with `scores`, the name of a model.
            old: What it is compared with.
            scores: One table with both models.
            metric: The metric; by default the score of runs, and the first metric of tables.
            margin: The loss that is allowed, in units of the metric.
            confidence: The confidence with which the check fails or passes.
            undecided: What a check counts as if the data cannot tell.
            scorer: Scores the answers of runs; by default with the suite of the checkout that contains the runs.

        Raises:
            PfgenError: A run or table cannot be read, or a setting is invalid.
        """
        __tracebackhide__ = True
        from ..gates.comparisons import Gate
        from ..gates.sources import pair_of

        table, of = pair_of(new, old, scores, scorer)
        name = "average" if of == "runs" and metric == "score" else metric
        gate = Gate(margin, confidence, undecided, of=of)
        return self._said(gate.check(table, metrics=None if name is None else [name])[0])

    def assert_non_inferior(
        self,
        new: Any,
        old: Any,
        *,
        margin: float,
        scores: Any = None,
        metric: str | None = None,
        confidence: float = 0.95,
        scorer: Scorer | None = None,
    ) -> Check:
        """Fails the test unless the data show that `new` is not worse than `old` by more than the margin.

        Args:
            new: The run or table that is checked; with `scores`, the name of a model.
            old: What it is compared with.
            margin: The loss that is allowed, in units of the metric; above 0.
            scores: One table with both models.
            metric: The metric; by default the score of runs, and the first metric of tables.
            confidence: The confidence with which the check passes.
            scorer: Scores the answers of runs; by default with the suite of the checkout that contains the runs.

        Raises:
            PfgenError: A run or table cannot be read, or a setting is invalid.
        """
        __tracebackhide__ = True
        from ..gates.comparisons import check_margin

        check_margin(margin)
        return self.assert_not_worse(
            new,
            old,
            scores=scores,
            metric=metric,
            margin=margin,
            confidence=confidence,
            undecided="fail",
            scorer=scorer,
        )

    def assert_at_least(
        self,
        run: Any,
        threshold: float,
        *,
        figure: str | None = None,
        scores: Any = None,
        scorer: Scorer | None = None,
    ) -> Check:
        """Fails the test if a figure is below the threshold; or above it, for a metric of which less is better.

        Args:
            run: The run or table that is checked; with `scores`, the name of a model.
            threshold: The smallest allowed value.
            figure: The name of the figure: by default the score of a run, or the first metric of a table. `_low` after
                `score` or the name of a metric of a table is the lower end of its 95 % interval.
            scores: A table with the model.
            scorer: Scores the answers of a run; by default with the suite of the checkout that contains the run.

        Raises:
            PfgenError: The run or table cannot be read, or there is no such figure.
        """
        __tracebackhide__ = True
        from ..gates.checks import at_least
        from ..gates.sources import figures_of

        name, figures, lower = figures_of(run, scores, scorer)
        return self._said(at_least(figures, threshold, about=name, figure=figure, lower_is_better=lower))

    def _said(self, check: Check) -> Check:
        __tracebackhide__ = True
        self._test.user_properties.append((f"pfgen: {check.name}", f"{check.outcome}: {check.sentence}"))
        if not check.passes:
            raise AssertionError(f"{check.outcome}: {check.sentence}")
        if check.outcome == "undecided":
            warnings.warn(UndecidedWarning(check.sentence), stacklevel=3)
        return check


@pytest.fixture
def pfgen(request: pytest.FixtureRequest) -> Gates:
    """Gates as assertions: `assert_not_worse`, `assert_non_inferior` and `assert_at_least`."""
    return Gates(request.node)
