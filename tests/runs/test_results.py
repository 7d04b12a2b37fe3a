"""Results: keys, figures and bytes by the rules; a foreign result.json is read, or rejected in one sentence."""

import copy
import json
import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.effort import examples, share
from makers.runs import make_run, trial_lines
from pfgen_fast import Scorer, Suite, TrialsError
from pfgen_fast.base.native import _core
from pfgen_fast.base.untrusted_json import MAX_DEPTH, WrittenJson, json_bytes
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.setting import Setting
from pfgen_fast.oracle import compensated_sum, naive_sum
from pfgen_fast.runs import aggregation
from pfgen_fast.runs.aggregation import evaluate
from pfgen_fast.runs.leaderboard import rank
from pfgen_fast.runs.run_result import parse_result, read_result, read_scores
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trial_intervals import TrialScores, least_trials
from pfgen_fast.runs.trials import RunFolder, Trials, find_runs
from pfgen_fast.scoring.score_table import ScoreTable
from pfgen_fast.suite.rules import SCORES, Lengths


@pytest.fixture
def run(tmp_path, mini):
    make_run(tmp_path, trial_lines(mini, 3), {"model": "m", "b": 1, "a": [2]})
    return find_runs([tmp_path])[0]


def test_a_result_has_the_keys_of_the_rules_in_their_order(run, scorer):
    result = evaluate(run, scorer).to_dict()
    assert list(result) == [
        *("input_hash", "metadata_hash", "config", "num_trials", "score", "score_std", "length", "length_std"),
        *("scores", "questions"),
    ]
    assert result["num_trials"] == 3
    assert list(result["config"]) == ["model", "b", "a"]
    question = result["questions"]["Q01"]
    assert list(question) == ["question", "score", "score_std", "length", "length_std", "scores", "samples"]
    assert [list(sample) for sample in question["samples"]] == [["answer", "timestamp", "scores"]] * 3
    averages = [sample["scores"]["average"] for sample in question["samples"]]
    assert averages == sorted(averages, reverse=True)


def test_surplus_answers_count_for_their_question_only(tmp_path, mini, scorer):
    lines = trial_lines(mini, 2)
    more = json.dumps({"question": mini["Q01"].question, "answer": ""})
    (even,) = find_runs([make_run(tmp_path / "even", lines)])
    (surplus,) = find_runs([make_run(tmp_path / "surplus", [*lines, more])])
    even_result, surplus_result = evaluate(even, scorer), evaluate(surplus, scorer)
    assert surplus_result.num_trials == even_result.num_trials == 2
    assert surplus_result.score == even_result.score
    assert surplus_result.questions["Q01"].score < even_result.questions["Q01"].score


def test_a_result_with_a_lone_surrogate_is_valid_json(tmp_path, mini, scorer):
    lines = trial_lines(mini, 1)
    lines[0] = json.dumps({"question": mini.questions[0].question, "answer": "\ud800"})
    (run,) = find_runs([make_run(tmp_path, lines)])
    result = evaluate(run, scorer)
    assert json.loads(result.content) == result.to_dict()


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.floats(-1e-3, 1e-3),
        st.floats(1e15, 1e18),
        st.integers(-(10**15), 10**15).map(lambda millionths: millionths / 10**6),
        st.text(max_size=5),
        st.sampled_from(["1e-5,", " 1e-5", "0.00001", "null"]),
    ),
    lambda values: st.one_of(st.lists(values, max_size=4), st.dictionaries(st.text(max_size=4), values, max_size=4)),
)


@examples(500)
@given(JSON)
def test_json_is_written_as_python_writes_it(value):
    assert json_bytes(value) == json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")


@examples(500)
@given(JSON)
def test_compact_json_is_one_line_with_null_for_nan(value):
    finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
    assert json_bytes(value, is_compact=True) == json.dumps(finite, ensure_ascii=False, separators=(",", ":")).encode()


def test_figures_follow_the_rules(tmp_path, mini):
    """All answers differ, and the questions have different numbers of answers."""
    lines = trial_lines(mini, 7) + trial_lines(mini, 2, first=90)[: len(mini) + 3]
    (run,) = find_runs([make_run(tmp_path, lines)])
    for float_sum, add in (("naive", naive_sum), ("compensated", compensated_sum)):
        scorer = Scorer(mini, float_sum=float_sum)
        result = evaluate(run, scorer)
        in_file_order, lengths = [], []
        for question in mini:
            answers = [row["answer"] for row in map(json.loads, lines) if row["question"] == question.question]
            scores = [scorer.score_one(question.question_id, answer) for answer in answers]
            in_file_order.append([score["average"] for score in scores])
            lengths += map(len, answers)
            order = sorted(range(len(answers)), key=lambda row: -scores[row]["average"])
            outcome = result.questions[question.question_id]
            assert (outcome.score, outcome.score_std) == figures([scores[row]["average"] for row in order], add, 4)
            assert (outcome.length, outcome.length_std) == figures([len(answers[row]) for row in order], add, 1)
            for name in question.answers:
                mean = add(scores[row]["fluency"][name] for row in order) / len(order)
                assert outcome.scores.fluency[name] == round(mean, 5)
            picked = sorted({round(part * (len(order) - 1) / 4) for part in range(5)})
            assert [sample.answer for sample in outcome.samples] == [answers[order[place]] for place in picked]
        by_trial = [add(question_scores[k] for question_scores in in_file_order) / len(mini) for k in range(8)]
        assert (result.score, result.score_std) == figures(by_trial, add, 4)
        assert (result.length, result.length_std) == figures(lengths, add, 1)


