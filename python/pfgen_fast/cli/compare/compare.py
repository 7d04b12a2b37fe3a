"""`pfgen-fast compare`: is one run or model really better than another?"""

from __future__ import annotations

import math
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.text_width import shortened
from ...base.untrusted_text import markdown_text, unknown_name
from ...suite.rules import shown_metric
from .. import options
from ..app import Json, Verbose, columns, cut, fail, print_json, print_line, print_table, rest, shown
from ..gate_options import ComparisonGateOptions
from ..parser import Argument, Option, option_group, refuse_others
from ..suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runs.comparison import Comparison
    from ...runs.gates import Check
    from ...runs.trials import RunFolder
    from ...scoring.scorer import Scorer

_METRICS_OF_RUNS = ("score", "fluency", "truthfulness", "helpfulness", "length")


@option_group
class RunOptions:
    """The options of a comparison of runs, whose answers are scored again."""

    help_group = "Runs"
    for_input = "runs"
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    threads: options.Threads = None


class Compare:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value are those of the paired t-test over the questions that both runs have. With more than
    two runs, the first is compared with the others, or all pairs with --all-pairs, and p-values are corrected by Holm.
    A directory or glob stands for all runs in it, except as the first without --all-pairs. The difference is A - B; of
    checkpoints in the order of their steps it is B - A, except in JSON.

    Tables of scores (a row for each model and item, or a column for each model) and samples of
    lm-evaluation-harness are compared alike; --models chooses and orders their models.

    With --fail-if-worse, the first is checked against the others in each --metric (default: the
    score), and the exit code is 1 if a check fails (docs/guides/gates.md).

    Examples

      pfgen-fast compare result/openai/gpt-4o/5e1e9f4 result/pfnet/plamo-100b/b181032
      pfgen-fast compare result/baseline result/first result/second -f markdown
      pfgen-fast compare scores.csv --models new,old --difference 0.01
      pfgen-fast compare result/new result/old --fail-if-worse --margin 0.01 --junit gate.xml
    """

    paths: list[str] = Argument(
        ..., "Runs: directories or trials files, the first is A; or tables of scores.", metavar="PATH..."
    )
    metrics: list[str] | None = Option(None, "Compare this metric; may be repeated. Default: all.", "--metric")
    all_pairs: bool = Option(False, "Compare all pairs, instead of the first with the others.")
    by_subject: bool = Option(False, "Show the differences by subject (category of the questions).")
    power: bool = Option(False, "Tell how many questions find the difference seen with power 0.8; see --difference.")
    difference: float | None = Option(None, "Tell the same for this difference; implies --power.", metavar="NUMBER")
    deciding: int | None = Option(
        None, "Show this many of the questions that decide each comparison. Default: 10; 0 for several.", min=0
    )
    format: options.FormatWithMarkdown = "text"
    as_json: Json = False
    verbose: Verbose = False
    runs: RunOptions
    tables: options.ItemScoreOptions
    gate: ComparisonGateOptions

    def __call__(self) -> None:
        from ...runs.comparison import compare_models
        from ...runs.result_tables import are_score_tables
        from ...runs.run_comparison import compare_scored, scores_of

        if self.difference is not None and not 0 < self.difference < math.inf:
            fail("--difference: expected a finite number above 0")
        if self.gate.is_gate and self.all_pairs:
            fail("--all-pairs: gates check the first run against the others: leave it out")
        self.gate.prepare()
        settings = {name: getattr(self, name) for name in ("all_pairs", "power", "difference", "deciding")}
        if are_score_tables(self.paths):
            refuse_others(self, "tables")
            table = self.tables.read(self.paths, *self.metrics or ()).only(metrics=self.metrics or None)
            self._print(compare_models(table, **settings), None, self.gate.check(table, self.metrics))
            return
        refuse_others(self, "runs")
        for metric in self.metrics or ():
            if metric not in _METRICS_OF_RUNS:
                fail(unknown_name("metric", metric, _METRICS_OF_RUNS))
        metrics = ["average" if metric == "score" else metric for metric in self.metrics or ()]
        runs, scorer = self._runs_and_scorer()
        scores = scores_of(runs, scorer, self.runs.unknown_questions)
        comparison = compare_scored(scores, scorer.suite, metrics=metrics or None, **settings)
        self._print(comparison, scorer, self.gate.check(scores.table, metrics, kind="runs"))

    def _runs_and_scorer(self) -> tuple[list[RunFolder], Scorer]:
        """The first run and those to compare with it, in the order of the command line, and the scorer of all."""
        from ...runs.checkout import suite_of_all
        from ...runs.trials import find_runs, one_run
        from ...scoring.scorer import Scorer

        first, *more = find_runs(self.paths[:1]) if self.all_pairs else [one_run(self.paths[0])]
        others: dict[Path, RunFolder] = {}  # each once, also if its path is spelt in several ways
        for run in chain(more, *(find_runs([path]) for path in self.paths[1:])):
            others.setdefault((run.trials_path or run.folder).resolve(), run)
        if not others:
            fail("1 run: expected at least one other run to compare it with")
        same = (first.trials_path or first.folder).resolve()
        runs = [first, *([run for place, run in others.items() if place != same] or others.values())]
        suite = suite_of_all([run.folder for run in runs], given_suite(self.runs.suite))
        suite = suite.only(options.names_of(self.runs.questions), limit=self.runs.limit)
        return runs, Scorer(suite, threads=self.runs.threads)

    def _print(self, comparison: Comparison, scorer: Scorer | None, checks: Sequence[Check]) -> None:
        """Prints a comparison, and ends the command with its checks."""
        if self.by_subject and not comparison.subjects:
            fail(
                "--by-subject: expected a comparison of two, whose questions have a category, or whose items have a "
                "subject (--subject-column)"
            )
        form = "json" if self.as_json else self.format
        if form == "json":
            first, about = comparison.metrics[0], {}
            if comparison.n_pairs == 1:
                about = {"a": first.model_a, "b": first.model_b}
            if scorer is not None:
                about |= {"suite": scorer.suite.name, "signature": scorer.signature}
            print_json({**about, **comparison.to_dict(), **self.gate.record(checks)})
        elif form == "markdown":
            self._print_markdown(comparison, scorer)
        else:
            self._print_text(comparison, scorer)
        self.gate.finish(checks, form, "compare")

    def _print_markdown(self, comparison: Comparison, scorer: Scorer | None) -> None:
        blocks = [comparison.table.to_markdown().rstrip("\n"), *map(markdown_text, comparison.words())]
        if scorer is not None:
            blocks.append(f"`{scorer.signature}`")
        if self.by_subject:
            blocks += [comparison.subject_table.to_markdown().rstrip("\n"), markdown_text(comparison.about_subjects)]
        sys.stdout.write("\n\n".join(filter(None, blocks)) + "\n")

    def _print_text(self, comparison: Comparison, scorer: Scorer | None) -> None:
        for letter, name in comparison.names:
            print_line(f"{letter}: {shortened(shown(name), rest(3))}")
        print_line((comparison.verdict, "bold"))
        if comparison.left_out:
            print_line(comparison.left_out)
        print_line()
        rows = [row for row in comparison.metrics if row.metric == comparison.metrics[0].metric]
        several = comparison.n_pairs > 1
        text = print_table(comparison.shown, faint=[not row.differs for row in rows] if several else ())
        metric = shown_metric(rows[0].metric, {row.metric for row in comparison.metrics})
        in_metric = f" in {metric}" if several else ""
        marks = "; *: another metric that differs" if several and "*" in text else ""
        over = "items" if scorer is None else "questions"
        print_line((f"95 % interval: of {comparison.pair}{in_metric}, over {over}; {comparison.method}{marks}", "dim"))
        for sentence in comparison.power_sentences:
            print_line(f"power: {sentence}")
        if self.by_subject:
            print_line()
            print_table(comparison.subject_table)
            print_line((comparison.about_subjects, "dim"))
        n_deciding = 10 if self.deciding is None else self.deciding
        for table in comparison.deciding_tables(n_deciding) if n_deciding else ():
            print_line()
            if table.title:
                print_line(cut(table.title, columns()))
            print_table(table)
        if scorer is not None:
            print_line()
            print_origin(scorer.suite, scorer.signature if self.verbose else None)
