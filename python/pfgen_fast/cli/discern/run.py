"""`pfgen-fast discern run`: tests whether an evaluator notices texts that were damaged in known ways and degrees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..app import counting, fail, show_finding
from ..engine_options import JudgeTemperature, number_of
from ..options import FOLDER
from ..parser import Option, option_group
from .source import MADE_TEXTS, Asking, Source

if TYPE_CHECKING:
    from ...lab.evaluators.evaluator import Evaluator
    from ...lab.evaluators.table_evaluator import TableScores

_CACHES = {
    "judge": "judge-ratings.jsonl",
    "checklists": "checklist-replies.jsonl",
    "python": "scores.jsonl",
    "command": "scores.jsonl",
}
"""The files of the output directory from which the same command continues, by kind of evaluator."""


@option_group
class Evaluators:
    """The options of evaluators."""

    help_group = "Evaluators"
    model: str | None = Option(None, "Name the judge on the server.", "-m", group="")
    shape: str | None = Option(
        None, "ngram: also compute the reward with this shape: 'recommended', or a TOML file.", metavar="SHAPE"
    )
    lower_is_better: list[str] | None = Option(
        None, "Name a metric for which lower is better. May be repeated.", metavar="METRIC"
    )
    ratings: int | None = Option(None, "Rate each text this often. Default: judge 5, checklists 1.", min=1)
    temperature: JudgeTemperature = None
    category: str | None = Option(None, "checklists: judge other items by the checklist of this category.")
    criteria: Path | None = Option(None, "judge: read tasks and metrics from a TOML file.")
    max_tokens: int | None = Option(None, "Limit the tokens of a reply. Default: judge 1024, checklists 4096.", min=1)

    def open(self, name: str, folder: Path, source: Source, asking: Asking) -> Evaluator | TableScores:
        """Opens an evaluator; asks nothing yet."""
        from ...lab.evaluators.evaluator import open_evaluator

        kind, _, own = name.partition(":")
        model = own if kind == "judge" and own else self.model
        options: dict[str, Any] = {"cache": folder / _CACHES[kind]} if kind in _CACHES else {}
        if kind == "ngram":
            options = {"suite": source.loaded_suite, "shape": self.shape, "threads": source.threads}
        elif kind in ("judge", "checklists"):
            if model is None and not asking.dry_run:
                fail("--model is missing: expected the judge's name on the server")
            options |= asking.opening(self.temperature)
            options["model"] = model or "judge"  # the estimate does not depend on the name
            numbers = {"n_ratings": self.ratings, "max_tokens": self.max_tokens}
            options |= {key: number for key, number in numbers.items() if number is not None}
            options["temperature"] = number_of(self.temperature)
            if kind == "judge":
                options |= {"criteria": self.criteria, "tasks": source.collection.tasks, "name": own or kind}
                name = kind
            else:
                options["category"] = self.category
        elif kind in ("python", "command", "table"):
            options["lower_is_better"] = self.lower_is_better or ()
            if kind == "command":
                options["time_limit"] = asking.timeout or 120.0
        evaluator: Evaluator | TableScores = open_evaluator(name, **options)
        return evaluator


class DiscernRun:
    """Does an evaluator notice damage: from which degree on, what does it miss, what does it reward?

    Good texts are damaged in known ways and degrees, originals and damaged texts are scored separately, and a paired
    rank test shows whether the damaged texts got lower scores. D is its p-value on a scale where 1 means p = 0.05.
    Controls are changes that should not matter. Most kinds of damage are made by rules, so no model is needed.

    Examples

      pfgen-fast discern run --from-run result/openai/gpt-4o/run --evaluator ngram -o discernment
      pfgen-fast discern run --from-suite --suite mini --evaluator ngram -o discernment
      pfgen-fast discern run texts.jsonl --task summarization -e python:mine:score -o discernment
      pfgen-fast discern run texts.jsonl --task summarization -e judge -m org/judge --dry-run -o d
    """

    evaluator: list[str] = Option(
        ...,
        "Test an evaluator: ngram, metrics (BLEU, chrF, ROUGE-L), judge[:MODEL], checklists:SUITE, "
        "python:MODULE:FUNCTION, 'command:PROGRAM ...' or table:FILE. Repeat to compare several.",
        "-e",
    )
    output: Path = Option(Path("discernment"), "Write page, tables and pictures here.", "-o", **FOLDER)
    weights: str | None = Option(
        None, "Weight the metrics for each kind: a CSV file, or 'assumed' (no expert was asked).", metavar="FILE"
    )
    source: Source
    evaluators: Evaluators
    asking: Asking

    def __call__(self) -> None:
        from ...base.file_writing import check_folder
        from ...lab.discernment.discern import discern
        from ...lab.discernment.weights import open_weights
        from ...lab.evaluators.asking_evaluator import AskingEvaluator
        from ...lab.evaluators.ngram_evaluator import MetricsEvaluator
        from ...lab.evaluators.table_evaluator import TableScores
        from ...report.discernment import finding_of
        from ...report.drawing import library

        asking, plan, collection = self.asking, self.source.opened_plan, self.source.collection
        check_folder(self.output)
        if not asking.dry_run:
            library("matplotlib")  # before hours of work
        collection.check_size()
        weights = None if self.weights is None else open_weights(self.weights)
        opened = [self.evaluators.open(name, self.output, self.source, asking) for name in self.evaluator]
        if weights is not None and not any(isinstance(evaluator, TableScores) for evaluator in opened):
            is_known = all(evaluator.metrics for evaluator in opened)
            metrics = [metric.name for evaluator in opened for metric in evaluator.metrics if metric.combined]
            weights.check(collection.tasks, plan.perturbations, metrics if is_known else ())
        for evaluator in opened:
            if isinstance(evaluator, MetricsEvaluator):
                evaluator.check(collection.items)  # before a model is asked
        model, temperature = asking.maker or self.evaluators.model, self.evaluators.temperature
        maker, collection = asking.texts(model, self.output / MADE_TEXTS, collection, plan, temperature)
        for evaluator in opened:
            if isinstance(evaluator, AskingEvaluator):  # items without replies are left out
                collection = asking.ratings(evaluator, self.source.damage(collection, maker), collection)
        if asking.dry_run:
            return
        tests = []
        for evaluator in opened:
            with counting("texts", quiet=asking.quiet) as count:
                how: Any = {"seed": self.source.seed, "maker": maker, "on_progress": count}
                tests.append(discern(evaluator, collection, plan, weights, **how))
        finding = finding_of(tests)
        tables = [table for table in finding.shown_tables if table.name in ("verdicts", "common", "differences")]
        show_finding(finding, self.output, quiet=asking.quiet, tables=tables)
        if not asking.quiet:
            self.source.print_suite()
