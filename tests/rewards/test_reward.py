"""`Reward`: its sources, its columns, and what does not change a reward."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from pfgen_fast import (
    Clip,
    Copying,
    Floor,
    Overlong,
    PfgenError,
    ReferenceScorer,
    Repetition,
    Reward,
    Scale,
    Scorer,
    ScorerSpec,
    TooShort,
    Unfinished,
)
from pfgen_fast.rewards.reward import RECOMMENDED

GOOD = "Ice is less dense than water, because its molecules form an open lattice."
ANSWERS = [GOOD, f"{GOOD} {GOOD}", GOOD[:30], "", "Because it is cold.", "\U0001f363" * 500]
PROMPT = "Why does ice float? Ice is less dense than water, or is it?"
EVERY_PART = (
    Overlong(80, 160), Overlong(10, 40, "tokens"), TooShort(0.5, 0.1, "references"), Repetition(5, 0.1),
    Copying(10, 0.2), Copying(20, 0.2, source="references"), Unfinished(0.5), Scale(), Floor(0.01), Clip(0, 2),
)  # fmt: skip
KNOWN = {"prompts": [PROMPT] * 6, "finished": [True, True, False] * 2, "n_tokens": [15, 30, 6, 0, 4, 500]}


def test_a_reward_without_a_shape_is_the_score(scorer):
    for source in ("mini", scorer.suite, scorer, ScorerSpec("mini")):
        reward = Reward(source)
        assert reward.signature == scorer.signature
        assert reward("Q07", ANSWERS).tobytes() == scorer.reward("Q07", ANSWERS).tobytes()
        assert reward("Q07", ANSWERS, **KNOWN).tobytes() == scorer.reward("Q07", ANSWERS).tobytes()
    fluency = Reward("mini", metric="fluency")
    assert fluency("Q07", ANSWERS).tolist() == scorer.score("Q07", ANSWERS).fluency.tolist()
    assert fluency.signature == f"{scorer.signature}|metric:fluency"


def test_a_suite_has_the_profile_of_the_shape_and_a_scorer_its_own(scorer):
    spelt = GOOD.replace(",", " ！").replace("Ice", "Ｉｃｅ")
    normalised = Scorer(scorer.suite, profile="normalised").signature
    for source, expected in (
        *((item, normalised) for item in ("mini", scorer.suite, scorer.suite.folder)),
        *((item, scorer.signature) for item in (scorer, ScorerSpec("mini"))),
    ):
        reward = pickle.loads(pickle.dumps(Reward(source, "recommended")))
        assert reward.signature.startswith(f"{expected}|shape:Overlong"), source
        good, other = reward("Q07", [GOOD, spelt])
        assert (good == other) == (expected == normalised)
    assert Reward("mini", RECOMMENDED.parts).signature == Reward(scorer, "recommended").signature


def test_details_explain_the_reward(scorer):
    table = Reward(scorer, EVERY_PART).details("Q07", ANSWERS, **KNOWN)
    names = ("overlong", "overlong_2", "too_short", "repetition", "copying", "copying_2", "unfinished")
    score_names = ("fluency", "truthfulness", "helpfulness", "score")
    assert table.columns == (*score_names, *names, "scale", "floor", "clip", "reward")
    expected = scorer.reward("Q07", ANSWERS)
    for name in names:
        assert ((table[name] >= 0) & (table[name] <= 1)).all()
        expected = np.minimum(expected, expected * table[name])
    expected = np.maximum(expected / table["scale"], 0.01)
    assert table["floor"].tolist() == expected.tolist()
    assert table["reward"].tolist() == np.clip(expected, 0, 2).tolist() == table["clip"].tolist()
    assert table["unfinished"].tolist() == [1, 1, 0.5, 1, 1, 0.5]
    assert [row["reward"] for row in table.rows(1, 3)] == table["reward"][1:3].tolist()
    assert pickle.loads(pickle.dumps(table)).reward.tolist() == table["reward"].tolist()


def test_a_table_of_rewards_is_a_table_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    table = Reward("mini", [Repetition(5, 0.1)]).details("Q07", [GOOD, None])
    assert pyarrow.table(table)["reward"].to_pylist() == [table["reward"][0], None]
    assert Reward("mini", EVERY_PART[:1])("Q07", pyarrow.array(ANSWERS)).tolist() == (
        Reward("mini", EVERY_PART[:1])("Q07", ANSWERS).tolist()
    )


@pytest.mark.slow
def test_rewards_depend_neither_on_the_batch_nor_on_threads_or_processes(scorer):
    reward = Reward(Scorer("mini", threads=3), EVERY_PART)
    assert len(pickle.dumps(Reward("mini", "recommended"))) < 1000
    answers, questions = ANSWERS * 60, ["Q07", "Q08", "Q01"] * 120
    known = {name: values * 60 for name, values in KNOWN.items()}
    expected = reward(questions, answers, **known)
    single = [
        float(reward(questions[i], [answers[i]], **{name: [values[i]] for name, values in known.items()})[0])
        for i in range(18)
    ]
    assert expected.tolist() == single * 20
    sent = pickle.loads(pickle.dumps(reward))
    fresh = Reward(scorer, EVERY_PART)
    with ThreadPoolExecutor(4) as pool:
        for copied in (sent, fresh):
            actual = list(pool.map(lambda _, copied=copied: copied(questions, answers, **known).tobytes(), range(8)))
            assert set(actual) == {expected.tobytes()}
    assert sent.signature == reward.signature == fresh.signature != Reward("mini").signature


def test_repetition_loops_and_cuts_cost_and_a_factor_never_raises_a_reward():
    reward = Reward("mini", "recommended")
    good, twice, cut = reward("Q07", ANSWERS[:3]).tolist()
    assert good == Scorer("mini", profile="normalised").reward("Q07", [GOOD])[0]
    assert twice < good / 2
    assert cut < good / 2
    padded = GOOD[:30].replace(" ", " ... ") + "!" * 40
    lengths = reward.details("Q07", [padded, GOOD[:30]])["too_short"]
    assert lengths[0] == lengths[1]
    minus = Reward("mini", [Overlong(10, 20, minus=True), Repetition(5, 0.0, 0.1)])
    alone = Reward("mini", minus.shape[:1])
    assert minus("Q07", [f"{GOOD} {GOOD}"]).tolist() == alone("Q07", [f"{GOOD} {GOOD}"]).tolist()


def test_a_scaled_reward_of_the_references_is_1_on_average(scorer):
    for question in ("Q01", "Q07"):
        answers = [text for texts in scorer.suite[question].answers.values() for text in texts[::11]]
        assert Reward(scorer, [Scale()])(question, answers).mean() == pytest.approx(1)


def test_references_in_the_rows_are_compared_and_shape_the_reward():
    references = [["Ice floats on water.", "Water carries ice."], ["Salt sinks.", "It sinks in water, slowly."]]
    answers = ["Ice floats on water.", "Salt."]
    chrf = ReferenceScorer("chrf")
    shape = [TooShort(0.5, 0.1, "references"), Copying(5, 0.5, source="references"), Scale()]
    table = Reward(chrf, shape).details(None, answers, references=references)
    scores = chrf.score(answers, references).chrf
    assert table.columns == ("score", "too_short", "copying", "scale", "reward")
    assert table["score"].tolist() == scores.tolist()
    assert table["copying"].tolist() == [0, 1]
    assert table["too_short"].tolist() == TooShort(0.5, 0.1)([16 / 15.5, 4 / 14.5]).tolist()
    pairs = [(references[0][0], [references[0][1]]), (references[0][1], [references[0][0]])]
    expected = np.mean([chrf.score([text], [others]).chrf[0] for text, others in pairs])
    assert table["scale"][0] == pytest.approx(expected)
    both = ReferenceScorer(["bleu", "rouge_l"])
    assert Reward(both, metric="rouge_l_recall").metric == "rouge_l_recall"
    assert Reward(both, metric="bleu")(None, [], references=[]).tolist() == []


def test_an_answer_without_ngrams_has_a_share_of_zero():
    for metric, expected in (("rep_2", [0, 0, 0.5]), ("distinct_2", [0, 0, 2 / 3])):
        reward = Reward(ReferenceScorer(metric))
        assert reward(None, ["", "a", "abab"]).tolist() == expected
        np.testing.assert_array_equal(reward.details(None, ["", "a", "abab", None])["reward"], [*expected, np.nan])


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_list_of_references_is_an_error_with_its_row(missing):
    reward = Reward(ReferenceScorer(["chrf", "distinct_1"]), metric="chrf")
    for rewarded in (reward, reward.details):
        with pytest.raises(PfgenError, match=r"^references\[1\]: expected a list of references, got a null$"):
            rewarded(None, ["a", "b"], references=[["a"], missing])


def test_a_reward_that_is_not_finite_is_an_error_with_its_row():
    class Undefined(Floor):
        def __call__(self, rewards):
            return np.where(rewards > 50, np.nan, rewards)

    with pytest.raises(PfgenError, match=r"^answers\[1\]: expected a finite reward, got nan$"):
        Reward(ReferenceScorer("chrf"), [Undefined(0)])(None, ["x", "a"], references=[["a"], ["a"]])


@pytest.mark.parametrize(
    ("source", "shape", "known", "sentence"),
    [
        ("mini", None, {"references": [["a"]]}, "references: the suite has the reference answers"),
        ("mini", [Copying(3, 0.5)], {}, "prompts are missing; the part copying needs them"),
        ("mini", [Copying(3, 0.5)], {"prompts": [None]}, r"prompts\[0\]: .*expected"),
        ("mini", [Copying(3, 0.5)], {"prompts": ["a", "b"]}, "2 prompts for 1 answers"),
        ("mini", [Copying(3, 0.5)], {"prompts": "a"}, "prompts: expected one value for each answer, not one str"),
        ("mini", [Unfinished()], {"finished": [1]}, "finished: expected True or False for each answer"),
        ("mini", [Unfinished()], {"finished": []}, "0 finished for 1 answers"),
        ("mini", [Overlong(1, 2, "tokens")], {}, "n_tokens are missing"),
        ("mini", None, {"n_tokens": [float("nan")]}, r"n_tokens\[0\]: expected a number of at least 0, not nan"),
        ("mini", None, {"n_tokens": [-1]}, r"n_tokens\[0\]: expected a number of at least 0, not -1"),
        ("mini", None, {"n_tokens": ["a"]}, "n_tokens: expected a number for each answer"),
        ("mini", None, {"n_tokens": [[1, 2]]}, "n_tokens: expected a number for each answer"),
        ("mini", None, {"finished": [[True, False]]}, "finished: expected True or False for each answer"),
        (ReferenceScorer("chrf"), None, {}, "references: expected a list of references for each answer, got None"),
        (ReferenceScorer("chrf"), [Scale()], {"references": [["a"]]}, "scale needs at least two references"),
        (ReferenceScorer("chrf"), [Scale()], {"references": [["a", "b"]]}, r"references\[0\]: their mean chrf is 0"),
        (ReferenceScorer("rep_2"), [TooShort(0.5, 0.1, "references")], {}, "references are missing"),
    ],
)
def test_a_batch_that_cannot_be_rewarded_is_one_sentence(source, shape, known, sentence):
    with pytest.raises(PfgenError, match=sentence):
        Reward(source, shape)("Q07" if source == "mini" else None, ["abc"], **known)


@pytest.mark.parametrize("opening", ["<think>", "<|START_THINKING|>", "<|channel|>analysis<|message|>"])
def test_reasoning_earns_nothing(scorer, opening):
    closing = {"<think>": "</think>", "<|START_THINKING|>": "<|END_THINKING|>"}.get(
        opening, "<|end|><|start|>assistant<|channel|>final<|message|>"
    )
    answers = [GOOD, f"{opening}{GOOD * 2}{closing} {GOOD} ", f"{opening}{GOOD}", f" {GOOD} ", "a < b [c]"]
    expected = scorer.reward("Q07", [GOOD, GOOD, "", *answers[3:]])
    for column in (answers, np.array(answers, dtype=object)):
        assert Reward("mini")("Q07", column).tobytes() == expected.tobytes()
    shaped = Reward("mini", [Unfinished(0.5)]).details("Q07", answers, finished=[False, True, True, True, True])
    assert shaped["unfinished"].tolist() == [0.5, 1, 0.5, 1, 1]
    kept = Reward("mini", reasoning="keep")
    assert kept("Q07", answers).tobytes() == scorer.reward("Q07", answers).tobytes()
    assert kept.signature == f"{scorer.signature}|reasoning:keep"
    with pytest.raises(PfgenError, match=r"^answers\[1\]: expected an answer without reasoning, got '"):
        Reward("mini", reasoning="refuse")("Q07", answers)
    refusing = Reward("mini", reasoning="refuse", on_error="zero")
    assert refusing("Q07", answers).tolist() == [expected[0], 0, 0, *expected[3:].tolist()]
    references = Reward(ReferenceScorer("chrf"))(None, answers[:3], references=[[GOOD]] * 3)
    assert references.tolist() == [100, 100, 0]


@pytest.mark.parametrize(("on_error", "value"), [("zero", 0.0), ("nan", np.nan)])
def test_a_row_that_cannot_be_scored_does_not_cost_its_group(scorer, on_error, value):
    class Undefined(Floor):
        def __call__(self, rewards):
            return np.where(rewards == 0, np.nan, rewards)

    answers = [GOOD, None, 3, [{"type": "text", "text": GOOD}], GOOD[:30], "", GOOD, GOOD]
    questions = ["Q07"] * 6 + ["Q77", "Q08"]
    reward = pickle.loads(pickle.dumps(Reward("mini", on_error=on_error)))
    expected = scorer.reward(["Q07", "Q07", "Q07", "Q08"], [GOOD, GOOD[:30], "", GOOD]).tolist()
    rewards = [expected[0], value, value, value, expected[1], expected[2], value, expected[3]]
    np.testing.assert_array_equal(reward(questions, answers), rewards)
    assert np.isnan(reward.details(questions, answers)["fluency"]).tolist() == [
        False,
        *[True] * 3,
        False,
        False,
        True,
        False,
    ]
    undefined = Reward(scorer, [Undefined(0), Overlong(10, 500, "tokens")], on_error=on_error)
    shaped = undefined(questions, answers, n_tokens=[1, 1, 1, 1, float("nan"), 1, 1, 1])
    np.testing.assert_array_equal(shaped, [rewards[0], *[value] * 6, rewards[7]])
    np.testing.assert_array_equal(reward("Q07", [None, None]), [value, value])
    chrf = Reward(ReferenceScorer("chrf"), on_error=on_error)
    np.testing.assert_array_equal(chrf(None, ["a", None, "b"], references=[["a"], ["a"], None]), [100, value, value])


@pytest.mark.parametrize("questions", ["Q77", ["Q07"]])
def test_a_batch_that_fits_no_rule_is_an_error_whatever_happens_to_rows(questions):
    with pytest.raises(PfgenError, match=r"Q77|1 questions? for 2 answers"):
        Reward("mini", on_error="zero")(questions, ["a", None])
    for text in ("abc", None):
        with pytest.raises(PfgenError, match="answers: expected a"):
            Reward("mini", on_error="zero")("Q07", text)


def test_an_unknown_source_or_metric_is_one_sentence():
    for arguments, metric, sentence in (
        (3, None, "source: expected a suite, a Scorer, .* not one int"),
        ("mini", "flueny", "unknown metric 'flueny'; .*did you mean 'fluency'"),
        (ReferenceScorer(["bleu", "chrf"]), None, "metric: expected one of bleu, chrf"),
        (ReferenceScorer("bleu"), "chrf", "unknown metric 'chrf'; expected one of bleu"),
    ):
        with pytest.raises(PfgenError, match=sentence):
            Reward(arguments, metric=metric)
    with pytest.raises(PfgenError, match="unknown reasoning 'drop'; expected one of strip, keep, refuse"):
        Reward("mini", reasoning="drop")
    with pytest.raises(PfgenError, match="unknown on_error 'skip'; expected one of raise, zero, nan"):
        Reward("mini", on_error="skip")
