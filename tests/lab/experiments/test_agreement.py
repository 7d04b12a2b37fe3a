"""Agreement of metrics with verdicts: of runs and of tables of answers."""

import csv
import io
import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from pfgen_fast import ExperimentError, PfgenError, ReferenceScorer, Scorer, Suite
from pfgen_fast.lab.experiments.aligned_verdicts import MetricValues, values_of_runs
from pfgen_fast.lab.experiments.metric_agreement import agreement
from pfgen_fast.lab.experiments.scored_answers import read_metric_values
from pfgen_fast.lab.experiments.verdict_tables import Verdicts, match_names, read_verdicts
from pfgen_fast.suite.questions import Question
from pfgen_fast.suite.rules import Lengths
from pfgen_fast.suite.units import PatternTokenizer

MODELS = tuple(f"org-{n // 2}/m{n}" for n in range(12))
PROMPTS = tuple("abcdefgh")
JUDGED = [Verdicts("judge", {model: n for n, model in enumerate(MODELS)})]
TEXT = "ice floats on water because frozen water is less dense than liquid water at the same temperature"


def values_with(**metrics):
    families = tuple(name.split("/")[0] for name in MODELS)
    categories = ("even", "odd") * 4
    return MetricValues(MODELS, MODELS, families, PROMPTS, categories, metrics)


def grid(seed=0):
    return np.random.default_rng(seed).normal(size=(12, 8))


def ratings_of(values, name="judge"):
    cells = itertools.product(enumerate(MODELS), enumerate(PROMPTS))
    return Verdicts(name, ratings={(prompt, model): [values[i, j]] for (i, model), (j, prompt) in cells})


def rows_of(finding, **cells):
    return [row for row in finding.tables[0].to_dicts() if cells.items() <= row.items()]


def row_of(finding, **cells):
    (row,) = rows_of(finding, **cells)
    return row


def test_names_match_as_they_are_then_by_the_rules_in_their_order():
    ours = ["org/Model-7B", "org/model_7b-it", "other/big", "lab/x.1", "alone"]
    theirs = ["org/Model-7B", "ORG/Model 7B it", "big", "x-1", "nobody"]
    assert match_names(ours, theirs) == dict(zip(ours, theirs[:4], strict=False))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(["a/model", "b/model"], ["model"]), (["a/model"], ["x/model", "y/model"]), (["A-b"], ["a_b", "a b"])],
)
def test_a_name_with_two_partners_has_none(ours, theirs):
    assert match_names(ours, theirs) == {}


def test_a_metric_that_is_the_judge_agrees_wholly_and_its_negative_not_at_all():
    judge = grid()
    finding = agreement(values_with(length=grid(1), same=judge, opposite=-judge), [ratings_of(judge)])
    same, opposite = (row_of(finding, metric=name, prompts="all") for name in ("same", "opposite"))
    assert [same[name] for name in ("Pearson", "Spearman", "Kendall", "agree", "agree there")] == [pytest.approx(1)] * 5
    assert [opposite[name] for name in ("Spearman", "Kendall", "agree")] == [pytest.approx(-1), pytest.approx(-1), 0]
    assert (same["models"], same["families"], same["pairs"]) == (12, 6, 8 * 66)
    assert "agrees best with same" in finding.answer
    assert any("length alone agrees better than opposite" in note for note in finding.notes)
    assert any("only 6 families" in note for note in finding.notes)


def test_what_a_metric_says_beyond_length_is_a_partial_correlation_of_ranks():
    length, noise, judge = grid(1), grid(2), grid(3)
    finding = agreement(values_with(length=length, metric=length + noise), [ratings_of(length + judge)])
    from scipy.stats import spearmanr

    x, y, z = (values.mean(axis=1) for values in (length + noise, length + judge, length))
    xy, xz, yz = (spearmanr(a, b).statistic for a, b in ((x, y), (x, z), (y, z)))
    expected = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert row_of(finding, metric="metric", prompts="all")["Spearman given length"] == pytest.approx(expected)
    assert row_of(finding, metric="length", prompts="all")["Spearman given length"] is None
    assert "it changes with the runs given" in finding.paragraph


