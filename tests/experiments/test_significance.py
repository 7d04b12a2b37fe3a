from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from makers.runs import make_run, make_varied_runs, trial_lines
from pfgen_fast import ExperimentError, Scorer, Suite
from pfgen_fast.experiments import score_runs
from pfgen_fast.experiments.significance import compare_all, significance
from pfgen_fast.item_scores.table import ItemScores
from pfgen_fast.runs.comparison import compare
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.statistics.paired import paired_difference


@pytest.fixture(scope="module")
def folder(tmp_path_factory, mini):
    folder = make_varied_runs(tmp_path_factory.mktemp("compared"), mini)
    make_run(folder / "org/twin/abc", trial_lines(mini, 3, first=90), {"model": "org/twin"})
    return folder


@pytest.fixture(scope="module")
def scored(folder, mini):
    return score_runs([folder], suite=mini, threads=2)


def test_two_runs_are_compared_as_compare_does(scored, folder, mini):
    compared = compare_all(scored, 0.05, "bh")
    runs = {run.folder.parent.name: run for run in find_runs([folder])}
    for rank in (1, 2):
        a, b = (scored.models[run].split("/")[1] for run in compared.order[rank : rank + 2])
        alone = compare(runs[a], runs[b], Scorer(mini)).metrics[0]
        assert compared.pairs.differences[rank, rank + 1] == pytest.approx(alone.difference, abs=2e-5)  # rounded
        assert compared.pairs.p_values[rank, rank + 1] == pytest.approx(alone.p_value, rel=0.01)


def test_better_runs_come_first_and_neighbours_that_do_not_differ_share_a_group(scored):
    bh, holm = (compare_all(scored, 0.05, method) for method in ("bh", "holm"))
    above, means = np.triu_indices(7, 1), bh.means
    assert (holm.pairs.corrected[above] >= bh.pairs.corrected[above]).all()
    assert (holm.pairs.corrected[above] > bh.pairs.corrected[above]).any()
    assert all(better.mean >= worse.mean for better, worse in itertools.pairwise(means))
    assert all(mean.low <= mean.mean <= mean.high and mean.n == len(scored.suite) for mean in means)
    rows = significance(scored).tables[0].to_dicts()
    groups = [set(row["groups"].split()) for row in rows]
    together = [bool(one & following) for one, following in itertools.pairwise(groups)]
    assert together == [row["differs"] == "no" for row in rows[:-1]]
    assert {True, False} == set(together)


def test_runs_that_are_the_same_are_one_group(tmp_path, mini):
    for name in ("a", "b", "c"):
        make_varied_runs(tmp_path / name, mini, n_runs=2)
    finding = significance(score_runs([tmp_path], suite=mini))
    leaderboard, groups = finding.tables
    assert [row[1:4] for row in groups.rows] == [(3, 1, 3), (3, 4, 6)]
    assert "2 groups of two runs or more cannot be distinguished; the largest has 3 runs" in finding.paragraph
    assert [row[6] for row in leaderboard.rows] == ["a", "a", "a", "b", "b", "b"]


def test_too_few_questions_give_no_verdict(tmp_path, mini):
    few = Suite("few", mini.questions[:5])
    folder = make_varied_runs(tmp_path, few, n_runs=3)
    with pytest.raises(ExperimentError, match="5 questions: a verdict needs at least 6"):
        significance(score_runs([folder], suite=few))


def test_models_of_a_table_are_compared_on_their_common_items():
    rng = np.random.default_rng(5)
    values = np.array([[0.8], [0.79], [0.3]]) + rng.normal(0, 0.05, (3, 30))
    values[1, 0] = np.nan
    scores = ItemScores(("a", "b", "c"), tuple(f"q{n}" for n in range(30)), {"accuracy": values})
    found = significance(scores)
    leaderboard, groups = found.tables
    pair = paired_difference(values[1], values[2])
    assert [row[1] for row in leaderboard.rows] == ["a", "b", "c"]
    assert leaderboard.rows[1][7:9] == pytest.approx((pair.mean, pair.p_value))
    assert [row[:2] for row in groups.rows] == [("a", 2), ("b", 1)]
    assert "over 29 items; all 3 pairs of models are one family" in found.paragraph
    assert found.notes == ("ranked on the 29 of 30 items for which all 3 models have a score",)
    by_loss = significance(replace(scores, higher_is_better={"accuracy": False})).tables[0]
    assert [row[1] for row in by_loss.rows] == ["c", "b", "a"]
    assert by_loss.rows[0][7] == pytest.approx(pair.mean)
    cases = (scores.only(models=["a"]), "at least two models"), (scores.only(items=[1, 2]), "2 common items")
    for table, said in cases:
        with pytest.raises(ExperimentError, match=said):
            significance(table)
