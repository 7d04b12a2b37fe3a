"""The finding of a test in words: the answer, and the damage that is noticed, missed or rewarded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from ...discernment.gradation import UNNOTICED
from ...discernment.result import Discernment
from ...experiments.finding import Remarks
from ...files.untrusted_text import in_one_line
from .reasons import reasons
from .rows import AT_CEILING, Result, Row, d_text, having, is_at_ceiling, is_control, is_rewarded, name_of, summary_row

_MANY = 24


def answer(results: Sequence[Result]) -> str:
    """The finding in one sentence."""
    if len(results) == 1:
        return f"{_in_short(results[0])}."
    best = [
        (row["average"], result.title)
        for result in results
        if (row := summary_row(result, "d", "all")) and row["average"]
    ]
    if not best:
        return "No evaluator has a discernment score."
    value, name = max(best, key=lambda pair: pair[0])
    return f"Of {len(results)} results that of {name} has the highest average discernment score, {value:.1f}."


def paragraph(results: Sequence[Result]) -> str:
    """Explains the figures."""
    ceilings = [row["ceiling_d"] for result in results for row in result.rows("cells") if row["ceiling_d"]]
    most = f" With these items it can hardly be more than {max(ceilings):.1f}." if ceilings else ""
    return (
        "Texts were damaged in known ways and degrees, and scored apart from their originals. The discernment score d "
        "says how consistently the damaged texts got less: it is the p-value of a paired rank test on a logarithmic "
        f"scale, and 1 stands for p = 0.05.{most} It grows with the number of items and does not say how far scores "
        f"fall: the mean drop does."
    )


def in_short(results: Sequence[Result]) -> list[Remarks]:
    """A sentence on each result, where there are several."""
    if len(results) == 1:
        return []
    return [Remarks("In short", tuple(f"{_in_short(result)}." for result in results))]


def remarks(result: Result) -> list[Remarks]:
    """The findings one by one."""
    damage = result.damage()
    if _never_moves(damage):
        return []
    parts = {
        f"What {result.title} notices": [*_noticed(result, damage), *_saturated(result, damage)],
        f"What {result.title} does not notice, or rewards": [*_missed(result, damage), *_rewarded(result, damage)],
        f"Changes that should not matter to {result.title}": _controls(result),
    }
    return [Remarks(title, tuple(said)) for title, said in parts.items() if said]


def work_done(found: Sequence[Discernment], names: Sequence[str]) -> Remarks:
    """The work of each test."""
    said = []
    for one, name in zip(found, names, strict=True):
        work = one.work
        texts = f"{work.n_texts:,} damaged texts of {work.n_items:,} items, {work.n_impossible:,} impossible ones"
        asked = f", {work.n_requests:,} requests" if work.n_requests else ""
        cost = "" if work.cost is None else f" for about {work.cost:,.2f}"
        said.append(f"{name}: {texts}, {work.n_missing:,} scores missing{asked}{cost}; {work.seconds:,.1f} s.")
    return Remarks("What was done", tuple(said))


def _in_short(result: Result) -> str:
    cells = result.damage()
    if _never_moves(cells):
        return f"{result.title} never moves: no damage changes any of its scores"
    rows = [row for row in result.rows("perturbations") if not is_control(row)]
    noticed = sum(bool(row["noticed"]) for row in rows)
    text = (
        f"{result.title} notices {noticed} of {_counted(len(rows), 'kind and degree', 'kinds and degrees')} of damage"
    )
    row = summary_row(result, "d", "all")
    if row is not None and row["average"] is not None:
        text += f", with d {row['average']:.1f} on average and {row['minimum']:.1f} at least ({row['minimum_at']})"
    lowering = {row["kind"] for row in result.rows("controls") if row["noticed"]}
    controls = {row["kind"] for row in result.rows("controls") if row["noticed"] is not None}
    if controls:
        of = _counted(len(controls), "change", "changes")
        text += f"; {len(lowering)} of {of} that should not matter lower a score of it"
    return text


def _never_moves(cells: Sequence[Row]) -> bool:
    known = [row for row in cells if row["d"] is not None]
    return bool(known) and all(row["n"] == 0 for row in known)


def _noticed(result: Result, cells: Sequence[Row]) -> Iterable[str]:
    """From which degree on each metric notices which kinds, and how far its mean falls there."""
    for metric in result.metrics:
        profile = [row for row in result.rows("profile", metric=metric) if row["verdict"] is not None]
        first = [cell for row in profile if (cell := _first_noticed(cells, row)) is not None]
        found = [f"{name_of(cell)} ({_number(cell['mean_drop'])})" for cell in first]
        if found:
            kinds = _counted(len(profile), "kind", "kinds")
            said = f"{metric} notices {len(found)} of {kinds}, from this degree on (in brackets how far its mean falls)"
            yield f"{said}: {_listed(found)}."


def _first_noticed(cells: Sequence[Row], row: Row) -> Row | None:
    """The cell of the lightest degree from which on all are noticed, with 100 items or with all if there are fewer."""
    if row["detectable_at_100"] is not None:
        degree = row["detectable_at_100"]
        own = having(cells, kind=row["kind"], metric=row["metric"])
        return next((cell for cell in own if degree in (cell["degree"], name_of(cell))), None)
    own = [cell for cell in having(cells, kind=row["kind"], metric=row["metric"]) if cell["d"] is not None]
    last = list(takewhile(lambda cell: bool(cell["noticed"]), reversed(own)))
    return last[-1] if last else None


def _saturated(result: Result, cells: Sequence[Row]) -> Iterable[str]:
    of_metrics = []
    for metric in result.metrics:
        own = [row for row in having(cells, metric=metric) if row["d"] is not None]
        at_ceiling = sum(is_at_ceiling(row) and row["n"] >= AT_CEILING * row["n_items"] for row in own)
        if at_ceiling:
            of_metrics.append(f"{metric} {at_ceiling} of {len(own)}")
    if of_metrics:
        yield (
            f"At the ceiling, where d says no more than that nearly all scores fall: {', '.join(of_metrics)}. There "
            "drops and curves say more."
        )


def _missed(result: Result, cells: Sequence[Row]) -> Iterable[str]:
    for metric in result.metrics:
        own = result.rows("profile", metric=metric)
        unnoticed = [row["kind"] for row in own if row["verdict"] == "blind"]
        unclear = [kind for kind in unnoticed if _is_unclear(cells, kind, metric)]
        if blind := [kind for kind in unnoticed if kind not in unclear]:
            most = [cell for kind in blind if (cell := _hardest(cells, kind, metric)) is not None]
            drops = [f"{name_of(cell)} (d {d_text(cell)}, drop {_number(cell['mean_drop'])})" for cell in most]
            yield f"{metric} is blind, at any degree, to {_listed(drops)}.{_why(result, metric, blind)}"
        if unclear:
            yield f"Too few scores change to say whether {metric} notices {_listed(unclear)}: it takes more items."
        late = [row for row in own if row["verdict"] == "needs much"]
        if late:
            yield f"{metric} needs much damage by {_listed([_from_where(row, cells) for row in late])}."


def _is_unclear(cells: Sequence[Row], kind: str, metric: str) -> bool:
    """Whether scores only fell, but too few of them for the damage to count as noticed."""
    own = having(cells, kind=kind, metric=metric)
    return any(cell["few"] and cell["n"] and is_at_ceiling(cell) for cell in own)


def _from_where(row: Row, cells: Sequence[Row]) -> str:
    """From which degree on a kind is noticed, or at which degrees if not from one on."""
    if row["detectable_at_100"] not in (None, UNNOTICED):
        return f"{row['kind']} (from {row['detectable_at_100']} on)"
    own = having(cells, kind=row["kind"], metric=row["metric"])
    return f"{row['kind']} (only at {', '.join(str(cell['degree']) for cell in own if cell['noticed']) or 'no degree'})"


def _rewarded(result: Result, cells: Sequence[Row]) -> Iterable[str]:
    for metric in result.metrics:
        rewarded = list(filter(is_rewarded, having(cells, metric=metric)))
        kinds = list(dict.fromkeys(row["kind"] for row in rewarded))
        strongest = [max(having(rewarded, kind=kind), key=lambda row: row["reverse_d"]) for kind in kinds]
        said = [
            f"{name_of(row)} (the mean rises by {_number(-row['mean_drop'])}, reverse d {row['reverse_d']:.1f})"
            for row in strongest
        ]
        if said:
            yield f"{metric} rewards {_listed(said)}.{_why(result, metric, kinds)}"


def _controls(result: Result) -> list[str]:
    controls = [row for row in result.rows("controls") if row["noticed"] is not None]
    if not controls:
        return []
    said = []
    for kind in dict.fromkeys(row["kind"] for row in controls):
        noticed = having(controls, kind=kind, noticed=True)
        if noticed:
            drops = [f"{row['metric']} (d {d_text(row)}, drop {_number(row['mean_drop'])})" for row in noticed]
            why = "".join(_why(result, row["metric"], [kind]) for row in noticed[:1])
            said.append(f"{kind} lowers {_listed(drops)}.{why}{_cheaper(result, noticed)}")
    defined = [row for row in controls if row["d"] is not None]
    kinds = dict.fromkeys(row["kind"] for row in defined)
    unnoticed = [kind for kind in kinds if not having(defined, kind=kind, noticed=True)]
    if unnoticed:
        said.append(f"Not noticed: {_listed(unnoticed)}.")
    specificity = [f"{name} {share:.2f}" for name, share in result.found.specificity.items() if share is not None]
    if specificity:
        said.append(f"Specificity, the share of such changes that are not noticed: {', '.join(specificity)}.")
    return said


def _cheaper(result: Result, noticed: Sequence[Row]) -> str:
    """Which kinds cost less, at their highest degree, than a control, for the metric that all others make up."""
    wholes = {metric.name for metric in result.found.scored.metrics if not metric.combined}
    control = max(noticed, key=lambda row: (row["metric"] in wholes, row["mean_drop"]))
    cells = result.damage(metric=control["metric"])
    cheaper = []
    for kind in dict.fromkeys(row["kind"] for row in cells):
        cell = _hardest(cells, kind, control["metric"])
        if cell is not None and cell["mean_drop"] < control["mean_drop"]:
            cheaper.append(f"{name_of(cell)} ({_number(cell['mean_drop'])})")
    return f" It costs {control['metric']} more than {_listed(cheaper)}." if cheaper else ""


def _hardest(cells: Sequence[Row], kind: str, metric: str) -> Row | None:
    """The cell of the highest degree that is defined."""
    own = [row for row in having(cells, kind=kind, metric=metric) if row["d"] is not None]
    return own[-1] if own else None


def _why(result: Result, metric: str, kinds: Sequence[str]) -> str:
    found = reasons(result.found.scored.evaluator, metric, kinds)
    return f" Why: {'; '.join(found)}." if found else ""


def _listed(parts: Sequence[str]) -> str:
    """Parts in a sentence, not too many of them."""
    shown = [in_one_line(part, 120) for part in parts[:_MANY]]
    more = f" and {len(parts) - _MANY:,} more" if len(parts) > _MANY else ""
    return ", ".join(shown) + more


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _number(value: float) -> str:
    """A drop with three digits, more of them if it is large."""
    digits = max(0, 3 - len(str(int(abs(value))))) if abs(value) >= 1 else 3
    if 0 < abs(value) < 0.0005:
        return "<0.001" if value > 0 else ">-0.001"
    return f"{value:.{digits}f}"
