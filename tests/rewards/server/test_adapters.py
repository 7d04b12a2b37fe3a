"""The protocols of trainers: where the answer in a body is, what it is compared with, and what is refused."""

import json

import numpy as np
import pytest
from makers.reward_server import HTTP, serving
from pfgen_fast import Copying, ReferenceScorer, Reward, RewardClient, Unfinished
from pfgen_fast.rewards.completions import CompletionReward
from pfgen_fast.rewards.server.adapters import END_TOKENS, scores_of_queries

PROMPT = "Q: Why does ice float on water?\nA:"
GOOD = "Ice is about 9% less dense than water: its molecules freeze into an open crystal lattice."


@pytest.mark.parametrize(
    ("query", "prompt", "mode", "answer"),
    [
        (f"{PROMPT} {GOOD}\n\nQ: And", PROMPT, "completion", GOOD),
        (f"<s> {PROMPT} {GOOD}</s>", PROMPT, "completion", GOOD),
        (f"{PROMPT}{GOOD} Q: more", PROMPT, "qa", GOOD),
        (f"<|im_start|>Why?<|im_end|>A: {GOOD}<|im_end|>\n<pad>", "<|im_start|>Why?<|im_end|>", "chat", GOOD),
        (f"{GOOD}<|eot_id|>{GOOD}", "", "chat", GOOD),
        (PROMPT, PROMPT, "completion", ""),
        (f"{PROMPT}{PROMPT}", PROMPT, "completion", ""),
    ],
)
def test_the_answer_is_what_follows_the_prompt(scorer, query, prompt, mode, answer):
    reply = scores_of_queries(CompletionReward(Reward(scorer), mode), [query], [prompt], ["Q07"])
    assert reply["rewards"].tolist() == scorer.score("Q07", [answer]).average.tolist()


@pytest.mark.parametrize("token", END_TOKENS)
def test_an_answer_ends_at_every_special_token(scorer, token):
    reply = scores_of_queries(
        CompletionReward(Reward(scorer)), [f"{PROMPT} Ice floats.{token} Not ice."], [PROMPT], ["Q07"]
    )
    assert reply["rewards"].tolist() == scorer.score("Q07", ["Ice floats."]).average.tolist()


def test_queries_of_openrlhf_tell_prompts_and_whether_an_answer_ended():
    reward = Reward("mini", [Copying(10, 0.5), Unfinished()])
    prompt = f"{GOOD} Why?"
    queries = [f"Why? {GOOD}</s>", f"Why? {GOOD}", f"{prompt} {GOOD}</s>", f"Why? <think>{GOOD}</s>"]
    reply = scores_of_queries(CompletionReward(reward), queries, ["Why?", "Why?", prompt, "Why?"], ["Q07"] * 4)
    assert reply["rewards"].tolist() == [Reward("mini")("Q07", [GOOD])[0], 0, 0, 0]
    assert reply["extra_logs"]["unfinished"].tolist() == [1, 0, 1, 0]
    assert reply["extra_logs"]["copying"].tolist() == [1, 1, 0, 1]


# ---- All protocols, as programs send them to a server


@pytest.fixture(scope="module")
def server():
    with serving("--suite", "mini", "--mode", "chat", "--shape", "recommended") as running:
        yield running


@pytest.fixture(scope="module")
def lenient():
    with serving("--suite", "mini", "--mode", "chat", "--on-error", "zero") as running:
        yield running


def asked(running, path, **body):
    headers = {"Content-Type": "application/json"}
    reply = HTTP.post(f"{running.url}{path}", content=json.dumps(body), headers=headers)  # which may have NaN
    return reply.status_code, reply.json()


def sample(response=GOOD, label="Q07", prompt=PROMPT):
    """What slime 0.3.1 sends from `remote_rm`; its reply is the reward."""
    return {"prompt": prompt, "response": response, "label": label}


