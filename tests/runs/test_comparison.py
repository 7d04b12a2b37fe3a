"""Comparison of runs, and of models in tables: tests, families, missing items, figures, subjects, power, verdicts."""

import json
from dataclasses import replace

import numpy as np
import pytest
from makers.runs import make_run
from pfgen_fast import TrialsError, compare
from pfgen_fast.runs.comparison import compare_models
from pfgen_fast.runs.items.item_table import ItemScores
from pfgen_fast.runs.run_comparison import compare_runs, scores_of
from pfgen_fast.runs.statistics.paired_tests import paired_difference
from pfgen_fast.runs.statistics.verdicts import corrected
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.rules import AVERAGE_FIRST


@pytest.fixture
def run_of(tmp_path):
    """Makes a run of these questions, whose answers are reference answers cut to a length."""

    def make(name, questions, length=60, n_trials=2, first=0):
        lines = [
            json.dumps({"question": question.question, "answer": question.answers["A"][first + k][: length + 7 * k]})
            for k in range(n_trials)
            for question in questions
        ]
        return find_runs([make_run(tmp_path / name, lines)])[0]

    return make


def test_questions_without_an_answer_are_left_out_and_counted(run_of, mini, scorer):
    result = compare(run_of("a", mini.questions[:7], 30), run_of("b", mini.questions[1:], 90), scorer)
    assert result.left_out == "2 of 8 questions are left out, without an answer: 1 in run A and 1 in run B."
    assert {row.n_questions for row in result.metrics} == {6} == {len(result.questions)}
    assert "over 6 questions" in result.verdict
    assert compare(run_of("c", mini, 30), run_of("d", mini, 90), scorer).left_out == ""
    with pytest.raises(TrialsError, match="no question in common"):
        compare(run_of("e", mini.questions[:2]), run_of("f", mini.questions[2:]), scorer)


def test_means_have_their_difference_if_questions_have_unequal_numbers_of_trials(run_of, mini, scorer):
    fewer = run_of("a", mini, 30)
    fewer.trials_path.write_text("\n".join(fewer.trials_path.read_text("utf-8").splitlines()[:-4]), "utf-8")
    for row in compare(fewer, run_of("b", mini, 90), scorer, metrics=AVERAGE_FIRST).metrics:
        assert row.a - row.b == pytest.approx(row.difference, abs=1e-4)


@pytest.fixture(scope="module")
def runs(varied):
    return find_runs([varied])


def values_of(run, scorer):
    """The score of each question, computed in another way: one answer after the other."""
    trials = [json.loads(line) for line in (run.folder / "trials.jsonl").read_text("utf-8").splitlines()]
    by_name = {question.question: [] for question in scorer.suite}
    for trial in trials:
        by_name[trial["question"]].append(scorer.score([trial["question"]], [trial["answer"]]).average[0])
    return [round(float(np.mean(scores)), 5) for scores in by_name.values()]


def test_runs_are_item_scores_with_trials_and_categories(runs, scorer):
    table = replace(scores_of(runs[:3], scorer).table, models=("a", "b", "c"))
    assert table.items == tuple(question.question_id for question in scorer.suite)
    assert table.subjects == tuple(question.category or None for question in scorer.suite)
    assert table.of("b", "average").tolist() == values_of(runs[1], scorer)
    trials = [json.loads(line) for line in (runs[1].folder / "trials.jsonl").read_text("utf-8").splitlines()]
    for at, question in enumerate(scorer.suite):
        answers = [trial["answer"] for trial in trials if trial["question"] == question.question]
        scored = scorer.score([question.question] * len(answers), answers)
        assert table.n_trials["average"][1, at] == len(answers)
        for metric in ("average", "fluency", "helpfulness"):
            assert table.variances[metric][1, at] == pytest.approx(np.var(scored[metric], ddof=1))
    as_runs, as_table = compare(runs[0], runs[1], scorer), compare(table, models=["a", "b"])
    for first, other in zip(as_runs.metrics, as_table.metrics, strict=True):
        assert (first.difference, first.low, first.p_value) == (other.difference, other.low, other.p_value)
        assert first.a == pytest.approx(other.a, abs=0.05 if first.metric == "length" else 6e-5)  # as in result.json


def test_many_runs_are_compared_with_the_first(runs, scorer):
    result = compare_runs(runs[:4], scorer, metrics=["average", "length"])
    assert (result.n_pairs, len(result.metrics)) == (3, 6)
    alone = compare(runs[0], runs[2], scorer)
    row, same = result.metrics[1], alone.metrics[0]
    assert (row.a, row.b, row.difference, row.p_value) == (same.a, same.b, same.difference, same.p_value)
    assert row.p_corrected >= same.p_value
    assert "of 3 runs, A is better than" in result.verdict


# --- models in tables

NAN = float("nan")


