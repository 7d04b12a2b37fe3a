import json
import re
from dataclasses import replace

import numpy as np
import pytest
from makers.runs import make_run, make_varied_runs, trial_lines
from pfgen_fast import ExperimentError, Scorer, Suite
from pfgen_fast.lab.experiments.relations import relations
from pfgen_fast.lab.experiments.run_means import clusters_of, read_leaderboard
from pfgen_fast.lab.experiments.scored_runs import read_figures, score_runs
from pfgen_fast.lab.experiments.sets import scores_by_set, sets
from pfgen_fast.lab.experiments.stability import (
    Fewer,
    RankingAgreement,
    RunPairs,
    leave_one_out,
    scores_of_trials,
    smallest_with_same_ranking,
    stability,
)
from pfgen_fast.lab.statistics.correlation import kendall
from pfgen_fast.runs.aggregation import evaluate
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs


def test_one_pass_gives_the_figures_of_result_json(scored, varied, mini):
    scorer = Scorer(mini)
    for number, run in enumerate(find_runs([varied])):
        result = evaluate(run, scorer)
        assert scored.models[number] == run.config()["model"]
        assert scored.means["score"][number] == pytest.approx(result.score, abs=6e-5)
        assert scored.means["length"][number] == pytest.approx(result.length, abs=0.06)
        for index, question in enumerate(mini):
            values = result.questions[question.question_id].scores
            assert scored.question_scores["helpfulness"][number, index] == values.helpfulness
            for name, value in values.fluency.items():
                assert scored.set_scores["fluency"][name][number, index] == value * len(values.fluency)
    means = np.bincount(scored.cells, scored.answer_scores["score"]) / np.bincount(scored.cells)
    assert means == pytest.approx(scored.question_scores["score"].ravel(), abs=1e-5)


def test_figures_of_a_result_that_is_up_to_date_are_taken_and_others_are_not(tmp_path, mini):
    make_varied_runs(tmp_path, mini, n_runs=3, n_trials=1)
    runs = find_runs([tmp_path])
    usual = score_runs([tmp_path], suite=mini).question_scores["helpfulness"][:, 0]
    for run, change in zip(runs, ({}, {"metadata_hash": "0"}, {"questions": {}}), strict=True):
        result = evaluate(run, Scorer(mini)).to_dict()
        result["questions"]["Q01"]["scores"]["helpfulness"] = 0.12345
        (run.folder / "result.json").write_text(json.dumps({**result, **change}))
    assert score_runs([tmp_path], suite=mini).question_scores["helpfulness"][:, 0].tolist() == [0.12345, *usual[1:]]


def test_runs_with_up_to_date_results_are_not_read_again(tmp_path, mini, monkeypatch):
    make_varied_runs(tmp_path, mini, n_runs=4, n_trials=2)
    scored = score_runs([tmp_path], suite=mini)
    list(RunScorer(suite=mini).score(find_runs([tmp_path])))
    stale = find_runs([tmp_path])[2].folder / "result.json"
    stale.write_text(stale.read_text().replace('"num_trials"', '"Num_trials"'))
    read = []
    monkeypatch.setattr(
        RunScorer, "read", lambda _, runs, read_runs=RunScorer.read: read_runs(_, read.extend(runs) or runs)
    )
    figures = read_figures([tmp_path], suite=mini)
    assert [run.folder for run in read] == [stale.parent]
    assert figures.names == scored.names
    for metric, means in scored.means.items():
        assert figures.means[metric].tolist() == means.tolist()


def test_a_run_that_cannot_be_read_is_named_and_the_others_are_scored(tmp_path, varied, mini):
    make_run(tmp_path / "bad", ["no JSON"])
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "trial_001.jsonl").write_text("\n".join(trial_lines(mini, 1)))
    scored = score_runs([varied, tmp_path], suite=mini)
    loose, bad = scored.problems
    assert len(scored.names) == 6
    assert "bad/trials.jsonl, line 1" in bad
    assert "loose: left out, because the trials are not packed" in loose
    assert not (tmp_path / "loose" / "trials.jsonl.xz").exists()


def test_fewer_than_three_runs_are_no_experiment(tmp_path, mini):
    make_varied_runs(tmp_path, mini, n_runs=2, n_trials=1)
    with pytest.raises(ExperimentError, match=r"^an experiment needs at least 3 runs, but only 2 can be scored"):
        score_runs([tmp_path], suite=mini)


