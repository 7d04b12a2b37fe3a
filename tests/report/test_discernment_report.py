"""The report of tests of evaluators: its files, words, examples and pictures."""

import csv
import dataclasses
import re

import numpy as np
import pytest
from makers.hostile import markdown_tokens
from makers.pages import check_policy, contrast, leave_out_drawing
from pfgen_fast.lab.discernment.discernment_plan import Plan, paper_facts, paper_plan, perturbation, perturbations_named
from pfgen_fast.lab.discernment.discernment_result import CELL_COLUMNS, Example
from pfgen_fast.lab.discernment.kinds import KINDS, in_words
from pfgen_fast.lab.evaluators.evaluator import Metric
from pfgen_fast.report.charts import drawn
from pfgen_fast.report.discernment import write_discernment
from pfgen_fast.report.discernment.discernment_writing import finding_of
from pfgen_fast.report.drawing import DIVERGING, LEVELS, WHITE_ON, WHITE_ON_LEVELS, stored
from pfgen_fast.report.findings import finding_page
from pfgen_fast.report.pages import source
from report.discernments import DROPS, METRICS, N_ITEMS, a_discernment, a_plan, picture_of

UNDEFINED = {"d", "noticed", "mean_drop", "ceiling_d", "reverse_d", "rank_biserial"}
FIGURES = {"verdicts", "perturbations", "summary", "profile", "cells", "lengths", "work", "examples"}
PICTURES = {"lightest", "heat", "curves"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of a test, whose pictures are empty."""
    created = tmp_path_factory.mktemp("one")
    with pytest.MonkeyPatch.context() as patch:
        leave_out_drawing(patch)
        write_discernment([a_discernment()], created)
    return created


@pytest.fixture(scope="module")
def ngram_finding():
    return finding_of([a_discernment()])


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(finding, name):
    (result,) = (item for item in finding.tables if item.name == name)
    return result


def small(**changes):
    """A result that is drawn fast."""
    perturbations = (*(perturbation("char_delete", permille=rate) for rate in (10, 30)), perturbation("identity"))
    return a_discernment(plan=Plan(perturbations), metrics=METRICS[:1], **changes)


# --- files


@pytest.mark.slow
def test_a_test_is_a_page_markdown_pictures_and_tables_whose_undefined_cells_are_empty(folder):
    expected = {"discernment.html", "discernment.md"}
    expected |= {f"discernment-{name}.csv" for name in FIGURES}
    expected |= {f"discernment-{name}.{ending}" for name in PICTURES for ending in ("png", "svg")}
    assert {path.name for path in folder.iterdir()} == expected
    check_policy((folder / "discernment.html").read_text())
    text = (folder / "discernment-cells.csv").read_text()
    assert text.partition("\n")[0] == ",".join(CELL_COLUMNS)
    rows = read(folder / "discernment-cells.csv")
    assert len(rows) == len(a_plan().perturbations) * len(METRICS)
    impossible = [row for row in rows if row["kind"] == "number_change"]
    assert {(row["d"], row["noticed"], row["mean_drop"], row["n_impossible"]) for row in impossible} == {
        ("", "", "", str(N_ITEMS))
    }
    assert {row["noticed"] for row in rows} == {"true", "false", ""}
    assert not re.search(r"\bnan\b|\binf\b|None", text, re.IGNORECASE)
    written = [float(row["mean_drop"]) for row in rows if row["mean_drop"]]
    known = [row["mean_drop"] for row in a_discernment().cells if row["mean_drop"] is not None]
    assert written == pytest.approx(known, rel=1e-11, abs=0)  # twelve digits
    assert written != known


@pytest.mark.nightly
def test_all_pictures_of_a_test_are_drawn_and_the_same_test_gives_the_same_bytes(tmp_path):
    first, again = (write_discernment([a_discernment()], tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    for name in PICTURES:
        assert (tmp_path / f"a/discernment-{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<path" in (tmp_path / f"a/discernment-{name}.svg").read_text(encoding="utf-8")


# --- words


def test_a_sentence_names_what_is_noticed_missed_rewarded_and_penalised(ngram_finding):
    assert ngram_finding.question == "How well does ngram notice damage?"
    assert ngram_finding.first == [
        "ngram notices 5 of 5 kinds of damage with at least one of its 4 scores, but penalises 1 of 2 harmless "
        "changes.",
        "Not noticed by some score: statements negated; rewarded by some score: characters cut off the end; penalised: "
        "other punctuation marks.",
    ]
    assert "does not prove that there is no effect" in ngram_finding.paragraph


def verdicts_of(finding):
    return {row[0]: row[1:] for row in table(finding, "verdicts").rows}


def test_a_table_says_which_damage_each_score_notices_misses_rewards_and_penalises(ngram_finding):
    assert table(ngram_finding, "verdicts").heads() == ["damage", *(metric.name for metric in METRICS)]
    shown = verdicts_of(ngram_finding)
    assert shown["statements negated"] == ("20 %", "20 %", "never", "20 %")
    assert shown["characters cut off the end"][1] == "rewarded"
    assert shown["numbers changed"] == (None,) * 4
    assert shown["own kind"][2] == "unclear"  # only few scores change
    assert list(shown)[-2:] == ["other punctuation marks", "same text scored again"]
    assert shown["same text scored again"] == ("ignored",) * 4


@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_where_nothing_is_defined_there_is_a_report_all_the_same(n):
    result, undefined = small(), {}
    for table, names in {"cells": UNDEFINED, "summary": {"average", "minimum"}, "profile": {"verdict"}}.items():
        undefined[table] = tuple({**row, **dict.fromkeys(names)} for row in getattr(result, table))
    finding = finding_of([dataclasses.replace(result, **undefined)] * n)
    assert finding.answer
    for picture in finding.pictures if n == 2 else finding.pictures[:1]:
        stored(drawn(picture.chart), "svg")


# --- several evaluators


def test_response_styles_are_pearsons_correlations_of_scores_averaged_over_metrics():
    tests = [a_discernment(), a_discernment("judge", seed=1)]
    scores = [test.scored.originals[:3].mean(axis=0) for test in tests]  # without the mean of the other metrics
    finding = finding_of(tests)
    styles = table(finding, "styles")
    assert [column.head for column in styles.columns][3:] == ["mean", "standard deviation", "with ngram", "with judge"]
    pearson = np.corrcoef(*scores)[0, 1]
    for row, own, correlations in zip(styles.rows, scores, ((1, pearson), (pearson, 1)), strict=False):
        assert row[0] == "original"
        assert row[2:] == pytest.approx((N_ITEMS, own.mean(), own.std(ddof=1), *correlations))
    shares = picture_of(finding, "styles").panels
    assert [panel.title for panel in shares] == ["original", "char_delete/10"]
    assert all(line.y.sum() == pytest.approx(1) for panel in shares for line in panel.lines)
    assert picture_of(finding, "correlations").values[0] == pytest.approx((1, pearson))
    other = a_discernment("other", n_items=N_ITEMS + 2)
    assert "styles" not in [part.name for part in finding_of([tests[0], other]).tables]  # of other items


def test_several_evaluators_stand_side_by_side():
    listed = [a_discernment(), a_discernment("judge <b>", metrics=METRICS[:1], seed=3, weights="assumed")]
    finding = finding_of(listed)
    assert finding.question == "How well do ngram, judge <b> notice damage?"
    chart = picture_of(finding, "averages")
    assert ((chart.low < chart.values) & (chart.values < chart.high)).all()
    assert picture_of(finding, "lightest").columns == chart.names == ("ngram", "judge <b>")
    assert [row[:3] for row in table(finding, "differences").rows] == [("ngram", "judge <b>", "answers")]
    assert [picture.name for picture in finding.pictures][:5] == ["lightest", "averages", "heat", "curves", "curves-2"]
    cells = table(finding, "cells")
    assert {row["evaluator"] for row in cells.to_dicts()} == {"ngram", "judge <b>"}
    assert "evaluator" in cells.heads()
    faults, about = finding.sentences[1:]
    assert faults == "Penalised: other punctuation marks (by all)."
    assert about.startswith("d measures how consistently scores fall; the mean drop shows how far. ")
    close = r"3\.5, not distinguished from ngram \(\+0\.1, 95 % interval -0\.5 to 0\.7\)\."
    assert re.fullmatch(f"judge <b> has the highest average d, {close}", finding.answer)
    above = finding_of([listed[0], a_discernment("weak", metrics=METRICS[1:2])])
    assert above.answer.startswith("ngram notices damage best: it has the highest average d, ")
    assert re.search(r", significantly above weak \(\+\d\.\d, 95 % interval \d\.\d to \d\.\d\)\.$", above.answer)
    assert above.sentences[1] == f"Rewarded: characters cut off the end (weak). {faults}"
    assert finding.paragraph.startswith("ngram notices 5 of 5 kinds of damage, but penalises 1 of 2 harmless changes.")
    assert re.search('(?s)id="in-words".* class="examples".* id="picture-heat" open', "".join(finding_page(finding)))
    assert re.match(r"item \d+: ngram: fluency .*; weak: truthfulness .* → ", above.examples[0].about)
    cells = [cells for group in picture_of(finding, "heat").groups for row in group.rows for cells in row.columns]
    assert sum(map(len, cells)) == sum(len(own.perturbations) for own in listed)
    for item in finding_of(listed[:1]).tables:  # a column that is the same everywhere is in the file only
        assert not {"evaluator", "task"} & set(item.heads()) or item.name in ("work", "examples")


def test_assumed_weights_are_called_assumed_wherever_they_are_used():
    finding = finding_of([a_discernment(weights="assumed")])
    shown = [item for item in finding.tables if "weighted_d" in str(item.columns) or item.name == "summary"]
    assert ["assumed weights" in item.title for item in shown] == [True] * 2
    both = finding_of([a_discernment(weights="assumed"), a_discernment("judge", weights="assumed", seed=1)])
    assert "assumed weights" in next(item.title for item in both.pictures if item.name == "weighted-averages")
    assert any("assumed weights" in note for note in finding.notes)
    titles = " ".join(item.title for item in finding_of([a_discernment(weights="votes.csv")]).tables)
    assert ("assumed" in titles, "weights of votes.csv" in titles) == (False, True)


# --- examples


def test_an_example_is_a_text_whose_damage_a_metric_does_not_notice_with_all_scores(ngram_finding):
    example, *others = ngram_finding.examples
    assert {pair.kind for pair in others} == {*DROPS, "own kind"} - {"negate", "number_change"}
    assert others[1].title == "80 % of characters cut off the end: rewarded by truthfulness"
    assert example.title == "all statements negated: not noticed by helpfulness"
    assert re.match(r"item \d+: fluency .* → .*, average ", example.about)
    assert [text for text, change in example.changes if change == "deleted"] == ["に"]
    assert example.to_markdown() in ngram_finding.to_markdown()
    assert not finding_of([a_discernment(examples=())]).examples


def test_every_kind_and_degree_has_its_own_words():
    plans = [Plan(perturbations_named(name)) for name in KINDS] + [
        paper_plan(row["dataset"]) for row in paper_facts("datasets")
    ]
    for plan in plans:
        words = [in_words(item.kind, item.degree, item.permille, item.k) for item in plan.perturbations]
        assert len(set(words)) == len(words)
        assert not [text for text in words if re.search(r"[_/{}]", text) or text in KINDS]
    assert len({in_words(name) for name in KINDS}) == len(KINDS)
    named = [("char_delete", "", 100, None), ("char_swap", "k1", None, 1), ("word_drop", "minor", None, 5),
             ("sentence_delete", "1000", 1000, None), ("grammar_error", "minor", None, None),
             ("own {kind}", "x", None, None)]  # fmt: skip
    assert [in_words(*part) for part in named] == [
        *("10 % of characters deleted", "1 character pair swapped", "5 words deleted here and there"),
        *("all sentences but one deleted", "grammar errors (minor)", "own {kind} (x)"),
    ]


HOSTILE = "</script><img src=x onerror=alert(1)> \u202e\u2066abc \x00\x1b[31m \ud800 &amp; \"'` |*_[a](b)\n# $x$ =1+1"


@pytest.mark.parametrize("is_drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_hostile_texts_and_names_are_harmless_everywhere(tmp_path, monkeypatch, is_drawn):
    if not is_drawn:
        leave_out_drawing(monkeypatch)
    kind = dataclasses.replace(a_plan().perturbations[0], kind=HOSTILE)
    example = Example(kind.name, HOSTILE, "largest", HOSTILE, HOSTILE, HOSTILE + "!", 1.0, 0.5)
    result = a_discernment(HOSTILE, metrics=(Metric(HOSTILE),), plan=Plan((kind,), HOSTILE), notes=(HOSTILE,),
                          warnings=(HOSTILE,), weights=HOSTILE, examples=(), signature=HOSTILE)  # fmt: skip
    first, *others = result.scored.collection.items
    collection = dataclasses.replace(result.scored.collection, items=(dataclasses.replace(first, id=HOSTILE), *others))
    result = dataclasses.replace(
        result, scored=dataclasses.replace(result.scored, collection=collection, examples=(example,))
    )
    write_discernment([result, result], tmp_path)
    page = (tmp_path / "discernment.html").read_text(encoding="utf-8")
    check_policy(page)
    assert "<img" not in page
    for path in tmp_path.iterdir():
        if path.suffix != ".png":
            assert not re.search("[\x00\x1b\u202e\u2066]", path.read_text(encoding="utf-8")), path
    tokens = markdown_tokens((tmp_path / "discernment.md").read_text(encoding="utf-8"))
    assert not [token for token in tokens if token.type in ("link_open", "html_inline", "html_block")]
    assert not [row for row in read(tmp_path / "discernment-examples.csv") if row["original"].startswith("=")]


def test_long_texts_are_cut_in_every_file(tmp_path, undrawn):
    text = "、" * 1_000_000
    example = Example("char_delete/10", "fluency", "largest", "item 1", text, text + "x", 1.0, 0.5)
    paths = write_discernment([small(examples=(example,))], tmp_path)
    assert max(path.stat().st_size for path in paths) < 2_000_000


# ---- Pictures


def test_the_heat_map_tells_undefined_few_rewarded_and_saturated_cells_apart(ngram_finding):
    chart = picture_of(ngram_finding, "heat")
    titles = ["characters", "words", "sentences", "harmless changes: a fall is a fault"]
    assert [group.title for group in chart.groups] == titles
    rows = {row.name: row.columns for group in chart.groups for row in group.rows}
    assert chart.groups[0].rows[0].degrees == ("1 %", "3 %", "7 %", "15 %", "30 %")
    assert {len(columns) for columns in rows.values()} == {len(METRICS)}
    assert [len(rows[name][0]) for name in ("characters deleted, 1 to 30 %", "text replaced by another")] == [5, 1]
    assert {cell.text for cells in rows["numbers changed, 20 to 100 %"] for cell in cells} == {"–"}
    still = rows["statements negated, 20 to 100 %"][2][0]
    assert (still.value, still.text, still.is_hatched) == (0, "0.0", False)  # no score changes
    assert "20 % of statements negated, helpfulness: mean drop 0.000" in still.meaning
    assert rows["own kind (major)"][2][0].is_hatched  # three scores change
    cut = rows["characters cut off the end, 10 to 80 %"][1][-1]
    assert cut.value == pytest.approx(float(cut.text), abs=0.05)  # colour and number are the same quantity
    assert (cut.value < -1, cut.is_fault) == (True, True)
    swapped = rows["text replaced by another"][0][0]
    assert (f"≥{swapped.value:.1f}", False) == (swapped.text, swapped.is_fault)
    assert [cell.is_fault for (cell,) in rows["other punctuation marks"]] == [True, True, False, True]


def test_the_lightest_damage_has_one_scale_and_what_is_never_noticed_rewarded_or_penalised_is_a_fault(ngram_finding):
    chart = picture_of(ngram_finding, "lightest")
    assert (ngram_finding.pictures[0].chart, ngram_finding.first_pictures) == (chart, [ngram_finding.pictures[0]])
    rows = {row.name: [cell for (cell,) in row.columns] for group in chart.groups for row in group.rows}
    deleted = rows["characters deleted, 1 to 30 %"][0]
    assert (deleted.text, deleted.start, deleted.tested) == ("1 %", 0, (0, pytest.approx(0.7386, abs=1e-4)))
    assert deleted.drop == pytest.approx(0.02, rel=0.5)  # of 1 % of characters
    swapped = rows["text replaced by another"][0]
    assert (swapped.text, swapped.tested, swapped.start) == ("yes", (1, 1), 1)
    faults = {(name, chart.columns[at], cell.text) for name, cells in rows.items() for at, cell in enumerate(cells)
              if cell.is_fault}  # fmt: skip
    punctuation = {("other punctuation marks", own, "penalised") for own in ("fluency", "truthfulness", "average")}
    assert faults == {("statements negated, 20 to 100 %", "helpfulness", "never"),
                      ("characters cut off the end, 10 to 80 %", "truthfulness", "rewarded"), *punctuation}  # fmt: skip
    assert not [cell for cells in rows.values() for cell in cells if cell.is_fault and cell.start is not None]


def test_curves_have_a_panel_for_each_kind_with_bands(ngram_finding):
    chart = picture_of(ngram_finding, "curves")
    titles = ["characters deleted (n = 40)", "statements negated (n = 30)", "characters cut off the end (n = 40)"]
    assert [panel.title for panel in chart.panels] == titles
    panel = chart.panels[0]
    assert [line.name for line in panel.lines] == [metric.name for metric in METRICS]
    assert panel.lines[0].low is not None


def test_metrics_of_other_sizes_have_curves_of_their_own():
    metrics = (Metric("bleu", high=100.0), Metric("chrf"), Metric("rouge", high=1.0))
    result = a_discernment("metrics", metrics=metrics)
    factors = {"bleu": 700, "chrf": 700, "rouge": 1}
    larger = tuple(dataclasses.replace(curve, mean=curve.mean * factors[curve.metric]) for curve in result.curves)
    cells = tuple({**cell, "mean_drop": (cell["mean_drop"] or 0) * factors[cell["metric"]]} for cell in result.cells)
    finding = finding_of([dataclasses.replace(result, curves=larger, cells=cells)])
    lines = [[line.name for line in picture_of(finding, name).panels[0].lines] for name in ("curves", "curves-2")]
    assert lines == [["bleu", "chrf"], ["rouge"]]
    drops = re.findall("<small>-?([^<]+)", "".join(finding_page(finding)))
    assert [{len(text.partition(".")[2]) for text in drops[at::3]} for at in (0, 2)] == [{1}, {3}]


@pytest.mark.slow
def test_texts_on_the_heat_map_can_be_read_in_both_themes():
    style = source("report.css")
    rules = re.findall(r"^(\.on-.*) \{ color: ([^;]*); \}", style, re.MULTILINE)
    colors = {name: color for names, color in rules for name in names.replace(".", "").split(", ")}
    for scale, lights, white in (("level", LEVELS, WHITE_ON_LEVELS), ("diverging", DIVERGING, WHITE_ON)):
        themes = re.findall(rf"--{scale}-(\d): light-dark\((#\w{{6}}), (#\w{{6}})\)", style)
        assert [light for _, light, _ in themes] == list(lights)
        for number, *grounds in themes:
            color = colors.get(f"on-{scale}-{number}", "light-dark(#000, #fff)")
            texts = re.findall(r"#\w{3}", color)
            for ground, text in zip(grounds, texts if len(texts) == 2 else texts * 2, strict=True):
                assert contrast(ground, "#000000" if text == "#000" else "#ffffff") >= 4.5
            assert color.startswith("light-dark(#fff") == (int(number) in white)
