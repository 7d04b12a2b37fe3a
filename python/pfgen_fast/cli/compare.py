"""`pfgen-fast compare`: is one run really better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typer import Argument, Option

from ..files.cells import markdown_row, signed
from ..files.untrusted_text import markdown_text
from . import options
from .app import Json, counted, fail, print_json, shown, stdout
from .command_class import command
from .layout import columns, cut, rest, shortened
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runs.baseline import BaselineComparison, ComparedRun
    from ..runs.comparison import Comparison, Difference
    from ..runs.trials import RunFolder
    from ..scoring.scorer import Scorer

_BEFORE = f"{'±95 %':>9}{'difference':>12}   {'95 % interval':22}{'p':>8}{'p (Holm)':>10}  "
_HEAD = ("metric", "A", "B", "A - B", "95 % interval", "p", "n")


class _Compare:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value are those of the paired t-test over the questions that both runs have.

    With --paired, any number of runs is compared with the first one: the same draws of questions serve all runs, and
    p-values are corrected by Holm for the number of runs. A directory or glob stands for all runs in it.

    Examples

      pfgen-fast compare result/openai/gpt-4o/5e1e9f4 result/pfnet/plamo-100b/b181032

      pfgen-fast compare result/baseline result/first result/second --paired -f markdown
    """

    runs: list[str] = Argument(
        metavar="RUN RUN...", help="Directories of runs, or trials files; the first is A, or the baseline."
    )
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    deciding: int | None = Option(
        None, min=0, help="Show this many of the questions that decide the comparison. Default: 10."
    )
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
        from ..runs.trials import one_run

        if self.paired_bs and self.paired_ar:
            fail("--paired-bs and --paired-ar: expected one of them")
        is_paired = self.paired_bs or self.paired_ar
        for option, value in (("--metric", self.metric), ("--paired-n", self.paired_n), ("--seed", self.seed)):
            if value is not None and not is_paired:
                fail(f"{option} is for --paired: without it, two runs are compared in all metrics by a t-test")
        if is_paired and self.deciding is not None:
            fail("--deciding is for two runs without --paired")
        if is_paired:
            self.compare_with_baseline(one_run(self.runs[0]), _all(self.runs[1:]))
        elif len(self.runs) == 2:
            self.compare_two(*map(one_run, self.runs))
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
        _print_paired(found, scorer, format=self.form)

    def compare_two(self, a: RunFolder, b: RunFolder) -> None:
        from ..runs import comparison as library

        scorer = self.scorer_of([a, b])
        found = library.compare(a, b, scorer, unknown=self.unknown_questions)
        if self.form == "json":
            about = {"suite": scorer.suite.name, "signature": scorer.signature}
            print_json({"a": str(a.folder), "b": str(b.folder), **about, **found.to_dict()})
        elif self.form == "markdown":
            names = [f"A is {shown(a.folder)}, B is {shown(b.folder)}.", found.verdict, found.left_out]
            _print_markdown(_HEAD, list(map(_cells, found.metrics)), names, scorer)
        else:
            for name, run in (("A", a), ("B", b)):
                stdout().print(f"{name}: {shortened(shown(run.folder), rest(3))}")
            _print_text(found, scorer, 10 if self.deciding is None else self.deciding)


def _cells(row: Difference) -> tuple[str, ...]:
    figures = f"{row.a:.4f}", f"{row.b:.4f}", signed(row.difference, 4)
    return (_named(row.metric), *figures, _interval(row.low, row.high), _p(row.p_value), str(row.n_questions))


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
    """The runs to compare with a baseline, each once, in their order on the command line."""
    from ..runs.trials import find_runs

    if not paths:
        fail("one run: --paired needs a baseline and at least one other run")
    found: dict[tuple[Path, Path | None], RunFolder] = {}
    for run in (run for path in paths for run in find_runs([path])):
        found.setdefault(_place(run), run)
    return list(found.values())


def _place(run: RunFolder) -> tuple[Path, Path | None]:
    """The resolved paths of a run."""
    return run.folder.resolve(), run.trials_path and run.trials_path.resolve()


def _print_paired(found: BaselineComparison, scorer: Scorer, *, format: str) -> None:
    if format == "json":
        print_json({"suite": scorer.suite.name, "signature": scorer.signature, **found.to_dict()})
    elif format == "markdown":
        head = (_named(found.metric), "±95 %", "difference", "95 % interval", "p", "p (Holm)", "run")
        rows = [(*_baseline_cells(run), _run_name(run, is_baseline=not at)) for at, run in enumerate(found.runs)]
        _print_markdown(head, rows, [found.verdict, found.method, found.left_out], scorer)
    else:
        _print_table(found, scorer)


def _print_markdown(
    head: Sequence[str], rows: Sequence[Sequence[str]], sentences: Sequence[str], scorer: Scorer
) -> None:
    """Prints a table, sentences and the signature."""
    lines = [markdown_row(head), markdown_row(["---"] * len(head))]
    lines += [markdown_row(map(markdown_text, row)) for row in rows]
    texts = [f"{markdown_text(sentence)}\n" for sentence in sentences if sentence]
    stdout().out("\n".join(["".join(lines), *texts, f"`{scorer.signature}`"]), highlight=False)


def _print_table(found: BaselineComparison, scorer: Scorer) -> None:
    stdout().print(found.verdict, style="bold")
    if found.left_out:
        stdout().print(found.left_out)
    stdout().print(f"\n{_named(found.metric):>8}{_BEFORE}run", style="bold")
    room = rest(8 + len(_BEFORE))
    for at, run in enumerate(found.runs):
        value, half, difference, interval, p, p_corrected = _baseline_cells(run)
        figures = f"{value:>8}{half:>9}{difference:>12}   {interval:22}{p:>8}{p_corrected:>10}"
        stdout().print(f"{figures}  {shortened(_run_name(run, is_baseline=not at), room)}")
    stdout().print(f"\n{found.method}", style="dim")
    print_origin(scorer.suite, scorer.signature)


def _baseline_cells(run: ComparedRun) -> tuple[str, ...]:
    value, half_width = f"{run.value:.4f}", "–" if run.half_width is None else f"±{run.half_width:.4f}"
    if run.difference is None:
        return (value, half_width, "", "", "", "")
    interval = _interval(run.low, run.high)
    return (value, half_width, signed(run.difference, 4), interval, _p(run.p_value), _p(run.p_corrected))


def _run_name(run: ComparedRun, *, is_baseline: bool) -> str:
    return f"baseline: {shown(run.run)}" if is_baseline else shown(run.run)


def _named(metric: str) -> str:
    return "score" if metric == "average" else metric


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{signed(low, 4)} to {signed(high, 4)}"


def _p(p_value: float | None) -> str:
    if p_value is None:
        return "–"
    return f"{p_value:.4f}" if p_value >= 0.0001 else "<0.0001"


compare = command(_Compare)