def test_relations_are_those_of_the_means_and_of_the_answers(scored):
    finding = relations(scored)
    table = {row[:3]: row[3:] for row in finding.tables[0].rows}
    assert len(table) == 12
    for over, n, values in (("runs", 6, scored.means), ("answers", 144, scored.answer_scores)):
        *counts, pearson, low, high = table[over, "fluency", "length"][:5]
        assert (counts, low, high) == ([n, 6], None, None)  # of six runs
        assert pearson == pytest.approx(np.corrcoef(values["fluency"], values["length"])[0, 1])
    assert "the correlations are of only 6 models" in finding.notes[0]
    assert f"fluency and length {table['runs', 'fluency', 'length'][2]:.4f}" in finding.paragraph
    titles = [picture.chart.panels[2].title for picture in finding.pictures]
    figures = table["runs", "fluency", "length"][2], table["answers", "fluency", "length"][5]
    names = ("r", "Spearman's ρ")
    assert titles == [f"Fluency and length: {name} = {r:.2f}" for name, r in zip(names, figures, strict=True)]
    from_means = relations(scored.chosen(list(range(6))))
    assert from_means.tables[0].rows == finding.tables[0].rows[:6]
    assert [picture.name for picture in from_means.pictures] == ["runs"]
    assert "answers" not in from_means.paragraph


def test_ten_runs_have_intervals_and_yardsticks_are_no_runs_of_models(tmp_path, mini):
    make_varied_runs(tmp_path, mini, n_runs=11, n_trials=1)
    yardstick = tmp_path / "org" / "model-0" / "abc" / "config.json"
    yardstick.write_text(yardstick.read_text().replace("org/model-0", "system/ground-truth"))
    scored = score_runs([tmp_path], suite=mini)
    finding = relations(scored)
    for row in finding.tables[0].rows:
        assert row[3] == (10 if row[0] == "runs" else len(scored.run_numbers))
        assert row[6] <= row[5] <= row[7]
    assert finding.notes == ()
    _, parts_table, runs_table = finding.tables
    assert "system/ground-truth" not in {row[0] for row in runs_table.rows}
    assert parts_table.heads()[-2:] == ["best run", "system/ground-truth"]
    best = max(range(1, 11), key=lambda run: scored.means["score"][run])
    for part, mean, *_, best_value, yardstick_value in parts_table.rows:
        values = scored.means[part]
        assert (mean, best_value, yardstick_value) == (pytest.approx(values[1:].mean()), values[best], values[0])
    assert re.search(r"\d+ of 10 runs have \w+ > \w+ > \w+\.", finding.paragraph)


def test_runs_of_one_model_are_one_cluster(scored):
    twice = scored.chosen([*range(6), *range(6)])
    more = replace(twice, models=tuple(f"org-{run % 3}/model-{run % 6}" for run in range(12)))
    by_name = {by: relations(more, cluster=by) for by in ("model", "organisation", "none")}
    by_model, by_organisation, by_run = (finding.tables[0].rows[0][3:7] for finding in by_name.values())
    assert [by_model[:2], by_organisation[:2], by_run[:2]] == [(12, 6), (12, 3), (12, 12)]
    assert by_run[2] == by_model[2]
    assert (by_run[3] is None, by_model[3]) == (False, None)
    assert "12 runs of 6 models" in by_name["model"].paragraph


def test_one_run_of_each_model_is_its_best_or_the_mean_of_all(scored):
    runs = replace(scored, models=("a", "a", "b", "b", "b", "c"))
    best, mean = runs.one_per_model("best"), runs.one_per_model("mean")
    scores = runs.means["score"]
    assert best.models == mean.models == ("a", "b", "c")
    assert best.means["score"].tolist() == [max(scores[:2]), max(scores[2:5]), scores[5]]
    assert mean.means["score"] == pytest.approx([scores[:2].mean(), scores[2:5].mean(), scores[5]])


def test_an_organisation_is_what_a_name_has_before_the_slash():
    clusters = clusters_of(["Org/a", "org/b", "alone", "other/x", "alone"], "organisation")
    assert (clusters.n, clusters.counted("runs")) == (3, "5 runs of 3 organisations")
    assert clusters_of(["a", "a"], "none").counted("runs") == "2 runs"
    assert clusters_of(["a", "b"], "model").counted("models") == "2 models"


