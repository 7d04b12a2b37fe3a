"""`pfgen-fast discern`: tests whether an evaluator notices texts that were damaged in known ways and degrees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .app import counted, counting, fail, note, print_line, shown, stderr
from .asking import duration
from .checklists_options import print_tables
from .discern_asking import Asking
from .discern_source import MADE_TEXTS, Source
from .engine_options import JudgeTemperature, Structured, number_of, retried_without_schema
from .findings import show_finding
from .gate_options import ThresholdOptions
from .parser import Option, option_group
from .suite_line import print_signature

if TYPE_CHECKING:
    from ..lab.discernment.discernment_plan import Plan
    from ..lab.discernment.discernment_result import Discernment
    from ..lab.discernment.plan_sources import Published
    from ..lab.discernment.weights import Weights
    from ..lab.evaluators.evaluator import Evaluator
    from ..lab.evaluators.table_evaluator import TableScores
    from ..report.discernment.discernment_tables import Result
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
        from ..lab.evaluators.asking_evaluator import AskingEvaluator
        from ..lab.evaluators.opening import open_evaluator

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
        evaluator = open_evaluator(name, **options_of.get(name.partition(":")[0], dict)())
        # Without a server, all replies may be missing: the message then has their number instead of a missing file.
        return evaluator.offline() if isinstance(evaluator, AskingEvaluator) and asking.server is None else evaluator

    def _suite(self, source: Source) -> Suite:
        from ..lab.discernment.originals import without_originals

        return without_originals(source.loaded_suite, source.collection) if self.leave_out else source.loaded_suite

    def _asked(self, folder: Path, asking: Asking, kept: str) -> dict[str, Any]:
        """The options of evaluators that ask a judge, without options that keep their default."""
        from ..lab.judging.judge_requests import Server

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


_LONG_SECONDS = 5.0


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
        "-e",
        help="Test an evaluator: ngram, metrics (BLEU, chrF, ROUGE-L), judge, checklists:SUITE, "
        "python:MODULE:FUNCTION, 'command:PROGRAM ...' or table:FILE. Repeat to compare several.",
        metavar="NAME",
    )
    output: Path = Option(
        Path("discernment"), "-o", help="Write page, tables and pictures to this directory.", metavar="DIR"
    )
    weights: str | None = Option(
        None,
        help="Weight the metrics for each kind of damage: a CSV file, or 'assumed' for the packaged weights, "
        "which are not based on votes of experts.",
        metavar="FILE",
    )
    published: Path | None = Option(
        None, help="Show the paper's figures from this CSV file next to the new figures.", metavar="FILE"
    )
    zeros: Literal["drop", "pratt"] = Option("drop", help="Leave out pairs of equal scores, or rank them first.")
    min_items: int = Option(10, min=5, help="Leave cells with fewer items undefined.")
    margin: float | None = Option(
        None,
        help="Call an evaluator blind to damage if its mean score changes by less than this margin, up or down, in "
        "standard deviations of the originals' scores, such as 0.1 (two one-sided tests).",
        metavar="X",
    )
    source: Source
    evaluators: Evaluators
    asking: Asking
    gate: ThresholdOptions

    @retried_without_schema("evaluators")
    def __call__(self) -> None:
        from ..base.file_writing import check_folder
        from ..lab.discernment.discernment_cells import check_margin
        from ..lab.discernment.perturbing import all_texts
        from ..lab.discernment.plan_sources import read_published
        from ..lab.discernment.running import discern as find
        from ..lab.discernment.weights import open_weights
        from ..lab.evaluators.asking_evaluator import AskingEvaluator
        from ..report.drawing import library

        asking, plan, collection = self.asking, self.source.opened_plan, self.source.collection
        self.gate.prepare()
        check_margin(self.margin)
        self.gate.check_names(_figure_names(plan))
        check_folder(self.output)
        if asking.dry_run and self.gate.is_gate:
            fail("--dry-run tests nothing: leave out --fail-under")
        if self.evaluators.structured and not any(name.startswith("checklists:") for name in self.evaluator):
            fail("--structured: expected with an evaluator checklists:SUITE, whose replies are JSON")
        if not asking.dry_run:
            library("matplotlib")  # before hours of work
        collection.check_size(self.min_items)
        weights = None if self.weights is None else open_weights(self.weights)
        damaging = self.source.damaging  # reads the donors before anything is asked
        figures = () if self.published is None else read_published(self.published)
        opened = [self.evaluators.open(name, self.output, self.source, asking) for name in self.evaluator]
        self._check(opened, weights)
        model, temperature = asking.maker or self.evaluators.model, self.evaluators.temperature
        maker, collection = asking.texts(model, self.output / MADE_TEXTS, collection, plan, temperature)
        for evaluator in opened:
            if isinstance(evaluator, AskingEvaluator):  # items without replies are left out
                items, texts = all_texts(self.source.damage(collection, maker))
                collection = asking.ratings(evaluator, items, texts, collection, plan)
            elif asking.dry_run:
                n_texts = counted(len(collection) * (1 + len(plan.perturbations)), "text")
                print_line(f"{shown(evaluator.name)}: {n_texts} at most to be scored; no server is asked")
        if asking.dry_run:
            return
        how: Any = {"zeros": self.zeros, "min_items": self.min_items, "margin": self.margin, **damaging}
        tests = []
        for evaluator in opened:
            with counting("texts", quiet=asking.quiet) as count:
                tests.append(find(evaluator, collection, plan, weights, maker=maker, on_progress=count, **how))
        self._show(tests, figures)

    def _check(self, opened: Sequence[Evaluator | TableScores], weights: Weights | None) -> None:
        """Raises DiscernmentError for errors that would occur after a model was asked; notes slow metrics."""
        from ..lab.evaluators.ngram_evaluator import MetricsEvaluator
        from ..lab.evaluators.table_evaluator import TableScores

        plan, collection = self.source.opened_plan, self.source.collection
        n_texts = len(collection) * (1 + len(plan.perturbations))
        for evaluator in opened:
            if weights is not None and not isinstance(evaluator, TableScores):  # a table has its own kinds
                weights.check_kinds(collection.tasks, plan.perturbations)
            if isinstance(evaluator, MetricsEvaluator):
                seconds = evaluator.expected_seconds(collection.items, n_texts)
                if seconds > _LONG_SECONDS and not self.asking.quiet:
                    note(f"{evaluator.name} takes about {duration(seconds)} for {counted(n_texts, 'text')}")
        if weights is not None:
            metrics = [
                (evaluator.name, [metric.name for metric in evaluator.metrics if metric.combined])
                for evaluator in opened
            ]
            weights.check_evaluators(collection.tasks, metrics)

    def _show(self, tests: Sequence[Discernment], published: Sequence[Published]) -> None:
        """Writes the report, prints its first tables, and checks thresholds."""
        from ..lab.discernment.combined import agreement
        from ..report.discernment import finding_of
        from ..report.discernment.discernment_tables import results

        pairs = {(i, j): agreement(tests[i], tests[j], compared=tests) for j in range(len(tests)) for i in range(j)}
        finding = finding_of(tests, published, pairs)
        show_finding(finding, self.output, quiet=self.asking.quiet)
        if not self.asking.quiet:
            print_line("")
            print_tables(table for table in finding.shown_tables if table.name in ("verdicts", "common"))
            self.source.print_suite()
            for result in tests:
                print_signature(result.signature)
        checks = [check for part in results(tests) for check in self.gate.check(_figures(part), part.title)]
        self.gate.finish(checks, "quiet" if self.asking.quiet else "text", "discern run")


def _figure_names(plan: Plan) -> list[str]:
    """The names of figures that a test by the plan may have."""
    damage = [perturbation for perturbation in plan.perturbations if not perturbation.is_control]
    scopes = [f"level:{perturbation.level}" for perturbation in damage] + [
        f"degree:{perturbation.degree}" for perturbation in damage if perturbation.degree
    ]
    names = [f"{scope}{end}" for scope in ("d", *dict.fromkeys(scopes)) for end in ("", "_low", "_high")]
    return [*names, "minimum"]


def _figures(result: Result) -> dict[str, float | None]:
    """The figures that --fail-under checks: the average of d, its minimum, and the averages by level and degree."""
    figures: dict[str, float | None] = {"d": None}
    for row in result.rows("summary", score="d"):
        if row["scope"] == "weighted":
            continue
        name = "d" if row["scope"] == "all" else str(row["scope"])
        figures |= {name: row["average"], f"{name}_low": row["average_low"], f"{name}_high": row["average_high"]}
        if name == "d":
            figures["minimum"] = row["minimum"]
    return figures
