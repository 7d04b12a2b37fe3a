"""`pfgen-fast compare`: is one run really better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typer import Argument, Option

from ..errors import TrialsError
from ..files.cells import signed
from . import options
from .app import Json, counted, fail, print_json, shown, stdout
from .command_class import command
from .compare_paired import interval_text, named, p_text, print_markdown, print_paired
from .layout import columns, cut, rest, shortened
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runs.comparison import Comparison, Difference
    from ..runs.trials import RunFolder
    from ..scoring.scorer import Scorer

Metric = Literal["score", "fluency", "truthfulness", "helpfulness", "length"]
Format = Literal["text", "markdown", "json"]
_HEAD = ("metric", "A", "B", "A - B", "95 % interval", "p", "n")


class _Compare:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value are those of the paired t-test over the questions that both runs have.

    With --paired, any number of runs is compared with the first one: the same draws of questions serve all runs, and
    p-values are corrected by Holm for the number of runs. A folder or glob stands for all runs in it.

    Examples

      pfgen-fast compare result/openai/gpt-4o/5e1e9f4 result/pfnet/plamo-100b/b181032

      pfgen-fast compare result/baseline result/first result/second --paired -f markdown
    """

    runs: list[str] = Argument(metavar="RUN RUN...", help="Runs' folders or trials files; the first is A, or BASELINE.")
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    deciding: int | None = Option(None, min=0, help="Show this many deciding questions. Default: 10.")
    paired_bs: bool = Option(
        False,
        "--paired",
        "--paired-bs",
        help="Compare all other runs with the first by the paired bootstrap over questions.",
    )
    paired_ar: bool = Option(False, help="Compare runs with the first by approximate randomization.")
    paired_n: int | None = Option(
        None,
        min=1,
        max=1_000_000,
        help="Set the draws of a paired test. Default: 10000, or 200 for each run above 50 runs.",
    )
    seed: int | None = Option(None, min=0, max=2**32 - 1, help="Set the seed of a paired test. Default: 0.")
    metric: Literal["score", "fluency", "truthfulness", "helpfulness", "length"] | None = Option(
        None, help="Choose the metric of a paired test. Default: score."
    )
    threads: options.Threads = None
    format: Literal["text", "markdown", "json"] = Option(
        "text", "-f", help="Choose the output format; json is the same as --json."
    )
    as_json: Json = False

    @property
    def form(self) -> str:
        return "json" if self.as_json else self.format

    def __call__(self) -> None:
        if self.paired_bs and self.paired_ar:
            fail("--paired-bs and --paired-ar are two tests: give one of them")
        is_paired = self.paired_bs or self.paired_ar
        for option, value in (("--metric", self.metric), ("--paired-n", self.paired_n), ("--seed", self.seed)):
            if value is not None and not is_paired:
                fail(f"{option} is for --paired: without it, two runs are compared in all metrics by a t-test")
        if is_paired and self.deciding is not None:
            fail("--deciding is for two runs without --paired")
        if is_paired:
            self.compare_with_baseline(_one(self.runs[0]), _all(self.runs[1:]))
        elif len(self.runs) == 2:
            self.compare_two(*map(_one, self.runs))
        else:
            n_runs = counted(len(self.runs), "run")
            fail(f"{n_runs}: expected two, or --paired, which compares all others with the first")

    def scorer_of(self, runs: Sequence[RunFolder]) -> Scorer:
        from ..runs.checkout import suite_of_all
        from ..scoring.scorer import Scorer

        whole = suite_of_all([run.folder for run in runs], given_suite(self.suite))
        return Scorer(whole.only(options.names_of(self.questions), limit=self.limit), threads=self.threads)

    def compare_with_baseline(self, baseline: RunFolder, others: Sequence[RunFolder]) -> None:
        from ..runs.baseline import compare_with_baseline

        others = [run for run in others if _place(run) != _place(baseline)] or others
        scorer = self.scorer_of([baseline, *others])
        found = compare_with_baseline(
            baseline,
            others,
            scorer,
            metric="average" if self.metric in (None, "score") else self.metric,
            test="bootstrap" if self.paired_bs else "randomization",
            n_draws=self.paired_n,
            seed=self.seed or 0,
            unknown=self.unknown_questions,
        )
        print_paired(found, scorer, format=self.form)

    def compare_two(self, a: RunFolder, b: RunFolder) -> None:
        from ..runs import comparison as library

        scorer = self.scorer_of([a, b])
        found = library.compare(a, b, scorer, unknown=self.unknown_questions)
        if self.form == "json":
            about = {"suite": scorer.suite.name, "signature": scorer.signature}
            print_json({"a": str(a.folder), "b": str(b.folder), **about, **found.to_dict()})
        elif self.form == "markdown":
            names = [f"A is {shown(str(a.folder))}, B is {shown(str(b.folder))}.", found.verdict, found.left_out]
            print_markdown(_HEAD, list(map(_cells, found.metrics)), names, scorer)
        else:
            for name, run in (("A", a), ("B", b)):
                stdout().print(f"{name}: {shortened(shown(str(run.folder)), rest(3))}")
            _print_text(found, scorer, 10 if self.deciding is None else self.deciding)


def _cells(row: Difference) -> tuple[str, ...]:
    figures = f"{row.a:.4f}", f"{row.b:.4f}", signed(row.difference, 4)
    return (named(row.metric), *figures, interval_text(row.low, row.high), p_text(row.p_value), str(row.n_questions))


def _print_text(found: Comparison, scorer: Scorer, n_deciding: int) -> None:
    stdout().print(found.verdict, style="bold")
    if found.left_out:
        stdout().print(found.left_out)
    stdout().print()
    for cells in [("", *_HEAD[1:]), *map(_cells, found.metrics)]:
        name, a, b, difference, interval, p, n = cells
        line = f"{name:14}{a:>9}{b:>9}{difference:>10}   {interval:22}{p:>8}{n:>5}"
        stdout().print(line, style=None if name else "bold")
    if n_deciding:
        stdout().print(f"\n{'decided by':14}{'A':>9}{'B':>9}{'A - B':>10}   question", style="bold")
    for question in found.questions[:n_deciding]:
        figures = f"{question.a:9.4f}{question.b:9.4f}{signed(question.difference, 4):>10}"
        stdout().print(cut(f"{shown(question.question_id):14}{figures}   {shown(question.question)}", columns()))
    stdout().print()
    print_origin(scorer.suite, scorer.signature)


def _all(paths: list[str]) -> list[RunFolder]:
    """The runs that are compared with a baseline, each once, in the order in which they were given."""
    from ..runs.trials import find_runs

    if not paths:
        fail("one run: --paired needs a baseline and at least one other run")
    found: dict[tuple[Path, Path | None], RunFolder] = {}
    for run in (run for path in paths for run in find_runs([path])):
        found.setdefault(_place(run), run)
    return list(found.values())


def _place(run: RunFolder) -> tuple[Path, Path | None]:
    """Where a run is, however its path is spelt."""
    return run.folder.resolve(), run.trials_path and run.trials_path.resolve()


def _one(path: str) -> RunFolder:
    from ..runs.trials import find_runs

    runs = find_runs([path])
    if len(runs) != 1:
        raise TrialsError(f"{path}: holds {len(runs)} runs; expected one")
    return runs[0]


compare = command(_Compare)