def figures(values, add, digits):
    mean = add(values) / len(values)
    return round(mean, digits), round(math.sqrt(add((value - mean) ** 2 for value in values) / len(values)), digits)


@pytest.fixture(scope="module")
def good(tmp_path_factory, mini, scorer):
    """The decoded content of a result.json."""
    config = {"model": "org/model", "mode": "qa", "stop": ["Q:", "\n"], "temperature": 1.0}
    (run,) = find_runs([make_run(tmp_path_factory.mktemp("run"), trial_lines(mini, 3), config)])
    return json.loads(evaluate(run, scorer).content)


Q01 = ("questions", "Q01")
DEEP = json.loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        ([*Q01, "scores", "fluency"], [1], "questions['Q01'].scores.fluency: expected an object, not a list"),
        ([*Q01, "scores", "fluency", "A"], "1", "questions['Q01'].scores.fluency['A']: expected a number, not '1'"),
        ([*Q01, "samples", 1, "answer"], None, "questions['Q01'].samples[1].answer: expected a string, not null"),
        (["scores"], {}, "scores: the key 'fluency' is missing"),
        (["score"], True, "score: expected a number, not true"),
        (["num_trials"], 10**400, f"num_trials: expected a whole number from 0 to 1e+15, not 1{'0' * 38}…"),
        (["config"], {"a": DEEP}, f"config: nested more than {MAX_DEPTH} deep"),
        (["input_hash"], 1, "input_hash: expected a string, not 1"),
    ],
)
def test_a_fault_is_named_with_its_place(good, keys, value, message):
    changed = copy.deepcopy(good)
    holder = changed
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    with pytest.raises(TrialsError) as raised:
        parse_result(changed, "x/result.json")
    assert str(raised.value) == f"x/result.json: not a result: {message}"


def test_a_result_is_read_as_it_was_written_and_its_scores_even_beside_wrong_samples(good, tmp_path):
    assert parse_result(good, "x").content == json.dumps(good, ensure_ascii=False, indent=2).encode()
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**good, "questions": {"Q01": {**good["questions"]["Q01"], "samples": 1}}}))
    summary, scores = read_scores(path)
    assert summary == parse_result(good, "x").summary()
    assert scores == {"Q01": parse_result(good, "x").questions["Q01"].scores}
    with pytest.raises(TrialsError, match=r"questions\['Q01'\]\.samples: expected a list, not 1"):
        read_result(path)


def test_a_leaderboard_needs_its_numbers(good, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**good, "score_std": None}))
    with pytest.raises(TrialsError, match=r"result\.json: score_std: a leaderboard needs a finite number here"):
        rank([path])
    problems = []
    assert rank([path], on_problem=problems.append) == []
    assert len(problems) == 1


# ---- The precision of scores: the interval, its coverage, and the number of trials that a precision takes


ngram = Setting("ngram/order-5")


def drawn_run(suite, output, trials):
    engine = open_engine("ngram", suite=suite, model=ngram.model, mode=ngram.mode)
    return generate(suite, engine, ngram, trials=trials, output=output).run


def test_values_are_those_of_the_result_and_a_packed_file_gives_the_same_interval(mini, scorer, tmp_path):
    run = drawn_run(mini, tmp_path, 12)
    trial_scores = scores = TrialScores.of(run, scorer)
    (outcome,) = RunScorer(suite=mini).score([run])
    expected = {metric: outcome.summary.scores.total(metric) for metric in SCORES if metric != "score"}
    expected["score"] = outcome.summary.score
    assert scores.n_trials == 12
    assert {metric: scores.interval(metric).value for metric in SCORES} == pytest.approx(expected, abs=1e-4)
    for path in run.folder.glob("trial_*.jsonl"):
        path.unlink()
    packed = TrialScores.of(RunFolder(run.folder, None), scorer)
    assert packed.interval().half_width == pytest.approx(trial_scores.interval().half_width, rel=1e-9)