def runs_that_answer(folder, mini, answer):
    for run in range(3):
        lines = [json.dumps({"question": question.question, "answer": answer(question, run)}) for question in mini]
        make_run(folder / f"run{run}", lines)
    return score_runs([folder], suite=mini)


def test_a_constant_column_is_named_and_not_correlated(tmp_path, mini):
    short = runs_that_answer(tmp_path / "a", mini, lambda question, run: question.answers["A"][run][: 10 + run])
    finding = relations(short)
    assert any(note.startswith("helpfulness is 0 for all 3 runs") for note in finding.notes)
    assert not any("helpfulness" in row for row in finding.tables[0].rows)
    same = runs_that_answer(tmp_path / "b", mini, lambda *_: "")
    with pytest.raises(ExperimentError, match="nothing to correlate: fluency is 0 for all 3 runs"):
        relations(same)
    with pytest.raises(ExperimentError, match="score is 0 for all 3 runs"):
        stability(same)


@pytest.mark.parametrize(
    ("experiment", "options", "message"),
    [
        ("relations", (), "Over the 6 runs, Pearson's correlation is highest between fluency and length"),
        ("stability", ("--draws", "3"), "^Two disjoint parts "),
    ],
)
def test_the_command_writes_the_files_and_says_the_result(
    call, varied, tmp_path, undrawn, experiment, options, message
):
    code, out, _ = call("experiment", experiment, varied, "-s", "mini", *options, "-o", tmp_path)
    assert code == 0
    assert re.search(message, out, re.DOTALL)
    assert (tmp_path / f"{experiment}.html").exists()


def test_relations_takes_runs_or_a_leaderboard(call, varied, tmp_path, undrawn):
    assert call("score", varied, "-s", "mini", "-o", tmp_path / "scored")[0] == 0
    table = tmp_path / "leaderboard.csv"
    assert call("leaderboard", tmp_path / "scored", "-f", "csv", "-o", table)[0] == 0
    code, out, _ = call("experiment", "relations", table, "-o", tmp_path / "out")
    assert (code, "Over the 6 runs" in out) == (0, True)


def test_the_command_names_what_it_left_out(call, varied, tmp_path, undrawn):
    make_run(tmp_path / "bad", ["no JSON"])
    arguments = ("experiment", "relations", varied, tmp_path / "bad", "-s", "mini", "-o", tmp_path / "out")
    code, out, err = call(*arguments, "-q")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert "bad/trials.jsonl, line 1" in err
    assert "\nnote: the correlations are of only 6 models" in call(*arguments)[2]


def test_places_without_a_question_are_those_of_the_other_questions(scored):
    without = leave_one_out(scored)
    for left_out in range(without.shape[1]):
        others = np.delete(scored.question_scores["score"], left_out, axis=1).mean(axis=1)
        assert without[:, left_out].tolist() == (1 + (others[None, :] > others[:, None]).sum(axis=1)).tolist()


def test_the_smallest_number_is_that_from_which_on_all_are_enough():
    for smallest, *means in ((2, 1.0, 0.97, 0.96, 0.5), (3, 1.0, 0.97, 0.5, 0.99), (None, 0.95, 1.0, 1.0, 1.0)):
        draws = [RankingAgreement(mean, 0, 0, 0) for mean in means]
        steps = [Fewer("trials", 4 - number, 9, (draw,)) for number, draw in enumerate(draws)]
        assert smallest_with_same_ranking(steps) == smallest


def test_runs_without_two_trials_are_left_out_and_those_with_few_are_halved(tmp_path, mini):
    make_varied_runs(tmp_path, mini, n_runs=4, n_trials=1)
    finding = stability(score_runs([tmp_path], suite=mini), n_draws=2)
    assert {row[0] for row in finding.tables[-1].rows} == {"questions"}
    assert finding.notes == ("fewer than three runs have two trials, so trials cannot be compared",)
    make_varied_runs(tmp_path / "more", mini, n_runs=3, n_trials=4)
    make_varied_runs(tmp_path / "few", mini, n_runs=2, n_trials=3)
    finding = stability(score_runs([tmp_path], suite=mini), n_draws=5)
    trials = [row for row in finding.tables[-1].rows if row[0] == "trials"]
    assert [row[1] for row in trials] == [2, 1]
    assert all(row[3] > 0.5 for row in trials)
    assert finding.notes == (
        "4 runs of a single trial are left out of the rows on trials",
        "2 runs have fewer than 4 trials; their trials are halved if needed",
    )