def test_pairs_are_of_one_prompt_and_ties_count_half():
    judge = np.tile(np.arange(12.0)[:, np.newaxis], 8)
    judge[:, 0] = 5  # the judge calls all answers equal
    metric = np.repeat(np.arange(6.0), 2)[:, np.newaxis] + np.zeros(8)  # each two models are equal
    finding = agreement(values_with(metric=metric), [ratings_of(judge)])
    row = row_of(finding, metric="metric", prompts="all")
    assert (row["pairs"], row["ties"], row["agree"]) == (7 * 66, 7 * 6, pytest.approx((60 + 3) / 66))
    assert "66 pairs that judge calls equal are left out" in finding.paragraph
    assert row["agree low"] < row["agree"] < row["agree high"]


def test_categories_divide_the_pairs():
    judge, metric = grid(), grid(1)
    metric[:, ::2] = judge[:, ::2]
    finding = agreement(values_with(metric=metric), [ratings_of(judge)])
    even, odd, both = (row_of(finding, prompts=name) for name in ("even", "odd", "all"))
    assert (even["agree"], even["pairs"] + odd["pairs"]) == (1, both["pairs"])
    assert both["agree"] == pytest.approx((1 + odd["agree"]) / 2)


def test_two_answers_compared_with_a_baseline_differ_if_only_one_beats_it():
    values = values_with(metric=grid())
    shares = {"m1": 0.9, "m2": 0.6, "m3": 0.2, "m4": 0.5}
    pairs = [("a", f"org-{int(name[1]) // 2}/{name}", MODELS[0], share) for name, share in shares.items()]
    pairs += [("b", first, second, share) for _, first, second, share in pairs]
    finding = agreement(values, [Verdicts("judge", pairs=pairs)])
    row = row_of(finding, metric="metric", prompts="all")
    better = [values.values["metric"][[1, 2], at] > values.values["metric"][3, at] for at in (0, 1)]
    assert (row["models"], row["pairs"], row["agree"]) == (4, 4, np.mean(better))
    assert f"compared all answers with those of {MODELS[0]}" in finding.paragraph


def test_a_baseline_needs_no_answers():
    pairs = [("a", "base", name, 1 - share) for name, share in zip(MODELS[:4], (0.9, 0.6, 0.2, 0.5), strict=True)]
    metric = grid()
    finding = agreement(values_with(metric=metric), [Verdicts("judge", pairs=pairs)])
    row = row_of(finding, metric="metric", prompts="all")
    assert (row["models"], row["pairs"], row["agree"]) == (4, 2, np.mean(metric[:2, 0] > metric[2, 0]))
    assert row["Spearman"] == pytest.approx(np.corrcoef(metric[:4, 0].argsort().argsort(), [3, 2, 0, 1])[0, 1])
    assert "compared all answers with those of base" in finding.paragraph
    assert finding.notes[0].startswith("judge: 8 models without verdicts are left out: org-2/m4, ")


def test_a_baseline_that_always_wins_counts_in_the_pairs_with_it():
    pairs = [("a", MODELS[0], name, 1.0) for name in MODELS[1:]]
    metric = grid()
    finding = agreement(values_with(metric=metric), [Verdicts("judge", pairs=pairs)])
    row = row_of(finding, metric="metric", prompts="all")
    assert (row["pairs"], row["agree"]) == (11, np.mean(metric[0, 0] > metric[1:, 0]))
    assert "baseline" not in finding.paragraph


def test_models_with_other_prompts_are_noted():
    metric = grid()
    metric[:3, 2:] = np.nan
    note = "judge: models have 2 to 8 prompts, so their means may differ because their prompts do"
    assert note in agreement(values_with(metric=metric), JUDGED).notes
    assert not any("prompts" in note for note in agreement(values_with(metric=grid()), JUDGED).notes)


def test_pairs_of_many_models_are_compared_as_they_were_judged():
    values = values_with(metric=grid())
    pairs = [("a", MODELS[0], MODELS[1], 1.0), ("a", MODELS[1], MODELS[2], 0.5), ("b", MODELS[2], MODELS[0], 0.25)]
    row = row_of(agreement(values, [Verdicts("judge", pairs=pairs)]), metric="metric", prompts="all")
    metric = values.values["metric"]
    assert (row["pairs"], row["agree"]) == (2, np.mean([metric[0, 0] > metric[1, 0], metric[0, 1] > metric[2, 1]]))


