"""The parts of a shape that compare the answers of a group."""

import numpy as np
import pytest
from pfgen_fast import Diversity, GroupRelative, PfgenError, Repetition, Reward

TEXTS = ["Ice is less dense than water.", "Ice is less dense than air.", "It floats.", "It floats.", "Salt."]
GROUPS = ["a", "b", "a", "b", "a"]


def test_a_reward_is_compared_with_its_own_group():
    rewards = Reward("mini")("Q07", TEXTS)
    z_scores = Reward("mini", [GroupRelative()])("Q07", TEXTS, groups=GROUPS)
    ranks = Reward("mini", [GroupRelative("rank")])("Q07", TEXTS, groups=np.array([7, 5, 7, 5, 7]))
    pyarrow = pytest.importorskip("pyarrow")
    assert GroupRelative("rank")(rewards, pyarrow.chunked_array([GROUPS])).tolist() == ranks.tolist()
    for rows in ([0, 2, 4], [1, 3]):
        group = rewards[rows]
        assert z_scores[rows] == pytest.approx((group - group.mean()) / group.std(ddof=1))
        shares = [((group < reward).sum() + ((group == reward).sum() - 1) / 2) / (len(rows) - 1) for reward in group]
        assert ranks[rows].tolist() == shares
    assert GroupRelative()([0.1] * 3, [1, 1, 1]).tolist() == [0, 0, 0]  # though their mean is not exactly 0.1
    assert GroupRelative("rank")([3, 1, 1, 2], [1, 1, 1, 1]).tolist() == [1, 1 / 6, 1 / 6, 2 / 3]


def test_diversity_is_the_share_of_ngrams_that_no_other_answer_of_the_group_has():
    answers, groups = ["abcabc", "bcd", "xyz", "xyz", "", "abc"], [1, 1, 2, 2, 3, 3]
    assert Diversity(2)(answers, groups).tolist() == [2 / 3, 1 / 2, 0, 0, 0, 1]
    assert Diversity(2, soft=0.6, hard=0.4)(answers, groups).tolist() == pytest.approx([1, 0.5, 0, 0, 0, 1])
    ends = "ab" * 5000 + "cd" * 5000
    assert Diversity(2)([ends, f"{ends[:10000]}xyz{ends[10000:]}"], [1, 1]).tolist() == [0, 0]
    shape = [Repetition(3, 0.5), Diversity(3), GroupRelative("rank")]
    table = Reward("mini", shape).details("Q07", [*TEXTS, None], groups=[*GROUPS, "a"])
    assert table.columns[-4:] == ("repetition", "diversity", "group_relative", "reward")
    assert table["diversity"][:5].tolist() == Diversity(3)(TEXTS, GROUPS).tolist()
    assert np.isnan(table["reward"][5])
    assert table["reward"][4] == 0


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (None, "groups are missing; the part group_relative needs them for each answer"),
        ([1, 1, 1, 2], r"groups\[3\]: the group 2 has one answer; the part group_relative needs at least two"),
        ([1, 1, None, 1], r"groups\[2\]: expected a text or an integer, got None"),
        ([1, 1], "2 groups for 4 answers"),
        ("a", "groups: expected one value for each answer, not one str"),
    ],
)
def test_groups_that_do_not_fit_are_one_sentence(groups, sentence):
    with pytest.raises(PfgenError, match=sentence):
        Reward("mini", [GroupRelative()])("Q07", TEXTS[:4], groups=groups)


def test_an_answer_that_cannot_be_scored_does_not_cost_its_group():
    reward = Reward("mini", [Diversity(3), GroupRelative()], on_error="zero")
    kept = Reward("mini", [Diversity(3), GroupRelative()])("Q07", TEXTS[:3], groups=[1, 1, 1])
    assert reward("Q07", [*TEXTS[:2], None, TEXTS[2]], groups=[1] * 4).tolist() == [*kept[:2], 0, kept[2]]
    assert GroupRelative()([1, np.nan, 2, 3], [1] * 4)[[0, 2, 3]].tolist() == [-1, 0, 1]
