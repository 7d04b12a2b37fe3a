"""`pfgen-fast compare`: is one run or model really better than another?"""

from __future__ import annotations

import math
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.table import shortened
from ...base.untrusted_text import counted, markdown_text, unknown_name
from .. import options
from ..app import Json, columns, cut, fail, print_json, print_line, print_table, rest, shown
from ..gate_options import ComparisonGateOptions
from ..parser import Argument, Option, option_group, refuse_others
from ..suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...base.table import Table
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
    A directory or glob stands for all runs in it, except as the first.

    Tables of scores (a row for each model and item, or a column for each model) and samples of
    lm-evaluation-harness are compared alike; --models chooses and orders their models.

    With --fail-if-worse or --non-inferior, the first is checked against the others in each --metric (default: the
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
    runs: RunOptions
    tables: options.ItemScoreOptions
    gate: ComparisonGateOptions

    def __call__(self) -> None:
        from ...runs.result_tables import are_score_tables

        self._check_options()
        if are_score_tables(self.paths):
            self._compare_tables()
        else:
            self._compare_runs()

    @property
    def _form(self) -> str:
        return "json" if self.as_json else self.format

    def _check_options(self) -> None:
        if self.difference is not None and not 0 < self.difference < math.inf:
            fail("--difference: expected a finite number above 0")
        if self.gate.is_gate and self.all_pairs:
            fail("--all-pairs: gates check the first run against the others: leave it out")
        self.gate.prepare()

    def _compare_tables(self) -> None:
        from ...runs.comparison import compare_models

        refuse_others(self, "tables")
        table = self.tables.read(self.paths).only(metrics=self.metrics or None)
        comparison = compare_models(table, **self._settings)
        self._print(comparison, None, self.gate.check(table, self.metrics))

    def _compare_runs(self) -> None:
        from ...runs import run_comparison as library

        refuse_others(self, "runs")
        for metric in self.metrics or ():
            if metric not in _METRICS_OF_RUNS:
                fail(unknown_name("metric", metric, _METRICS_OF_RUNS))
        metrics = ["average" if metric == "score" else metric for metric in self.metrics or ()]
        runs = self._run_folders
        scorer = self._scorer_of(runs)
        scores = library.scores_of(runs, scorer, self.runs.unknown_questions)
        comparison = library.compare_scored(scores, scorer.suite, metrics=metrics or None, **self._settings)
        self._print(comparison, scorer, self.gate.check(scores.table, metrics, kind="runs"))

    @cached_property
    def _run_folders(self) -> list[RunFolder]:
        """The first run, and those to compare with it, each once, in their order on the command line."""
        from ...runs.trials import find_runs, one_run

        def place(run: RunFolder) -> tuple[Path, Path | None]:
            return run.folder.resolve(), run.trials_path and run.trials_path.resolve()

        first = one_run(self.paths[0])
        if len(self.paths) < 2:
            fail("1 run: expected at least one other run to compare it with")
        others = {place(run): run for path in reversed(self.paths[1:]) for run in reversed(find_runs([path]))}
        ordered = [*others.values()][::-1]
        return [first, *([run for run in ordered if place(run) != place(first)] or ordered)]

    @property
    def _settings(self) -> dict[str, Any]:
        names = ("all_pairs", "power", "difference", "deciding")
        return {name: getattr(self, name) for name in names}

    def _scorer_of(self, runs: Sequence[RunFolder]) -> Scorer:
        from ...runs.checkout import suite_of_all
        from ...scoring.scorer import Scorer

        whole = suite_of_all([run.folder for run in runs], given_suite(self.runs.suite))
        names = options.names_of(self.runs.questions)
        return Scorer(whole.only(names, limit=self.runs.limit), threads=self.runs.threads)

    def _print(self, comparison: Comparison, scorer: Scorer | None, checks: Sequence[Check]) -> None:
        """Prints a comparison, and ends the command with its checks."""
        if comparison.n_pairs > 1 and self.by_subject:
            fail(f"{counted(comparison.n_pairs, 'pair')}: --by-subject is for a comparison of two")
        if self.by_subject and not comparison.subjects:
            without = "questions have no category" if scorer else "items have no subject (--subject-column)"
            fail(f"--by-subject: the {without}")
        if self._form == "json":
            first, about = comparison.metrics[0], {}
            if comparison.n_pairs == 1:
                about = {"a": first.model_a, "b": first.model_b}
            if scorer is not None:
                about |= {"suite": scorer.suite.name, "signature": scorer.signature}
            print_json({**about, **comparison.to_dict(), **self.gate.record(checks)})
        elif self._form == "markdown":
            self._print_markdown(comparison, scorer)
        else:
            self._print_text(comparison, scorer)
        self.gate.finish(checks, self._form, "compare")

    def _print_markdown(self, comparison: Comparison, scorer: Scorer | None) -> None:
        names = ", ".join(f"{letter} is {shown(name)}" for letter, name in _names(comparison))
        sentences = [f"{names}." if names else "", comparison.verdict, comparison.method, comparison.left_out]
        blocks = [_markdown(comparison.table, [*sentences, *comparison.power_sentences])]
        if scorer is not None:
            blocks.append(f"`{scorer.signature}`")
        if self.by_subject:
            blocks.append(_markdown(comparison.subject_table, [comparison.about_subjects]))
        sys.stdout.write("\n\n".join(blocks) + "\n")

    def _print_text(self, comparison: Comparison, scorer: Scorer | None) -> None:
        for letter, name in _names(comparison):
            print_line(f"{letter}: {shortened(shown(name), rest(3))}")
        print_line((comparison.verdict, "bold"))
        if comparison.left_out:
            print_line(comparison.left_out)
        print_line()
        print_table(comparison.table)
        over = "items" if scorer is None else "questions"
        print_line((f"95 % interval: of A - B, over {over}; {comparison.method}", "dim"))
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
            print_origin(scorer.suite, scorer.signature)


def _names(comparison: Comparison) -> list[tuple[str, str]]:
    """The models that the letters A and B stand for."""
    first = comparison.metrics[0]
    names = [("A", first.model_a)] if comparison.has_one_a else []
    return [*names, ("B", first.model_b)] if comparison.n_pairs == 1 else names


def _markdown(table: Table, sentences: Sequence[str]) -> str:
    return "\n".join([table.to_markdown(), *(f"{markdown_text(text)}\n" for text in sentences if text)]).rstrip("\n")