def test_pairs_of_two_models_have_shares_and_no_correlation():
    pairs = [(prompt, MODELS[0], MODELS[1], float(n % 2)) for n, prompt in enumerate(PROMPTS)]
    finding = agreement(values_with(metric=grid()), [Verdicts("judge", pairs=pairs)])
    row = row_of(finding, metric="metric", prompts="all")
    assert (row["models"], row["Spearman"], row["pairs"]) == (2, None, 8)
    assert finding.pictures[0].chart.x_label == "share of agreeing pairs"


@pytest.mark.parametrize(
    ("verdicts", "problem"),
    [
        (Verdicts("judge", {"x": 1, "y": 2, "z": 3}), r"judge: 0 models in common.*ours are org-0/m0.*theirs x, y, z"),
        (Verdicts("judge", {MODELS[0]: 1}), "judge: 1 model in common, expected at least 2"),
        (Verdicts("judge", dict.fromkeys(MODELS, 5)), "12 models in common .* verdicts are all equal"),
        (Verdicts("judge", dict(zip(MODELS[:2], (1, 2), strict=True))), "2 models in common .* expected at least 3"),
        (Verdicts("judge", ratings={("other", m): [1] for m in MODELS}), "no prompt in common; ours are such as a, b"),
    ],
)
def test_verdicts_that_cannot_be_compared_are_named(verdicts, problem):
    with pytest.raises(ExperimentError, match=problem):
        agreement(values_with(metric=grid()), [verdicts])


def test_a_constant_metric_and_models_without_answers_are_noted():
    verdicts = Verdicts("judge", {**{name: n for n, name in enumerate(MODELS)}, "stranger": 3})
    finding = agreement(values_with(metric=grid(), flat=np.zeros((12, 8))), [verdicts, Verdicts("none", {"x": 1})])
    assert row_of(finding, metric="flat")["Spearman"] is None
    assert "judge: no correlation of flat: all models are equal" in finding.notes
    assert "judge: 1 model without answers here are left out: stranger" in finding.notes
    assert any(note.startswith("left out: none: 0 models in common") for note in finding.notes)


def test_a_metric_without_a_correlation_is_neither_best_nor_worse_than_length():
    judge = np.arange(12.0)[:, np.newaxis] + np.zeros(8)
    finding = agreement(values_with(length=judge, low=grid(), flat=np.zeros((12, 8))), [ratings_of(judge)])
    low, flat = (row_of(finding, metric=name, prompts="all") for name in ("low", "flat"))
    assert low["Spearman"] < flat["agree"]
    assert "agrees best with low" in finding.answer
    assert "judge: length alone agrees better than low" in finding.notes


def test_lengths_that_are_not_known_do_not_hide_what_is_beyond_the_others():
    length, judge = np.abs(grid(1)), grid(3)
    length[0, 0] = length[1] = np.nan  # an empty answer, and a model without answers
    values = values_with(length=length, metric=grid(2))
    others, columns = MODELS[:1] + MODELS[2:], {name: part[[0, *range(2, 12)]] for name, part in values.values.items()}
    within = replace(values, names=others, models=others, families=values.families[1:], values=columns)
    figures = [
        row_of(agreement(part, [ratings_of(judge)]), metric="metric", prompts="all")["Spearman given length"]
        for part in (values, within)
    ]
    assert -1 < figures[0] == pytest.approx(figures[1])


def test_the_run_with_the_best_score_counts_for_a_model_and_each_run_for_its_own_verdict():
    score = np.arange(12.0)[:, np.newaxis] + np.zeros(8)
    models = ("a", "a", "b", "b", "c", "c", *"defghi")
    runs = replace(values_with(length=-score, score=score), models=models)
    by_model = agreement(runs, [Verdicts("judge", {name: n for n, name in enumerate("abcdefghi")})])
    assert [row["score"] for row in by_model.tables[1].to_dicts()] == [11, 10, 9, 8, 7, 6, 5, 3, 1]
    assert row_of(agreement(runs, [ratings_of(score)]), metric="score", prompts="all")["models"] == 12


# --- tables


