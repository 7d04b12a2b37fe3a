"""Where a reward comes from: shares of characters and tokens that add up exactly."""

import math
import random

import numpy as np
import pytest
from pfgen_fast import Floor, GroupRelative, PfgenError, ReferenceScorer, Repetition, Reward, Scorer, Suite
from pfgen_fast.rewards.answer_spans import SpanFinder, _spread_truth
from pfgen_fast.scoring.explanation import explain
from pfgen_fast.suite.keywords import freeze_rule
from pfgen_fast.suite.questions import Question
from pfgen_fast.suite.units import PatternTokenizer

ICE = "Ice floats because it is less dense than water: its molecules form an open lattice."
ANSWERS = [ICE, f"{ICE} {ICE} {ICE}", "Ｉｃｅ　is less   dense, than ㌔ water !!", "zzz", "", "\U0001f363 " * 300, "Ｉ"]
RULES = [{"t": "dense"}, {"or": [{"t": "lake"}, {"t": "wat(er)?"}], "importance": 0.5}, {"t": "salt"}]


@pytest.fixture(scope="module")
def in_words():
    answers = {"A": (ICE, "Ice is less dense than water."), "B": ("It floats, as ice is less dense.",)}
    question = Question("Q07", "Why?", answers, tuple(map(freeze_rule, RULES)), tokenizer=PatternTokenizer("words"))
    return Suite("in words", (question,), "0" * 40)


@pytest.mark.parametrize("profile", ["leaderboard", "normalised"])
@pytest.mark.parametrize("unit", ["characters", "words"])
def test_the_shares_of_each_part_add_up_in_any_order(in_words, profile, unit):
    scorer = Scorer("mini" if unit == "characters" else in_words, profile=profile)
    for answer in ANSWERS:
        table, spans = scorer.score("Q07", [answer]), Reward(scorer).spans("Q07", answer)
        parts = [(getattr(spans, part), table[part][0]) for part in ("fluency", "truthfulness", "helpfulness")]
        for shares, total in [*parts, (spans.shares, spans.reward)]:
            assert len(shares) == len(answer)
            for seed in range(3 * bool(answer)):
                order = random.Random(seed).sample(shares.tolist(), len(answer))
                assert sum(order) == total == math.fsum(order)
        for name, stop in spans.stops.items():
            fluency, shorter = scorer.score("Q07", [answer[:stop], answer[: stop - 1]])[f"fluency_{name}"]
            assert fluency == table[f"fluency_{name}"][0]
            assert shorter < fluency or stop == 0


@pytest.mark.parametrize("profile", ["leaderboard", "normalised"])
def test_truthfulness_is_where_common_3_grams_are(in_words, profile):
    for suite, answer in ((Suite.load("mini"), ANSWERS[1]), (in_words, ICE), (in_words, "It zzz is less dense.")):
        spans = Reward(Scorer(suite, profile=profile)).spans("Q07", answer)
        explanation = explain(suite, "Q07", answer, profile=profile)
        cover = np.array(explanation.cover, dtype=float)
        assert (cover[spans.truthfulness[: len(cover)] > 1e-9] > 0).all()
        assert spans.truthfulness[len(cover) :].sum() == 0
        finder = SpanFinder(Scorer(suite, profile=profile))
        symbols, units = finder._units(suite["Q07"], answer, 0)
        for (name, counts), of_set in zip(finder._counts_of(suite["Q07"]).items(), explanation.sets, strict=True):
            weights = np.zeros(len(answer))
            _spread_truth(suite["Q07"], symbols, units, counts, weights)
            assert weights.sum() == pytest.approx(of_set.truthfulness, abs=1e-12), name


def test_keywords_that_count_have_spans():
    answer = "An open lattice makes it ｌｅｓｓ ｄｅｎｓｅ ㌔ than 9 % of these molecules, which is wrong."
    spans = Reward("mini", "recommended").spans("Q07", answer)
    shown = {span.name: answer[span.start : span.end] for span in spans.keywords}
    assert shown == {"lower density": "ｄｅｎｓｅ", "open structure": "molecules", "9%": "9 %"}
    importance = {"lower density": 1.0, "open structure": 1.0, "9%": 0.2}
    for span in spans.keywords:
        share = spans.helpfulness[span.start : span.end].sum() / spans.helpfulness.sum()
        assert share == pytest.approx(importance[span.name] / 2.2)
    nothing = Reward("mini").spans("Q07", "It is cold. " * 20)
    assert not nothing.keywords


