"""`agreement`: how far metrics of answers agree with verdicts of judges, people or leaderboards.

Over models, the means of a metric and of the verdicts correlate; intervals leave out one family of models at a time.
Over pairs of answers to one prompt, the metric and the judge prefer the same answer or not; intervals are clustered by
prompt. A metric says something beyond length if it agrees among models or answers of equal length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.arrays import Bools, Floats, Ints
from ...base.errors import ExperimentError
from ...base.untrusted_text import counted, few_names, in_one_line
from ..chart_data import Points, Ranges, Scatter
from ..finding import Cell, Finding, Picture, finding_table, with_interval
from ..statistics.correlation import COEFFICIENTS, MIN_VALUES, Correlation, correlate, few_values, is_constant
from ..statistics.intervals_of_draws import clustered_rate
from .aligned_verdicts import LENGTH, Aligned, MetricValues, align, uneven
from .verdict_tables import Verdicts

_EQUAL_LENGTH = 0.1
"""Largest difference of two lengths, as a share of the longer one, that counts as equal."""

_ALL = "all"
_GIVEN_LENGTH = "Spearman given length"
_OVER_MODELS = (*COEFFICIENTS, _GIVEN_LENGTH)


@dataclass(frozen=True, eq=False)
class _Row:
    """The agreement of one metric with verdicts on some of the prompts."""

    metric: str
    n_models: int = 0
    n_families: int = 0
    over_models: Mapping[str, Correlation] | None = None  # by the names `_OVER_MODELS`
    n_pairs: int = 0
    share: Correlation | None = None  # pairs in which metric and judge prefer the same answer
    n_ties: int = 0  # pairs in which the metric is equal
    n_equal: int = 0  # pairs of answers of equal length
    equal_share: Correlation | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        def ends(figure: Correlation | None) -> tuple[Cell, ...]:
            return (figure.value, figure.low, figure.high) if figure else (None, None, None)

        over = [cell for name in _OVER_MODELS for cell in ends((self.over_models or {}).get(name))]
        shares = (*ends(self.share), self.n_equal, *ends(self.equal_share))
        return (self.n_models, self.n_families, *over, self.n_pairs, self.n_ties, *shares)

    @property
    def rank(self) -> tuple[bool, float]:
        """What metrics are ordered by; those without a correlation over models are last."""
        figure = self.over_models["Spearman"] if self.over_models else self.share
        return bool(self.over_models), figure.value if figure else -np.inf


def _rows_of(ours: MetricValues, aligned: Aligned, is_in: Bools) -> Iterator[_Row]:
    """The agreement of each metric on the prompts of a part."""
    lengths = ours.values.get(LENGTH)
    families = np.unique(np.array(ours.families, dtype=object), return_inverse=True)[1]
    pairs = aligned.pairs[is_in[aligned.pairs[:, 0]]]
    for metric, values in ours.values.items():
        counted_cells = ~np.isnan(aligned.theirs) & ~np.isnan(values) & is_in
        rows = np.flatnonzero(counted_cells.any(axis=1))
        x, y = (_means(column, counted_cells)[rows] for column in (values, aligned.theirs))
        row = _Row(metric, len(rows), len(np.unique(families[rows])))
        if len(rows) >= MIN_VALUES and not is_constant(x) and not is_constant(y):
            over = correlate(x, y, clusters=families[rows])
            if lengths is not None and metric != LENGTH:
                length = _means(lengths, counted_cells & ~np.isnan(lengths))[rows]
                has = ~np.isnan(length)
                over |= _given(x[has], y[has], length[has], families[rows][has])
            row = replace(row, over_models=over)
        yield replace(row, **_pair_figures(values, lengths if metric != LENGTH else None, pairs))


def _means(values: Floats, is_counted: Bools) -> Floats:
    n = is_counted.sum(axis=1)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(is_counted, values, 0.0).sum(axis=1) / n
    return means


def _given(x: Floats, y: Floats, length: Floats, families: Ints) -> dict[str, Correlation]:
    """The partial correlation of ranks given length: that of what a line of the rank of length leaves of them."""
    from scipy.stats import rankdata

    ranks = [rankdata(column) - (len(x) + 1) / 2 for column in (x, y, length)]
    spread = float(ranks[2] @ ranks[2])
    if not spread or len(x) < MIN_VALUES:
        return {}
    a, b = (column - ranks[2] * float(column @ ranks[2]) / spread for column in ranks[:2])
    if min(np.ptp(a), np.ptp(b)) <= 1e-9 * len(x):
        return {}
    return {_GIVEN_LENGTH: correlate(a, b, clusters=families)["Pearson"]}


def _pair_figures(values: Floats, lengths: Floats | None, pairs: Ints) -> dict[str, Any]:
    prompts, better, worse = pairs.T
    differences = values[better, prompts] - values[worse, prompts]
    is_known = ~np.isnan(differences)
    agrees = (np.sign(differences) + 1) / 2
    figures: dict[str, Any] = {
        "n_pairs": int(is_known.sum()),
        "n_ties": int((differences == 0).sum()),
        "share": _share(agrees[is_known], prompts[is_known]),
    }
    if lengths is not None:
        first, second = lengths[better, prompts], lengths[worse, prompts]
        is_equal = is_known & (np.abs(first - second) <= _EQUAL_LENGTH * np.maximum(first, second))
        figures |= {"n_equal": int(is_equal.sum()), "equal_share": _share(agrees[is_equal], prompts[is_equal])}
    return figures


def _share(agrees: Floats, prompts: Ints) -> Correlation | None:
    return Correlation(*clustered_rate(agrees.tolist(), prompts.tolist())) if len(agrees) else None


# --- the finding


def agreement(ours: MetricValues, verdicts: Sequence[Verdicts]) -> Finding:
    """Compares metrics with verdicts, over models and over pairs of answers, in total and by category."""
    if not ours.values:
        raise ExperimentError("no metrics: name some with --metric, or use tables with columns of scores")
    aligned, problems = [], []
    for source in verdicts:
        try:
            part = align(source, ours)
            whole = list(_rows_of(ours, part, np.ones(len(ours.prompts), dtype=bool)))
            _check(part, whole)
            aligned.append((part, whole))
        except ExperimentError as error:
            problems.append(str(error))
    if not aligned:
        raise ExperimentError("; ".join(problems) or "no verdicts")
    categories = sorted(set(ours.categories))
    rows: list[tuple[Cell, ...]] = []
    for part, whole in aligned:
        rows += [(part.name, _ALL, row.metric, *row.cells) for row in whole]
        for category in categories if len(categories) > 1 and len(part.pairs) else ():
            is_in = np.array([name == category for name in ours.categories])
            rows += [(part.name, category, row.metric, *row.cells) for row in _rows_of(ours, part, is_in)]
    ends = [f"{name}{end}" for name in _OVER_MODELS for end in ("", " low", " high")]
    pair_columns = ("agree", "agree low", "agree high", "pairs of equal length", "agree there")
    heads = ("verdicts", "prompts", "metric", "models", "families", *ends, "pairs", "ties", *pair_columns,
             "agree there low", "agree there high")  # fmt: skip
    shown = ("verdicts", "prompts", "metric", "models", "Spearman", "Spearman low", "Spearman high", "Kendall",
             _GIVEN_LENGTH, "pairs", "ties", *pair_columns)  # fmt: skip
    title = "Agreement with the verdicts, with 95 % intervals"
    sentences = [_sentence(part, whole) for part, whole in aligned]
    notes = [*ours.problems, *ours.notes, *(note for part, _ in aligned for note in part.notes)]
    notes += [f"left out: {problem}" for problem in problems]
    for part, whole in aligned:
        notes += _warnings(ours, part, whole)
    return Finding(
        "agreement",
        sentences[0],
        _words(aligned),
        (finding_table("metrics", title, heads, rows, 3, shown), _models_table(ours, [part for part, _ in aligned])),
        (_ranges(aligned), *_scatters(ours, aligned)),
        tuple(dict.fromkeys(notes)),
        question="Which metrics agree with the verdicts of judges or people?",
        sentences=tuple(sentences),
        runs=ours.names,
    )


def _check(part: Aligned, rows: Sequence[_Row]) -> None:
    """Raises ExperimentError if nothing can be compared."""
    if any(row.over_models or row.share for row in rows):
        return
    n = max(row.n_models for row in rows)
    why = "the verdicts are all equal, or every metric is" if n >= MIN_VALUES else f"expected at least {MIN_VALUES}"
    raise ExperimentError(f"{part.name}: {counted(n, 'model')} in common and no pairs of answers: {why}")


def _warnings(ours: MetricValues, part: Aligned, rows: Sequence[_Row]) -> list[str]:
    constant = [row.metric for row in rows if not row.over_models and row.n_models >= MIN_VALUES]
    notes = few_values(max(row.n_families for row in rows), "families")
    if constant:
        equal = "all models are equal" if len(constant) < len(rows) else "the verdicts, or all metrics, are equal"
        notes.append(f"no correlation of {few_names(constant, 5)}: {equal}")
    is_known = ~np.isnan(part.theirs)
    numbers = [(is_known & ~np.isnan(values)).sum(axis=1).tolist() for values in ours.values.values()]
    if differ := next(filter(None, (uneven(list(filter(None, column))) for column in numbers)), ""):
        notes.append(f"models have {differ} prompts, so their means may differ because their prompts do")
    is_of_models, length = next((row.rank for row in rows if row.metric == LENGTH), (False, -np.inf))
    if below := [row.metric for row in rows if (is_of_models, -np.inf) <= row.rank < (is_of_models, length)]:
        notes.append(f"length alone agrees better than {few_names(below, 5)}")
    return [f"{part.name}: {note}" for note in notes]


def _best(rows: Sequence[_Row]) -> _Row:
    """The metric that agrees best, which is the length only if there is no other."""
    return max((row for row in rows if row.metric != LENGTH or len(rows) == 1), key=lambda row: row.rank)


def _sentence(part: Aligned, rows: Sequence[_Row]) -> str:
    best = _best(rows)
    length = next((row for row in rows if row.metric == LENGTH and row is not best), None)
    figures = [_figures(row) for row in (best, *([length] if length else []))]
    beside = f"; length alone: {figures[1]}" if length else ""
    r = best.over_models and best.over_models["Spearman"]
    is_chance = r and r.low is not None and r.low <= 0 and not best.share
    agrees = f"No metric agrees clearly with {part.name}; at most" if is_chance else f"{part.name} agrees best with"
    return f"{agrees} {best.metric}: {figures[0]}{beside}."


def _figures(row: _Row) -> str:
    words = []
    if row.over_models:
        families = "" if row.n_families == row.n_models else f" of {counted(row.n_families, 'family')}"
        over = f"over {counted(row.n_models, 'model')}{families}"
        words.append(f"Spearman {with_interval(row.over_models['Spearman'], 2)} {over}")
    if row.share:
        words.append(f"{100 * row.share.value:.1f} % of {counted(row.n_pairs, 'pair')} of answers")
    return " and ".join(words) or "constant"


def _words(aligned: Sequence[tuple[Aligned, Sequence[_Row]]]) -> str:
    """What the figures are of."""
    words = ["Intervals of correlations leave out one family at a time."]
    if any(row.over_models and _GIVEN_LENGTH in row.over_models for _, rows in aligned for row in rows):
        words.append(f"{_GIVEN_LENGTH} is controlled for length over these models: it changes with the runs given.")
    if any(len(part.pairs) for part, _ in aligned):
        words.append(
            "Those of pairs are clustered by prompt and hold for these models, not for others; a metric that is equal "
            "for both answers of a pair agrees by half."
        )
    for part, _ in aligned:
        if part.n_ties:
            words.append(f"{counted(part.n_ties, 'pair')} that {part.name} calls equal are left out.")
        if part.baseline:
            words.append(
                f"{part.name} compared all answers with those of {part.baseline}: a pair are two answers to a prompt "
                "of which one is preferred to this baseline and the other one is not."
            )
    return " ".join(words)


def _models_table(ours: MetricValues, aligned: Sequence[Aligned]) -> Any:
    """The means of each row."""
    with np.errstate(invalid="ignore"):
        theirs = {part.name: _means(part.theirs, ~np.isnan(part.theirs)) for part in aligned}
        means = {name: _means(values, ~np.isnan(values)) for name, values in ours.values.items()}
    rows = []
    for row, name in enumerate(ours.names):
        figures = [float(column[row]) for column in (*theirs.values(), *means.values())]
        partners = [part.partners[name] for part in aligned if name in part.partners]
        if partners:
            cells = (None if np.isnan(value) else value for value in figures)
            rows.append((ours.models[row], ours.families[row], partners[0], *cells))
    rows.sort(key=lambda cells: -(cells[3] if isinstance(cells[3], float) else -np.inf))
    columns = ("model", "family", "name in the verdicts", *(f"{name} (verdicts)" for name in theirs), *means)
    return finding_table("models", "The models, by the mean of their verdicts", columns, rows, 3)


def _ranges(aligned: Sequence[tuple[Aligned, Sequence[_Row]]]) -> Picture:
    has_models = any(row.over_models for _, rows in aligned for row in rows)
    bars = [
        (f"{part.name}: {row.metric}" if len(aligned) > 1 else row.metric, r)
        for part, rows in aligned
        for row in sorted(rows, key=lambda row: row.rank, reverse=True)
        if (r := (row.over_models or {}).get("Spearman") if has_models else row.share)
    ]
    values = np.array([r.value for _, r in bars])
    low, high = (
        np.array([r.value if end is None else end for (_, r), end in zip(bars, ends, strict=True)])
        for ends in ([r.low for _, r in bars], [r.high for _, r in bars])
    )
    label = "Spearman's correlation with the verdicts, over models" if has_models else "share of agreeing pairs"
    names = tuple(in_one_line(name, 60) for name, _ in bars)
    return Picture("metrics", "Agreement with the verdicts", Ranges(names, values, low, high, label))


def _scatters(ours: MetricValues, aligned: Sequence[tuple[Aligned, Sequence[_Row]]]) -> list[Picture]:
    """The verdicts against the metric that agrees best."""
    panels = []
    for part, rows in aligned:
        best = _best(rows)
        if not best.over_models:
            continue
        is_counted = ~np.isnan(part.theirs) & ~np.isnan(ours.values[best.metric])
        at = np.flatnonzero(is_counted.any(axis=1)).tolist()
        x, y = (_means(values, is_counted)[at] for values in (ours.values[best.metric], part.theirs))
        rho = best.over_models["Spearman"].value
        title = f"{best.metric} and {part.name}: Spearman's ρ = {rho:.2f} of {len(at)} models"
        labels = tuple(in_one_line(ours.models[row], 60) for row in at)
        panels.append(Points(x, y, best.metric, part.name, title, labels=labels))
    about = "The verdicts against the metric that agrees best"
    return [Picture("models", about, Scatter(tuple(panels)))] if panels else []
