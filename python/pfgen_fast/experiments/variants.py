"""Scores with other constants of the rules: many sets of constants in a single native pass over the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..native import _core
from ..native.threads import checked_threads
from ..scoring.index import index_of, spelled_sets
from ..scoring.metrics import PARTS
from ..scoring.scorer import core_question
from ..suite.rules import Constants
from ..suite.suite import Suite

COLUMNS = (*PARTS, "average")
"""The scores of an answer, in the order in which `VariantScorer.score` returns them."""


class VariantScorer:
    """Scores answers as the profile leaderboard does, with each of several sets of constants."""

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
        self._check_baselines()

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signature of each set of constants."""
        return tuple(
            f"pfgen-fast:{_core.__version__}|suite:{self.suite.metadata_hash}|profile:leaderboard|sum:compensated"
            f"|orders:{of.first_order}-{of.last_order}|threshold:{of.threshold:.17g}|lengths:{of.target_length}-{of.limit}"
            for of in self.constants
        )

    def baselines(self, question_number: int) -> list[list[float]]:
        """The baselines of a question, by constants, then by set."""
        return self._core.baselines(question_number)

    def score(self, question_numbers: Sequence[int] | NDArray[Any], answers: Any) -> NDArray[np.float64]:
        """Scores answers; the axes of the result are constants, columns (`COLUMNS`) and answers."""
        column = answers if isinstance(answers, _core.TextColumn) else _core.TextColumn(answers, "answers")
        return self._core.score(np.asarray(question_numbers, dtype=np.int32), column, self._threads)

    def _check_baselines(self) -> None:
        for number, question in enumerate(self.suite):
            for constants, by_set in zip(self.constants, self.baselines(number), strict=True):
                for name, baseline in zip(question.answers, by_set, strict=True):
                    if not baseline > 0:
                        raise ExperimentError(
                            f"suite {self.suite.name}, question {question.question_id}: with {constants}, no answer of "
                            f"the set {name!r} can score, so that nothing can be compared with it"
                        )
