"""The agreement of evaluators that were tested on the same items, as a table and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...experiments.finding import Cell, Remarks, Table
from ...files.untrusted_text import in_one_line
from ...statistics.evaluator_agreement import Agreement

Agreements = Mapping[tuple[int, int], Mapping[str, Agreement]]
"""By the numbers of two tests, in the order of the report, their agreement by task (`discernment.agreement`)."""

_COLUMNS = ("first", "second", "task", "difference", "low", "high", "kendall", "n_perturbations")


def agreement_tables(agreements: Agreements, names: Sequence[str]) -> list[Table]:
    """A row for each pair and task; empty if there are no pairs."""
    rows: list[tuple[Cell, ...]] = [
        (names[first], names[second], task, *(one.difference, one.low, one.high, one.tau, one.n_perturbations))
        for (first, second), of_tasks in agreements.items()
        for task, one in of_tasks.items()
    ]
    title = "Agreement: differences of the average d, and Kendall's correlation of d"
    return [Table("agreement", title, _COLUMNS, tuple(rows), 3)] if rows else []


def agreement_remarks(agreements: Agreements, names: Sequence[str]) -> list[Remarks]:
    """A sentence for each pair and task; empty if there are no pairs."""
    is_several = len({task for of_tasks in agreements.values() for task in of_tasks}) > 1
    said = [
        (f"{in_one_line(task)}: " if is_several else "") + _sentence(names[first], names[second], one)
        for (first, second), of_tasks in agreements.items()
        for task, one in of_tasks.items()
    ]
    return [Remarks("How far the evaluators agree", tuple(said))] if said else []


def _sentence(first: str, second: str, one: Agreement) -> str:
    more, less = (first, second) if one.difference >= 0 else (second, first)
    ends = sorted((abs(one.low), abs(one.high))) if one.low is not None and one.high is not None else None
    is_clear = one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)
    interval = ""
    if ends is not None:
        interval = f" (95 % interval {ends[0]:.2f} to {ends[1]:.2f})" if is_clear else " (its 95 % interval contains 0)"
    tau = "" if one.tau is None else f"; Kendall's correlation of their d is {one.tau:.2f}"
    return f"The average d of {more} is {abs(one.difference):.2f} higher than that of {less}{interval}{tau}."