def verification(text=GOOD, **columns):
    """What an agent of NeMo Gym 0.7.0 sends to a resources server: the row, and a response of the Responses API."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    items = [
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "message", "role": "assistant", "content": content},
    ]
    response = {"id": "x", "output": items, "incomplete_details": None, "usage": {"output_tokens": 30}}
    request = {"input": [{"role": "user", "content": PROMPT}]}
    return {"responses_create_params": request, "response": response, **({"question": "Q07"} | columns)}


def queries(*texts, labels=("Q07", "Why does ice float on water?", "Q07")):
    """What OpenRLHF 0.11 sends."""
    return {"query": [f"{PROMPT}{text}" for text in texts], "prompts": [PROMPT] * len(texts), "labels": list(labels)}


def test_a_group_of_openrlhf_has_rewards_and_parts(server):
    status, reply = asked(server, "/get_reward", **queries(f" A: {GOOD}</s>", f" A: {GOOD}", "</s>"))
    table = Reward("mini", "recommended").details("Q07", [GOOD, GOOD, ""], finished=[True, False, True])
    assert (status, reply["rewards"], reply["scores"]) == (200, *[table["reward"].tolist()] * 2)
    assert reply["rewards"][0] > 0.5
    assert reply["extra_logs"] == {
        name: table[name].tolist() for name in table.columns if name not in ("score", "reward")
    }


@pytest.mark.parametrize(
    "body",
    [
        sample(f"<think>Hm.</think>A: {GOOD}<|im_end|>"),
        sample(f"Hm.</think>{GOOD}", prompt=f"{PROMPT}<think>\n", label="Why does ice float on water?"),
        sample(prompt=[{"role": "user", "content": PROMPT}]),
    ],
)
def test_a_sample_of_slime_gets_its_reward(server, body):
    assert asked(server, "/rm", **body) == (200, Reward("mini", "recommended")("Q07", [GOOD])[0])


@pytest.mark.parametrize("columns", [{}, {"question": None, "verifier_metadata": {"question": "Q07"}}])
def test_a_response_of_nemo_gym_comes_back_with_its_reward_and_parts(server, columns):
    body = {key: value for key, value in verification(**columns, index=5).items() if value is not None}
    status, reply = asked(server, "/verify", **body)
    table = Reward("mini", "recommended").details("Q07", [GOOD])
    parts = {name: table[name][0] for name in table.columns if name not in ("score", "reward")}
    assert (status, reply) == (200, {**body, **parts, "reward": table["reward"][0], "reward_components": parts})
    body["response"]["incomplete_details"] = {"reason": "max_output_tokens"}
    assert asked(server, "/verify", **body)[1]["reward"] == 0


@pytest.mark.slow
def test_groups_are_compared_where_the_program_names_them(tmp_path):
    (shape := tmp_path / "shape.toml").write_text('[[shape]]\npart = "group_relative"\nhow = "rank"\n')
    answers, groups = [GOOD, "Because.", "Because.", GOOD], ["a", "a", "b", "b"]
    with (
        serving("--suite", "mini", "--shape", shape, "--on-error", "zero") as running,
        RewardClient(running.url, n_answers=1) as client,
    ):
        assert client.reward("Q07", answers, groups=groups).tolist() == [1, 0, 0, 1]
        pair = queries(GOOD, "Because.", labels=["Q07"] * 2)
        assert asked(running, "/get_reward", **pair)[1]["rewards"] == [1, 0]
        for path, body in (
            ("/rm", sample()),
            ("/verify", verification()),
            ("/get_reward", queries(GOOD, labels=["Q07"])),
        ):
            status, reply = asked(running, path, **body)
            assert (status, "expected at least two answers, got one" in reply["error"]) == (400, True)


FAULTY = (None, 5, {"a": 1}, [{"type": "text", "text": "Ice."}, 7], "x" * 100_001)


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("/get_reward", queries(GOOD, GOOD, labels=["Q07", "Q99"]), "labels[1]: unknown question 'Q99'"),
        ("/get_reward", queries(GOOD, labels=[5]), "labels[0]: expected a str, not int"),
        ("/get_reward", queries(GOOD, labels=[]), "1 queries, 1 prompts, 0 labels; expected equal numbers"),
        (
            "/get_reward",
            {"query": [GOOD], "prompts": ["zzz"], "labels": ["Q07"]},
            "query[0]: does not contain its prompt",
        ),
        ("/rm", sample(None), "response: expected a text, not null"),
        ("/rm", sample([{"type": "text", "text": GOOD}]), "response: expected a text, not a list"),
        ("/rm", sample(label=None), "label: "),
        ("/rm", sample(label="Q99"), "label: unknown question 'Q99'"),
        ("/rm", sample(prompt=5), "prompt: expected a text or messages, not 5"),
        ("/rm", {**sample(), "labels": 1}, "unknown key 'labels'; expected 'prompt', 'response', 'label'"),
        ("/verify", verification(question=None), "question: expected a value in the body or in its verifier_metadata"),
        ("/verify", verification(question="Q99"), "question: unknown question 'Q99'"),
        ("/verify", {**verification(), "response": []}, "response: expected an object, not a list"),
        ("/verify", {**verification(), "response": {}}, "response.output: expected a list of items, not None"),
        ("/verify", verification(5), "response: expected a part of a message"),
        ("/verify", verification(note=["\ud800", float("nan")]), "the body cannot be sent back: Out of range float"),
    ],
)
def test_a_fault_is_named_in_the_words_of_the_protocol(server, path, body, sentence):
    status, reply = asked(server, path, **body)
    assert (status, reply["error"][: len(sentence)]) == (400, sentence)


def test_an_answer_that_cannot_be_scored_does_not_cost_its_group(lenient):
    expected = Reward("mini")("Q07", [GOOD, "Because."]).tolist()
    group = [GOOD, *FAULTY, "Because."]
    zeros = [0.0] * len(FAULTY)
    for questions in ("Q07", ["Q07"] * len(group)):
        rewards = asked(lenient, "/reward", questions=questions, answers=group)[1]["rewards"]
        assert rewards == [expected[0], *zeros, expected[1]]
    columns = asked(lenient, "/score", questions="Q07", answers=group)[1]["scores"]
    assert (columns["score"][1], columns["reward"]) == (None, rewards)
    body = {"query": [f"{PROMPT}{GOOD}", *FAULTY, "another prompt"], "prompts": [PROMPT] * 7}
    assert asked(lenient, "/get_reward", **body, labels=["Q07"] * 7)[1]["rewards"] == [expected[0], *zeros, 0.0]
    assert asked(lenient, "/get_reward", **queries(GOOD, GOOD, labels=["Q99", "Q07"]))[1]["rewards"] == [0, expected[0]]
    for answer in (*FAULTY[:3], FAULTY[-1]):
        assert asked(lenient, "/rm", **sample(answer)) == (200, 0.0)
    status, reply = asked(lenient, "/verify", **verification(5))
    assert (status, reply["reward"], set(reply["reward_components"].values())) == (200, 0.0, {0.0})


@pytest.mark.slow
def test_labels_and_columns_may_be_the_references():
    reward, references = Reward(ReferenceScorer("chrf")), ["Ice is lighter than water.", "It floats."]
    best, first = (reward(None, [GOOD], references=[texts])[0] for texts in (references, references[:1]))
    bodies = queries(GOOD, GOOD, "", labels=[references, references[0], references])
    with serving("--metric", "chrf", "--on-error", "nan") as running, RewardClient(running.url) as client:
        assert asked(running, "/get_reward", **bodies)[1]["rewards"] == [best, first, 0.0]
        for body, value in ((sample(label=references), best), (sample(label=references[0]), first)):
            assert asked(running, "/rm", **body) == (200, value)
        assert asked(running, "/rm", **sample(None, label=references)) == (200, None)
        status, reply = asked(running, "/verify", **verification(references=references))
        assert (status, reply["reward"], reply["reward_components"]) == (200, best, {"reward": best})
        rewards = client.reward(None, [GOOD, None], references=[references] * 2)
        assert np.array_equal(rewards, [best, np.nan], equal_nan=True)
