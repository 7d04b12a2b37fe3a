"""The evaluators of `pfgen-fast discern run`: what the options mean for each kind of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .app import fail, shown, stderr
from .discern_asking import Asking
from .discern_source import Source

if TYPE_CHECKING:
    from ..evaluators.evaluator import Evaluator
    from ..evaluators.table import TableScores

KEPT_SCORES = "scores.jsonl"
KEPT_RATINGS = "judge-ratings.jsonl"
KEPT_REPLIES = "checklist-replies.jsonl"
"""The files of the output folder from which the same command goes on."""


@dataclass(frozen=True)
class Evaluators:
    """The options of evaluators."""

    folder: Path
    source: Source  # which texts are damaged
    asking: Asking  # how models are asked
    # options of `judge` and `checklists`, which are those of `open_judge` and `open_checklists`
    judge: Mapping[str, Any] = field(default_factory=dict)
    leave_out: bool = False  # whether `ngram` scores with a suite without the originals that it holds
    allow_self_reference: bool = False  # whether `metrics` takes items whose text is among their references
    lower_is_better: Sequence[str] = ()  # metrics of programs, functions and tables of which lower is better
    time_limit: float | None = None  # how many seconds a program may be silent
    threads: int | None = None  # number of threads; None for one for each core

    def open(self, name: str) -> Evaluator | TableScores:
        """Opens an evaluator, of which nothing is asked yet."""
        from ..evaluators.asking_evaluator import AskingEvaluator
        from ..evaluators.opening import open_evaluator

        options_of: Mapping[str, Callable[[], dict[str, Any]]] = {
            "ngram": self._ngram,
            "metrics": lambda: {"allow_self_reference": self.allow_self_reference},
            "judge": self._judge,
            "checklists": self._checklists,
            "python": self._kept,
            "command": lambda: {**self._kept(), "time_limit": self.time_limit, "show": _show},
            "table": lambda: {"lower_is_better": self.lower_is_better},
        }
        options = options_of.get(name.partition(":")[0], dict)()
        found = open_evaluator(name, **options)
        # Without a server the replies may all be missing: what is said then is how many, and not that there is no file.
        if isinstance(found, AskingEvaluator) and self.asking.server is None:
            return found.offline()
        return found

    def _ngram(self) -> dict[str, Any]:
        from ..discernment.originals import without_originals

        suite = self.source.loaded_suite
        if self.leave_out:
            suite = without_originals(suite, self.source.collection)
        return {"suite": suite, "threads": self.threads}

    def _judge(self) -> dict[str, Any]:
        own = {name: self.judge.get(name) for name in ("criteria", "metrics")}
        return {**self._asked(KEPT_RATINGS), **own, "tasks": self.source.collection.tasks}

    def _checklists(self) -> dict[str, Any]:
        return {**self._asked(KEPT_REPLIES), "category": self.judge.get("category")}

    def _asked(self, kept: str) -> dict[str, Any]:
        """The options of whatever asks a judge; what is not given is as usual there."""
        from ..judging.requests import Server

        if self.judge["model"] is None and not self.asking.is_dry:
            fail("--model is missing: expected the judge's name on the server")
        numbers = {name: self.judge.get(name) for name in ("n_ratings", "temperature", "max_tokens")}
        return {
            **{name: value for name, value in numbers.items() if value is not None},
            "model": self.judge["model"] or "judge",  # what asking would cost does not depend on it
            "server": self.asking.server or Server(),
            "spending": self.asking.spending,
            "partial": self.asking.is_partial,
            "cache": self.folder / kept,
        }

    def _kept(self) -> dict[str, Any]:
        return {"lower_is_better": self.lower_is_better, "cache": self.folder / KEPT_SCORES}


def _show(line: str) -> None:
    """Shows what a program says on stderr."""
    stderr().print(shown(line))
