from __future__ import annotations

import numpy as np
import pytest
from pfgen_fast import ExperimentError
from pfgen_fast.experiments import RunMeans
from pfgen_fast.experiments.parts import Rise, parts, rise


def means(n=20):
    fluency = np.r_[np.linspace(0.1, 0.9, n), 1.1, 0.9]
    helpfulness = np.r_[np.where(fluency[:n] > 0.5, fluency[:n] - 0.3, 0), 1.0, 0.5]
    truthfulness = fluency + 0.05
    return RunMeans(
        tuple(f"run{number}" for number in range(n + 2)),
        (*(f"org/model{number}" for number in range(n)), "system/ground-truth", "system/criteria"),
        {
            "fluency": fluency,
            "truthfulness": truthfulness,
            "helpfulness": helpfulness,
            "score": (fluency + truthfulness + helpfulness) / 3,
            "length": np.full(n + 2, 100.0),
        },
    )


def table(finding, name):
    (found,) = (table for table in finding.tables if table.name == name)
    return found


def test_the_hardest_part_comes_last_and_the_ceiling_is_the_best_run_beside_the_yardsticks():
    finding = parts(means())
    rows = table(finding, "difficulty").rows
    assert [row[0] for row in rows] == ["truthfulness", "fluency", "helpfulness"]
    assert rows[1][1] == pytest.approx(0.5)  # without the yardsticks
    assert finding.answer.startswith("Helpfulness is the hardest part")
    assert table(finding, "orders").rows == (("truthfulness > fluency > helpfulness", 20, 1.0),)
    ceiling, systems = table(finding, "ceiling"), ("system/ground-truth", "system/criteria")
    assert ceiling.columns[3:] == tuple(column for name in systems for column in (name, f"best run / {name}"))
    row = next(row for row in ceiling.rows if row[0] == "fluency")
    assert row == ("fluency", "run19", pytest.approx(0.9), 1.1, pytest.approx(0.9 / 1.1), 0.9, pytest.approx(1.0))
    runs = means()
    for part in ("fluency", "truthfulness", "helpfulness"):
        runs.means[part][0] = 0.0
    orders = dict(row[:2] for row in table(parts(runs), "orders").rows)
    assert orders["fluency = truthfulness = helpfulness"] == 1


def test_helpfulness_rises_where_it_leaves_zero():
    finding, flat = parts(means()), means()
    rows = {row[0]: row[1:4] for row in table(finding, "rise").rows}
    assert rows["0.1"] == (10, pytest.approx(0.5, abs=0.03), 0)
    assert "from fluency 0.50 on" in finding.answer
    flat.means["helpfulness"][:] = 0.0  # all on one side
    assert table(parts(flat), "rise").rows == ()
    assert "rises" not in parts(flat).answer


def test_the_value_that_separates_best_does_not_depend_on_the_order_of_runs():
    x, y = np.array([5.0, 1.0, 4.0, 2.0, 3.0, 6.0]), np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    assert rise(x, y, 0.5) == Rise(4.5, 1, 3)
    assert rise(np.ones(4), np.array([0.0, 0.0, 1.0, 1.0]), 0.5) is None  # equal values cannot separate
    assert rise(np.arange(4.0), np.array([1.0, 1.0, 0.0, 0.0]), 0.5) is None  # falls


def test_fewer_than_three_models_are_no_experiment():
    runs = means()
    with pytest.raises(ExperimentError, match=r"^2 runs of models: expected at least 3$"):
        parts(runs.chosen([0, 1, 20, 21]))
