"""Rewards for slime 0.3.1 (624b824a), which is no package: its calls of a reward function are imitated."""

import asyncio
import importlib
from argparse import Namespace
from dataclasses import dataclass
from enum import Enum

import pytest
from pfgen_fast import Overlong, PfgenError, ReferenceScorer, Reward, TrialsError
from pfgen_fast.integrations.slime import custom_rm

GOOD = "Ice is about 9% less dense than water: its molecules freeze into an open crystal lattice."


@dataclass
class Sample:
    """The fields of `slime.utils.types.Sample` that a reward function reads."""

    Status = Enum("Status", {"COMPLETED": "completed", "TRUNCATED": "truncated", "ABORTED": "aborted"})

    response: str = f"A: {GOOD}<|im_end|>"
    label: object = "Q07"
    prompt: object = "Why does ice float on water?"
    response_length: int = 20
    status: Status = Status.COMPLETED


def rewards(sample, *, reward_key=None, **settings):
    """As `async_rm`, and with a list `batched_async_rm`, of `slime.rollout.rm_hub` call a function with this path."""
    path = "pfgen_fast.integrations.slime.custom_rm"
    args = Namespace(custom_rm_path=path, pfgen=settings, reward_key=reward_key)
    module, _, name = args.custom_rm_path.rpartition(".")
    return asyncio.run(getattr(importlib.import_module(module), name)(args, sample))


def test_a_sample_and_a_group_get_their_rewards():
    status = Sample.Status
    group = [
        Sample(),
        Sample(status=status.TRUNCATED),
        Sample(status=status.ABORTED),
        Sample(f"<think>Hm.</think>{GOOD}"),
    ]
    expected = Reward("mini", "recommended")("Q07", [GOOD] * 4, finished=[True, False, False, True]).tolist()
    assert expected[0] > expected[1] == 0
    assert rewards(group, suite="mini", shape="recommended") == expected
    assert rewards(group[0], suite="mini", shape="recommended") == expected[0]


def test_a_reward_key_selects_from_the_parts(tmp_path):
    (shape := tmp_path / "shape.toml").write_text(
        '[[shape]]\npart = "overlong"\nsoft = 10\nhard = 30\nunit = "tokens"\n'
    )
    table = Reward("mini", Overlong(10, 30, unit="tokens")).details("Q07", [GOOD], n_tokens=[20])
    assert rewards(Sample(), reward_key="reward", suite="mini", shape=str(shape)) == {
        name: table[name][0] for name in table.columns
    }


def test_a_list_of_samples_is_a_group(tmp_path):
    (shape := tmp_path / "shape.toml").write_text('[[shape]]\npart = "group_relative"\nhow = "rank"\n')
    group = [Sample("Because."), Sample(), Sample("Ice floats, because it is less dense than water.")]
    assert rewards(group, suite="mini", shape=str(shape)) == [0, 1, 0.5]
    for alone in (group[0], group[:1]):
        with pytest.raises(PfgenError, match="the answers to one prompt; expected at least two answers, got one"):
            rewards(alone, suite="mini", shape=str(shape), on_error="zero")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"suite": "mini", "shap": "recommended"}, "unknown setting 'shap'; .*; did you mean 'shape'?"),
        ({"suite": "mini", "mode": ["chat"]}, r"mode: expected a text, not \['chat'\]"),
        ({"suite": "mini", "shape": [{"part": "loop"}]}, r"shape\[0\]: unknown part 'loop'"),
        ("mini", "settings: expected a mapping with settings such as suite, not 'mini'"),
    ],
)
def test_settings_that_do_not_fit_are_one_sentence(settings, sentence):
    with pytest.raises(PfgenError, match=f"^{sentence}"):
        asyncio.run(custom_rm(Namespace(pfgen=settings), Sample()))
    parts = [{"part": "overlong", "soft": 5, "hard": 10}]
    assert rewards(Sample(), suite="mini", shape=parts) == 0


def test_labels_may_be_references():
    texts = ["Ice is lighter than water.", "It floats."]
    expected = Reward(ReferenceScorer("chrf"))(None, [GOOD] * 2, references=[texts, texts[:1]]).tolist()
    assert rewards([Sample(label=texts), Sample(label=texts[0])], metric="chrf") == expected


def test_a_sample_without_a_score_does_not_cost_its_group_where_on_error_says_so():
    good = rewards(Sample(), suite="mini")
    group = [Sample(None), Sample(label="Q99"), Sample(label=None), Sample(7), Sample()]
    assert rewards(group, suite="mini", on_error="zero") == [0, 0, 0, 0, good]
    for sample, sentence in (
        (Sample(None), r"^completions\[1\]: expected a completion, which is a text or messages, not NoneType"),
        (Sample(label="Q99"), r"^questions\[1\]: unknown question 'Q99'"),
    ):
        with pytest.raises(TrialsError, match=sentence):
            rewards([Sample(), sample], suite="mini")
    with pytest.raises(
        PfgenError, match=r"^suite: expected a suite, or reference answers and the name of their metric"
    ):
        rewards(Sample())
