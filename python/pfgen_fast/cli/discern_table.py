"""The table of `pfgen-fast discern run` on a terminal: the lightest damage of each kind that each score notices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from ..files.untrusted_text import in_one_line

if TYPE_CHECKING:
    from ..checklists.scoring.text_tables import TextTable
    from ..report.discernment.rows import Result, Row

_TITLE = "The lightest damage that each score notices"
_CONTROLS = "changes that should not matter"
LEGEND = (
    "rewarded: scores rise; some: heavier damage is not noticed; blind: the mean changes by less than --margin; "
    "?: too few scores change to tell; punished: scores fall without reason"
)


def tables_of(results: Sequence[Result]) -> list[TextTable]:
    """The averages side by side, if anything is compared, and the lightest damage that each score notices."""
    from ..checklists.scoring.text_tables import TextTable
    from ..report.discernment.tables import common_tables

    compared = [each.readable() for each in common_tables(results)]
    read = [TextTable(each.title, each.columns, tuple(tuple(map(str, row)) for row in each.rows)) for each in compared]
    return [*read, table_of(results)]


def table_of(results: Sequence[Result]) -> TextTable:
    """A row for each kind; a column for each metric or, if there are several results, for each result."""
    from ..checklists.scoring.text_tables import TextTable
    from ..report.discernment.rows import having, is_control, name_of

    columns = {result.title: (result.rows("perturbations"), result.rows("cells")) for result in results}
    if len(results) == 1:
        of_metrics = {metric: results[0].rows("cells", metric=metric) for metric in results[0].metrics}
        columns = {metric: (cells, cells) for metric, cells in of_metrics.items()}
    rows = [row for _, cells in columns.values() for row in cells]
    kinds = {row["kind"]: is_control(row) for row in rows}
    names = {kind: in_one_line(name_of({"kind": kind}), 60) for kind in kinds}
    lines = []
    for kind in (kind for kind, is_harmless in kinds.items() if not is_harmless):
        said = [_lightest(having(of, kind=kind), having(cells, kind=kind)) for of, cells in columns.values()]
        lines.append((names[kind], *said))
    controls = [kind for kind, is_harmless in kinds.items() if is_harmless]
    lines += [(_CONTROLS, *("" for _ in columns))] if controls else []
    for kind in controls:
        lines.append((f"  {names[kind]}", *(_punished(having(of, kind=kind)) for of, _ in columns.values())))
    return TextTable(_TITLE, ("damage", *(in_one_line(name, 40) for name in columns)), tuple(lines))


def _lightest(rows: Sequence[Row], cells: Sequence[Row]) -> str:
    """The degree from which a kind is noticed, or why there is none; the degrees of the rows rise."""
    from ..report.discernment.rows import defined, is_at_ceiling, is_rewarded

    known, known_cells = defined(rows), defined(cells)
    if not known:
        return "–"
    noticed = list(takewhile(lambda row: bool(row["noticed"]), reversed(known)))
    if noticed:
        return "yes" if len(rows) == 1 else _degree(noticed[-1])
    if any(map(is_rewarded, cells)):
        return "rewarded"
    if any(row["noticed"] for row in known):
        return "some"
    if known_cells and all(cell["equivalent"] and not cell["noticed"] for cell in known_cells):
        return "blind"
    return "?" if any(cell["few"] and cell["n"] and is_at_ceiling(cell) for cell in cells) else "no"


def _degree(row: Row) -> str:
    return in_one_line(row["degree"], 20) if row["permille"] is None else f"{row['permille'] / 10:g} %"


def _punished(rows: Sequence[Row]) -> str:
    noticed = [row["noticed"] for row in rows if row["noticed"] is not None]
    return "–" if not noticed else "punished" if any(noticed) else "no"