@pytest.fixture
def answers(tmp_path):
    """Answers of twelve models of six families to eight prompts: the longer, the higher the number of the model."""
    path = tmp_path / "answers.jsonl"
    rows = [
        {"prompt": prompt, "model": model, "answer": " ".join(TEXT.split()[at : at + 2 + n]), "family": f"f{n // 2}"}
        for at, prompt in enumerate(PROMPTS)
        for n, model in enumerate(MODELS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_candidate_is_scored_without_the_answers_of_its_family(answers):
    values = read_metric_values([str(answers)], ["chrf:mean", "chrf"], JUDGED, family="family")
    texts = [json.loads(line) for line in answers.read_text().splitlines()]
    texts = {model: [row["answer"] for row in texts if row["model"] == model] for model in MODELS}
    for reduce, name in (("mean", "chrf:mean"), ("best", "chrf")):
        others = [[texts[model][at] for model in MODELS[2:]] for at in range(8)]
        expected = ReferenceScorer("chrf", reduce=reduce).score(texts[MODELS[0]], others)["chrf"]
        assert values.values[name][0].tolist() == expected.tolist()
    alone = read_metric_values([str(answers)], ["chrf"], JUDGED)
    assert (alone.values["chrf"] >= values.values["chrf"]).all()
    assert values.values["length"][0, 0] == len(texts[MODELS[0]][0])


@pytest.mark.parametrize(
    ("spec", "unit", "lengths"),
    [
        ("fluency:characters,100,150", None, Lengths()),
        ("fluency:words,4,6", "words", Lengths(4, 6)),
        ("fluency:whitespace,4,6", "whitespace", Lengths(4, 6)),
        ("fluency:words,1x,2x,each", "words", Lengths(8, 15)),
    ],
)
def test_our_scores_are_of_suites_without_the_family(answers, spec, unit, lengths):
    values = read_metric_values([str(answers)], [spec], JUDGED, family="family")
    tokenizer = unit and PatternTokenizer(unit)
    texts = [json.loads(line)["answer"] for line in answers.read_text().splitlines()[:12]]
    question = Question("Q1", "a", {"answers": tuple(texts[2:])}, tokenizer=tokenizer, lengths=lengths)
    expected = Scorer(Suite("own", (question,))).score("Q1", texts[:2]).fluency
    assert values.values[spec][:2, 0].tolist() == expected.tolist()
    assert agreement(values, JUDGED).tables[0].rows[1][:5] == ("judge", "all", spec, 12, 6)


def test_references_are_the_first_of_other_families(answers, tmp_path):
    (tmp_path / "strong.txt").write_text(f"{MODELS[11]}\n{MODELS[0]}\n")
    single = read_metric_values(
        [str(answers)], ["chrf"], JUDGED, family="family", references=tmp_path / "strong.txt", most=1
    )
    rows = [json.loads(line) for line in answers.read_text().splitlines()[:12]]
    expected = ReferenceScorer("chrf").score([rows[10]["answer"]], [[rows[0]["answer"]]])["chrf"][0]
    assert single.values["chrf"][10, 0] == expected  # not with the best reference, which is of the same family


def test_families_with_fewer_references_are_noted_and_most_makes_them_equal(answers, tmp_path):
    verdicts = [Verdicts("judge", {model: n for n, model in enumerate(MODELS[:11])})]
    listed = tmp_path / "strong.txt"
    listed.write_text("\n".join([*MODELS[:3], *MODELS[:3]]))
    mute = f"1 model without verdicts count as references at most: {MODELS[11]}"

    def notes(*metrics, **options):
        return read_metric_values([str(answers)], metrics, verdicts, family="family", **options).notes

    assert notes("chrf") == notes() == (mute,)
    uneven = notes("chrf", references=listed)[1]
    assert uneven.startswith("families have 1 to 3 references for a prompt, ")
    assert uneven.endswith("--most-references 1 makes them equal")
    assert notes("chrf", references=listed, most=1) == (mute,)


def test_a_family_without_references_is_left_out(answers, tmp_path):
    (tmp_path / "strong.txt").write_text(MODELS[0])
    values = read_metric_values(
        [str(answers)], ["chrf", "fluency"], JUDGED, family="family", references=tmp_path / "strong.txt"
    )
    assert np.isnan(values.values["chrf"]).any(axis=1).tolist() == [True] * 2 + [False] * 10
    assert values.notes == ("f0: no references are left without the own family; expected those of other families",)


ICE = "prompt,model,answer\na,x,Ice\n"


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (ICE, {"metrics": ["chrf"]}, "x: no references are left without the own family"),
        ("prompt,model,score\na,x,1\n", {"metrics": ["chrf"]}, "'chrf': expected a column of answers"),
        (ICE, {"metrics": ["quality"]}, "unknown metric 'quality'.*or name a column"),
        (ICE, {"metrics": ["corpus_bleu:mean"]}, "'corpus_bleu:mean': expected a metric of sin"),
        (ICE, {"metrics": ["corpus_blue"]}, "'corpus_blue'; expected one of fluency, .*average, bleu, nmt_bleu"),
        (ICE, {"metrics": ["chrf:words"]}, "'chrf:words': expected best or mean"),
        (f"{ICE}b,y,Ice\n", {"metrics": ["fluency:words,9,6"]}, "expected a limit above the tar"),
        *(
            (f"{ICE}b,y,Ice\n", {"metrics": [f"fluency:{wrong}"]}, "expected characters or whitespace or w")
            for wrong in ("", "words,0,10", "0x,3x", "words,2x,3x,each,each")
        ),
        (ICE, {"category": "kind"}, "column 'kind': no table has such a column of cat"),
        (ICE, {"family": "maker"}, "column 'maker': no family of x"),
        ("prompt,text\na,Ice\n", {}, "expected a column of models"),
        ("prompt,model,answer\na,,Ice\n", {}, "line 2: column 'model' is empty"),
        ("prompt,model,x\na,m,1\nb,m,one\n", {}, "line 3, column 'x': expected a number, not 'one'"),
        ("prompt,model,x\na,m,nan\nb,m,1\n", {}, "line 2, column 'x': expected a number, not 'nan'"),
        ("prompt,model,family\na,m,f\nb,m,g\n", {"family": "family"}, "'m' has two families, 'f' and 'g'"),
    ],
)
def test_tables_that_cannot_be_used_are_named(write, text, options, problem):
    arguments = {"metrics": (), **options}
    with pytest.raises(ExperimentError, match=problem):
        read_metric_values([str(write(text, "answers.csv"))], arguments.pop("metrics"), [], **arguments)