def test_agreement_counts_pairs_by_hand():
    questions = np.array([[-1.0, 0.0, 1.0]]) * 0.45 + np.array([[0.0], [1.0], [2.0], [9.0]])
    pairs = RunPairs.of(questions)
    assert pairs.within == pytest.approx(4.302653 * 0.45 / 3**0.5, rel=1e-4)
    assert pairs.first[pairs.is_close].tolist() == [0, 1]
    assert pairs.second[pairs.is_close].tolist() == [1, 2]
    result = pairs.agreement(questions.mean(axis=1), np.array([2.0, 1.0, 3.0, 9.0]))
    assert result.kendall == pytest.approx((5 - 1) / 6)
    assert result.swapped == pytest.approx(1 / 6)
    assert (result.close, result.close_swapped) == (0.0, 0.5)  # one of two
    first, other = np.array([[1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 0.0]])  # with ties
    assert pairs.agreement(first, other).kendall == pytest.approx(kendall(first, other))
    pairs = RunPairs.of(questions[:, :1])  # without an interval of scores no pairs are close
    assert (pairs.within, np.isnan(pairs.agreement(first, other).close_swapped)) == (None, True)


def test_the_lowest_draws_are_told_of_twenty_draws_or_more(scored):
    by_name = {n: stability(scored, n_draws=n).tables[1].rows for n in (19, 20)}
    for n, rows in by_name.items():
        assert {row[4] is None for row in rows if row[0] == "questions"} == {n < 20}


def test_a_trial_is_one_answer_to_each_question_in_any_order_of_the_file(scored, mini):
    by_run = scores_of_trials(scored, np.random.default_rng(0))
    assert len(by_run) == len(scored.names)
    for run, trials in enumerate(by_run):
        assert len(trials) == 3
        assert trials.mean() == pytest.approx(scored.answer_scores["score"][scored.run_numbers == run].mean())
    again, other = (scores_of_trials(scored, np.random.default_rng(seed)) for seed in (0, 1))
    assert by_run[0].tolist() == again[0].tolist() != other[0].tolist()


def with_one_set(suite, name):
    return Suite("alone", tuple(replace(q, answers={name: q.answers[name]}) for q in suite), suite.metadata_hash)


def test_one_set_alone_scores_as_a_suite_of_that_set(scored, varied, mini):
    figures_of_b = read_figures([varied], suite=with_one_set(mini, "B"))
    by_set = scores_by_set(scored)
    assert by_set.questions == "the 8 questions that have the sets A, B"
    assert by_set.scores["B"] == pytest.approx(figures_of_b.means["score"], abs=2e-5)  # rounded before it is multiplied
    assert by_set.with_sets(["A", "B"]) == pytest.approx(scored.means["score"], abs=2e-5)


def test_sets_are_compared_on_the_questions_that_have_them_all(scored, mini):
    with pytest.raises(ExperimentError, match="only one reference set"):
        scores_by_set(replace(scored, suite=with_one_set(mini, "A")))
    with pytest.raises(ExperimentError, match=r"^the suite has no set 'Z'; it has A, B$"):
        scores_by_set(scored, ["A", "Z"])
    with pytest.raises(ExperimentError, match="expected at least two"):
        scores_by_set(scored, ["A", "A"])
    without = (replace(question, answers={"B": question.answers["B"]}) for question in mini.questions[:2])
    lacking = Suite("lacking", (*without, *mini.questions[2:]), mini.metadata_hash)
    by_set = scores_by_set(replace(scored, suite=lacking))
    assert by_set.questions == "the 6 questions that have the sets A, B"
    fluency, truthfulness = (scored.set_scores[metric]["A"][:, 2:] for metric in ("fluency", "truthfulness"))
    helpfulness = scored.question_scores["helpfulness"][:, 2:]
    assert by_set.scores["A"] == pytest.approx(((fluency + truthfulness + helpfulness) / 3).mean(axis=1))