def test_the_trials_that_an_interval_takes_are_the_fewest_that_do(mini, scorer, tmp_path):
    scores = TrialScores.of(drawn_run(mini, tmp_path, 30), scorer)
    known = scores.interval().half_width
    assert scores.trials_for(known) == 30
    assert scores.trials_for(known * 0.999) == 31
    assert scores.trials_for(1.0) == least_trials(8)
    # A tenth of the width takes a hundred times the trials, or slightly fewer, because the quantile decreases.
    assert 2900 <= scores.trials_for(known / 10) <= 3000


def test_few_answers_have_no_interval_and_many_questions_need_few_trials_for_one(mini, scorer, tmp_path):
    item = TrialScores.of(drawn_run(mini, tmp_path, 1), scorer)
    assert (item.interval().half_width, item.trials_for(0.01)) == (None, None)
    scores = TrialScores.of(drawn_run(mini, tmp_path, 9), scorer)
    assert (scores.interval().half_width, scores.interval().n_trials) == (None, 9)
    assert scores.trials_for(0.01) > 20
    assert [least_trials(n) for n in (1, 3, 8, 10, 50, 1000)] == [10, 10, 10, 10, 2, 2]


# ---- Records of answers that the core writes: byte for byte what Python writes of the same trials and details


CHARACTERS = st.one_of(
    st.characters(), st.characters(max_codepoint=0x7F), st.sampled_from('"\\/\b\f\n\r\t\x00\x1f\x7f\u2028\ufeff😀')
)
TEXTS = st.text(CHARACTERS, max_size=12)
KEYS = st.one_of(TEXTS, st.sampled_from(["scores", "timestamp", "a"]))
ODD = st.one_of(st.integers(), st.none(), st.floats(), st.just([1]), st.just({"b": "c"}))


def lines_of(suite, extras, *, ensure_ascii):
    """One trial of each question, with more keys around its answer."""
    return [
        json.dumps(
            {**extra, "question": question.question, "answer": answer, "end": "x"}, ensure_ascii=ensure_ascii
        ).encode("utf-8", "surrogatepass" if ensure_ascii else "replace")
        for question, (extra, answer) in zip(suite, extras, strict=True)
    ]


def result_of(content, scorer):
    trials = Trials(None, "hash", _core.TrialLines(content, lambda _, line: _question_and_answer(line)))
    return aggregation.aggregate(trials, scorer.score(trials.lines.questions, trials.lines.answers), {"a": 1})


def _question_and_answer(line):
    trial = json.loads(line)
    return trial["question"], trial["answer"]


def answers_of(result):
    return [answer for question in result.questions.values() for answer in question.samples]


def records(result):
    return [answer.record for answer in answers_of(result)]


@pytest.mark.parametrize(("ensure_ascii", "lengths"), [(True, Lengths()), (False, Lengths(40, 90))])
def test_records_are_written_as_python_writes_them(mini, monkeypatch, ensure_ascii, lengths):
    scorer = Scorer(Suite("mini", tuple(replace(question, lengths=lengths) for question in mini)))
    n_written = n_too_long = 0
    extra = st.dictionaries(KEYS, st.one_of(TEXTS, TEXTS, TEXTS, ODD), max_size=3)
    answers = st.one_of(TEXTS, st.sampled_from([text * n for q in mini for text in q.answers["A"][:2] for n in (1, 3)]))
    too_long = [({}, "." * n + question.answers["A"][0]) for n, question in enumerate(mini, start=60)]

    @examples(150)
    @example(too_long)
    @given(st.lists(st.tuples(extra, answers), min_size=len(mini), max_size=len(mini)))
    def check(extras):
        nonlocal n_written, n_too_long
        content = b"\n".join(lines_of(mini, extras, ensure_ascii=ensure_ascii))
        written = result_of(content, scorer)
        with monkeypatch.context() as patch:
            patch.setattr(ScoreTable, "records_json", lambda _, rows, *__: [None] * len(rows))
            result = result_of(content, scorer)
        n_written += sum(isinstance(answer.stored, WrittenJson) for answer in answers_of(written))
        assert not any(isinstance(answer.stored, WrittenJson) for answer in answers_of(result))
        n_too_long += sum("字超過" in str(record["scores"]["helpfulness_results"]) for record in records(result))
        expected = json.dumps(result.to_dict(), ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")
        assert written.content == result.content == expected
        # NaN of a trial differs from itself; all else is equal once decoded.
        assert repr(records(written)) == repr(records(result))

    check()
    assert n_too_long > 0
    assert n_written > share(150)  # of eight times as many at least


def test_records_of_profile_paper_are_made_by_python(mini, tmp_path):
    lines = [line.decode() for line in lines_of(mini, [({}, "a")] * len(mini), ensure_ascii=True)]
    (run,) = find_runs([make_run(tmp_path, lines)])
    result = aggregation.evaluate(run, Scorer(mini, profile="paper"))
    assert not any(isinstance(answer.stored, WrittenJson) for answer in answers_of(result))
