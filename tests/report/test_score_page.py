"""The page of a table of scores."""

import re
from dataclasses import replace

import numpy as np
import pytest
from makers.hostile import INJECTED, NAMES, acting
from makers.pages import Outline, check_policy, overview_in
from pfgen_fast import TrialsError
from pfgen_fast.report.score_page import MAX_ITEMS, write_score_report
from pfgen_fast.runs.comparison import compare_models
from pfgen_fast.runs.items.item_table import ItemScores
from pfgen_fast.runs.items.ranking import rank_models


def scores(names: tuple[str, ...] = ("org/a", "org/b", "c"), **changes: object) -> ItemScores:
    rng = np.random.default_rng(3)
    values = np.clip(np.linspace(0.8, 0.3, len(names))[:, None] + rng.normal(0, 0.2, (len(names), 24)), 0, 1)
    values[1, 5] = np.nan
    items = tuple(f"q{number:02}" for number in range(24))
    subjects = tuple(("maths", "art")[number % 2] if number < 23 else "law" for number in range(24))
    return ItemScores(names, items, {"accuracy": values, "tokens": 100 * values}, **{"subjects": subjects, **changes})


def test_the_page_has_the_figures_of_the_leaderboard(tmp_path):
    path = tmp_path / "page.html"
    write_score_report(scores(), path, name="scores.csv")
    page = path.read_text(encoding="utf-8")
    check_policy(page)
    overview, result = overview_in(page), rank_models(scores())
    for run, model in zip(overview["runs"], result.models, strict=True):
        figures = (model.model, model.rank, model.score.mean, model.score.low)
        assert (run["name"], run["rank"], run["score"], run["low"]) == figures
        assert run["metric 0"] == model.metrics["tokens"]
        assert tuple(run["ranks"]) == model.ranks
    assert [question["subject"] for question in overview["questions"][-2:]] == ["maths", "law"]
    assert len(overview["questions"]) == 23
    assert "ranked on the 23 of 24 items for which all 3 models have a score." in page
    assert not overview["has_answers"]


def test_names_of_any_kind_are_only_text(tmp_path):
    path = tmp_path / "page.html"
    hostile = scores(NAMES, subjects=NAMES[:24])
    items = tuple(name * 3 for name in NAMES[:24])
    table = ItemScores(NAMES, items, {NAMES[5]: hostile.values["accuracy"], NAMES[0]: hostile.values["tokens"]},
                       subjects=NAMES[:24])  # fmt: skip
    write_score_report(table, path, name=NAMES[5])
    page = path.read_text(encoding="utf-8")
    check_policy(page)
    assert not acting(page)
    assert f"document.title='{INJECTED}'" not in "".join(text for tag, text in Outline(page).code if tag == "script")


def test_pages_that_would_be_too_large_are_refused(tmp_path):
    large = ItemScores(("a",), tuple(map(str, range(MAX_ITEMS + 1))), {"accuracy": np.zeros((1, MAX_ITEMS + 1))})
    with pytest.raises(TrialsError, match="too many for a page, which holds 20,000 items"):
        write_score_report(large, tmp_path / "page.html", name="large")


def test_the_command_writes_one_file(call, tmp_path):
    table, page = tmp_path / "scores.csv", tmp_path / "page.html"
    table.write_text("item,model,score\n" + "".join(f"{n % 8},{'ab'[n // 8]},{n % 3}\n" for n in range(16)))
    code, out, _ = call("report", table, "-o", page)
    assert (code, out.startswith(f"2 models: {page}")) == (0, True)
    for arguments in (("-o", tmp_path / "folder"), ("--markdown",)):
        assert "a table of scores becomes a page in one file" in call("report", table, *arguments)[2]
    assert "it is for tables: --metric" in call("report", tmp_path, "--metric", "x", "-o", page)[2]


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["plain", "clusters", "binary"])
def test_models_and_items_can_be_explored(open_tab, tmp_path, kind):
    clusters = tuple(f"d{number // 3}" for number in range(24)) if kind == "clusters" else ()
    path, table = tmp_path / "page.html", scores(clusters=clusters)
    if kind == "binary":
        marks = np.where(np.isnan(table.values["accuracy"]), np.nan, table.values["accuracy"] > 0.5)
        table = replace(table, values={**table.values, "accuracy": marks})
    write_score_report(table, path, name="scores.csv")
    result = rank_models(table)
    tab = open_tab(path)
    assert tab.page.locator("#runs tbody th").all_inner_texts() == [part.model for part in result.models]
    tab.page.get_by_role("link", name="Subjects").click()
    cell = tab.page.locator("#subject-map [role=grid] a")
    cell.wait_for()
    subjects = "subjects.map((_, place) => [subjectName(place), subjectText(0, place, average)])"
    texts = dict(tab.page.evaluate(f"figures().then(({{ average }}) => {subjects})"))
    assert cell.get_attribute("aria-label").endswith(next(iter(texts.values())))
    expected = dict(zip(result.subject_table.heads()[1:], result.subject_table.texts()[0][1:], strict=True))
    for head, text in texts.items():
        figures = [list(map(float, re.findall(r"[0-9.]+", part))) for part in (text, expected.pop(head))]
        shown, exact = figures
        assert len(shown) == (1 if "(1)" in head else len(exact))  # too few for an interval
        assert shown == pytest.approx(exact[: len(shown)], abs=0.06)  # as many digits as the interval bears
    assert not expected
    tab.page.get_by_role("link", name="Plots").click()
    tab.page.locator('.plot[data-kind="scatter"] svg').first.wait_for()
    compared = open_tab(path, "#/compare=org/a..c").page
    common = ~np.isnan(table.values["accuracy"]).any(axis=0)
    verdict = compare_models(table.only(models=["org/a", "c"], metrics=["accuracy"], items=common)).verdict
    compared.get_by_text(verdict, exact=True).wait_for()
    if kind == "binary":
        of_a, of_c = (table.values["accuracy"][number][common] for number in (0, 2))
        only_a = [item for item, a, c in zip(np.array(table.items)[common], of_a, of_c, strict=True) if a > c]
        compared.get_by_role("button", name=f"Only A right: {len(only_a)}").click()
        assert compared.locator(".brushed h4 b").all_inner_texts() == only_a
        assert compared.get_by_role("button", name="Only B right").is_visible()
    item = open_tab(path, "#/question=q03").page
    assert item.locator("#details tbody th").all_inner_texts()[0] in table.models
    model = open_tab(path, "#/run=c").page
    assert "Rank 3 of 3" in model.locator("#details").inner_text()
    model.locator("#details .of-questions").wait_for()
    narrow = open_tab(path, viewport={"width": 400, "height": 800}, color_scheme="dark")
    assert narrow.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert tab.faults() == narrow.faults() == []
