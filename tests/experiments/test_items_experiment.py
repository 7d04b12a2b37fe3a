"""`experiment items` on made tables of scores, on runs and on published results."""

from __future__ import annotations

import numpy as np
import pytest
from makers.documented import documented_example
from makers.simulated_worlds import answered
from pfgen_fast import ExperimentError
from pfgen_fast.experiments.item_rows import rows_of_results, rows_of_runs, rows_of_scores
from pfgen_fast.experiments.items import ItemAnalysis, items
from pfgen_fast.item_scores.table import ItemScores
from pfgen_fast.runs.result_tables import published
from pfgen_fast.statistics.paired import paired_difference

N_MODELS, N_ITEMS = 60, 30


def table_of(scores, **more):
    models = tuple(f"org-{row % 20}/model-{row}" for row in range(len(scores)))
    return ItemScores(models, tuple(f"i{item}" for item in range(scores.shape[1])), {"score": scores}, **more)


@pytest.fixture(scope="module")
def scores():
    """Items 4 and 20 are duplicates, no model solves item 7, and every model solves item 8."""
    generator = np.random.default_rng(2)
    made = answered(generator, generator.standard_normal(N_MODELS), N_ITEMS, 10)
    made[:, 20], made[:, 7], made[:, 8] = made[:, 4], 0.0, 1.0
    return made


@pytest.fixture(scope="module")
def rows(scores):
    return rows_of_scores(table_of(scores))


@pytest.fixture(scope="module")
def finding(rows):
    return items(ItemAnalysis(rows, pair="org-1/model-1,org-2/model-2"))


def rows_in(finding, name):
    return next(table for table in finding.tables if table.name == name).to_dicts()


def test_the_tables_name_what_was_planted(finding):
    found = {row["item"]: row for row in rows_in(finding, "items")}
    assert found["i7"]["remark"] == "no model solves it"
    assert found["i8"]["remark"] == "every model solves it"
    assert found["i7"]["discrimination"] is None
    assert {row["place"] for row in found.values() if row["discrimination"] is None} == {29, 30}
    assert sum(row["share of the differences"] for row in found.values()) == pytest.approx(1)
    assert [(row["item"], row["and"]) for row in rows_in(finding, "redundant")] == [("i4", "i20")]
    assert "No model solves i7. Every model solves i8." in finding.paragraph
    assert "60 models of 20 organisations on 30 items" in finding.paragraph


def test_the_answer_says_how_many_items_keep_the_order(finding):
    subset = rows_in(finding, "subset")
    kept = int(finding.answer.split()[0])
    assert all(row["Kendall"] >= 0.95 for row in subset if row["items"] >= kept)
    assert all(row["Kendall"] < 0.95 for row in subset if row["items"] == kept - 1)
    assert subset[-1]["items"] == N_ITEMS
    assert subset[-1]["Kendall"] == 1


def test_a_comparison_is_replayed(finding, scores):
    whole = paired_difference(scores[1], scores[2])
    assert f"on all items the difference is {whole.mean:+.4f}" in finding.paragraph
    telling, at_random = rows_in(finding, "stops")
    for row in (telling, at_random):
        assert 6 <= row["mean items asked"] <= N_ITEMS
        assert row["unconfirmed"] <= 0.05
        assert row["decided"] == pytest.approx(row["decided by all items"], abs=0.12)


def test_the_documented_comparison_stops(capsys):
    example = documented_example("from pfgen_fast.statistics.sequential import stopped")
    exec(example, {})
    assert capsys.readouterr().out.strip() == example.rsplit("# ", 1)[1].strip()


def test_the_same_seed_gives_the_same_finding(rows, finding):
    assert items(ItemAnalysis(rows, pair="org-1/model-1,org-2/model-2")).to_dict() == finding.to_dict()


def test_lower_scores_can_be_better(scores, finding):
    table = table_of(10 - scores, higher_is_better={"score": False})
    found = items(ItemAnalysis(rows_of_scores(table)))
    assert found.answer == finding.answer
    assert [row["item"] for row in rows_in(found, "items")] == [row["item"] for row in rows_in(finding, "items")]
    assert rows_in(found, "items")[0]["mean"] == pytest.approx(10 - rows_in(finding, "items")[0]["mean"])


def test_groups_are_organisations_and_models_without_one_are_no_group():
    generator = np.random.default_rng(4)
    ability = generator.standard_normal(90)
    made = answered(generator, ability, N_ITEMS, 10)
    made[:30, 3] = answered(generator, ability[:30] + 3, 1, 10)[:, 0]
    names = tuple(f"{'Abc/' if row < 30 else 'de/' if row < 60 else ''}m{row}" for row in range(90))
    table = ItemScores(names, tuple(map(str, range(N_ITEMS))), {"score": made})
    found = items(ItemAnalysis(rows_of_scores(table)))
    best = rows_in(found, "groups")[0]
    assert (best["organisation"], best["item"]) == ("abc", "3")
    assert best["difference"] > 0.1
    assert {row["organisation"] for row in rows_in(found, "groups")} <= {"abc", "de"}
    assert not any(table.name == "groups" for table in items(ItemAnalysis(rows_of_scores(table), by="none")).tables)


def test_groups_are_not_compared_on_few_items(scores):
    for n_items, is_compared in ((19, False), (20, True)):
        analysis = ItemAnalysis(rows_of_scores(table_of(scores[:, :n_items])), by="organisation")
        assert (analysis.groups is not None) == is_compared
        notes = items(analysis).notes
        assert any(note.startswith("19 items: groups of models are not") for note in notes) != is_compared