def test_an_interval_of_minus_one_to_one_is_blank_with_the_reason(scored):
    by_set = scores_by_set(scored)
    runs = replace(by_set.runs.chosen([*range(6), *range(6)]), models=tuple(map(str, range(12))))
    (row,) = sets(replace(by_set, runs=runs)).tables[0].to_dicts()
    assert row["Pearson low"] is not None
    noise = np.random.default_rng(0).normal(size=(2, 12)) / 1000
    noise[:, 0] = 1  # one run decides
    names = ("score with A alone", "score with B alone")
    alike = replace(runs, means={**runs.means, **dict(zip(names, noise, strict=True))})
    finding = sets(replace(by_set, runs=alike))
    (row,) = finding.tables[0].to_dicts()
    assert row["Pearson"] > 0.999
    assert row["Pearson low"] is None is row["Pearson high"]
    reason = "it would be -1 to 1, because a single one of the 12 models decides the correlation; add runs"
    assert f"no interval of Pearson for A and B: {reason}" in finding.notes


@pytest.mark.parametrize("name", ["sets", "relations"])
def test_the_published_table_takes_no_runs_and_no_suite(call, tmp_path, name):
    for more, problem in (([tmp_path], "expected either runs"), (["--suite", "mini"], "--suite: expected runs, not")):
        code, _, err = call("experiment", name, *more, "--table", "published", "-o", tmp_path / "out")
        assert (code, problem in err) == (2, True), err


def test_pairs_have_their_correlation_and_every_run_its_scores(scored):
    by_set = scores_by_set(scored)
    finding = sets(by_set)
    assert [table.name for table in finding.tables] == ["pairs", "matrix", "scores"]
    (pair,) = finding.tables[0].rows
    assert pair[:4] == ("A", "B", 6, 6)
    assert pair[5:7] == (None, None)
    assert any("of only 6 models" in note for note in finding.notes)
    assert pair[4] == pytest.approx(np.corrcoef(by_set.scores["A"], by_set.scores["B"])[0, 1])
    assert f"A-B {pair[4]:.5f}" in finding.paragraph
    scores = {row[0]: row[2:] for row in finding.tables[2].rows}
    for run, name in enumerate(scored.names):
        assert scores[name] == (by_set.scores["A"][run], by_set.scores["B"][run])


def test_the_command_takes_runs(call, tmp_path, varied, undrawn):
    code, out, _ = call("experiment", "sets", varied, "-s", "mini", "-o", tmp_path / "runs")
    assert code == 0
    assert "correlation of the scores of 6 runs is at least" in out
    code, _, err = call("experiment", "sets", varied, "-s", "mini", "--set", "Z", "-o", tmp_path / "none")
    assert (code, "no set 'Z'" in err) == (2, True)
    assert not (tmp_path / "none").exists()


HEAD = "run,model,score,length,fluency_A,fluency_B,truthfulness_A,truthfulness_B,helpfulness,other\n"


def test_metrics_are_the_sums_over_the_sets_and_a_row_that_lacks_a_number_is_left_out_and_named(write):
    rows = "".join(f"result/m{n},org/m{n},0.{n},10{n},0.1,0.2,0.{n},0.3,0.4,x\n" for n in (1, 2, 3))
    table = read_leaderboard(write(HEAD + "bad,bad,0.5,100,,0.2,0.1,0.1,0.1,x\n" + rows, "leaderboard.csv"))
    assert table.models == ("org/m1", "org/m2", "org/m3")
    assert table.problems[0].endswith("leaderboard.csv, line 2 (bad): no fluency_A")
    assert table.means["fluency"].tolist() == pytest.approx([0.3, 0.3, 0.3])
    assert table.means["truthfulness"].tolist() == pytest.approx([0.4, 0.5, 0.6])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no column 'run'"),
        ("run,model,score,length,helpfulness\n", "no column 'fluency_<set>'"),
        (HEAD.replace("truthfulness_B,", ""), "no column 'truthfulness_B'"),
        (HEAD + "a,b,many,1,1,1,1,1,1,1\n", "line 2, column 'score': expected a number, not 'many'"),
        (HEAD + "a,b\n", "line 2: expected 10 cells, not 2"),
        (HEAD + "a,b,1,1,1,1,1,1,1,1\n", "an experiment needs at least 3 runs; there are 1"),
    ],
)
def test_a_file_that_is_not_a_leaderboard_is_named(write, text, problem):
    with pytest.raises(ExperimentError, match=problem):
        read_leaderboard(write(text, "leaderboard.csv"))
