"""What an evaluator notices, does not notice, and penalises without a reason: a sentence for each.

Every kind that is not noticed is named with its d and interval, because a test cannot prove that there is no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...files.untrusted_text import counted, few_names, in_one_line
from .rows import (
    Result,
    Row,
    d_text,
    defined,
    having,
    interval_text,
    is_at_ceiling,
    is_rewarded,
    name_of,
    number_text,
    words_of,
)

BLIND, NOT_NOTICED = "blind", "not noticed"

_MANY = 3


def verdict_sentences(result: Result) -> list[str]:
    """Three sentences on a result, or one if no damage changes any score."""
    if never_moves(result):
        return [f"{result.title} never moves: no damage changes any of its scores."]
    return [_noticed(result), _not_noticed(result), _penalised(result)]


def never_moves(result: Result) -> bool:
    """Whether no damage changes any score."""
    known = defined(result.damage())
    return bool(known) and all(row["n"] == 0 for row in known)


def not_noticed(result: Result) -> dict[str, list[Row]]:
    """By kind, the cells of its highest degree for the metrics that do not notice it at any degree."""
    found: dict[str, list[Row]] = {}
    for row in _unnoticed(result):
        if not is_unclear(result, row):
            found.setdefault(row["kind"], []).extend(hardest(result, row["kind"], row["metric"]))
    return found


def _unnoticed(result: Result) -> list[Row]:
    """The rows of the profile whose damage is not noticed at any degree."""
    return [row for row in result.rows("profile") if row["verdict"] in (BLIND, NOT_NOTICED)]


def rewarded(result: Result) -> dict[str, list[Row]]:
    """By kind, the cell with the strongest reward for each metric that rewards it."""
    found: dict[str, dict[str, Row]] = {}
    for row in filter(is_rewarded, result.damage()):
        of_kind = found.setdefault(row["kind"], {})
        of_kind[row["metric"]] = max(row, of_kind.get(row["metric"], row), key=lambda one: one["reverse_d"])
    return {kind: list(of_kind.values()) for kind, of_kind in found.items()}


def is_unclear(result: Result, row: Row) -> bool:
    """Whether scores only fell, but too few of them for the damage of a row of the profile to count as noticed."""
    cells = result.damage(kind=row["kind"], metric=row["metric"])
    return row["verdict"] != BLIND and any(cell["few"] and cell["n"] and is_at_ceiling(cell) for cell in cells)


def hardest(result: Result, kind: str, metric: str) -> list[Row]:
    """The cell of the highest degree for which d is defined; empty if there is none."""
    return defined(result.damage(kind=kind, metric=metric))[-1:]


def heaviest_below(result: Result, metric: str, drop: float) -> Iterator[Row]:
    """Yields the cells of highest degrees whose mean drop is smaller than a drop, the largest drop first."""
    kinds = dict.fromkeys(row["kind"] for row in result.damage(metric=metric))
    cells = [cell for kind in kinds for cell in hardest(result, kind, metric) if cell["mean_drop"] < drop]
    yield from sorted(cells, key=lambda cell: -cell["mean_drop"])


# --- the sentences


def _noticed(result: Result) -> str:
    profile = [row for row in result.rows("profile") if row["verdict"] is not None]
    kinds = dict.fromkeys(row["kind"] for row in profile)
    by_any = [kind for kind in kinds if having(profile, kind=kind, verdict="notices")]
    by_all = [kind for kind in by_any if {row["verdict"] for row in having(profile, kind=kind)} == {"notices"}]
    n_scores = len({row["metric"] for row in profile})
    said = f"{result.title} notices {len(by_any)} of {counted(len(kinds), 'kind')} of damage"
    if n_scores < 2:
        return f"{said}{_after(': ', map(words_of, by_any))}."
    said += f" with at least one of its {n_scores} scores, and {len(by_all) or 'none'} with every score"
    return f"{said}{_after(': ', map(words_of, by_all))}."


def _not_noticed(result: Result) -> str:
    missed = {
        kind: f"{words_of(kind)} ({_some(_as_test(result, row) for row in rows)})"
        for kind, rows in not_noticed(result).items()
    }
    by_all = [
        said
        for kind, said in missed.items()
        if {row["verdict"] for row in result.rows("profile", kind=kind)} <= {BLIND, NOT_NOTICED}
    ]
    by_some = [said for said in missed.values() if said not in by_all]
    raised = [f"{words_of(kind)} ({_some(map(_as_reward, rows))})" for kind, rows in rewarded(result).items()]
    unclear = [row for row in _unnoticed(result) if is_unclear(result, row)]
    open_kinds = [f"{words_of(row['kind'])} ({in_one_line(row['metric'], 40)})" for row in unclear]
    n_texts = max((row["n_items"] for row in result.damage()), default=0)
    if by_all:
        said = f"{result.title} does not notice, at any degree: {_listed(by_all)}"
        said += _after("; single scores do not notice: ", by_some)
    elif by_some:
        said = f"single scores of {result.title} do not notice, at any degree: {_listed(by_some)}"
    else:
        said = f"{result.title} misses no kind of damage completely"
    more = f"{_after('; it even rewards: ', raised)}{_after('; too few scores change to tell: ', open_kinds)}"
    return f"With {counted(n_texts, 'text')}, {said}{more}."


def _some(scores: Iterable[str]) -> str:
    """What is said of some scores, bounded in length."""
    first, *others = listed = list(scores)
    return "; ".join(listed) if len(listed) <= 2 else f"{first}; {len(others)} more scores"


def _as_test(result: Result, row: Row) -> str:
    interval = interval_text(row, ", 95 % interval {low:.1f} to {high:.1f}") if row["n"] else ", no score changes"
    (profile,) = result.rows("profile", kind=row["kind"], metric=row["metric"])
    return f"{in_one_line(row['metric'], 40)}: d {d_text(row)}{interval}{missed_text(profile)}"


def missed_text(row: Row) -> str:
    """What a metric may have missed of a kind, by a row of the profile; empty without a margin."""
    if row["missed_at_most"] is None:
        return ""
    said = "blind: the mean changes" if row["verdict"] == BLIND else "the mean may change"
    return f", {said} by at most {row['missed_at_most']:.2f} SD"


def _as_reward(row: Row) -> str:
    return (
        f"{in_one_line(row['metric'], 40)} rises by {number_text(-row['mean_drop'])}, reverse d {row['reverse_d']:.1f}"
    )


def _penalised(result: Result) -> str:
    known = [row for row in result.rows("controls") if row["noticed"] is not None]
    kinds = dict.fromkeys(row["kind"] for row in known)
    lowering = [kind for kind in kinds if having(known, kind=kind, noticed=True)]
    others = [words_of(kind) for kind in kinds if kind not in lowering]
    if not kinds:
        return f"No harmless change was tested, so {result.title} may also penalise harmless changes."
    of = f"of {counted(len(kinds), 'harmless change')}"
    if not lowering:
        most = max((row["d"] for row in defined(known)), default=0.0)
        return f"{result.title} penalises none {of} (d {most:.1f} at most): {_listed(others)}."
    costs = [_cost(result, having(known, kind=kind, noticed=True)) for kind in lowering]
    said = f"{result.title} penalises {len(lowering)} {of}: {_listed(costs)}"
    return f"{said}{_after('; it does not penalise: ', others)}."


def _cost(result: Result, noticed: Sequence[Row]) -> str:
    """The cost of a control for the total, if it falls, or else for the metric that falls most."""
    row = dearest(result, noticed)
    said = f"{in_one_line(row['metric'], 40)} falls by {number_text(row['mean_drop'])}, d {d_text(row)}"
    cheaper = next(heaviest_below(result, row["metric"], row["mean_drop"]), None)
    less = f", and only by {number_text(cheaper['mean_drop'])} for {name_of(cheaper)}" if cheaper else ""
    return f"{words_of(row['kind'])} ({said}{less})"


def dearest(result: Result, noticed: Sequence[Row]) -> Row:
    """The row of a control for the metric of the total, if there is one, or else for the metric that falls most."""
    wholes = {metric.name for metric in result.found.scored.metrics if not metric.combined}
    return max(noticed, key=lambda row: (row["metric"] in wholes, row["mean_drop"]))


def _after(words: str, parts: Iterable[str]) -> str:
    """The parts behind some words; empty if there are no parts."""
    listed = list(parts)
    return f"{words}{_listed(listed)}" if listed else ""


def _listed(parts: Sequence[str]) -> str:
    return few_names(parts, _MANY, 400)
