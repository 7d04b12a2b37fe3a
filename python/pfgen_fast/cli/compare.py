"""`pfgen-fast compare`: is one run really better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typer import Argument, Option

from ..files.cells import markdown_row, signed
from ..files.untrusted_text import markdown_text
from . import options
from .app import Json, counted, fail, print_json, shown, stdout
from .layout import aligned, columns, cut, rest, shortened, width_of
from .suite_line import about_interval, given_suite, print_origin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runs.baseline import BaselineComparison, ComparedRun
    from ..runs.comparison import Comparison, Difference
    from ..runs.trials import RunFolder
    from ..scoring.scorer import Scorer

_HEAD = ("metric", "A", "B", "A - B", "95 % interval", "p", "n")
_PAIRED_HEAD = ("±95 %", "difference", "95 % interval", "p", "p (Holm)")
_SHORTEST_NAME = 24
"""Where a terminal has less room for the name of a run, the name has a line of its own."""
_ABOUT_DIFFERENCES = "95 % interval: of A - B, over questions"


class _Compare:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value are those of the paired t-test over the questions that both runs have.

    With --paired, any number of runs is compared with the first one. All comparisons use the same draws of questions,
    and p-values are corrected by Holm for the number of runs. A directory or glob stands for all runs in it.

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
    format: options.FormatWithMarkdown = "text"
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
    _print_aligned([("", *_HEAD[1:]), *map(_cells, found.metrics)], to_left=[0, 4])
    stdout().print(_ABOUT_DIFFERENCES, style="dim")
    deciding = [("decided by", "A", "B", "A - B", "question")]
    deciding += [
        (shown(one.question_id), f"{one.a:.4f}", f"{one.b:.4f}", signed(one.difference, 4), shown(one.question))
        for one in found.questions[:n_deciding]
    ]
    if n_deciding:
        stdout().print()
        _print_aligned(deciding, to_left=[0, 4])
    stdout().print()
    print_origin(scorer.suite, scorer.signature)


def _print_aligned(rows: Sequence[Sequence[str]], to_left: Sequence[int]) -> None:
    """Prints a table with a head; a line that is too long is cut at its end."""
    for number, line in enumerate(aligned(rows, to_left=to_left)):
        stdout().print(cut(line, columns()), style=None if number else "bold")


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
        rows = [(*_baseline_cells(run), _run_name(run, is_baseline=not at)) for at, run in enumerate(found.runs)]
        sentences = [found.verdict, f"{about_interval('questions')}.", found.method, found.left_out]
        _print_markdown((_named(found.metric), *_PAIRED_HEAD, "run"), rows, sentences, scorer)
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
    stdout().print()
    names = [_run_name(run, is_baseline=not at) for at, run in enumerate(found.runs)]
    figures = aligned([(_named(found.metric), *_PAIRED_HEAD), *map(_baseline_cells, found.runs)], to_left=[3])
    room = rest(width_of(figures[0]) + 2)
    is_narrow = room is not None and room < _SHORTEST_NAME
    stdout().print(figures[0] if is_narrow else f"{figures[0]}  run", style="bold")
    for line, name in zip(figures[1:], names, strict=True):
        if is_narrow:
            stdout().print(f"{shortened(name, columns())}\n{line}")
        else:
            stdout().print(f"{line.ljust(len(figures[0]))}  {shortened(name, room)}")
    stdout().print(f"\n{about_interval('questions')}\n{found.method}", style="dim")
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
