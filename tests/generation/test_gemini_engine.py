"""The gemini engine against a local server: what its requests hold, and which replies are answers."""

from __future__ import annotations

import json

import pytest
from makers.asked_engines import answers_to
from makers.fault_server import Reply, refusing, serving
from makers.runs import answers_by_trial
from pfgen_fast.errors import EngineError
from pfgen_fast.generation import Setting
from pfgen_fast.generation.batch_api import batch_config, import_batch, read_config
from pfgen_fast.generation.engines import Sampling, open_engine
from pfgen_fast.generation.prompts import make_tasks

MODEL = "google/gemini-test"


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "the-key")


def make_engine(mini, mode="qa", **options):
    return open_engine("gemini", suite=mini, model=MODEL, mode=mode, **{"backoff": 0.001, "retries": 0, **options})


def choices(*texts):
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}} for text in texts]}


@pytest.mark.parametrize("mode", ["qa", "chat"])
def test_a_request_holds_what_gemini_accepts(mini, mode):
    tasks = make_tasks(mini, 1, mode=mode)

    def behave(request):
        assert request.headers["Authorization"] == "Bearer the-key"
        return Reply(json.dumps(choices("fine")).encode())

    with serving(behave) as server:
        sampling = Sampling(top_p=None, stop=("Q:",))
        answers = answers_to(make_engine(mini, mode, base_url=server.base_url, sampling=sampling), tasks)
        thinking_off = make_engine(mini, mode, base_url=server.base_url, sampling=sampling, enable_thinking=False)
        answers_to(thinking_off, tasks[:1])
    assert set(answers.values()) == {"fine"}
    body = {"model": "gemini-test", "max_tokens": 300, "temperature": 1.0, "stop": ["Q:"]}
    expected = [{**body, "messages": list(task.prompt.messages)} for task in tasks]
    assert sorted((request.body for request in server.requests[:-1]), key=str) == sorted(expected, key=str)
    assert server.requests[-1].body == {**expected[0], "reasoning_effort": "none"}
    assert server.paths == {"/v1/chat/completions"}


@pytest.mark.parametrize(("multi_choice", "expected"), [(True, "second"), (False, ""), (None, "")])
def test_of_several_choices_the_last_counts_if_that_was_asked_for(mini, multi_choice, expected):
    task = make_tasks(mini, 1, mode="qa")[0]
    with serving(lambda request: Reply(json.dumps(choices("first", "second")).encode())) as server:
        engine = make_engine(mini, base_url=server.base_url, multi_choice=multi_choice)
        assert answers_to(engine, [task]) == {0: expected}
    assert engine.parameters["multi_choice"] is multi_choice


def test_the_message_of_a_refusal_is_found_where_google_puts_it(mini):
    refusal = refusing(400, "no such field")
    wrapped = Reply(b"[" + refusal.body + b"]", 400)
    with serving(lambda request: wrapped) as server, pytest.raises(EngineError, match=r"HTTP 400: no such field$"):
        answers_to(make_engine(mini, base_url=server.base_url), make_tasks(mini, 1, mode="qa"))


def test_a_batch_for_gemini_becomes_its_run(mini, tmp_path, call):
    command = "prompts -s mini --mode qa --format openai-batch -e gemini --multi-choice -m"
    assert call(*command.split(), MODEL, "-o", tmp_path / "b.jsonl")[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["url"] for line in lines} == {"/v1/chat/completions"}
    assert lines[0]["body"]["model"] == "gemini-test"
    assert "seed" not in lines[0]["body"]
    config = read_config(tmp_path / "b.config.json")
    assert (config["engine"], config["model"], config["multi_choice"]) == ("gemini", MODEL, True)
    response = {"status_code": 200, "body": choices("no", "yes")}
    output = tmp_path / "out.jsonl"
    rows = [json.dumps({"custom_id": line["custom_id"], "response": response}) for line in lines]
    output.write_text("\n".join(rows))
    made = import_batch([output], mini, config, output=tmp_path / "result")
    assert (made.n_new, made.problems) == (8, ())
    assert answers_by_trial(made.folder) == {1: ["yes"] * 8}
    with pytest.raises(EngineError, match="the engine vllm has no batch files; expected one of openai,"):
        batch_config(mini, Setting("m"), engine="vllm")
