"""Rewards for verifiers 0.4.0 and prime-rl 0.8.0, which loads its environments and takes the reward of their traces."""

import asyncio
import importlib
import inspect
from types import SimpleNamespace

import pytest
from pfgen_fast import PfgenError, ReferenceScorer, Reward, TrialsError
from pfgen_fast.integrations.verifiers import TraceReward

MODULE = "pfgen_fast.integrations.verifiers"
GOOD = "Ice is about 9% less dense than water: its molecules freeze into an open crystal lattice."
WEIGHTS = {"reward": 0.5, "fluency": 0.2, "truthfulness": 0.1, "helpfulness": 1.0}


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    for name, value in (("SUITE", "mini"), ("SHAPE", "recommended")):
        monkeypatch.setenv(f"PFGEN_FAST_{name}", value)


def called(function, *, reply=GOOD, is_truncated=False, **columns):
    """As `verifiers.v1.utils.decorators.invoke` calls a function: with the data, the trace and the runtime it names."""
    task = SimpleNamespace(prompt_text="Why does ice float on water?", **columns)
    trace = SimpleNamespace(last_reply=reply, is_truncated=is_truncated, num_output_tokens=20)
    available = {"task": task, "trace": trace, "runtime": None}
    names = inspect.signature(function).parameters
    return asyncio.run(function(**{name: available[name] for name in names if name in available}))


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_function_by_its_name_has_the_settings_of_the_environment(name):
    function = getattr(importlib.import_module(MODULE), name)
    expected = Reward("mini", "recommended", metric="score" if name == "reward" else name)("Q07", [GOOD])[0]
    assert called(function, question="Q07") == expected > 0
    assert called(function, question="Q07", reply=f"<think>Hm.</think>A: {GOOD}") == expected
    assert called(function, question="Q07", is_truncated=True) == 0


def test_a_function_of_ones_own_has_its_own_settings():
    function = TraceReward("answer", suite=None, shape=None, metric="chrf")
    expected = Reward(ReferenceScorer("chrf"))(None, [GOOD], references=[["Ice is lighter than water."]])[0]
    assert called(function, answer="Ice is lighter than water.") == expected
    assert called(function, answer=["Ice is lighter than water."]) == expected


def test_a_trace_that_cannot_be_scored_is_an_error_or_has_the_reward_of_errors():
    with pytest.raises(PfgenError, match=r"^task: expected the field 'question' with a value"):
        called(TraceReward())
    for known, sentence in (
        ({"question": "Q99"}, "unknown question 'Q99'"),
        ({"reply": None}, "expected a completion"),
    ):
        with pytest.raises(TrialsError, match=sentence):
            called(TraceReward(), **{"question": "Q07"} | known)
        assert called(TraceReward(on_error="zero"), **{"question": "Q07"} | known) == 0


@pytest.mark.integrations
def test_verifiers_weighs_the_rewards_of_its_task():
    vf = pytest.importorskip("verifiers.v1")  # which cannot be installed beside lighteval 0.13

    class Data(vf.TaskData):
        question: str

    class FloatingIce(vf.Task[Data, vf.State, vf.TaskConfig]):
        pass

    rewards = {name: {"fn": f"{MODULE}.{name}", "weight": weight} for name, weight in WEIGHTS.items()}
    task = FloatingIce(Data(question="Q07", prompt="Why does ice float on water?"), vf.TaskConfig(rewards=rewards))
    trace = vf.Trace(task=vf.TraceTask(type="FloatingIce", data=task.data), agent=vf.AgentInfo(config=vf.AgentConfig()))
    for number, message in enumerate((vf.UserMessage(content="Why?"), vf.AssistantMessage(content=GOOD))):
        trace.nodes.append(vf.MessageNode(parent=number - 1 if number else None, message=message, sampled=number == 1))
    asyncio.run(task.score(trace))
    table = Reward("mini", "recommended").details("Q07", [GOOD])
    assert trace.reward == pytest.approx(sum(table[name][0] * weight for name, weight in WEIGHTS.items()))