def test_gaps_are_left_out_and_named(scores):
    made = scores.copy()
    made[[5, 5, 5, 7, 7, 8, 9], [3, 9, 12, 9, 12, 9, 0]] = made[6, :20] = np.nan
    rows = rows_of_scores(table_of(made))
    assert rows.scores.shape == (N_MODELS - 1, N_ITEMS - 4)
    assert rows.notes == (
        "left out, because fewer than half of the items have a score: 1 model, org-6/model-6",
        "left out, because a model has no score: 4 items, i0, i3, i9 and 1 more; org-5/model-5 lacks 3 scores, and "
        "leaving it out adds 1 item",
    )


def test_items_in_clusters_are_not_replayed(scores):
    clusters = tuple(f"document {item // 3}" for item in range(N_ITEMS))
    found = items(ItemAnalysis(rows_of_scores(table_of(scores, clusters=clusters)), pair="org-1/model-1,org-2/model-2"))
    assert "stops" not in {table.name for table in found.tables}
    assert "on all items the difference" not in found.paragraph
    assert any(note.startswith("items are in clusters") for note in found.notes)


@pytest.mark.parametrize(
    ("n_models", "sentence"),
    [(8, "8 models: short lists and early stops are not tested"), (15, "redundant pairs are not searched for")],
)
def test_few_models_give_fewer_figures(scores, n_models, sentence):
    found = items(ItemAnalysis(rows_of_scores(table_of(scores[:n_models]))))
    assert any(sentence in note for note in found.notes)
    assert any("are not compared: expected at least 10 models in a group" in note for note in found.notes)
    assert ("subset" in {table.name for table in found.tables}) == (n_models >= 10)


def test_too_many_items_have_no_pairs(monkeypatch, rows):
    monkeypatch.setattr("pfgen_fast.experiments.items.MAX_ITEMS_OF_PAIRS", 20)
    analysis = ItemAnalysis(rows)
    found = items(analysis)
    assert "30 items are too many to compare their pairs (at most 20)" in found.notes[0]
    assert [table.name for table in found.tables] == ["items"]
    assert analysis.short_list == []


def test_impossible_requests_are_refused(rows, scores):
    for settings, message in (
        ({"agreement": 1.5}, "agreement 1.5: expected a number between 0 and 1"),
        ({"keep": 31}, "keep 31: expected 1 to 30 items"),
        ({"pair": "one"}, "expected the names of two models, separated by a comma"),
        ({"pair": "org-1/model-1,org-2/model-3"}, "unknown model 'org-2/model-3'; expected one of"),
    ):
        with pytest.raises(ExperimentError, match=message):
            items(ItemAnalysis(rows, **settings))
    with pytest.raises(ExperimentError, match="2 models with scores: expected at least 3"):
        rows_of_scores(table_of(scores[:2]))
    with pytest.raises(ExperimentError, match="2 items with a score of every model: expected at least 3"):
        rows_of_scores(table_of(scores[:, :2]))
    made = scores[:, :6].copy()
    made[0, :3] = made[1, 3] = np.nan
    with pytest.raises(ExperimentError, match=r"2 items .* at least 3; org-0/model-0 lacks 3 scores, .* adds 3 items"):
        rows_of_scores(table_of(made))
    with pytest.raises(ExperimentError, match="all 60 models have the same mean score"):
        items(ItemAnalysis(rows_of_scores(table_of(np.ones((60, 5))))))
    two = ItemScores(("a",), ("i",), {"f1": scores[:1, :1], "em": scores[:1, :1]})
    with pytest.raises(ExperimentError, match=r"the table has 2 metrics \(f1, em\): name one"):
        rows_of_scores(two)


def test_runs_and_published_results_are_read(scored):
    rows = rows_of_runs(scored)
    assert set(rows.modes) == {"qa"}
    assert rows.items == tuple(question.question_id for question in scored.suite)
    assert items(ItemAnalysis(rows, by="mode")).runs == scored.names
    of_published = rows_of_results(published())
    assert of_published.scores.shape == (522, 50)
    assert {"qa", "chat", "completion"} == set(of_published.modes)


def test_the_command_writes_lists_that_questions_takes(tmp_path, call, scores):
    lines = [f"org-{m % 20}/m{m},Q{item:02},{scores[m, item]}" for m in range(60) for item in range(1, 9)]
    (tmp_path / "scores.csv").write_text("\n".join(["model,item,score", *lines]))
    code, out, err = call("experiment", "items", tmp_path / "scores.csv", "--keep", 3, "-o", tmp_path / "found")
    assert code == 0, err
    assert "The 3 most telling of 8 items keep the order of other models by Kendall" in out.replace("\n", " ")
    chosen = (tmp_path / "found" / "subset.txt").read_text()
    assert chosen.startswith("# 3 of 8 items, the most telling item first\n")
    assert len((tmp_path / "found" / "order.txt").read_text().splitlines()) == 9
    code, out, _ = call("prompts", "--suite", "mini", "--trials", 1, "--questions", f"@{tmp_path}/found/subset.txt")
    assert code == 0
    assert len(out.splitlines()) == 3
    (tmp_path / "empty.txt").write_text("# nothing\n")
    code, _, err = call("prompts", "--suite", "mini", "--questions", tmp_path / "found/subset.txt")
    assert (code, "put @ before its name" in err) == (2, True)
    code, _, err = call("prompts", "--suite", "mini", "--questions", f"@{tmp_path}/empty.txt")
    assert code == 2
    assert "expected question IDs, one to a line" in err
    for arguments, message in (
        ((), "neither paths nor --table: expected one of them"),
        ((tmp_path / "scores.csv", tmp_path), "runs and tables of scores cannot be mixed"),
    ):
        code, _, err = call("experiment", "items", *arguments, "-o", tmp_path / "none")
        assert code == 2
        assert message in err
