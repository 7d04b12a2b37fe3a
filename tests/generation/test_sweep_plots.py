"""Pictures of sweeps, and sweeps in the report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from pfgen_fast.generation.sweep import grid, interval_text, sweep
from pfgen_fast.report.drawing import style
from pfgen_fast.report.sweep_plot import _figure, write_picture
from pfgen_fast.report.sweeps import lines, swept_values


def test_too_few_trials_for_an_interval_are_drawn_without(mini, tmp_path):
    few = list(sweep(mini, grid("ngram", {"order": [3, 5]}), trials=3, output=tmp_path / "runs"))
    intervals = [point.intervals["score"] for point in few]
    assert list(map(interval_text, intervals)) == [f"{interval.value:.4f}" for interval in intervals]
    write_picture(few, tmp_path / "x.svg", until_interval=0.01)


def test_intervals_after_one_number_of_trials_are_drawn_as_points(mini, tmp_path):
    (one,) = sweep(mini, grid("ngram", {"order": [5]}), trials=13, output=tmp_path / "runs")
    known = [step for step in one.curve if step.half_width is not None]
    shown = [replace(one, curve=known[:n]) for n in (1, 2)]
    with style():
        figures = [_figure([point], None, True) for point in shown]
    of_one, of_two = ([line.get_marker() for line in figure.axes[-2].get_lines()] for figure in figures)
    assert of_one == ["o"]
    assert of_two == [""]


def texts_of(svg):
    return ["".join(element.itertext()).strip() for element in ElementTree.fromstring(svg).iter()]


def test_a_picture_names_its_lines(mini, tmp_path):
    few = list(sweep(mini, grid("ngram", {"mode": ["qa"], "order": [3, 5]}), trials=10, output=tmp_path / "runs"))
    write_picture(few, tmp_path / "x.svg", until_interval=0.01)
    drawn = (tmp_path / "x.svg").read_bytes()
    assert {"order", "order 3", "order 5", "half of the interval; dashed: ±0.01"} <= {*texts_of(drawn)}
    write_picture(few, tmp_path / "x.svg", until_interval=0.01)
    assert (tmp_path / "x.svg").read_bytes() == drawn
    write_picture(few, tmp_path / "x.png", until_interval=0.01)
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


# ---- Sweeps in the report


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
def test_other_runs_are_none(configs):
    assert swept_values(configs) is None


def test_lines_hold_all_other_parameters_fast():
    points = [{"t": t, "mode": mode} for t in (1.0, 0.5, 10.0) for mode in ("qa", "chat")]
    of_t = lines(points, "t")
    assert [(line.name, line.points) for line in of_t] == [("mode qa", (2, 0, 4)), ("mode chat", (3, 1, 5))]
    assert [(line.name, line.points) for line in lines(points, "mode")] == [
        ("t 0.5", (2, 3)),
        ("t 1", (0, 1)),
        ("t 10", (4, 5)),
    ]


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
    assert [[step[0] for step in curve] for curve in shown["curves"]] == [[10, 11]] * 4
    # Without its trials a run has no intervals, but the page is still written.
    for path in (tmp_path / "runs").rglob("trial*"):
        path.unlink()
    assert call(*report)[0] == 0
