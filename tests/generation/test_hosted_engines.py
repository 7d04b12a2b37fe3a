"""The engines anthropic and gemini-native, against servers that behave as the documentation of the services says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from makers.asked_engines import answers_to
from makers.fault_server import Reply, serving
from makers.hosted_servers import (
    KEY,
    AnthropicService,
    anthropic_error,
    candidate,
    gemini_error,
    gemini_service,
    message,
)
from pfgen_fast.errors import EngineError
from pfgen_fast.generation.anthropic_protocol import AnthropicForm
from pfgen_fast.generation.batch_api import batch_config, batch_file, import_batch, read_config
from pfgen_fast.generation.engines import Sampling, open_engine
from pfgen_fast.generation.events import Events, TokenPrices, Trouble
from pfgen_fast.generation.generating import Generation, Setting
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.generation.protocol import Details

NAMES = {"anthropic": "anthropic/claude-test", "gemini-native": "google/gemini-test"}
PLAIN = Sampling(top_p=None, stop=("Q:",))


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)


@pytest.fixture(params=list(NAMES))
def name(request):
    return request.param


def service(name):
    return AnthropicService() if name == "anthropic" else gemini_service


def said(name, text):
    """A reply with this answer."""
    body = message({"model": "m"}, text) if name == "anthropic" else candidate(text, has_thought=False)
    return Reply(json.dumps(body).encode())


def make_engine(name, mode="chat", *, model=None, sampling=PLAIN, **options):
    settings = {"backoff": 0.001, "retries": 0, **options}
    return open_engine(name, model=model or NAMES[name], mode=mode, sampling=sampling, **settings)


def answered(name, mini, behave=None, **options):
    """The answer to one question, and the engine that asked for it."""
    with serving(behave or service(name)) as server:
        engine = make_engine(name, base_url=server.base_url, **options)
        answers = answers_to(engine, make_tasks(mini, 1, mode=options.get("mode", "chat"))[:1])
    return answers[0], engine, server.requests


@pytest.mark.parametrize("mode", ["qa", "chat"])
def test_every_question_is_answered_and_its_tokens_are_counted(mini, name, mode):
    tasks = make_tasks(mini, 1, mode=mode)
    with serving(service(name)) as server:
        engine = make_engine(name, mode, base_url=server.base_url)
        engine.events = Events(prices=TokenPrices(3, 15, 0.3))
        details = []
        engine.on_reply = lambda request, reply: details.append(reply.details)
        answers = answers_to(engine, tasks)
    assert answers == {at: f"About {task.question}" for at, task in enumerate(tasks)}
    cached = {"anthropic": 30, "gemini-native": 40}[name]
    counted = engine.events
    assert (counted.n_prompt_tokens, counted.n_reply_tokens, counted.n_cached_tokens) == (800, 160, 8 * cached)
    assert counted.cost == pytest.approx(8 * ((100 - cached) * 3 + cached * 0.3 + 20 * 15) / 1e6)
    reason, version = {
        "anthropic": ("end_turn", "claude-test-20990101"),
        "gemini-native": ("STOP", "gemini-test-001"),
    }[name]
    assert set(details) == {Details(reason, version)}
    assert not counted.troubles


def test_a_request_to_claude(mini):
    (task, *_) = make_tasks(mini, 1, mode="chat")
    _, _, (request,) = answered("anthropic", mini, sampling=Sampling(temperature=0.5, top_k=7, stop=("Q:", "\n\n")))
    system, user = task.prompt.messages
    assert request.path == "/v1/messages"
    assert request.body == {
        "model": "claude-test",
        "max_tokens": 300,
        "system": system["content"],
        "messages": [user],
        "temperature": 0.5,
        "top_p": 0.98,
        "top_k": 7,
        "stop_sequences": ["Q:"],  # those of white space alone are refused
    }
    assert "Authorization" not in request.headers
    assert TokenPrices(3, 15, 0.3).cost(0, 0, 1000) == 0  # more cached tokens than the prompt has earn no money


def test_a_request_to_gemini(mini):
    (task, *_) = make_tasks(mini, 1, mode="chat")
    sampling = Sampling(temperature=0.5, top_k=7, stop=("Q:", "\n\n"))
    _, _, (request,) = answered("gemini-native", mini, sampling=sampling, safety="BLOCK_NONE")
    system, user = task.prompt.messages
    assert request.path == "/v1/models/gemini-test:generateContent"
    settings = request.body.pop("safetySettings")
    assert {each["threshold"] for each in settings} == {"BLOCK_NONE"}
    assert len({each["category"] for each in settings}) == 4
    assert request.body == {
        "systemInstruction": {"parts": [{"text": system["content"]}]},
        "contents": [{"role": "user", "parts": [{"text": user["content"]}]}],
        "generationConfig": {
            "maxOutputTokens": 300,
            "temperature": 0.5,
            "topP": 0.98,
            "topK": 7,
            "stopSequences": ["Q:", "\n\n"],
            "seed": task.seed,
        },
    }


@pytest.mark.parametrize(
    ("options", "of_claude", "of_gemini"),
    [
        ({"enable_thinking": True}, {"type": "adaptive"}, {"thinkingBudget": -1}),
        ({"enable_thinking": False}, {"type": "disabled"}, {"thinkingBudget": 0}),
        ({"thinking_budget": 2048}, {"type": "enabled", "budget_tokens": 2048}, {"thinkingBudget": 2048}),
        ({}, None, None),
    ],
)
def test_reasoning_is_asked_for_and_is_no_part_of_the_answer(mini, name, options, of_claude, of_gemini):
    answer, engine, (request,) = answered(name, mini, **options)
    assert answer.startswith("About ")
    body = request.body if name == "anthropic" else request.body["generationConfig"]
    asked = body.get("thinking" if name == "anthropic" else "thinkingConfig")
    assert asked == (of_claude if name == "anthropic" else of_gemini)
    most = body["max_tokens" if name == "anthropic" else "maxOutputTokens"]
    assert most == 300 + options.get("thinking_budget", 0)  # reasoning counts towards it
    recorded = {key: value for key, value in engine.parameters.items() if value is not None}
    assert recorded == options


def test_temporary_failures_are_retried_after_the_demanded_pause(mini, name):
    overloaded = anthropic_error(529, "overloaded_error", "Overloaded")
    limited = anthropic_error(429, "rate_limit_error", "too many tokens", retry_after="0.2")
    if name == "gemini-native":
        overloaded = gemini_error(503, "UNAVAILABLE", "The model is overloaded.")
        limited = gemini_error(429, "RESOURCE_EXHAUSTED", "quota", delay="0.2s")
    faults = [overloaded, limited, Reply(b'{"type": 1}', n_bytes=3)]

    def behave(request):
        return faults[request.number] if request.number < len(faults) else service(name)(request)

    answer, engine, requests = answered(name, mini, behave, retries=3)
    assert answer.startswith("About ")
    assert len(requests) == 4
    troubles = engine.events.troubles
    assert (troubles[Trouble.SERVER_ERROR], troubles[Trouble.RATE_LIMIT], troubles[Trouble.CONNECTION]) == (1, 1, 1)
    assert engine.events.paused_seconds == pytest.approx(0.2, abs=0.05)


def test_a_refused_key_is_named_by_its_variable_and_never_shown(mini, name, monkeypatch):
    variable = {"anthropic": "ANTHROPIC_API_KEY", "gemini-native": "GEMINI_API_KEY"}[name]
    monkeypatch.setenv(variable, "wrong-secret")
    with pytest.raises(EngineError) as caught:
        answered(name, mini)
    assert "wrong-secret" not in str(caught.value)
    assert ("x-api-key" if name == "anthropic" else "API key not valid") in str(caught.value)
    monkeypatch.delenv(variable)
    with pytest.raises(EngineError, match=f"the variable {variable} is empty or not set"):
        make_engine(name)


@pytest.mark.parametrize(
    ("name", "body", "problem"),
    [
        ("anthropic", {"content": [], "stop_reason": "max_tokens"}, "the answer is empty and ended at the limit"),
        ("anthropic", {"content": [{"type": "text", "text": "No"}], "stop_reason": "refusal"}, "is a refusal"),
        ("anthropic", {"content": [{"type": "thinking", "thinking": "x"}]}, "has no answer"),
        ("anthropic", {"content": [{"type": "text", "text": 3}]}, "has no answer"),
        ("gemini-native", {"promptFeedback": {"blockReason": "SAFETY"}}, r"the prompt is blocked \(SAFETY\)"),
        ("gemini-native", {"candidates": [{"finishReason": "SAFETY"}]}, r"the answer is blocked \(SAFETY\)"),
        ("gemini-native", {"candidates": [{"finishReason": ["SAFETY"]}]}, "has no answer"),
        ("gemini-native", {"candidates": [{"finishReason": "MAX_TOKENS"}]}, "limit of tokens: raise --max-tokens"),
        ("gemini-native", {"candidates": [{}, {}]}, "has 2 answers to a request for one"),
        ("gemini-native", {"candidates": [{"content": {"parts": [{"text": "x", "thought": True}]}}]}, "no answer"),
    ],
)
def test_a_reply_without_an_answer_says_why(mini, name, body, problem):
    answer, engine, _ = answered(name, mini, lambda request: Reply(json.dumps(body).encode()))
    assert answer == ""
    assert re.search(problem, engine.trouble)
    assert engine.events.troubles == {Trouble.EMPTY if "limit" in problem else Trouble.UNUSABLE: 1}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("anthropic", {"mode": "completion"}, "has no requests of mode completion; try --mode qa"),
        ("gemini", {"model": "x", "sampling": Sampling(top_k=5)}, "accepts no top_k, but got 5"),
        ("anthropic", {"sampling": Sampling(temperature=1.5)}, "accepts temperatures up to 1, not 1.5"),
        ("anthropic", {"thinking_budget": 1023}, "at least 1,024 tokens, not 1,023"),
        ("gemini-native", {"thinking_budget": 0}, "thinking_budget: expected a number from 1 to 1,000,000, not 0"),
        ("anthropic", {"thinking_budget": 2000, "enable_thinking": False}, "contradict each other"),
        ("anthropic", {"thinking_budget": 2000, "sampling": Sampling(temperature=0.7)}, "only with a temperature of 1"),
        ("anthropic", {"thinking_budget": 2000, "sampling": Sampling(top_k=5)}, "without top_k"),
        ("anthropic", {"thinking_budget": 2000, "sampling": Sampling(top_p=0.9)}, "a top_p of at least 0.95"),
        ("gemini", {"model": "x", "max_tokens_name": "n"}, "--max-tokens-name is an option of openai, openai-api, not"),
        ("gemini-native", {"safety": "NONE"}, "safety: expected BLOCK_LOW_AND_ABOVE or .* not NONE"),
    ],
)
def test_invalid_options_are_refused_when_the_engine_is_opened(name, options, message):
    with pytest.raises(EngineError, match=message):
        make_engine(name, **options)


def test_a_run_records_and_shows_its_usage_which_changes_neither_folder_nor_score(mini, name, tmp_path, call):
    def made(output, *options):
        asked = ("generate", "-e", name, "-m", NAMES[name], "--mode", "chat", "--top-p", "none", "-s", "mini")
        return call(*asked, "--base-url", server.base_url, "-o", tmp_path / output, *options)

    prices = ("--prompt-price", 2, "--reply-price", 10)
    with serving(service(name)) as server:
        priced, free = (json.loads(made(*options, "-n", 1, "--json")[1]) for options in (("a", *prices), ("b",)))
        code, out, err = made("a", *prices, "-n", 2)
        options = {"base_url": server.base_url}
        shared = Events(n_answers=1, n_prompt_tokens=5000, prices=TokenPrices(2, 10))  # of an earlier call
        generation = Generation.of(name, model=NAMES[name], mode="chat", top_p=None, options=options)
        generation.run(mini, trials=3, output=tmp_path / "a", events=shared)
    assert (code, "8 new answers" in out) == (0, True)
    assert "tokens: 800 in prompts" in err
    assert "cost 0.0032" in err
    assert priced["events"]["cost"] == pytest.approx(0.0032)
    folders = [Path(row["run"]) for row in (priced, free)]
    assert folders[0].relative_to(tmp_path / "a") == folders[1].relative_to(tmp_path / "b")
    first, *others = map(json.loads, (folders[0] / "usage.jsonl").read_text().splitlines())
    counts = {"n_answers": 8, "n_prompt_tokens": 800, "n_reply_tokens": 160}
    assert {key: first[key] for key in counts} == counts
    assert first["cost"] == pytest.approx((800 * 2 + 160 * 10) / 1e6)
    assert first["prices"] == {"of_prompts": 2, "of_replies": 10, "of_cached": None}
    assert [{key: line[key] for key in counts} for line in others] == [counts] * 2  # each line has those of one call
    assert json.loads((folders[1] / "usage.jsonl").read_text())["cost"] is None
    assert not re.search("usage|price", (folders[0] / "config.json").read_text())
    assert priced["status"] == free["status"] == "scored"
    assert priced["signature"] == free["signature"]


def test_a_run_that_ends_early_records_its_usage(mini, tmp_path):
    def behave(request):
        if request.number < 3:
            return said("anthropic", "fine")
        return anthropic_error(400, "invalid_request_error", "Your credit balance is too low")

    with serving(behave) as server:
        options = {"base_url": server.base_url, "concurrency": 1, "retries": 0}
        generation = Generation.of("anthropic", model="org/m", mode="chat", top_p=None, options=options)
        with pytest.raises(EngineError, match="HTTP 400: Your credit balance is too low"):
            generation.run(mini, output=tmp_path)
    assert len(server.requests) == 4  # nothing is asked without money
    [usage] = tmp_path.rglob("usage.jsonl")
    assert json.loads(usage.read_text())["n_prompt_tokens"] == 300
    assert usage.with_name(".unfinished.jsonl").read_text().count("\n") == 3  # the answers that came are kept


def result_line(name, request_name, text):
    body = json.loads(said(name, text).body)
    if name == "anthropic":
        return {"custom_id": request_name, "result": {"type": "succeeded", "message": body}}
    return {"key": request_name, "response": body}


def failed_lines(name, request_names):
    """Lines of requests that failed, and one with an empty answer, which is paid for."""
    if name == "anthropic":
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": "too long"}}
        kinds = [{"type": "errored", "error": error}, {"type": "expired"}, {"type": "canceled"}, {"type": 3}, None]
        failed = [{"result": kind} for kind in kinds]
    else:
        failed = [{"error": {"code": 3, "message": "too long"}}, {}, {"response": {"candidates": []}}]
    key = "custom_id" if name == "anthropic" else "key"
    lines = [{key: each, **kind} for each, kind in zip(request_names, failed, strict=False)]
    return [*lines, result_line(name, request_names[len(lines)], "")]


def test_a_batch_becomes_its_run_with_its_cost(mini, name, tmp_path, call):
    format, key, member = {
        "anthropic": ("anthropic-batch", "custom_id", "params"),
        "gemini-native": ("gemini-batch", "key", "request"),
    }[name]
    command = ("prompts", "-s", "mini", "--mode", "chat", "--format", format, "-m", NAMES[name], "--top-p", "none")
    assert call(*command, "-o", tmp_path / "b.json")[0] == 0
    content = (tmp_path / "b.json").read_text()
    lines = json.loads(content)["requests"] if name == "anthropic" else [*map(json.loads, content.splitlines())]
    assert len({line[key] for line in lines}) == len(mini)
    with serving(service(name)) as server:
        engine = make_engine(name, base_url=server.base_url, sampling=Sampling(top_p=None, stop=()))
        answers_to(engine, make_tasks(mini, 1, mode="chat")[:1])
    assert lines[0][member] == server.requests[0].body  # a batch asks what the engine asks
    config = read_config(tmp_path / "b.config.json")
    expected = batch_config(mini, Setting(NAMES[name], "chat", PLAIN), engine=name)
    assert config == {key: value for key, value in expected.items() if value is not None}
    output = tmp_path / "out.jsonl"
    rows = [result_line(name, line[key], f"Batched {at}") for at, line in enumerate(lines)]
    failed = failed_lines(name, [line[key] for line in lines])
    n_failed = len(failed)
    output.write_text("\n".join(map(json.dumps, failed + rows[n_failed:])), encoding="utf-8")
    made = import_batch([output], mini, config, output=tmp_path / "result", prices=TokenPrices(1, 5))
    assert made.n_new == 8 - n_failed
    assert made.events.cost == pytest.approx((8 - n_failed + 1) * (100 + 20 * 5) / 1e6)
    assert ("too long" in made.refused[0], "is empty" in made.refused[-1], len(made.refused)) == (True, True, n_failed)
    assert made.failed
    output.write_text("\n".join(map(json.dumps, reversed(rows))), encoding="utf-8")
    prices = ("--prompt-price", 1, "--reply-price", 5, "--cached-price", 1)
    imported = ("import-batch", output, "-c", tmp_path / "b.config.json", "-s", "mini", "-o", tmp_path / "result")
    code, out, err = call(*imported, *prices)
    assert (code, f"{n_failed} new answers" in out) == (0, True)
    assert f"tokens: {n_failed}00 in prompts" in err
    assert f"cost {n_failed * 0.0002:.4f}" in err
    assert len((made.folder / "usage.jsonl").read_text().splitlines()) == 2
    assert (made.folder / "result.json").exists()
    code, _, err = call(*command, "-e", "openai", "-o", tmp_path / "b.json")
    assert (code, f"--format {format}: the engine openai has batches of the format openai-batch" in err) == (2, True)


def test_a_name_that_anthropic_refuses_in_batches_is_an_error(mini):
    form = AnthropicForm("m", "chat", PLAIN)
    (task, *_) = make_tasks(mini, 1, mode="chat")
    assert form.batch_line("0123456-trial_001-Q01", task)["custom_id"] == "0123456-trial_001-Q01"
    for name in ("0123456-trial_001-Q0 1", "0123456-trial_001-氷", "x" * 65):
        with pytest.raises(EngineError, match=f"^{name}: Anthropic's batches name requests by up to 64 ASCII letters"):
            form.batch_line(name, task)
    assert json.loads("".join(batch_file([], engine="anthropic"))) == {"requests": []}
    assert "".join(batch_file([])) == ""
