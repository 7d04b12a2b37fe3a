"""`pfgen-fast discern run`: tests whether an evaluator notices texts that were damaged in known ways and degrees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.untrusted_text import counted
from ..app import counting, fail, print_line, print_tables, show_finding, shown
from ..engine_options import JudgeTemperature, number_of
from ..parser import Option, option_group
from ..suite_line import print_signature
from .source import MADE_TEXTS, Asking, Source

if TYPE_CHECKING:
    from ...lab.discernment.discernment_result import Discernment
    from ...lab.evaluators.evaluator import Evaluator
    from ...lab.evaluators.table_evaluator import TableScores

KEPT_SCORES, KEPT_RATINGS, KEPT_REPLIES = "scores.jsonl", "judge-ratings.jsonl", "checklist-replies.jsonl"
"""The files of the output directory from which the same command continues."""


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
    max_tokens: int | None = Option(None, "Limit the tokens of a reply. Default: judge 300, checklists 4096.", min=1)

    def open(self, name: str, folder: Path, source: Source, asking: Asking) -> Evaluator | TableScores:
        """Opens an evaluator; asks nothing yet."""
        from ...lab.evaluators.evaluator import open_evaluator

        kind = name.partition(":")[0]
        options: dict[str, Any] = {}
        if kind == "ngram":
            options = {"suite": source.loaded_suite, "shape": self.shape, "threads": source.threads}
        elif kind in ("judge", "checklists"):
            if self.model is None and not asking.dry_run:
                fail("--model is missing: expected the judge's name on the server")
            numbers: dict[str, Any] = {"n_ratings": self.ratings, "max_tokens": self.max_tokens}
            numbers["temperature"] = number_of(self.temperature)
            options = asking.opening(self.temperature)
            options |= {key: value for key, value in numbers.items() if value is not None}
            options["model"] = self.model or "judge"  # the estimate does not depend on the name
            if kind == "judge":
                options |= {"criteria": self.criteria, "tasks": source.collection.tasks}
            else:
                options["category"] = self.category
            options["cache"] = folder / (KEPT_RATINGS if kind == "judge" else KEPT_REPLIES)
        elif kind in ("python", "command", "table"):
            options = {"lower_is_better": self.lower_is_better or ()}
            if kind != "table":
                options["cache"] = folder / KEPT_SCORES
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
        "Test an evaluator: ngram, metrics (BLEU, chrF, ROUGE-L), judge, checklists:SUITE, "
        "python:MODULE:FUNCTION, 'command:PROGRAM ...' or table:FILE. Repeat to compare several.",
        "-e",
    )
    output: Path = Option(Path("discernment"), "Write page, tables and pictures here.", "-o", metavar="DIR")
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
            elif asking.dry_run:
                n_texts = counted(len(collection) * (1 + len(plan.perturbations)), "text")
                print_line(f"{shown(evaluator.name)}: {n_texts} at most to be scored; no server is asked")
        if asking.dry_run:
            return
        tests = []
        for evaluator in opened:
            with counting("texts", quiet=asking.quiet) as count:
                how: Any = {"seed": self.source.seed, "maker": maker, "on_progress": count}
                tests.append(discern(evaluator, collection, plan, weights, **how))
        self._show(tests)

    def _show(self, tests: Sequence[Discernment]) -> None:
        """Writes the report, and prints its first tables."""
        from ...report.discernment import finding_of

        finding = finding_of(tests)
        show_finding(finding, self.output, quiet=self.asking.quiet)
        if not self.asking.quiet:
            print_line("")
            print_tables(table for table in finding.shown_tables if table.name in ("verdicts", "common", "differences"))
            self.source.print_suite()
            for result in tests:
                print_signature(result.signature)
