"""The evaluators of `pfgen-fast discern run`, and the options of each kind of evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import Option

from .app import fail, shown, stderr
from .command_class import option_group
from .discern_asking import Asking
from .discern_source import Source
from .server_options import JudgeTemperature, Structured, number_of

if TYPE_CHECKING:
    from ..evaluators.evaluator import Evaluator
    from ..evaluators.table import TableScores
    from ..suite.suite import Suite

KEPT_SCORES = "scores.jsonl"
KEPT_RATINGS = "judge-ratings.jsonl"
KEPT_REPLIES = "checklist-replies.jsonl"
"""The files of the output directory from which the same command continues."""


@option_group
class Evaluators:
    """The options of evaluators."""

    model: str | None = Option(None, "-m", help="Name the judge on the server.", metavar="NAME")
    leave_out: bool = Option(False, help="ngram: remove the originals from the suite before scoring.")
    shape: str | None = Option(
        None,
        help="ngram: also compute the reward with this shape, which is 'recommended' or a TOML file. Only the reward "
        "uses the profile of the shape.",
        metavar="SHAPE",
    )
    allow_self_reference: bool = Option(False, help="metrics: accept items whose text is among their references.")
    lower_is_better: list[str] | None = Option(
        None, help="Name a metric for which lower is better. May be repeated.", metavar="METRIC"
    )
    ratings: int | None = Option(
        None, min=1, help="Rate each text this often. Default: judge 5 by each metric, checklists 1."
    )
    temperature: JudgeTemperature = None
    structured: Structured = False
    category: str | None = Option(
        None,
        help="checklists: judge items that are not tasks of the suite by the checklist of this category.",
        metavar="NAME",
    )
    criteria: Path | None = Option(None, help="judge: read tasks and metrics from a TOML file.", metavar="FILE")
    metric: list[str] | None = Option(None, help="judge: rate only by this metric. May be repeated.")
    max_tokens: int | None = Option(
        None, min=1, help="Limit the tokens of a reply. Default: judge 300, checklists 4096."
    )

    def open(self, name: str, folder: Path, source: Source, asking: Asking) -> Evaluator | TableScores:
        """Opens an evaluator; asks nothing yet."""
        from ..evaluators.asking_evaluator import AskingEvaluator
        from ..evaluators.opening import open_evaluator

        kept = {"lower_is_better": self.lower_is_better or (), "cache": folder / KEPT_SCORES}
        asked = partial(self._asked, folder, asking)
        judge = {"criteria": self.criteria, "metrics": self.metric}
        options_of: Mapping[str, Callable[[], dict[str, Any]]] = {
            "ngram": lambda: {"suite": self._suite(source), "shape": self.shape, "threads": source.threads},
            "metrics": lambda: {"allow_self_reference": self.allow_self_reference},
            "judge": lambda: {**asked(KEPT_RATINGS), **judge, "tasks": source.collection.tasks},
            "checklists": lambda: {**asked(KEPT_REPLIES), "category": self.category, "structured": self.structured},
            "python": lambda: kept,
            "command": lambda: {**kept, "time_limit": asking.timeout, "show": _show},
            "table": lambda: {"lower_is_better": self.lower_is_better or ()},
        }
        found = open_evaluator(name, **options_of.get(name.partition(":")[0], dict)())
        # Without a server, all replies may be missing: the message then has their number instead of a missing file.
        return found.offline() if isinstance(found, AskingEvaluator) and asking.server is None else found

    def _suite(self, source: Source) -> Suite:
        from ..discernment.originals import without_originals

        return without_originals(source.loaded_suite, source.collection) if self.leave_out else source.loaded_suite

    def _asked(self, folder: Path, asking: Asking, kept: str) -> dict[str, Any]:
        """The options of evaluators that ask a judge, without options that keep their default."""
        from ..judging.requests import Server

        if self.model is None and not asking.dry_run:
            fail("--model is missing: expected the judge's name on the server")
        temperature = number_of(self.temperature)
        numbers = {"n_ratings": self.ratings, "temperature": temperature, "max_tokens": self.max_tokens}
        return {
            **{name: value for name, value in numbers.items() if value is not None},
            "model": self.model or "judge",  # the estimate does not depend on the name
            "request_options": asking.request_options(self.temperature),
            "server": asking.server or Server(),
            "spending": asking.spending,
            "partial": asking.partial,
            "cache": folder / kept,
        }


def _show(line: str) -> None:
    stderr().print(shown(line))
