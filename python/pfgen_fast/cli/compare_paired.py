"""Prints the comparison of runs with a baseline, as text, Markdown or JSON; and Markdown of any comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..files.cells import markdown_row, signed
from ..files.untrusted_text import markdown_text
from .app import print_json, shown, stdout
from .layout import rest, shortened
from .suite_line import print_origin

if TYPE_CHECKING:
    from ..runs.baseline import BaselineComparison, ComparedRun
    from ..scoring.scorer import Scorer

_BEFORE = f"{'±95 %':>9}{'difference':>12}   {'95 % interval':22}{'p':>8}{'p (Holm)':>10}  "


def print_paired(found: BaselineComparison, scorer: Scorer, *, format: str) -> None:
    """Prints a comparison of runs with a baseline."""
    if format == "json":
        print_json({"suite": scorer.suite.name, "signature": scorer.signature, **found.to_dict()})
    elif format == "markdown":
        head = (named(found.metric), "±95 %", "difference", "95 % interval", "p", "p (Holm)", "run")
        rows = [(*_cells(run), _run_name(run, is_baseline=not at)) for at, run in enumerate(found.runs)]
        print_markdown(head, rows, [found.verdict, found.method, found.left_out], scorer)
    else:
        _print_text(found, scorer)


def print_markdown(
    head: Sequence[str], rows: Sequence[Sequence[str]], sentences: Sequence[str], scorer: Scorer
) -> None:
    """Prints a table, the sentences that belong to it, and its signature."""
    lines = [markdown_row(head), markdown_row(["---"] * len(head))]
    lines += [markdown_row(map(markdown_text, row)) for row in rows]
    texts = [f"{markdown_text(sentence)}\n" for sentence in sentences if sentence]
    stdout().out("\n".join(["".join(lines), *texts, f"`{scorer.signature}`"]), highlight=False)


def _print_text(found: BaselineComparison, scorer: Scorer) -> None:
    stdout().print(found.verdict, style="bold")
    if found.left_out:
        stdout().print(found.left_out)
    stdout().print(f"\n{named(found.metric):>8}{_BEFORE}run", style="bold")
    room = rest(8 + len(_BEFORE))
    for at, run in enumerate(found.runs):
        value, half, difference, interval, p, p_corrected = _cells(run)
        figures = f"{value:>8}{half:>9}{difference:>12}   {interval:22}{p:>8}{p_corrected:>10}"
        stdout().print(f"{figures}  {shortened(_run_name(run, is_baseline=not at), room)}")
    stdout().print(f"\n{found.method}", style="dim")
    print_origin(scorer.suite, scorer.signature)


def _cells(run: ComparedRun) -> tuple[str, ...]:
    value, half_width = f"{run.value:.4f}", "–" if run.half_width is None else f"±{run.half_width:.4f}"
    if run.difference is None:
        return (value, half_width, "", "", "", "")
    interval = interval_text(run.low, run.high)
    return (value, half_width, signed(run.difference, 4), interval, p_text(run.p_value), p_text(run.p_corrected))


def _run_name(run: ComparedRun, *, is_baseline: bool) -> str:
    return f"baseline: {shown(run.run)}" if is_baseline else shown(run.run)


def named(metric: str) -> str:
    """The name of a metric in tables."""
    return "score" if metric == "average" else metric


def interval_text(low: float | None, high: float | None) -> str:
    """An interval of differences."""
    return "–" if low is None or high is None else f"{signed(low, 4)} to {signed(high, 4)}"


def p_text(p_value: float | None) -> str:
    """A p-value with four digits."""
    if p_value is None:
        return "–"
    return f"{p_value:.4f}" if p_value >= 0.0001 else "<0.0001"
