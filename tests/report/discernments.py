"""Results of tests of evaluators, computed from made-up scores.

`a_discernment` has the cases that a report must tell apart: damage that is noticed at once, late, never, and rewarded;
cells that are undefined or of few items; controls that are noticed; kinds with rates, with names and without degrees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pfgen_fast.lab.discernment.discern import discernment_of
from pfgen_fast.lab.discernment.discernment_items import Collection, CollectionItem
from pfgen_fast.lab.discernment.discernment_plan import Plan, perturbations_named
from pfgen_fast.lab.discernment.discernment_result import Discernment, Example, Scored
from pfgen_fast.lab.discernment.kinds import KINDS, Perturbation, metric_named
from pfgen_fast.lab.discernment.weights import Weights, WeightsRow
from pfgen_fast.lab.evaluators.evaluator import Metric

N_ITEMS = 40
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
    known = [item for name in DROPS for item in perturbations_named(name)]
    return Plan((*known, Perturbation("own kind", "major", level="word", method="given")))


def a_discernment(
    name: str = "ngram",
    *,
    metrics: Sequence[Metric] = METRICS,
    plan: Plan | None = None,
    seed: int = 0,
    weights: str | None = None,
    n_items: int = N_ITEMS,
    examples: tuple[Example, ...] | None = None,
    **changes: Any,
) -> Discernment:
    """The result of a test with made-up scores, without notes; `weights` names weights that are all equal."""
    plan, generator = plan or a_plan(), np.random.default_rng(seed)
    items = tuple(
        CollectionItem(
            f"item {number}", f"氷は水に浮く。 {number}", "answers", language="ja", question=f"Q{number // 2:02}"
        )
        for number in range(n_items)
    )
    originals = np.array([generator.uniform(0.7, 1.1, n_items) for _ in metrics])
    damaged, is_possible = zip(
        *(_damaged(perturbation, metrics, originals, generator) for perturbation in plan.perturbations), strict=True
    )
    scored = Scored(
        *(name, f"{name}:0.1.0", tuple(metrics), Collection(items, "made up"), plan, seed, originals),
        *(np.array(damaged), np.array(is_possible), np.array(is_possible)),
        tuple(None if possible.all() else "nothing that the kind damages" for possible in is_possible),
    )
    scored = replace(scored, examples=tuple(_examples(scored)) if examples is None else examples)
    equal = {metric_named(metric.name): 1.0 for metric in metrics if metric.combined}
    kinds = {*KINDS, *(perturbation.kind for perturbation in plan.perturbations if "/" not in perturbation.kind)}
    metric_weights = weights and Weights(weights, {("answers", kind): WeightsRow("", equal) for kind in kinds})
    result = discernment_of(scored, metric_weights or None)
    curves = tuple(curve for curve in result.curves if len(curve.names) > 1)
    return replace(result, **{"notes": (), "curves": curves, **changes})


def _damaged(
    perturbation: Perturbation, metrics: Sequence[Metric], originals: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    drops = DROPS.get(perturbation.kind, {metric.name: 0.1 for metric in metrics})
    n_items = originals.shape[1]
    is_possible = np.full(n_items, bool(drops))
    if perturbation.kind == "negate":
        is_possible[::4] = False
    scores = []
    for metric, before in zip(metrics, originals, strict=True):
        drop = drops.get(metric.name, 0.1) * (1000 if perturbation.permille is None else perturbation.permille) / 1000
        spread = abs(drop) * generator.normal(1, 0.6, n_items) * np.sign(drop if metric.higher_is_better else -drop)
        if perturbation.kind == "own kind" and metric.name == "helpfulness":
            spread[3:] = 0
        scores.append(np.where(is_possible, before - spread, np.nan))
    return np.array(scores), is_possible


def _examples(scored: Scored) -> Iterator[Example]:
    for perturbation, scores in zip(scored.plan.perturbations, scored.damaged, strict=True):
        for metric, before, after in zip(scored.metrics, scored.originals, scores, strict=True):
            drops = before - after
            if np.isnan(drops).all():
                continue
            for which, item in (("largest", int(np.nanargmax(drops))), ("smallest", int(np.nanargmin(drops)))):
                source, scores_of = scored.collection.items[item], (float(before[item]), float(after[item]))
                texts = source.text, source.text.replace("に", "へ") + "本当？"
                yield Example(perturbation.name, metric.name, which, source.id, *texts, *scores_of)


def picture_of(finding, name):
    return next(picture.chart for picture in finding.pictures if picture.name == name)