def table_of(values, *, metric="score", **more):
    rows = np.asarray(values, dtype=float)
    items = tuple(f"q{number}" for number in range(rows.shape[1]))
    return ItemScores(tuple("ABCDEFG"[: len(rows)]), items, {metric: rows}, **more)


def scores(n_models, n_items, seed=0):
    means = np.linspace(0.9, 0.1, n_models)[:, np.newaxis]
    return np.random.default_rng(seed).normal(means, 0.3, (n_models, n_items))


def test_two_models_have_the_paired_t_test_over_common_items():
    values = scores(2, 12)
    values[0, 1] = values[1, 2] = values[1, 3] = NAN
    result = compare_models(table_of(values))
    alone = paired_difference(*values)
    [row] = result.metrics
    assert (row.difference, row.low, row.high, row.p_value) == (alone.mean, alone.low, alone.high, alone.p_value)
    assert (row.p_corrected, row.n_questions, row.differs) == (alone.p_value, 9, True)
    assert row.a == pytest.approx(np.nanmean(np.where(np.isnan(values[1]), NAN, values[0])))
    assert result.left_out == "3 of 12 items are left out, without a score: 1 in model A and 2 in model B."
    assert result.verdict.startswith("A is better by 0.")
    assert result.method == "paired t-test over items"
    differences = [abs(question.difference) for question in result.questions]
    assert differences == sorted(differences, reverse=True)
    assert {question.question_id for question in result.questions} == {"q0", *(f"q{number}" for number in range(4, 12))}


def test_scores_of_0_and_1_have_tangos_test_unless_trials_or_clusters_forbid_it():
    binary = (scores(2, 30) > 0.5).astype(float)
    alone = paired_difference(*binary, binary=True)
    result = compare_models(table_of(binary))
    assert (result.metrics[0].p_value, result.metrics[0].low) == (alone.p_value, alone.low)
    assert result.method == "Tango's score test over items"
    several = {"n_trials": {"score": np.full((2, 30), 4)}}
    assert compare_models(table_of(binary, **several)).metrics[0].test == "t"
    clusters = [f"d{number // 2}" if number < 20 else None for number in range(30)]
    clustered = compare_models(table_of(binary, clusters=tuple(clusters)))
    assert clustered.metrics[0].n_clusters == 20  # an item without a cluster is its own
    assert clustered.method == "cluster-robust paired t-test over items"
    assert "over 30 items in 20 clusters" in clustered.verdict
    few = compare_models(table_of(binary, clusters=tuple("abcde" * 6)))
    assert few.metrics[0].differs is None
    assert few.verdict.startswith("no verdict: 30 items in 5 clusters, at least 6 are needed; A - B is ")


@pytest.mark.parametrize("all_pairs", [False, True])
def test_p_values_of_a_metric_are_corrected_by_holm(all_pairs):
    first, other = scores(4, 20), scores(4, 20, seed=1)
    table = ItemScores(tuple("ABCD"), tuple(map(str, range(20))), {"score": first, "f1": other})
    result = compare_models(table, all_pairs=all_pairs)
    n = 6 if all_pairs else 3
    assert result.n_pairs == n
    for part in (result.metrics[:n], result.metrics[n:]):
        expected = corrected([row.p_value for row in part]).tolist()
        assert [row.p_corrected for row in part] == expected
        assert [row.differs for row in part] == [p <= 0.05 for p in expected]
    assert f"p-values and intervals are corrected by Holm for the {n} comparisons of each metric" in result.method
    for row in result.metrics:
        assert row.differs == (not row.low <= 0 <= row.high)
    assert result.verdict.startswith("of 6 pairs, 5 differ, 1 " if all_pairs else "of 3 models, A is better than 3, ")
    assert result.shown.values("differs") == [row.differs for row in result.metrics[:n]]
    assert result.questions == ()


def test_few_common_items_give_no_verdict_and_a_metric_without_any_is_left_out():
    values = scores(3, 12)
    values[2, 5:] = NAN
    result = compare_models(table_of(values))
    assert [row.differs for row in result.metrics] == [True, None]
    assert result.metrics[0].p_corrected == result.metrics[0].p_value
    assert result.verdict.endswith("not distinguished from 0, no verdict about 1")
    assert result.left_out == "Each pair is compared on the items that both have: 5 to 12 of 12."
    f1 = np.full((2, 8), NAN)
    f1[0] = 0.5
    table = ItemScores(("new", "old"), tuple("abcdefgh"), {"f1": f1, "score": scores(2, 8)})
    result = compare_models(table)
    assert [row.metric for row in result.metrics] == ["score"]
    assert result.left_out == "Left out, because no two models have them in common: f1."
    with pytest.raises(TrialsError, match="new and old have no item in common"):
        compare_models(table.only(metrics=["f1"]))