def test_length_is_that_of_the_answers_and_words_may_contain_numbers(write):
    table = write("prompt,model,answer,length,comment\na,x,Ice,7,\na,y,Water,8,1\nb,y,Snow,,no\nb,x,Hail,,none\n")
    values = read_metric_values([str(table)], (), [])
    assert {name: column.tolist() for name, column in values.values.items()} == {"length": [[3, 4], [5, 4]]}


def test_verdicts_are_told_apart_by_their_columns(write):
    pairs = write("instruction,generator_1,generator_2,preference\np,a,b,1.25\np,b,b,1\n", "pairs.csv")
    ratings = write("prompt,model,grade\np,a,3\np,a,4\n", "ratings.csv")
    figures = write("\ufeffname,wins,mode\na,1,x\nb,-2.5e1,y\nc,,z\n", "board.csv")
    first, second, third = read_verdicts([f"AE={pairs}", str(ratings), str(figures)])[0]
    assert (first.name, first.pairs) == ("AE", [("p", "a", "b", 0.75)])
    assert (second.name, second.ratings) == ("ratings: grade", {("p", "a"): [3, 4]})
    assert (third.name, third.figures) == ("board: wins", {"a": 1, "b": -25})


def test_verdicts_of_one_name_are_refused(write):
    with pytest.raises(ExperimentError, match="two verdicts have the name 'scores: x'; name them"):
        read_verdicts([str(write("model,x\na,1\n"))] * 2)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("model,x,x\na,1,2\n", "column 'x' appears 2 times"),
        ("model,x\na,1\na,1\n", "line 3: 'a' is repeated"),
        ("model,x\na,N/A\nb,1\nc,2\n", "line 2, column 'x': expected a number, not 'N/A'"),
        ("model,x\na,1\nb,nan\n", "line 3, column 'x': expected a number, not 'nan'; leave a missing score empty"),
        ("model,x\na,b\n", "no column of verdicts; expected a column of numbers"),
        ("prompt,model,other,preference\np,a,b,3\n", "line 2, column 'preference': expected a preference, 3 is none"),
        ("prompt,model,other,preference\np,a,b,0.2\np,a,b,2\n", "expected a preference, 0.2 is none"),
    ],
)
def test_verdicts_that_cannot_be_read_are_named_with_their_line(write, text, problem):
    with pytest.raises(PfgenError, match=problem):
        read_verdicts([str(write(text))])


# --- runs


