"""`pfgen-fast compare`: is one run or model really better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.untrusted_text import unknown_name
from . import options
from .app import Json, counted, fail
from .comparison_printing import Shown, print_comparison
from .gate_options import ComparisonGateOptions, form_of, number_that
from .parser import Argument, Option
from .score_table_options import OF_TABLES, ScoreTableOptions, refuse
from .suite_line import given_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runs.gates import Check
    from ..runs.items.item_comparison import Comparison
    from ..runs.trials import RunFolder
    from ..scoring.scorer import Scorer

_METRICS_OF_RUNS = ("score", "fluency", "truthfulness", "helpfulness", "length")


def _positive(text: str) -> float:
    return number_that(text, "a difference above 0", lambda value: value > 0)


class Compare:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value are those of the paired t-test over the questions that both runs have. With more than
    two runs, the first is compared with the others, or all pairs with --all-pairs, and p-values are corrected by Holm.
    A directory or glob stands for all runs in it, except as the first.

    Tables of scores (a row for each model and item, or a column for each model) and logs of evaluation programs are
    compared alike; --models chooses and orders their models.

    With --fail-if-worse or --non-inferior, the first is checked against the others in each --metric (default: the
    score), and the exit code is 1 if a check fails (docs/guides/gates.md).

    Examples

      pfgen-fast compare result/openai/gpt-4o/5e1e9f4 result/pfnet/plamo-100b/b181032

      pfgen-fast compare result/baseline result/first result/second --paired-ar -f markdown

      pfgen-fast compare scores.csv --models new,old --difference 0.01

      pfgen-fast compare result/new result/old --fail-if-worse --margin 0.01 --junit gate.xml
    """

    runs: list[str] = Argument(
        metavar="PATH...", help="Runs: directories or trials files, the first is A; or tables of scores and logs."
    )
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    tables: ScoreTableOptions
    metrics: list[str] | None = Option(
        None, "--metric", help="Compare this metric; may be repeated. Default: all; with --paired-ar, the first."
    )
    all_pairs: bool = Option(False, help="Compare all pairs, instead of the first with the others.")
    by_subject: bool = Option(False, help="Show the differences by subject (category of the questions).")
    power: bool = Option(
        False, help="Tell how many questions find the difference seen with power 0.8; see --difference."
    )
    difference: float | None = Option(
        None, parser=_positive, metavar="NUMBER", help="Tell the same for this difference; implies --power."
    )
    deciding: int | None = Option(
        None, min=0, help="Show this many of the questions that decide each comparison. Default: 10; 0 for several."
    )
    paired_ar: bool = Option(
        False, help="Compare all other runs with the first by approximate randomization over questions."
    )
    gate: ComparisonGateOptions
    threads: options.Threads = None
    format: options.FormatWithMarkdown = "text"
    as_json: Json = False

    def __call__(self) -> None:
        from ..runs.result_tables import are_score_tables

        self.check_options()
        if are_score_tables(self.runs):
            self.compare_tables()
        else:
            self.compare_runs()

    @property
    def form(self) -> str:
        return "json" if self.as_json else self.format

    def check_options(self) -> None:
        for option, is_given in (
            ("--deciding", self.deciding is not None),
            ("--power", self.power or self.difference is not None),
            ("--by-subject", self.by_subject),
            ("--all-pairs", self.all_pairs),
            ("--fail-if-worse", self.gate.fail_if_worse),
            ("--non-inferior", self.gate.non_inferior is not None),
        ):
            if is_given and self.paired_ar:
                fail(f"{option} is for comparisons without --paired-ar")
        if self.paired_ar and len(self.metrics or ()) > 1:
            fail("--paired-ar compares one metric: expected --metric once")
        if self.gate.is_gate and self.all_pairs:
            fail("--all-pairs: gates check the first run against the others: leave it out")
        self.gate.prepare()

    def compare_tables(self) -> None:
        from ..runs.items.baseline import compare_by_swapping
        from ..runs.items.item_comparison import compare_models

        refuse(self, ("suite", "questions", "limit", "unknown_questions", "threads"), "runs")
        table = self.tables.read(self.runs)
        shown_as = Shown(self.form, None)
        table = table.only(metrics=self.metrics or None)
        comparison = (compare_by_swapping if self.paired_ar else compare_models)(table, **self.settings)
        self.print_comparison(comparison, shown_as, self.gate.check(table, self.metrics))

    def compare_runs(self) -> None:
        from ..runs import run_comparison as library
        from ..runs.trials import one_run

        refuse(self, OF_TABLES, "tables")
        for metric in self.metrics or ():
            if metric not in _METRICS_OF_RUNS:
                fail(unknown_name("metric", metric, _METRICS_OF_RUNS))
        metrics = ["average" if metric == "score" else metric for metric in self.metrics or ()]
        first = one_run(self.runs[0])
        if len(self.runs) < 2:
            fail("1 run: expected at least one other run to compare it with")
        others = _all(self.runs[1:])
        others = [run for run in others if _place(run) != _place(first)] or others
        scorer = self.scorer_of([first, *others])
        shown_as = Shown(self.form, scorer)
        table, means = library.scores_of([first, *others], scorer, self.unknown_questions)
        comparison = library.compare_scored(
            table, means, scorer, metrics=metrics or None, swapping=self.paired_ar, **self.settings
        )
        checks = self.gate.check(table, metrics, of="runs")
        self.print_comparison(comparison, shown_as, checks)

    def print_comparison(self, comparison: Comparison, shown_as: Shown, checks: Sequence[Check]) -> None:
        if comparison.n_pairs > 1 and self.by_subject:
            fail(f"{counted(comparison.n_pairs, 'pair')}: --by-subject is for a comparison of two")
        if self.by_subject and not comparison.subjects:
            without = "items have no subject (--subject-column)"
            fail(f"--by-subject: the {'questions have no category' if comparison.of == 'runs' else without}")
        n_deciding = 10 * (not self.paired_ar) if self.deciding is None else self.deciding
        more = self.gate.record(checks)
        print_comparison(comparison, shown_as, n_deciding=n_deciding, by_subject=self.by_subject, more=more)
        self.gate.finish(checks, form_of(as_json=self.form == "json", as_markdown=self.form == "markdown"), "compare")

    @property
    def settings(self) -> dict[str, Any]:
        if self.paired_ar:
            return {}
        return {
            "all_pairs": self.all_pairs,
            "power": self.power,
            "difference": self.difference,
            "deciding": self.deciding,
        }

    def scorer_of(self, runs: Sequence[RunFolder]) -> Scorer:
        from ..runs.checkout import suite_of_all
        from ..scoring.scorer import Scorer

        whole = suite_of_all([run.folder for run in runs], given_suite(self.suite))
        return Scorer(whole.only(options.names_of(self.questions), limit=self.limit), threads=self.threads)


def _all(paths: list[str]) -> list[RunFolder]:
    """The runs to compare with the first, each once, in their order on the command line."""
    from ..runs.trials import find_runs

    runs: dict[tuple[Path, Path | None], RunFolder] = {}
    for run in (run for path in paths for run in find_runs([path])):
        runs.setdefault(_place(run), run)
    return list(runs.values())


def _place(run: RunFolder) -> tuple[Path, Path | None]:
    """The resolved paths of a run."""
    return run.folder.resolve(), run.trials_path and run.trials_path.resolve()
