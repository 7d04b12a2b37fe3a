"""The engine anthropic against a server that behaves as the documentation says, which the service's SDK reads too.

The SDK reads what our server sends, so a server that is wrong in a way that the SDK notices fails here.
"""

import json
import re

import pytest
from makers.asked_engines import answers_to, replies_to
from makers.engines import integration
from makers.fault_server import KEY, Reply, anthropic_error, anthropic_service, message, serving
from pfgen_fast import Generation
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.engines.hosted import AnthropicForm
from pfgen_fast.generation.events import Events, Trouble
from pfgen_fast.generation.prompts import Sampling, make_tasks
from pfgen_fast.generation.protocol import Details, Usage

MODEL = "anthropic/claude-test"
PLAIN = Sampling(top_p=None, stop=("Q:",))


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)  # which the SDK reads


def make_engine(mode="chat", *, sampling=PLAIN, **options):
    settings = {"backoff": 0.001, "retries": 0, **options}
    return open_engine("anthropic", model=MODEL, mode=mode, sampling=sampling, **settings)


def answered(mini, behave=anthropic_service, **options):
    """The answer to one question, and the engine that asked for it."""
    with serving(behave) as server:
        engine = make_engine(base_url=server.base_url, **options)
        answers = answers_to(engine, make_tasks(mini, 1, mode=options.get("mode", "chat"))[:1])
    return answers[0], engine, server.requests


@pytest.mark.parametrize("mode", ["qa", "chat"])
def test_every_question_is_answered_and_its_tokens_are_counted(mini, mode):
    tasks = make_tasks(mini, 1, mode=mode)
    with serving(anthropic_service) as server:
        engine = make_engine(mode, base_url=server.base_url)
        engine.events = Events()
        replies = replies_to(engine, tasks)
    assert [replies[at].text for at in range(len(tasks))] == [f"About {task.question}" for task in tasks]
    counted = engine.events
    assert (counted.n_prompt_tokens, counted.n_reply_tokens, counted.n_cached_tokens) == (800, 160, 240)
    assert {reply.details for reply in replies.values()} == {Details("end_turn", "claude-test-20990101")}
    assert not counted.troubles


def test_a_request_to_claude(mini):
    (task, *_) = make_tasks(mini, 1, mode="chat")
    _, _, (request,) = answered(mini, sampling=Sampling(temperature=0.5, top_k=7, stop=("Q:", "\n\n")))
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


@pytest.mark.parametrize(
    ("options", "thinking"),
    [
        ({"enable_thinking": True}, {"type": "adaptive"}),
        ({"enable_thinking": False}, {"type": "disabled"}),
        ({"thinking_budget": 2048}, {"type": "enabled", "budget_tokens": 2048}),
        ({}, None),
    ],
)
def test_reasoning_is_asked_for_and_is_no_part_of_the_answer(mini, options, thinking):
    answer, engine, (request,) = answered(mini, **options)
    assert answer.startswith("About ")
    assert request.body.get("thinking") == thinking
    assert request.body["max_tokens"] == 300 + options.get("thinking_budget", 0)  # reasoning counts towards it
    assert {key: value for key, value in engine.parameters.items() if value is not None} == options


