"""The pictures in the report of tests of evaluators."""

import dataclasses
import re

import numpy as np
import pytest
from makers.pages import contrast
from pfgen_fast.lab.evaluators.evaluator import Metric
from pfgen_fast.report.charts import drawn
from pfgen_fast.report.discernment.discernment_writing import finding_of
from pfgen_fast.report.drawing import DIVERGING, WHITE_ON
from pfgen_fast.report.pages import source
from report.discernments import METRICS, N_ITEMS, a_discernment, picture_of


@pytest.fixture(scope="module")
def ngram_finding():
    return finding_of([a_discernment()])


def with_scores(result, values):
    """A discernment in which the originals and each perturbation have these scores of fluency."""
    damaged = np.broadcast_to(values, result.scored.damaged.shape)
    return dataclasses.replace(
        result, scored=dataclasses.replace(result.scored, originals=values[None], damaged=damaged)
    )


def test_the_heat_map_tells_undefined_few_rewarded_and_saturated_cells_apart(ngram_finding):
    chart = picture_of(ngram_finding, "heat")
    titles = ["characters", "words", "sentences", "changes that should not matter: a fall is a fault"]
    assert [group.title for group in chart.groups] == titles
    rows = {row.name: row.columns for group in chart.groups for row in group.rows}
    assert {len(columns) for columns in rows.values()} == {len(METRICS)}
    assert [len(rows[name][0]) for name in ("characters deleted, 1 to 30 %", "text replaced by another")] == [5, 1]
    assert {cell.text for cells in rows["numbers changed, 20 to 100 %"] for cell in cells} == {"–"}
    still = rows["statements negated, 20 to 100 %"][2][0]
    assert (still.value, still.text, still.is_hatched) == (0, "0.0", False)  # no score changes
    assert "20 % of statements negated, helpfulness: mean drop 0.000" in still.meaning
    assert rows["own kind (major)"][2][0].is_hatched  # three scores change
    cut = rows["characters cut off the end, 10 to 80 %"][1][-1]
    assert cut.text.endswith("↑")
    assert cut.value < -0.5
    assert rows["text replaced by another"][0][0].text.startswith("≥")


def test_curves_have_a_panel_for_each_kind_with_bands_and_the_level_of_the_worst_control(ngram_finding):
    chart = picture_of(ngram_finding, "curves")
    titles = ["characters deleted (n = 40)", "statements negated (n = 30)", "characters cut off the end (n = 40)"]
    assert [panel.title for panel in chart.panels] == titles
    panel = chart.panels[0]
    assert [line.name for line in panel.lines] == [metric.name for metric in METRICS]
    assert panel.lines[0].low is not None
    assert panel.levels[0] == pytest.approx(panel.lines[0].y[0] - 0.2, abs=0.06)
    assert panel.levels[2] is None  # no control lowers helpfulness
    assert picture_of(ngram_finding, "shares").panels[0].lines[0].y[-1] > 0.8


def test_metrics_of_other_sizes_have_curves_of_their_own():
    metrics = (Metric("bleu", high=100.0), Metric("chrf"), Metric("rouge", high=1.0))
    result = a_discernment("metrics", metrics=metrics)
    factors = {"bleu": 70, "chrf": 70, "rouge": 1}
    larger = tuple(dataclasses.replace(curve, mean=curve.mean * factors[curve.metric]) for curve in result.curves)
    finding = finding_of([dataclasses.replace(result, curves=larger)])
    lines = [[line.name for line in picture_of(finding, name).panels[0].lines] for name in ("curves", "curves-2")]
    assert lines == [["bleu", "chrf"], ["rouge"]]


def test_scores_of_originals_and_damaged_texts_are_correlated_without_controls(ngram_finding):
    panel = picture_of(ngram_finding, "scores").panels[0]
    scored = a_discernment().scored
    n = np.isfinite(scored.damaged[[not change.is_control for change in scored.plan.perturbations], 0]).sum()
    assert re.fullmatch(rf"fluency: Pearson 0\.\d{{3}} \({n} pairs\)", panel.title)
    assert panel.has_diagonal


def test_constant_scores_have_no_correlation_but_are_drawn():
    still = with_scores(a_discernment(metrics=METRICS[:1]), np.full(N_ITEMS, 3.0))
    chart = picture_of(finding_of([still]), "scores")
    assert "no correlation" in chart.panels[0].title
    drawn(chart)


def test_distributions_are_shares_of_the_texts_of_each_group_and_few_scores_are_not_put_into_bins(ngram_finding):
    chart = picture_of(ngram_finding, "distributions")
    assert [panel.title for panel in chart.panels] == [metric.name for metric in METRICS]
    names = ["originals", "characters damaged", "words damaged", "sentences damaged", "harmless changes"]
    for panel in chart.panels:
        assert [line.name for line in panel.lines] == names
        assert all(line.y.sum() == pytest.approx(1) and len(line.y) == 20 for line in panel.lines)
    few = with_scores(a_discernment(metrics=METRICS[:1]), np.array([1.0, 2, 2, 5] * (N_ITEMS // 4)))
    line = picture_of(finding_of([few]), "distributions").panels[0].lines[0]
    assert (line.x.tolist(), line.y.tolist()) == ([1, 2, 5], [0.25, 0.5, 0.25])


@pytest.mark.slow
def test_texts_on_the_heat_map_can_be_read_in_both_themes():
    style = source("experiment.css")
    themes = re.findall(r"--diverging-(\d): light-dark\((#\w{6}), (#\w{6})\)", style)
    assert [light for _, light, _ in themes] == list(DIVERGING)
    rules = re.findall(r"((?::is\()?\.on-diverging-[^{\n]*)\{ color: ([^;]*); \}", style)
    fills = {number: fill for classes, fill in rules for number in re.findall(r"on-diverging-(\d)", classes)}
    for number, *grounds in themes:
        texts = re.findall(r"#\w{3}", fills[number])
        for ground, text in zip(grounds, texts if len(texts) == 2 else texts * 2, strict=True):
            assert contrast(ground, "#000000" if text == "#000" else "#ffffff") >= 4.5
        assert (fills[number].startswith("light-dark(#fff")) == (int(number) in WHITE_ON)