def test_a_token_gets_the_shares_of_its_characters():
    reward = Reward("mini", [Repetition(8, 0.1)])
    spans = reward.spans("Q07", ICE)
    offsets = [(0, 0), *((i, i + 7) for i in range(0, len(ICE) - 7, 7)), (77, 83), (0, 0)]
    rewards = spans.token_rewards(np.array(offsets))
    assert rewards.tolist() == [math.fsum(spans.shares[start:end]) for start, end in offsets]
    assert sum(rewards) == spans.reward == reward("Q07", [ICE])[0]
    for offsets in ([(1, 3), (5, 9)], [(0, 83)], [(0, 1), (0, 1), (0, 1), (1, 83)]):  # gaps, and characters in parts
        assert sum(spans.token_rewards(offsets)) == spans.reward
    assert spans.token_rewards([(0, 40), (0, 40), (40, 83)])[0] == 0
    assert Reward("mini").spans("Q07", "").token_rewards([(0, 0)]).tolist() == [0]


def test_thoughts_have_no_share_and_a_reward_of_a_batch_is_divided():
    completion = f"<think>{ICE}</think> {ICE}"
    spans, alone = Reward("mini").spans("Q07", completion), Reward("mini").spans("Q07", ICE)
    begin = completion.rindex("Ice")
    assert spans.shares.tolist() == [0] * begin + alone.shares.tolist()
    assert {name: stop - begin for name, stop in spans.stops.items()} == alone.stops
    assert completion[spans.keywords[0].start : spans.keywords[0].end] == "dense"
    relative = Reward("mini", [GroupRelative()]).spans("Q07", ICE, reward=-1.5)
    assert relative.shares.tolist() == [0] * (len(ICE) - 1) + [-1.5]
    assert Reward("mini", [Floor(0.25)]).spans("Q07", "🍣").shares.tolist() == [0.25]
    truth = Reward("mini", metric="truthfulness").spans("Q07", ICE)
    assert truth.shares == pytest.approx(truth.truthfulness, abs=1e-9)


@pytest.mark.parametrize(
    ("offsets", "sentence"),
    [
        ([(0, 3), (3, 99)], r"offsets\[1\]: expected a span from 0 on within 83 characters, got 3 to 99"),
        ([(0, 3), (4, 3)], r"offsets\[1\]: expected a span from 0 on"),
        ([(4, 5), (3, 9)], r"offsets\[1\]: expected a span from 4 on within 83 characters, got 3 to 9"),
        (None, "offsets: expected a start and an end of each token, got None"),
        ([(0, 3), 7], r"offsets\[1\]: expected a start and an end, got 7"),
        ([(0.5, 3)], r"offsets\[0\]: expected a start and an end, got \(0.5, 3\)"),
        ([(0, 0)], "offsets: no token covers a character of the answer, which has 83"),
    ],
)
def test_offsets_that_do_not_fit_are_one_sentence(offsets, sentence):
    with pytest.raises(PfgenError, match=sentence):
        Reward("mini").spans("Q07", ICE).token_rewards(offsets)


def test_a_reward_without_spans_is_one_sentence():
    for reward in (float("nan"), "1"):
        with pytest.raises(PfgenError, match="reward: expected a finite number, got "):
            Reward("mini").spans("Q07", ICE, reward=reward)
    with pytest.raises(PfgenError, match="spans: expected a reward by a suite"):
        Reward(ReferenceScorer("chrf")).spans("Q07", ICE)
    with pytest.raises(PfgenError, match="spans: expected the profile 'leaderboard' or 'normalised', not 'paper'"):
        Reward(Scorer("mini", profile="paper")).spans("Q07", ICE)
    with pytest.raises(PfgenError, match="groups are missing"):
        Reward("mini", [GroupRelative()]).spans("Q07", ICE)