def test_lower_scores_are_better_where_the_table_says_so():
    table = table_of(scores(2, 12), higher_is_better={"score": False})
    verdict = compare_models(table).verdict
    assert verdict.startswith("A is worse by 0.")
    assert "(lower is better), 95 % interval of A - B +" in verdict


def test_differences_by_subject_tell_little_with_two_items():
    values = np.vstack([scores(1, 20), scores(1, 20, seed=3) - 0.5])
    result = compare_models(table_of(values, subjects=("law",) * 2 + ("math",) * 17 + (None,)))
    law, math = result.subjects
    assert (law.subject, law.n_questions, law.differs) == ("law", 2, None)
    assert (math.subject, math.n_questions, math.differs) == ("math", 17, True)
    assert law.high - law.low > 5 * (math.high - math.low)


def test_power_names_items():
    rng = np.random.default_rng(0)
    values = np.stack([rng.normal(0.55, 0.3, 40), rng.normal(0.5, 0.3, 40)])
    result = compare_models(table_of(values), difference=0.3)
    seen, named = result.power
    assert (seen.difference, named.difference) == (result.metrics[0].difference, 0.3)
    assert named.n < 40 < seen.n
    assert result.power_sentences[1].startswith("a difference of 0.3 is found with power 0.8 by ")
    assert result.power_sentences[1].endswith("items, and 40 are there")
    assert result.power_sentences[0].endswith("more than there are")
    three = compare_models(table_of(scores(3, 40)), difference=0.3, deciding=2)
    assert [(needs.model_a, needs.model_b) for needs in three.power] == [("A", "B")] * 2 + [("A", "C")] * 2
    assert three.power_sentences[3].startswith("A and C: a difference of 0.3 is found with power 0.8 by ")
    assert [row.model_b for row in three.questions] == ["B", "B", "C", "C"]
    assert all(row.a - row.b == row.difference for row in three.questions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["A"]}, "1 model: a comparison needs at least two"),
        ({"models": ["A", "A"]}, "model A: given twice"),
        ({"models": ["A", "new"]}, "unknown model 'new'"),
        ({"metrics": ["scor"]}, "did you mean 'score'"),
    ],
)
def test_choices_that_cannot_be_compared_are_refused(options, message):
    with pytest.raises(TrialsError, match=message):
        compare(table_of(scores(3, 8)), **options)


def test_all_pairs_of_many_models_are_refused():
    table = ItemScores(tuple(map(str, range(201))), ("a", "b"), {"score": np.zeros((201, 2))})
    with pytest.raises(TrialsError, match="201 models have 20,100 pairs: all pairs are compared up to 200"):
        compare_models(table, all_pairs=True)


def test_compare_reads_tables_in_memory_and_in_files(tmp_path):
    rows = [
        {"item": f"q{item}", "model": model, "score": float(score)}
        for model, model_scores in zip(("old", "new"), scores(2, 9), strict=True)
        for item, score in enumerate(model_scores)
    ]
    result = compare(rows, models=["new", "old"])
    assert (result.metrics[0].model_a, result.metrics[0].model_b) == ("new", "old")
    path = tmp_path / "scores.csv"
    path.write_text("item,model,score\n" + "".join(f"{r['item']},{r['model']},{r['score']!r}\n" for r in rows))
    assert compare(path, models=["new", "old"]).metrics == result.metrics
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    for part in (new, old):
        part.write_text(
            "item,score\n" + "".join(f"{r['item']},{r['score']}\n" for r in rows if r["model"] == part.stem)
        )
    assert compare(new, old).metrics == result.metrics
    with pytest.raises(TrialsError, match="expected a table of scores, or two runs"):
        compare(tmp_path)


@pytest.mark.parametrize("names", [("lab/step-5", "lab/step-10"), ("lab/step-10", "lab/step-5")])
def test_readers_see_the_newer_checkpoint_minus_the_older(names):
    older, newer = np.linspace(0.2, 0.5, 8), np.linspace(0.4, 0.9, 8)
    values = {"score": np.array([older, newer] if names[0] == "lab/step-5" else [newer, older])}
    result = compare_models(ItemScores(names, tuple("abcdefgh"), values))
    (text,) = result.table.texts()
    pair, (first, second) = ("A - B", "AB") if names[0] == "lab/step-10" else ("B - A", "BA")
    assert (pair in result.table.heads(), "+0.3000" in text) == (True, True)
    assert result.verdict.startswith(f"{first} is better by 0.3000, 95 % interval of {first} - {second} +0.")
    word = "better" if pair == "A - B" else "worse"
    assert result.to_dict()["verdict"].startswith(f"A is {word} by 0.3000, 95 % interval of A - B ")
    assert result.deciding_tables(1)[0].texts()[0][3] == "+0.4000"
    assert result.metrics[0].difference == pytest.approx(0.3 if pair == "A - B" else -0.3)  # files have A - B
