"""`pfgen-fast compare`: is one run really better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import TrialsError
from . import options
from .app import Json, print_json, shown, stdout
from .layout import columns, cut, rest, shortened
from .origin import given_suite, print_origin

if TYPE_CHECKING:
    from ..runs.trials import RunFolder


def compare(
    run_a: Annotated[str, typer.Argument(metavar="RUN_A", help="A run's folder or trials file.")],
    run_b: Annotated[str, typer.Argument(metavar="RUN_B", help="The run to compare with.")],
    suite: options.SuiteOption = None,
    questions: Annotated[int, typer.Option("--questions", min=0, help="Number of deciding questions to show.")] = 10,
    threads: options.Threads = None,
    as_json: Json = False,
) -> None:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value are those of the paired t-test over the questions that both runs have.

    Example

      pfgen-fast compare result/openai/gpt-4o/5e1e9f4 result/pfnet/plamo-100b/b181032
    """
    from ..runs import comparison as library
    from ..runs.checkout import suite_of_all
    from ..scoring.scorer import Scorer

    a, b = _one(run_a), _one(run_b)
    scorer = Scorer(suite_of_all([a.folder, b.folder], given_suite(suite)), threads=threads)
    found = library.compare(a, b, scorer)
    if as_json:
        about = {"suite": scorer.suite.name, "signature": scorer.signature}
        print_json({"a": str(a.folder), "b": str(b.folder), **about, **found.to_dict()})
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
        interval = "–" if row.low is None else f"{row.low:+.4f} to {row.high:+.4f}"
        figures = f"{row.a:9.4f}{row.b:9.4f}{row.difference:+10.4f}"
        stdout().print(f"{name:14}{figures}   {interval:22}{_p_text(row.p_value):>8}{row.n_questions:5}")
    if questions:
        stdout().print(f"\n{'decided by':14}{'A':>9}{'B':>9}{'A - B':>10}   question", style="bold")
    for question in found.questions[:questions]:
        figures = f"{question.a:9.4f}{question.b:9.4f}{question.difference:+10.4f}"
        stdout().print(cut(f"{shown(question.question_id):14}{figures}   {shown(question.question)}", columns()))
    stdout().print()
    print_origin(scorer.suite, scorer.signature)


def _p_text(p_value: float | None) -> str:
    if p_value is None:
        return "–"
    return f"{p_value:.4f}" if p_value >= 0.0001 else "<0.0001"


def _one(path: str) -> RunFolder:
    from ..runs.trials import find_runs

    runs = find_runs([path])
    if len(runs) != 1:
        raise TrialsError(f"{path}: holds {len(runs)} runs; expected one")
    return runs[0]
