"""`pfgen-fast compare`: is one run really better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import TrialsError
from . import options
from .app import Json, print_json, shown, stdout

if TYPE_CHECKING:
    from ..runs.trials import RunFolder


def compare(
    run_a: Annotated[str, typer.Argument(metavar="RUN_A", help="A run's folder or trials file.")],
    run_b: Annotated[str, typer.Argument(metavar="RUN_B", help="The run to compare with.")],
    suite: options.SuiteOption = None,
    questions: options.Questions = None,
    limit: options.Limit = None,
    unknown_questions: options.UnknownQuestions = options.UnknownQuestionsChoice.error,
    deciding: Annotated[int, typer.Option("--deciding", min=0, help="Number of deciding questions to show.")] = 10,
    resamples: Annotated[int, typer.Option("--resamples", min=100, help="Number of bootstrap resamples.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the bootstrap.")] = 0,
    threads: options.Threads = None,
    as_json: Json = False,
) -> None:
    """Tells whether run A is better than run B, by how much, and which questions decide it.

    The interval and the p-value come from a paired bootstrap over questions and trials.

    Example

      pfgen-fast compare result/openai/gpt-4o/5e1e9f4 result/pfnet/plamo-100b/b181032
    """
    from ..runs import comparison as library
    from ..runs.checkout import suite_of
    from ..scoring.scorer import Scorer
    from ..suite.suite import Suite

    a, b = _one(run_a), _one(run_b)
    of_runs = suite_of(a.folder, Suite.load(suite) if suite else None).only(options.names_of(questions), limit=limit)
    found = library.compare(
        a,
        b,
        Scorer(of_runs, threads=threads),
        n_resamples=resamples,
        seed=seed,
        unknown=unknown_questions.value,
    )
    if as_json:
        print_json({"a": str(a.folder), "b": str(b.folder), **found.to_dict()})
        return
    stdout().print(f"A: {shown(str(a.folder))}\nB: {shown(str(b.folder))}")
    stdout().print(f"{found.verdict}\n", style="bold")
    stdout().print(f"{'':14}{'A':>9}{'B':>9}{'A - B':>10}   {'95 % interval':22}{'p':>7}", style="bold")
    for row in found.metrics:
        name = "score" if row.metric == "average" else row.metric
        interval = f"{row.low:+.4f} to {row.high:+.4f}"
        stdout().print(f"{name:14}{row.a:9.4f}{row.b:9.4f}{row.difference:+10.4f}   {interval:22}{row.p_value:7.4f}")
    if deciding:
        stdout().print(f"\n{'decided by':14}{'A':>9}{'B':>9}{'A - B':>10}   question", style="bold")
    for question in found.questions[:deciding]:
        figures = f"{question.a:9.4f}{question.b:9.4f}{question.difference:+10.4f}"
        stdout().print(f"{shown(question.question_id):14}{figures}   {shown(question.question)}")


def _one(path: str) -> RunFolder:
    from ..runs.trials import find_runs

    runs = find_runs([path])
    if len(runs) != 1:
        raise TrialsError(f"{path}: holds {len(runs)} runs; expected one")
    return runs[0]
