"""`pfgen-fast compare`: is one run really better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..errors import TrialsError
from ..files.cells import signed
from . import options
from .app import Json, counted, fail, print_json, shown, stdout
from .layout import columns, cut, rest, shortened
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runs.trials import RunFolder
    from ..scoring.scorer import Scorer


ComparisonFormat = Literal["text", "markdown", "json"]
MetricChoice = Literal["score", "fluency", "truthfulness", "helpfulness", "length"]


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN RUN...", help="Runs' folders or trials files; the first is A, or BASELINE."),
    ],
    suite: options.SuiteOption = None,
    questions: options.Questions = None,
    limit: options.Limit = None,
    unknown_questions: options.UnknownQuestions = "error",
    deciding: Annotated[
        int | None, typer.Option("--deciding", min=0, help="Show this many deciding questions. Default: 10.")
    ] = None,
    paired_bs: Annotated[
        bool,
        typer.Option(
            "--paired",
            "--paired-bs",
            help="Compare all other runs with the first by the paired bootstrap over questions.",
        ),
    ] = False,
    paired_ar: Annotated[
        bool, typer.Option("--paired-ar", help="Compare runs with the first by approximate randomization.")
    ] = False,
    paired_n: Annotated[
        int | None,
        typer.Option(
            "--paired-n",
            min=1,
            max=1_000_000,
            help="Set the draws of a paired test. Default: 10000, or 200 for each run above 50 runs.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, max=2**32 - 1, help="Set the seed of a paired test. Default: 0.")
    ] = None,
    metric: Annotated[
        MetricChoice | None, typer.Option("--metric", help="Choose the metric of a paired test. Default: score.")
    ] = None,
    threads: options.Threads = None,
    format: Annotated[
        ComparisonFormat, typer.Option("--format", "-f", help="Choose the output format; json is the same as --json.")
    ] = "text",
    as_json: Json = False,
) -> None:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value are those of the paired t-test over the questions that both runs have.

    With --paired, any number of runs is compared with the first one: the same draws of questions serve all runs, and
    p-values are corrected by Holm for the number of runs. A folder or glob stands for all runs in it.

    Examples

      pfgen-fast compare result/openai/gpt-4o/5e1e9f4 result/pfnet/plamo-100b/b181032

      pfgen-fast compare result/baseline result/first result/second --paired -f markdown
    """
    if as_json:
        format = "json"
    if paired_bs and paired_ar:
        fail("--paired-bs and --paired-ar are two tests: give one of them")
    is_paired = paired_bs or paired_ar
    for option, value in (("--metric", metric), ("--paired-n", paired_n), ("--seed", seed)):
        if value is not None and not is_paired:
            fail(f"{option} is for --paired: without it, two runs are compared in all metrics by a t-test")
    if is_paired and deciding is not None:
        fail("--deciding is for two runs without --paired")
    if is_paired:
        from .compare_paired import Draws, print_paired

        draws = Draws("bootstrap" if paired_bs else "randomization", paired_n, seed or 0)
        baseline, others = _one(runs[0]), _all(runs[1:])
        others = [run for run in others if _place(run) != _place(baseline)] or others
        scorer = _scorer_of([baseline, *others], suite, options.names_of(questions), limit, threads)
        of_metric = "average" if metric in (None, "score") else metric
        print_paired(baseline, others, scorer, of_metric, draws, format=format, unknown=unknown_questions)
        return
    if len(runs) != 2:
        fail(f"{counted(len(runs), 'run')}: expected two, or --paired, which compares all others with the first")
    a, b = _one(runs[0]), _one(runs[1])
    scorer = _scorer_of([a, b], suite, options.names_of(questions), limit, threads)
    _compare_two(a, b, scorer, 10 if deciding is None else deciding, format, unknown_questions)


def _scorer_of(
    runs: Sequence[RunFolder], suite: str | None, questions: tuple[str, ...], limit: int | None, threads: int | None
) -> Scorer:
    from ..runs.checkout import suite_of_all
    from ..scoring.scorer import Scorer

    whole = suite_of_all([run.folder for run in runs], given_suite(suite))
    return Scorer(whole.only(questions, limit=limit), threads=threads)


def _compare_two(
    a: RunFolder,
    b: RunFolder,
    scorer: Scorer,
    deciding: int,
    format: ComparisonFormat,
    unknown_questions: options.UnknownQuestionsChoice,
) -> None:
    from ..runs import comparison as library
    from .compare_paired import interval_text, p_text, print_markdown

    found = library.compare(a, b, scorer, unknown=unknown_questions)
    if format == "json":
        about = {"suite": scorer.suite.name, "signature": scorer.signature}
        print_json({"a": str(a.folder), "b": str(b.folder), **about, **found.to_dict()})
        return
    if format == "markdown":
        rows = [
            (
                "score" if row.metric == "average" else row.metric,
                f"{row.a:.4f}",
                f"{row.b:.4f}",
                signed(row.difference, 4),
                interval_text(row.low, row.high),
                p_text(row.p_value),
                str(row.n_questions),
            )
            for row in found.metrics
        ]
        names = [f"A is {shown(str(a.folder))}, B is {shown(str(b.folder))}.", found.verdict, found.left_out]
        print_markdown(("metric", "A", "B", "A - B", "95 % interval", "p", "n"), rows, names, scorer)
        return
    for name, run in (("A", a), ("B", b)):
        stdout().print(f"{name}: {shortened(shown(str(run.folder)), rest(3))}")
    stdout().print(found.verdict, style="bold")
    if found.left_out:
        stdout().print(found.left_out)
    stdout().print()
    stdout().print(f"{'':14}{'A':>9}{'B':>9}{'A - B':>10}   {'95 % interval':22}{'p':>8}{'n':>5}", style="bold")
    for row in found.metrics:
        name = "score" if row.metric == "average" else row.metric
        interval = interval_text(row.low, row.high)
        figures = f"{row.a:9.4f}{row.b:9.4f}{signed(row.difference, 4):>10}"
        stdout().print(f"{name:14}{figures}   {interval:22}{p_text(row.p_value):>8}{row.n_questions:5}")
    if deciding:
        stdout().print(f"\n{'decided by':14}{'A':>9}{'B':>9}{'A - B':>10}   question", style="bold")
    for question in found.questions[:deciding]:
        figures = f"{question.a:9.4f}{question.b:9.4f}{signed(question.difference, 4):>10}"
        stdout().print(cut(f"{shown(question.question_id):14}{figures}   {shown(question.question)}", columns()))
    stdout().print()
    print_origin(scorer.suite, scorer.signature)


def _all(paths: list[str]) -> list[RunFolder]:
    """The runs that are compared with a baseline, in the order in which they were given."""
    from ..runs.trials import find_runs

    if not paths:
        fail("one run: --paired needs a baseline and at least one other run")
    return list({_place(run): run for path in reversed(paths) for run in reversed(find_runs([path]))}.values())[::-1]


def _place(run: RunFolder) -> tuple[Path, Path | None]:
    """Where a run is, however its path is spelt."""
    return run.folder.resolve(), run.trials_path and run.trials_path.resolve()


def _one(path: str) -> RunFolder:
    from ..runs.trials import find_runs

    runs = find_runs([path])
    if len(runs) != 1:
        raise TrialsError(f"{path}: holds {len(runs)} runs; expected one")
    return runs[0]
