"""Models of a table ranked by their mean over common items."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.hostile import NAMES, acting, formulas, markdown_tokens
from pfgen_fast import TrialsError, leaderboard, place
from pfgen_fast.base.mean_interval import mean_interval
from pfgen_fast.runs.items.item_table import ItemScores
from pfgen_fast.runs.items.ranking import MAX_MODELS_WITH_RANGES, rank_models
from pfgen_fast.runs.placement import place_models
from pfgen_fast.runs.statistics.paired_tests import paired_difference
from pfgen_fast.runs.statistics.verdicts import corrected, rank_ranges
from pyarrow.csv import read_csv


def table(values: object, *, models: tuple[str, ...] = (), **changes: object) -> ItemScores:
    matrix = np.array(values, dtype=np.float64)
    names = models or tuple(f"m{number}" for number in range(len(matrix)))
    items = tuple(f"q{number}" for number in range(matrix.shape[1]))
    return ItemScores(names, items, {"accuracy": matrix}, **changes)


@given(st.data())
def test_models_are_ranked_on_the_items_that_all_have(data):
    n_models, n_items = data.draw(st.integers(2, 6)), data.draw(st.integers(6, 12))
    cells = (
        st.sampled_from((0.0, data.draw(st.sampled_from((0.25, 1.0))), 1.0, np.nan))
        if data.draw(st.booleans())
        else st.floats(0, 1)
    )
    values = np.array(data.draw(st.lists(st.lists(cells, min_size=n_items, max_size=n_items), min_size=n_models,
                                         max_size=n_models)))  # fmt: skip
    values[:, 0] = 1.0  # a common item
    common = values[:, ~np.isnan(values).any(axis=0)]
    actual = rank_models(table(values))
    rows = [int(model.model[1:]) for model in actual.models]
    binary = bool(np.isin(values[~np.isnan(values)], (0, 1)).all())
    assert [model.score for model in actual.models] == [mean_interval(common[row], binary=binary) for row in rows]
    means = [model.score.mean for model in actual.models]
    assert means == sorted(means, reverse=True)
    assert [model.n_items for model in actual.models] == (~np.isnan(values[rows])).sum(axis=1).tolist()
    expected = rank_ranges(common[rows], binary=binary) if common.shape[1] >= 6 else [None] * n_models
    assert [model.ranks for model in actual.models] == expected
    n_common, is_said = common.shape[1], any("ranked on the" in sentence for sentence in actual.notes)
    assert (actual.n_compared, is_said) == (n_common, n_common < n_items)


def test_the_direction_and_the_metric_are_chosen():
    scores = ItemScores(
        ("a", "b"),
        tuple("123456"),
        {"accuracy": np.array([[1.0] * 6, [0.0] * 6]), "loss": np.array([[3.0] * 6, [1.0] * 5 + [np.nan]])},
        higher_is_better={"loss": False},
    )
    first, by_loss = rank_models(scores), rank_models(scores, "loss")
    assert [model.model for model in first.models] == ["a", "b"]
    assert first.models[0].metrics == {"loss": 3.0}
    assert "ranked by accuracy, the first of 2 metrics; --metric chooses another" in first.notes
    assert [(model.model, model.score.mean, model.metrics) for model in by_loss.models] == [
        ("b", 1.0, {"accuracy": 0.0}),
        ("a", 3.0, {"accuracy": 1.0}),
    ]
    assert "loss: lower is better" in by_loss.notes
    with pytest.raises(TrialsError, match=r"unknown metric 'los'.*did you mean 'loss'\?"):
        rank_models(scores, "los")


def test_tables_that_cannot_be_ranked_are_refused():
    nan = np.nan
    with pytest.raises(TrialsError, match=r"no item has a score of all 2 models.*; m1 has the fewest items \(1 of 3\)"):
        rank_models(table([[1, 1, nan], [nan, nan, 1]]))
    with pytest.raises(TrialsError, match="the table has no scores"):
        rank_models(ItemScores((), (), {}))


def test_equal_means_share_a_rank_and_few_items_or_many_models_have_no_rank_ranges():
    ranking = rank_models(table([[0.5, 1.0], [0.25, 0.5], [1.0, 0.5], [0.0, 0.0]]))
    assert [(model.model, model.rank) for model in ranking] == [("m0", 1), ("m2", 1), ("m1", 3), ("m3", 4)]
    assert rank_models(table([[0.0, 1.0] * 4])).models[0].ranks is None
    few = rank_models(table([[0, 1, 1], [1, 1, 1]]))
    assert [model.ranks for model in few.models] == [None, None]
    assert few.notes == ("3 common items: no rank ranges, because a test needs at least 6",)
    many = rank_models(table(np.zeros((MAX_MODELS_WITH_RANGES + 1, 6))))
    assert {model.ranks for model in many.models} == {None}
    assert "too many for tests of all pairs" in many.notes[0]


def test_clusters_widen_the_intervals_and_decide_whether_there_are_rank_ranges():
    values = np.repeat([[0.0, 1, 1, 0, 1, 1], [0.0, 0, 0, 1, 0, 0]], 3, axis=1)
    alone = rank_models(table(values))
    clustered = rank_models(table(values, clusters=tuple(f"d{number // 3}" for number in range(18))))
    assert (alone.test, clustered.test) == ("Tango's score tests", "paired t-tests with 6 clusters")
    assert (alone.is_binary, clustered.is_binary) == (True, False)
    assert clustered.models[0].score.half_width > 1.5 * alone.models[0].score.half_width
    few = rank_models(table(values, clusters=("d",) * 9 + ("e",) * 9))
    assert few.models[0].ranks is None
    assert few.notes == ("2 clusters: no rank ranges, because a test needs at least 6",)


def test_a_subject_tells_how_little_it_tells():
    subjects = ("maths",) * 7 + ("art", "art", "law", None)
    values = [[1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1]]
    result = rank_models(table(values, subjects=subjects))
    best = result.models[0].subjects
    assert {name: (part.mean, part.n, part.low) for name, part in best.items() if name != "maths"} == {
        "art": (0.5, 2, pytest.approx(0.0945, abs=1e-4)),
        "law": (1.0, 1, pytest.approx(0.2065, abs=1e-4)),
    }
    assert best["maths"] == mean_interval(values[0][:7], binary=True)
    markdown = result.to_markdown(with_subjects=True)
    assert "| model | maths (7) | art (2) | law (1) |" in markdown
    assert "| 0.50 – | 1.00 – |" in markdown
    assert "no interval, because a subject has fewer than 4 items: art (2), law (1)" in markdown
    assert ("95 % interval" in markdown, "±" in markdown) == (True, False)
    assert json.loads(result.to_json(with_subjects=True))["models"][0]["subjects"]["law"]["num_items"] == 1


def test_tables_in_memory_are_ranked_as_notebook_tables():
    board = leaderboard({"item": [1, 2] * 2, "model": ["a", "a", "b", "b"], "acc": [0, 1, 1, 1]}, metric="acc")
    assert [part.model for part in board] == ["b", "a"]
    assert repr(board) == "ModelRanking(2 models; best b 1.0000)"
    assert ">b</td>" in board._repr_html_()
    with pytest.raises(TrialsError, match="cannot be ranked with a table"):
        leaderboard({"item": [1], "model": ["a"], "score": [0]}, with_published=True)


def test_hostile_names_are_harmless_in_every_form():
    scores = table(np.arange(len(NAMES) * 6.0).reshape(-1, 6), models=NAMES, subjects=NAMES[:6])
    result = rank_models(ItemScores(scores.models, scores.items, {NAMES[0]: scores.values["accuracy"],
                                                                 NAMES[5]: scores.values["accuracy"]},
                                   subjects=scores.subjects))  # fmt: skip
    texts = [getattr(result, f"to_{form}")(with_subjects=True) for form in ("markdown", "csv", "json")]
    assert not any(map(acting, texts))
    assert not formulas(texts[1])
    assert {token.type for token in markdown_tokens(texts[0])} <= {
        *("table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close"),
        *("th_open", "th_close", "td_open", "td_close", "inline", "text", "bullet_list_open", "bullet_list_close"),
        *("list_item_open", "list_item_close", "paragraph_open", "paragraph_close"),
    }


# ---- Models of a table placed among its other models


def scores(**changes: object) -> ItemScores:
    values = np.array([[0.9, 0.8, 0.9, 0.7, 0.9, 0.8, 0.9], [0.5, 0.6, 0.4, 0.5, 0.4, 0.6, 0.5],
                       [0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.5], [0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1]])  # fmt: skip
    return ItemScores(("best", "new", "like", "worst"), tuple("1234567"), {"accuracy": values}, **changes)


def test_a_model_is_placed_by_paired_tests_over_the_common_items():
    result = place(run="new", against=scores())
    assert (result.run, result.rank, result.ranks, result.n_ranked) == ("new", 3, (2, 3), 4)
    verdicts = [result.named(verdict) for verdict in ("worse", "not distinguished", "better")]
    assert verdicts == [["best"], ["like"], ["worst"]]
    pair_values = [
        paired_difference(scores().of("new", "accuracy"), scores().of(other.run, "accuracy")) for other in result.others
    ]
    assert [other.difference for other in result.others] == pytest.approx([pair.mean for pair in pair_values])
    assert [other.corrected for other in result.others] == pytest.approx(corrected([p.p_value for p in pair_values]))
    assert result.sentences()[0].startswith(
        "of 3 other models, it is better than 1, worse than 1, not distinguished from 1 (95 %"
    )
    assert "| model | score |" in result.to_markdown()
    two = place_models(scores().only(models=["new", "like"]), ["new"])[0]
    assert two.sentences()[0].endswith("(95 %, Holm, 1 comparison)")


class Unsearched(tuple):
    def index(self, *_):
        raise AssertionError("a search for each of many models takes minutes")

    __contains__ = index


def test_models_are_found_without_searching_all_names():
    table = replace(scores(), models=Unsearched(scores().models))
    assert place_models(table, ["new"])[0].to_dict() == place_models(scores(), ["new"])[0].to_dict()


def test_the_repr_of_a_placement_has_no_control_characters():
    table = replace(scores(), models=("\x1b[2J", "new", "like", "worst"))
    assert repr(place_models(table, ["\x1b[2J"])[0]).startswith(r"Placement(\u001b[2J: 0.8429 ")


def test_lower_scores_can_be_better():
    result = place_models(scores(higher_is_better={"accuracy": False}), ["new"])[0]
    assert (result.rank, result.named("worse"), result.named("better")) == (2, ["worst"], ["best"])
    assert [item.run for item in result.nearest] == ["worst", "like", "best"]


def test_models_are_placed_only_among_others(call, tmp_path):
    path = tmp_path / "scores.csv"
    table = scores()
    lines = [
        f"{model},{item},{table.of(model, 'accuracy')[int(item) - 1]}" for model in table.models for item in table.items
    ]
    path.write_text("\n".join(["model,item,score", *lines]) + "\n")
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    new.write_text("\n".join(["model,item,score", *(line for line in lines if line.startswith("new"))]))
    old.write_text("\n".join(["model,item,score", *(line for line in lines if not line.startswith("new"))]))
    expected = place("new", path)
    assert place("new", read_csv(path)).to_dict() == expected.to_dict()
    code, out, err = call("place", path, "--models", "new", "-q", "--json")
    assert (code, err) == (0, "")
    assert out == call("place", new, "--against", old, "--json")[1]
    assert str(expected.to_dict()["rank_low"]) in out
    assert call("place", new, "--against", path)[1].startswith("new (new): ")
    *most, _ = table.models
    assert "this number, of 1 other model (Holm, 1 comparison)" in call("place", path, "--models", ",".join(most))[1]
    assert "name the models to place (--models)" in call("place", path)[2]
    assert "no models to compare with" in call("place", new, "--models", "new")[2]
    with pytest.raises(TrialsError, match=r"unknown model 'nw'.*did you mean 'new'"):
        place("nw", path)


def test_a_path_that_does_not_exist_is_a_wrong_call(call, tmp_path):
    code, _, err = call("place", tmp_path / "a", tmp_path / "b")
    assert (code, err.count("no such file or folder")) == (2, 2)
