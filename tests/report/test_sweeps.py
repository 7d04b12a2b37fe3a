"""Runs of a sweep in the report: which runs are one, and what it shows."""

import json
import re

import pytest
from pfgen_fast.report.overview import lines, swept_values


def test_runs_that_differ_in_few_parameters_are_a_sweep():
    configs = [
        {"model": f"ngram/order-{order}", "order": order, "temperature": t, "stop": ["Q:"]}
        for order in (3, 5)
        for t in (0.5, 1)
    ]
    assert swept_values(configs) == [{"order": o, "temperature": t} for o in (3.0, 5.0) for t in (0.5, 1.0)]
    # A model that does not follow from the other parameters is a parameter.
    both = [{**config, "model": model} for config in configs for model in ("a", "b")]
    assert set(swept_values(both)[0]) == {"model", "order", "temperature"}
    assert swept_values([{"mode": "qa"}, {"mode": "qa", "top_k": 5}]) == [{"top_k": "–"}, {"top_k": 5.0}]


@pytest.mark.parametrize(
    "configs",
    [
        [{"a": 1}],
        [{"a": 1}, {"a": 1}],
        [{"a": 1}, None],
        [{"a": n, "b": n % 7, "c": n % 5, "d": n % 3, "e": n % 2} for n in range(20)],
        [{"model": f"m{n}"} for n in range(31)],
    ],
    ids=["one", "equal", "unknown", "many parameters", "many values"],
)
def test_other_runs_are_not_a_sweep(configs):
    assert swept_values(configs) is None


def test_all_other_parameters_are_constant_along_a_line():
    points = [{"t": t, "mode": mode} for t in (1.0, 0.5, 10.0) for mode in ("qa", "chat")]
    assert list(lines(points, "t").items()) == [("mode qa", [2, 0, 4]), ("mode chat", [3, 1, 5])]
    assert list(lines(points, "mode").items()) == [("t 0.5", [2, 3]), ("t 1", [0, 1]), ("t 10", [4, 5])]


@pytest.mark.slow
def test_the_page_of_a_sweep_plots_it(tmp_path, call):
    grid = ("--order", 3, "--order", 5, "--temperature", 0.5, "--temperature", 1)
    call("sweep", "-e", "ngram", "-s", "mini", "-n", 11, *grid, "-o", tmp_path / "runs")
    report = ("report", tmp_path / "runs", "-s", "mini", "-o", tmp_path / "page.html")
    assert call(*report)[0] == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (stored,) = re.findall(r'<script type="application/json" id="overview">(.*?)</script>', page)
    shown = json.loads(stored)["sweep"]
    assert [parameter["name"] for parameter in shown["parameters"]] == ["order", "temperature"]
    assert [parameter["values"] for parameter in shown["parameters"]] == [[3, 5], [0.5, 1]]
    assert all(
        set(intervals) == {"score", "fluency", "truthfulness", "helpfulness"} for intervals in shown["intervals"]
    )
    # Without its trials a run has no intervals, but the page is still written.
    for path in (tmp_path / "runs").rglob("trial*"):
        path.unlink()
    assert call(*report)[0] == 0
