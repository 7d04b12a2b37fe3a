"""Win rates of models in words, tables and pictures, in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...experiments.chart_data import MAX_ROWS, Matrix
from ...experiments.finding import Cell, Finding, Picture, Table
from ...files.untrusted_text import in_one_line
from .answer_grid import Estimate, ranges_of
from .win_rates import Ties, WinRate, Wins

_TIES: Mapping[Ties, str] = {
    "half": "A tie is half a win.",
    "skip": "Ties are left out.",
    "win": "A tie is a win.",
    "loss": "A tie is a loss.",
}
_COLUMNS = (
    *("tasks", "wins", "ties", "losses", "win rate", "low", "high"),
    *("at equal lengths", "at equal lengths, low", "at equal lengths, high", "longer by"),
)
_MOST_IN_MATRIX = 30


def win_finding(sources: Sequence[Wins], reference: str | None, signature: str, notes: Sequence[str] = ()) -> Finding:
    """The win rates by each source, against a reference or between all models."""
    rates = {wins.source: wins.between_all() if reference is None else wins.against(reference) for wins in sources}
    against = "all other models" if reference is None else in_one_line(reference, 60)
    rows = [(one.model, source, *_cells(one)) for source, listed in rates.items() for one in listed]
    tables = [Table("wins", f"Win rates against {against}, in percent", ("model", "source", *_COLUMNS), tuple(rows), 1)]
    if reference is None:
        pairs = [(one.model, wins.source, one.other, *_cells(one)) for wins in sources for one in wins.of_all_pairs()]
        columns = ("model", "source", "other", *_COLUMNS)
        tables.append(Table("pairs", "Win rates of all pairs, in percent", columns, tuple(pairs), 1))
    else:
        tables.append(_areas(sources, reference, rates))
    return Finding(
        "wins",
        _answer(rates, against),
        " ".join([_TIES[sources[0].ties], *map(_about_lengths, sources), f"Signature: {signature}"]),
        tuple(tables),
        tuple(_pictures(sources, reference, rates)),
        (*(note for wins in sources for note in wins.notes), *notes),
        question="How often is an answer of one model better than an answer of another model?",
    )


def _cells(one: WinRate) -> tuple[Cell, ...]:
    counts = (one.n_tasks, one.n_wins, one.n_ties, one.n_losses)
    return (*counts, *_percent(one.rate).cells, *_percent(one.at_equal_lengths).cells, one.difference)


def _percent(one: Estimate) -> Estimate:
    return Estimate(*(None if value is None else 100 * value for value in one.cells))


def _answer(rates: Mapping[str, Sequence[WinRate]], against: str) -> str:
    said = []
    for source, listed in rates.items():
        known = [one for one in listed if one.rate.value is not None]
        if known:
            first, last = (
                f"{in_one_line(one.model, 60)} wins {_percent(one.rate).value:.1f} %{_percent(one.rate).between(1)}"
                for one in (known[0], known[-1])
            )
            said.append(f"by {source}, {first}" + (f", and {last}" if len(known) > 1 else ""))
    return f"Against {against}: {'; '.join(said)}." if said else f"Against {against}, there are only ties."


def _about_lengths(wins: Wins) -> str:
    of = f"By {wins.source}"
    control = wins.control
    if control is None:
        return f"{of}, there are no rates at equal lengths: {wins.why_uncontrolled}."
    slope, low, high = control.slope
    effect = "has an effect" if low > 0 or high < 0 else "has no significant effect"
    return (
        f"{of}, the length {effect}: of two answers that are otherwise equal, the one that is longer by "
        f"{control.scale:,.0f} wins {100 * control.longer_wins:.1f} % (slope {slope:.2f}, {low:.2f} to {high:.2f})."
    )


def _areas(sources: Sequence[Wins], reference: str, rates: Mapping[str, Sequence[WinRate]]) -> Table:
    by_area = {wins.source: wins.in_areas(reference) for wins in sources}
    areas = tuple(dict.fromkeys(area for models in by_area.values() for of in models.values() for area in of))
    rows = tuple(
        (one.model, source, *(_cell(by_area[source][one.model].get(area)) for area in areas))
        for source, listed in rates.items()
        for one in listed
    )
    return Table("areas", "Win rates by area, in percent", ("model", "source", *areas), rows, 1)


def _cell(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _pictures(sources: Sequence[Wins], reference: str | None, rates: Mapping[str, Sequence[WinRate]]) -> list[Picture]:
    pictures = []
    for wins in sources:
        listed = [one for one in rates[wins.source] if one.rate.value is not None][:MAX_ROWS]
        ranges = ranges_of([(one.model, _percent(one.rate)) for one in listed], "win rate in percent")
        pictures.append(Picture(f"rates-{wins.source}", f"Win rates by {wins.source}", ranges))
        if reference is None and 2 < len(wins.models) <= _MOST_IN_MATRIX:
            pictures.append(Picture(f"pairs-{wins.source}", f"Win rates of pairs by {wins.source}", _matrix(wins)))
    return pictures


def _matrix(wins: Wins) -> Matrix:
    """The rate of each model (row) against each other model (column)."""
    places = {name: place for place, name in enumerate(wins.models)}
    values = np.full((len(places), len(places)), np.nan)
    for one in wins.of_all_pairs():
        if one.rate.value is not None and one.other is not None:
            row, column = places[one.model], places[one.other]
            values[row, column] = 100 * one.rate.value
            values[column, row] = 100 - values[row, column]
    return Matrix(wins.models, wins.models, values, "win rate in percent", 0.0, 100.0, 0)