def test_correlations_of_runs_are_those_of_the_models_in_common(scored, write):
    theirs = [0.9, 0.7, 0.75, 0.3, 0.2]
    lines = "".join(f"Model {number},{value}\n" for number, value in enumerate(theirs))
    verdicts = read_verdicts([str(write("name,judge\n" + lines + "stranger,1\n"))])[0]
    finding = agreement(values_of_runs(scored), verdicts)
    ours = [scored.means["score"][scored.models.index(f"org/model-{n}")] for n in range(5)]
    row = row_of(finding, metric="score")
    assert (row["verdicts"], row["models"]) == ("judge", 5)
    assert row["Pearson"] == pytest.approx(np.corrcoef(ours, theirs)[0, 1])
    assert finding.tables[1].to_dicts()[0]["name in the verdicts"] == "Model 0"


def test_yardsticks_are_left_out_and_named(scored):
    models = ("system/ground-truth", *scored.models[1:])
    values = values_of_runs(replace(scored, models=models))
    assert values.models == scored.models[1:]
    assert all(len(column) == 5 for column in values.values.values())
    assert values.notes == ("left out, because they are yardsticks and not models: system/ground-truth",)


def test_the_command_compares_runs_with_every_column_of_every_file(call, varied, tmp_path, write, undrawn):
    judge = write("model,judge\n" + "".join(f"org/model-{n},{9 - n}\n" for n in range(6)), "judge.csv")
    other = write("model,arena\n" + "".join(f"model-{n},{n * n}\n" for n in range(6)), "other.csv")
    arguments = ("--verdicts", judge, "--verdicts", f"Arena={other}", "-s", "mini", "-o", tmp_path / "out")
    code, out, err = call("experiment", "agreement", varied, *arguments)
    assert (code, "Arena agrees best with" in out) == (0, True), err
    with io.StringIO((tmp_path / "out" / "agreement-metrics.csv").read_text()) as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "score"]
    assert [row["verdicts"] for row in rows] == ["judge: judge", "Arena"]
    assert float(rows[0]["Spearman"]) == pytest.approx(1)
    names = {path.name for path in (tmp_path / "out").glob("*.png")}
    assert names == {"agreement-metrics.png", "agreement-models.png"}


def test_the_command_reads_the_files_of_alpaca_eval_as_they_are(call, tmp_path, undrawn):
    for n in range(6):
        folder = tmp_path / "results" / f"m{n}"
        folder.mkdir(parents=True)
        asked = [{"dataset": f"set {at % 2}", "instruction": prompt} for at, prompt in enumerate(PROMPTS)]
        outputs = [{**row, "output": TEXT[: 20 + 5 * n], "generator": f"m{n}"} for row in asked]
        judged = {"generator_1": "m0", "generator_2": f"m{n}", "annotator": "gpt", "raw_completion": {"text": "M"}}
        pairs = [{**row, **judged, "preference": 1 + 1e-7 if n < 3 else 1.9} for row in asked]
        (folder / "model_outputs.json").write_text(json.dumps(outputs))
        (folder / "annotations.json").write_text(json.dumps(pairs))
    (tmp_path / "families.csv").write_text("model,family\n" + "".join(f"m{n},f{n // 2}\n" for n in range(6)))
    inputs = (tmp_path / "results/*/model_outputs.json", tmp_path / "families.csv")
    verdicts = ("--verdicts", f"AE2={tmp_path}/results/*/annotations.json", "--family", "family")
    code, _, err = call("experiment", "agreement", *inputs, *verdicts, "--metric", "chrf", "-o", tmp_path / "out")
    assert code == 0, err
    with io.StringIO((tmp_path / "out" / "agreement-metrics.csv").read_text()) as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "length"]
    assert [(row["prompts"], row["models"], row["families"], row["pairs"], row["agree"]) for row in rows] == [
        ("all", "5", "3", "48", "1"),
        ("set 0", "5", "3", "24", "1"),
        ("set 1", "5", "3", "24", "1"),
    ]


def test_the_command_compares_tables(call, answers, tmp_path, write, undrawn):
    lines = [f"{prompt},{model},{MODELS[0]},{int(n > 5)}\n" for n, model in enumerate(MODELS) for prompt in PROMPTS]
    pairs = write("prompt,model,other,preference\n" + "".join(lines))
    usual = ("experiment", "agreement", answers, "--verdicts", pairs, "--family", "family", "-o", tmp_path / "out")
    code, out, err = call(*usual, "--metric", "chrf:mean")
    assert (code, "preference agrees best with chrf:mean" in out) == (0, True), err
    code, _, err = call(*usual, "--metric", "chrf", "--suite", "mini")
    assert (code, "--suite: expected runs, not tables" in err) == (2, True)
