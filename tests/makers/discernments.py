"""Results of tests of evaluators, made up: for what reports show, it does not matter how a figure came about.

`a_discernment` has the cases that a report must tell apart: damage that is noticed at once, late, never, and rewarded;
cells that are undefined or of few items; controls that are noticed; kinds with rates, with names and without degrees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pfgen_fast.discernment.items import Collection, CollectionItem
from pfgen_fast.discernment.kinds import KINDS
from pfgen_fast.discernment.plan import Perturbation, Plan, perturbation
from pfgen_fast.discernment.result import (
    CELL_COLUMNS,
    CONTROL_COLUMNS,
    PERTURBATION_COLUMNS,
    PROFILE_COLUMNS,
    SUMMARY_COLUMNS,
    Columns,
    Curve,
    Discernment,
    Example,
    PerturbedScores,
    Scored,
    Work,
)
from pfgen_fast.evaluators.evaluator import Metric

N_ITEMS = 40
CEILING = 5.9
METRICS = (
    Metric("fluency", low=0.0),
    Metric("truthfulness", low=0.0),
    Metric("helpfulness", low=0.0, high=1.0),
    Metric("average", low=0.0, combined=False),
)
DROPS = {
    "char_delete": {"fluency": 2.0, "truthfulness": 0.3, "helpfulness": 0.6, "average": 1.0},
    "negate": {"fluency": 0.1, "truthfulness": 0.03, "helpfulness": 0.0, "average": 0.04},
    "truncate": {"fluency": 0.6, "truthfulness": -0.02, "helpfulness": 0.7, "average": 0.4},
    "answer_swap": {"fluency": 0.7, "truthfulness": 0.7, "helpfulness": 0.7, "average": 0.7},
    "number_change": {},
    "punctuation": {"fluency": 0.2, "truthfulness": 0.08, "helpfulness": 0.0, "average": 0.09},
    "identity": {"fluency": 0.0, "truthfulness": 0.0, "helpfulness": 0.0, "average": 0.0},
}
"""How far the scores fall, on average, where all of a text is damaged; none: impossible for all texts."""


def a_plan() -> Plan:
    """Some kinds with their usual degrees, and one whose texts were given."""
    known = [kind for name in DROPS for kind in _usual(name)]
    return Plan((*known, Perturbation("own kind", "major", level="word", method="given")))


def _usual(name: str) -> list[Perturbation]:
    if not KINDS[name].has_degrees:
        return [perturbation(name)]
    ladder = {"fine": (10, 30, 70, 150, 300), "cut": (100, 200, 400, 600, 800)}
    return [perturbation(name, permille=rate) for rate in ladder.get(KINDS[name].ladder or "", (200, 600, 1000))]


def a_discernment(
    name: str = "ngram",
    *,
    metrics: Sequence[Metric] = METRICS,
    plan: Plan | None = None,
    seed: int = 0,
    weights: str | None = None,
    text: str = "氷は水に浮く。",
    n_items: int = N_ITEMS,
    **changes: Any,
) -> Discernment:
    """The result of a test with made-up scores."""
    plan, generator = plan or a_plan(), np.random.default_rng(seed)
    items = tuple(
        CollectionItem(f"item {number}", f"{text} {number}", "answers", language="ja", question=f"Q{number // 2:02}")
        for number in range(n_items)
    )
    originals = {metric.name: generator.uniform(0.7, 1.1, n_items) for metric in metrics}
    perturbed = tuple(_perturbed(one, originals, generator) for one in plan.perturbations)
    scored = Scored(
        name, f"{name}:0.1.0", tuple(metrics), Collection(items, "made up"), plan, seed, originals, perturbed
    )
    cells = [_cell(scored, scores, metric) for scores in perturbed for metric in metrics]
    found = Discernment(
        scored,
        f"discernment:0.1.0|collection:1f|plan:2e|seed:{seed}|evaluator:{scored.signature}|zeros:drop",
        _columns(CELL_COLUMNS, cells),
        _columns(PERTURBATION_COLUMNS, _of_perturbations(scored, cells, weights)),
        _columns(SUMMARY_COLUMNS, _summary(scored, cells, weights)),
        _columns(PROFILE_COLUMNS, _profile(scored, cells)),
        _columns(CONTROL_COLUMNS, [_control(row) for row in cells if row["level"] == "control"]),
        tuple(_curves(scored)),
        tuple(_examples(scored)),
        Work(n_items, n_items * len(plan.perturbations), n_items, 3, seconds=1.25),
        weights=weights,
        specificity={metric.name: 0.5 for metric in metrics},
        n_draws=1000,
    )
    return replace(found, **changes)


def _columns(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> Columns:
    assert all(set(row) == set(names) for row in rows)
    return {name: [row[name] for row in rows] for name in names}


def _perturbed(one: Perturbation, originals: dict[str, Any], generator: np.random.Generator) -> PerturbedScores:
    drops = DROPS.get(one.kind, dict.fromkeys(originals, 0.1))
    n_items = len(next(iter(originals.values())))
    is_possible = np.full(n_items, bool(drops))
    if one.kind == "negate":
        is_possible[::4] = False
    scores = {}
    for metric, values in originals.items():
        drop = drops.get(metric, 0.1) * (1000 if one.permille is None else one.permille) / 1000
        spread = abs(drop) * generator.normal(1, 0.6, n_items) * np.sign(drop)
        scores[metric] = np.where(is_possible, values - spread, np.nan)
    reason = None if is_possible.all() else "nothing that the kind damages"
    return PerturbedScores(one, is_possible, is_possible, scores, reason)


def _cell(scored: Scored, scores: PerturbedScores, metric: Metric) -> dict[str, Any]:
    one, x, y = scores.perturbation, scored.originals[metric.name], scores.scores[metric.name]
    known = ~np.isnan(y)
    drops = (x - y)[known]
    n, n_items = int((drops != 0).sum()), int(known.sum())
    order = np.argsort(np.argsort(np.abs(drops))) + 1.0
    r_plus = float(order[drops > 0].sum())
    mean, deviation = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24) or 1.0
    z = (r_plus - mean) / deviation if n else None
    d = None if not n_items else _d(z or 0.0)
    rank_biserial = None if not n else 2 * r_plus / (n * (n + 1) / 2) - 1
    is_few = one.kind == "own kind" and metric.name == "helpfulness"
    noticed = None if d is None else d >= 1 and not is_few
    share = (lambda chosen: float(chosen.mean())) if n_items else (lambda chosen: None)
    return {
        **_place(scored, one),
        "degree": one.degree,
        "permille": one.permille,
        "k": one.k,
        "metric": metric.name,
        "n_items": n_items,
        "n_impossible": len(x) - n_items,
        "n_missing": 0,
        "n_zero": n_items - n,
        "n": n,
        "share_lower": share(drops > 0),
        "share_equal": share(drops == 0),
        "share_higher": share(drops < 0),
        "mean_original": share(x[known]),
        "mean_perturbed": share(y[known]),
        "mean_drop": share(drops),
        "rank_biserial": rank_biserial,
        "r_plus": r_plus if n_items else None,
        "z": z,
        "log_p": None if d is None else -d * math.log(20),
        "d": d,
        "d_low": None if d is None else d * 0.8,
        "d_high": None if d is None else d * 1.2,
        "ceiling_d": None if d is None else CEILING if n else 0.0,
        "exact_d": d,
        "reverse_d": None if d is None else _d(-(z or 0.0)),
        "n80": max(5, math.ceil(8.243 / rank_biserial**2)) if rank_biserial and rank_biserial > 0 else None,
        "few": is_few,
        "noticed": noticed,
        "significant_bh": noticed,
    }


def _d(z: float) -> float:
    """d of a z, or 0 where z is 0."""
    return -math.log(max(math.erfc(z / math.sqrt(2)) / 2, 1e-300)) / math.log(20) if z else 0.0


def _place(scored: Scored, one: Perturbation) -> dict[str, Any]:
    return {"evaluator": scored.evaluator, "task": "answers", "level": one.level, "kind": one.kind}


def _of_perturbations(
    scored: Scored, cells: list[dict[str, Any]], weights: str | None
) -> Iterator[dict[str, Any]] | list[dict[str, Any]]:
    rows = []
    for scores in scored.perturbed:
        one = scores.perturbation
        own = [row for row in cells if (row["kind"], row["degree"]) == (one.kind, one.degree)]
        d = None if own[0]["d"] is None else min(row["d"] for row in own)
        rows.append(
            {
                **{name: own[0][name] for name in ("evaluator", "task", "level", "kind", "degree", "permille", "k")},
                "method": one.method,
                "n_items": own[0]["n_items"],
                "n_impossible": own[0]["n_impossible"],
                "reason": scores.reason,
                "n_changed": own[0]["n_items"],
                "edit_share": 0.1 if one.method == "given" else None,
                "log_p": None if d is None else -d * math.log(20),
                "d": d,
                "d_low": d,
                "d_high": d,
                "printed_d": None if d is None else d + 0.37,
                "weighted_d": None if d is None or weights is None else d * 0.9,
                "calibrated_d": None if d is None else d * 0.7,
                "noticed": None if d is None else d >= 1,
            }
        )
    return rows


def _summary(scored: Scored, cells: list[dict[str, Any]], weights: str | None) -> list[dict[str, Any]]:
    own = [row for row in cells if row["level"] != "control" and row["metric"] == scored.metrics[0].name]
    scopes = ["all", *dict.fromkeys(f"level:{row['level']}" for row in own)]
    scopes += dict.fromkeys(f"degree:{row['degree']}" for row in own if row["degree"])
    rows = []
    for score in ("d", "printed_d", "weighted_d"):
        for scope in scopes:
            kind, _, name = scope.partition(":")
            inside = [row for row in own if kind == "all" or row[kind] == name]
            defined = [row for row in inside if row["d"] is not None]
            if score == "weighted_d" and weights is None:
                defined = []
            values = [row["d"] for row in defined]
            least = min(defined, key=lambda row: row["d"], default=None)
            average = float(np.mean(values)) if values else None
            rows.append(
                {
                    "evaluator": scored.evaluator,
                    "task": "answers",
                    "score": score,
                    "scope": scope,
                    "n_perturbations": len(inside),
                    "n_defined": len(defined),
                    "average": average,
                    "average_low": None if average is None else average * 0.9,
                    "average_high": None if average is None else average * 1.1,
                    "minimum": least and least["d"],
                    "minimum_low": least and least["d"] * 0.5,
                    "minimum_high": least and least["d"] * 1.5,
                    "minimum_at": least and f"{least['kind']}/{least['degree']}",
                }
            )
    return rows


def _profile(scored: Scored, cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for kind in dict.fromkeys(row["kind"] for row in cells if row["level"] != "control"):
        for metric in scored.metrics:
            own = [row for row in cells if (row["kind"], row["metric"]) == (kind, metric.name)]
            noticed = [row for row in own if row["noticed"]]
            rewarded = [row for row in own if (row["reverse_d"] or 0) >= 1]
            undefined = own[0]["d"] is None
            verdict = "notices" if own[0]["noticed"] else "needs much" if noticed else "blind"
            verdict = None if undefined else "rewards" if rewarded else verdict
            rows.append(
                {
                    **{name: own[0][name] for name in ("evaluator", "task", "level", "kind")},
                    "metric": metric.name,
                    "detectable_at_100": noticed[0]["degree"] or None if noticed else None,
                    "detectable_at_20": noticed[-1]["degree"] or None if noticed else None,
                    "n80": own[-1]["n80"],
                    "monotonicity": None if undefined else 0.75,
                    "drop_per_100_permille": None if undefined else own[-1]["mean_drop"] / 10,
                    "verdict": verdict,
                }
            )
    return rows


def _control(row: dict[str, Any]) -> dict[str, Any]:
    relative = None if row["mean_drop"] is None else row["mean_drop"] / 0.032
    return {name: row[name] for name in CONTROL_COLUMNS if name != "relative_drop"} | {"relative_drop": relative}


def _curves(scored: Scored) -> Iterator[Curve]:
    for kind in dict.fromkeys(one.kind for one in scored.plan.perturbations if not one.is_control):
        own = [scores for scores in scored.perturbed if scores.perturbation.kind == kind]
        complete = np.all([scores.is_possible for scores in own], axis=0)
        if len(own) < 2 or not complete.any():
            continue
        for metric in scored.metrics:
            x = scored.originals[metric.name][complete]
            columns = [x, *(scores.scores[metric.name][complete] for scores in own)]
            mean = np.array([float(column.mean()) for column in columns])
            yield Curve(
                "answers",
                kind,
                metric.name,
                np.array([0.0, *(scores.perturbation.permille or 0.0 for scores in own)]),
                ("original", *(scores.perturbation.degree for scores in own)),
                mean,
                mean - 0.03,
                mean + 0.03,
                np.array([float((column < x).mean()) for column in columns]),
                int(complete.sum()),
            )


def _examples(scored: Scored) -> Iterator[Example]:
    for scores in scored.perturbed:
        for metric in scored.metrics:
            drops = scored.originals[metric.name] - scores.scores[metric.name]
            if np.isnan(drops).all():
                continue
            for which, item in (("largest", int(np.nanargmax(drops))), ("smallest", int(np.nanargmin(drops)))):
                text = scored.collection.items[item].text
                yield Example(
                    scores.perturbation.name,
                    metric.name,
                    which,
                    scored.collection.items[item].id,
                    text,
                    text.replace("に", "へ") + "本当？",
                    float(scored.originals[metric.name][item]),
                    float(scores.scores[metric.name][item]),
                )


def picture_of(finding, name):
    return next(picture.chart for picture in finding.pictures if picture.name == name)
