"""What a prototype of the rules measured on published answers: two of GPT-4o to each question, as if independent."""

from __future__ import annotations

import csv
import math

import pytest
from makers import published
from makers.published import DISCERNMENT, needs_discernment_data
from pfgen_fast import Scorer
from pfgen_fast.lab.discernment.originals import from_run
from pfgen_fast.lab.discernment.running import discern
from pfgen_fast.lab.evaluators.ngram_evaluator import NgramEvaluator
from pfgen_fast.lab.statistics.signed_rank import signed_rank

DIGITS = {"share_lower": 3, "mean_drop": 4, "rank_biserial": 3, "d": 3, "exact_d": 3, "reverse_d": 3}


@pytest.mark.slow
@published.needs_published_runs
@needs_discernment_data
def test_the_measured_figures_come_out_to_their_digits():
    suite = published.suite()
    items = from_run(published.FOLDER / "result" / "openai" / "gpt-4o", suite)
    found = discern(NgramEvaluator(Scorer(suite)), items)
    assert found.scored.originals["average"].mean() == pytest.approx(0.861, abs=5e-4)
    cells = {(row["kind"], row["permille"], row["metric"]): row for row in found.cells}
    with (DISCERNMENT / "measured-gpt-4o.csv").open(encoding="utf-8", newline="") as file:
        measured = list(csv.DictReader(file))
    assert len(measured) == 376
    scores = {(of.perturbation.kind, of.perturbation.permille): of.scores for of in found.scored.perturbed}
    for row in measured:
        permille = int(row["permille"]) if row["permille"] else None
        cell = cells[row["perturbation"], permille, row["metric"]]
        counts = (cell["n_items"], cell["n_impossible"], cell["n"])
        assert counts == (int(row["n_items"]), int(row["impossible"]), int(row["n"])), row
        metric = row["metric"]
        of_items = signed_rank(found.scored.originals[metric], scores[row["perturbation"], permille][metric])
        for name, digits in DIGITS.items():
            value = math.nan if cell[name] is None else round(getattr(of_items, name), digits)
            assert value == pytest.approx(float(row[name] or "nan"), rel=0, abs=1e-12, nan_ok=True), row
