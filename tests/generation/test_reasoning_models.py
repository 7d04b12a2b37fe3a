"""Servers that play models which reason: their answers are those of a model that does not."""

import json
import lzma

import pytest
from makers.fault_server import Reply, serving
from pfgen_fast.generation import Generation
from pfgen_fast.generation.reasoning import Reasoning
from pfgen_fast.runs.result import read_result
from pfgen_fast.runs.trials import Trials

WRONG = "Q: why?\n\nA: no"


def completion(message, *, finish_reason="stop", **usage):
    choice = {"message": message, "finish_reason": finish_reason}
    return Reply(json.dumps({"choices": [choice], "usage": usage}).encode())


MODELS = {
    "tags": lambda answer: {"content": f"<think>\n{WRONG}\n</think>\n\nA: {answer}\nQ: next"},
    "opened by the template": lambda answer: {"content": f"{WRONG}</think>{answer}"},
    "told not to reason": lambda answer: {"content": f"<think>\n\n</think>\n\n{answer}"},
    "channels": lambda answer: {
        "content": f"<|channel|>analysis<|message|>{WRONG}<|end|><|start|>a<|channel|>final<|message|>{answer}<|end|>"
    },
    "reasoning_content": lambda answer: {"content": answer, "reasoning_content": WRONG},
    "reasoning": lambda answer: {"content": answer, "reasoning": [{"type": "x", "text": WRONG}]},
    "parts": lambda answer: {
        "content": [{"type": "thinking", "text": WRONG}, {"type": "text", "text": answer}],
        "thinking": WRONG,
    },
}
"""The message of a model that reasons, from its answer."""

UNFINISHED = {
    "tags": completion({"content": f"<think>{WRONG}"}, finish_reason="length"),
    "field": completion({"content": None, "reasoning_content": WRONG}, finish_reason="length"),
    "hidden": completion({"content": ""}, finish_reason="length", completion_tokens_details={"reasoning_tokens": 300}),
}


def run(mini, server, output, **options):
    generation = Generation.of("openai", model="org/m", mode="chat", options={"base_url": server.base_url}, **options)
    return generation.run(mini, trials=1, output=output)


def answers_of(generated):
    return Trials.of(generated.run).answers


def entries_of(generated):
    return [json.loads(line) for line in lzma.open(generated.folder / "replies.jsonl.xz")]


@pytest.mark.parametrize("model", MODELS)
def test_the_answer_is_what_follows_the_reasoning(mini, tmp_path, model):
    with serving(lambda request: completion(MODELS[model](f"About {request.question}"))) as server:
        generated = run(mini, server, tmp_path, reasoning=Reasoning(tokens=1000))
    assert sorted(answers_of(generated)) == sorted(f"About {question.question}" for question in mini)
    assert len(server.requests) == len(mini)
    assert all("stop" not in request.body and request.body["max_tokens"] == 1300 for request in server.requests)
    assert (generated.replies.n_reasoning, generated.replies.n_unfinished) == (len(mini), 0)
    assert all(entry["state"] == "closed" for entry in entries_of(generated))
    assert not list(generated.replies.problems)


@pytest.mark.parametrize("model", UNFINISHED)
def test_unfinished_reasoning_is_an_empty_answer_that_is_not_asked_again(mini, tmp_path, model):
    with serving(lambda request: UNFINISHED[model]) as server:
        generated = run(mini, server, tmp_path)
        assert len(server.requests) == len(mini)
        again = run(mini, server, tmp_path / "again", reasoning=Reasoning(retries=2))
    assert set(answers_of(generated)) == set(answers_of(again)) == {""}
    assert len(server.requests) == 4 * len(mini)
    assert not generated.events.troubles
    assert (generated.replies.n_unfinished, generated.replies.n_cut) == (len(mini), len(mini))
    (problem,) = generated.replies.problems
    assert "--reasoning-tokens" in problem
    assert read_result(generated.score(mini).path).score == 0


def test_an_answer_at_the_limit_of_tokens_is_named(tmp_path, call):
    with serving(lambda request: completion({"content": "It"}, finish_reason="length")) as server:
        address = ("--base-url", server.base_url, "-o", str(tmp_path), "-n", "1")
        code, _, err = call("generate", "-e", "openai", "-m", "org/m", "--mode", "qa", "-s", "mini", *address)
    assert code == 0
    assert "8 of 8 answers ended at the limit of tokens; give them more (--max-tokens)" in err


def test_reasoning_is_kept_on_request(mini, tmp_path):
    text = f"<think>\n{WRONG}</think>It floats."
    with serving(lambda request: completion({"content": text})) as server:
        kept = run(mini, server, tmp_path, reasoning=Reasoning(keep=True))
        stripped = run(mini, server, tmp_path)
    assert server.requests[0].body["stop"] == ["Q:"]
    assert set(answers_of(kept)) == {"<think>"}  # the stop string ends the text within the reasoning
    assert set(answers_of(stripped)) == {"It floats."}
    assert json.loads((kept.folder / "config.json").read_bytes())["reasoning"] == "keep"
    assert "reasoning" not in (stripped.folder / "config.json").read_text()


def test_the_raw_replies_can_be_deleted_and_are_continued(mini, tmp_path):
    with serving(lambda request: completion(MODELS["tags"]("x"))) as server:
        first = run(mini, server, tmp_path)
        assert len(entries_of(first)) == len(mini)
        (first.folder / "replies.jsonl.xz").unlink()
        options = {"base_url": server.base_url}
        more = Generation.of("openai", model="org/m", mode="chat", options=options).run(mini, trials=2, output=tmp_path)
    assert {entry["trial"] for entry in entries_of(more)} == {2}
    assert len(Trials.of(more.run).answers) == 2 * len(mini)