def test_temporary_failures_are_retried_after_the_demanded_pause(mini):
    overloaded = anthropic_error(529, "overloaded_error", "Overloaded")
    limited = anthropic_error(429, "rate_limit_error", "too many tokens", retry_after="0.2")
    faults = [overloaded, limited, Reply(b'{"type": 1}', n_bytes=3)]

    def behave(request):
        return faults[request.number] if request.number < len(faults) else anthropic_service(request)

    answer, engine, requests = answered(mini, behave, retries=3)
    assert answer.startswith("About ")
    assert len(requests) == 4
    troubles = engine.events.troubles
    assert (troubles[Trouble.SERVER_ERROR], troubles[Trouble.RATE_LIMIT], troubles[Trouble.CONNECTION]) == (1, 1, 1)
    assert engine.events.paused_seconds == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"content": [], "stop_reason": "max_tokens"}, "the answer is empty and ended at the limit"),
        ({"content": [{"type": "text", "text": "No"}], "stop_reason": "refusal"}, "is a refusal"),
        ({"content": [{"type": "thinking", "thinking": "x"}], "stop_reason": ["x"]}, "has no answer"),
        ({"content": [{"type": "text", "text": 3}]}, "has no answer"),
    ],
)
def test_a_reply_without_an_answer_says_why(mini, body, problem):
    answer, engine, _ = answered(mini, lambda request: Reply(json.dumps(body).encode()))
    assert answer == ""
    assert re.search(problem, engine.trouble)
    assert engine.events.troubles == {Trouble.EMPTY if "limit" in problem else Trouble.UNUSABLE: 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "completion"}, "has no requests of mode completion; try --mode qa"),
        ({"sampling": Sampling(temperature=1.5)}, "accepts temperatures up to 1, not 1.5"),
        ({"thinking_budget": 1023}, "thinking_budget: expected a number from 1,024 to 1,000,000, not 1,023"),
        ({"thinking_budget": 2000, "enable_thinking": False}, "contradict each other"),
        ({"thinking_budget": 2000, "sampling": Sampling(temperature=0.7)}, "only with a temperature of 1"),
        ({"thinking_budget": 2000, "sampling": Sampling(top_k=5)}, "without top_k"),
        ({"thinking_budget": 2000, "sampling": Sampling(top_p=0.9)}, "a top_p of at least 0.95"),
        ({"max_tokens_name": "n"}, "--max-tokens-name is an option of openai, openai-api, not"),
    ],
)
def test_invalid_options_are_refused_when_the_engine_is_opened(options, message):
    with pytest.raises(EngineError, match=message):
        make_engine(**options)


def test_a_run_shows_its_tokens(mini, tmp_path, call):
    asked = ("generate", "-e", "anthropic", "-m", MODEL, "--mode", "chat", "--top-p", "none", "-s", "mini", "-n", 1)
    with serving(anthropic_service) as server:
        code, out, _ = call(*asked, "--base-url", server.base_url, "-o", tmp_path, "--json")
    assert (code, json.loads(out)["events"]["n_prompt_tokens"]) == (0, 800)


def test_a_run_that_ends_early_keeps_its_answers(mini, tmp_path):
    def behave(request):
        if request.number < 3:
            return Reply(json.dumps(message({"model": "m"}, "fine")).encode())
        return anthropic_error(400, "invalid_request_error", "Your credit balance is too low")

    with serving(behave) as server:
        options = {"base_url": server.base_url, "concurrency": 1, "retries": 0}
        generation = Generation.of("anthropic", model="org/m", mode="chat", top_p=None, options=options)
        with pytest.raises(EngineError, match="HTTP 400: Your credit balance is too low"):
            generation.run(mini, output=tmp_path)
    assert len(server.requests) == 4  # nothing is asked without money
    [unfinished] = tmp_path.rglob(".unfinished.jsonl")
    assert unfinished.read_text().count("\n") == 3  # the answers that came are kept


@pytest.mark.integrations
def test_the_sdk_of_anthropic_reads_the_same_from_the_same_request(mini):
    anthropic = integration("anthropic")
    (task, *_) = make_tasks(mini, 1, mode="chat")
    form = AnthropicForm("org/claude-test", "chat", PLAIN, thinking_budget=1024)
    with serving(anthropic_service) as server:
        client = anthropic.Anthropic(base_url=server.base_url.removesuffix("/v1"), api_key=KEY, max_retries=0)
        reply = client.messages.create(**form.path_and_body(task)[1])
        engine = open_engine("anthropic", model=form.model, mode="chat", sampling=PLAIN, base_url=server.base_url)
        assert answers_to(engine, [task]) == {0: reply.content[-1].text}
    by_sdk, by_engine = server.requests
    ours = {name.lower(): value for name, value in by_engine.headers.items()}
    theirs = {name.lower(): value for name, value in by_sdk.headers.items()}
    assert ours["x-api-key"] == KEY  # newer SDKs send another header, and a version that knows no sampling
    assert KEY in (theirs.get("x-api-key"), theirs.get("authorization", "").removeprefix("Bearer "))
    assert ours["anthropic-version"] <= theirs["anthropic-version"]
    assert by_sdk.path == by_engine.path
    body = json.loads(reply.model_dump_json())
    assert [block.type for block in reply.content] == ["thinking", "redacted_thinking", "text"]
    assert form.raw_reply(body).text == reply.content[-1].text
    used = reply.usage
    n_prompt = used.input_tokens + used.cache_read_input_tokens
    assert form.usage_in(body) == Usage(n_prompt, used.output_tokens, used.cache_read_input_tokens)
    assert form.details_in(body) == Details(reply.stop_reason, reply.model)
