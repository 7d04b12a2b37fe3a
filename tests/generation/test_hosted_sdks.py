"""The services' own SDKs as clients of our servers: what these speak is what the SDKs take for the protocol.

Our engines are tested against the same servers, so a server that is wrong in a way that an SDK notices fails here.
"""

from __future__ import annotations

import json

import pytest
from makers.asked_engines import answers_to
from makers.engines import integration
from makers.fault_server import serving
from makers.hosted_servers import KEY, AnthropicService, anthropic_error, candidate, gemini_error, gemini_service
from pfgen_fast.generation.anthropic_protocol import AnthropicForm
from pfgen_fast.generation.batch_api import batch_config, batch_file, batch_lines, import_batch
from pfgen_fast.generation.engines import Sampling, open_engine
from pfgen_fast.generation.gemini_protocol import GeminiNativeForm
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.generation.protocol import Details, Usage
from pfgen_fast.generation.setting import Setting

pytestmark = pytest.mark.integrations
PLAIN = Sampling(top_p=None, stop=("Q:",))


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    for name in ("ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY"):  # which the SDKs read
        monkeypatch.delenv(name, raising=False)


def test_the_sdk_of_anthropic_reads_the_same_from_the_same_request(mini):
    anthropic = integration("anthropic")
    (task, *_) = make_tasks(mini, 1, mode="chat")
    form = AnthropicForm("org/claude-test", "chat", PLAIN, thinking_budget=1024)
    with serving(AnthropicService()) as server:
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


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (anthropic_error(529, "overloaded_error", "Overloaded"), "OverloadedError"),
        (anthropic_error(429, "rate_limit_error", "slow down", retry_after="1"), "RateLimitError"),
        (anthropic_error(401, "authentication_error", "invalid x-api-key"), "AuthenticationError"),
    ],
)
def test_the_sdk_of_anthropic_recognises_our_errors(fault, kind):
    anthropic = integration("anthropic")
    with serving(lambda request: fault) as server:
        client = anthropic.Anthropic(base_url=server.base_url.removesuffix("/v1"), api_key=KEY, max_retries=0)
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}])
    usual = "InternalServerError" if caught.value.status_code >= 500 else kind  # some versions have no such kind
    assert {kind, usual} & {each.__name__ for each in type(caught.value).__mro__}


def test_a_batch_goes_through_the_sdk_of_anthropic_and_becomes_a_run(mini, tmp_path):
    anthropic = integration("anthropic")
    from anthropic.types.messages import MessageBatchIndividualResponse

    setting = Setting("anthropic/claude-test", "chat", PLAIN)
    lines = batch_lines(mini, setting, trials=2, engine="anthropic")
    with serving(AnthropicService()) as server:
        client = anthropic.Anthropic(base_url=server.base_url.removesuffix("/v1"), api_key=KEY, max_retries=0)
        batch = client.messages.batches.create(**json.loads("".join(batch_file(lines, engine="anthropic"))))
        assert client.messages.batches.retrieve(batch.id).processing_status == "ended"
        content = client.get(f"/v1/messages/batches/{batch.id}/results", cast_to=str)
    for line in content.splitlines():
        assert MessageBatchIndividualResponse.model_validate_json(line).result.type == "succeeded"
    (tmp_path / "out.jsonl").write_text(content)
    config = batch_config(mini, setting, engine="anthropic")
    made = import_batch([tmp_path / "out.jsonl"], mini, config, output=tmp_path / "result")
    assert (made.n_new, made.problems) == (16, ())
    assert made.events.n_reply_tokens == 16 * 20
    assert made.score(mini).status == "scored"


def test_the_sdk_of_gemini_reads_the_same_from_the_same_server(mini):
    integration("google.genai")
    from google import genai
    from google.genai import types

    (task, *_) = make_tasks(mini, 1, mode="chat")
    system, user = task.prompt.messages
    with serving(gemini_service) as server:
        root = server.base_url.removesuffix("/v1")
        client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=root, api_version="v1beta"))
        config = types.GenerateContentConfig(
            system_instruction=system["content"],
            max_output_tokens=300 + 64,
            temperature=1.0,
            stop_sequences=["Q:"],
            seed=task.seed,
            thinking_config=types.ThinkingConfig(thinking_budget=64),
            safety_settings=[
                types.SafetySetting(category=f"HARM_CATEGORY_{harm}", threshold="OFF")
                for harm in ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT")
            ],
        )
        reply = client.models.generate_content(model="gemini-test", contents=user["content"], config=config)
    form = GeminiNativeForm("google/gemini-test", "chat", PLAIN, thinking_budget=64, safety="OFF")
    path, body = form.path_and_body(task)
    [request] = server.requests
    assert request.path == f"/v1beta{path}"
    theirs = json.loads(json.dumps(request.body))
    theirs["systemInstruction"].pop("role", None)
    configs = [types.GenerationConfig.model_validate(each.pop("generationConfig")) for each in (theirs, body)]
    assert configs[0] == configs[1]  # which the SDK spells in two ways
    assert theirs == body
    ours = candidate(reply.text, has_thought=True)
    assert form.raw_reply(ours).text == reply.text == f"About {task.question}"
    used = reply.usage_metadata
    n_thoughts = used.thoughts_token_count
    assert form.usage_in(ours) == Usage(
        used.prompt_token_count, used.candidates_token_count + n_thoughts, used.cached_content_token_count, n_thoughts
    )
    assert used.total_token_count == used.prompt_token_count + used.candidates_token_count + n_thoughts
    assert form.details_in(ours) == Details(reply.candidates[0].finish_reason.value, reply.model_version)


def test_the_sdk_of_gemini_recognises_our_errors():
    integration("google.genai")
    from google import genai
    from google.genai import errors, types

    fault = gemini_error(429, "RESOURCE_EXHAUSTED", "quota", delay="17s")
    with serving(lambda request: fault) as server:
        options = types.HttpOptions(base_url=server.base_url.removesuffix("/v1"), retry_options=None)
        client = genai.Client(api_key=KEY, http_options=options)
        with pytest.raises(errors.ClientError) as caught:
            client.models.generate_content(model="gemini-test", contents="x")
    assert (caught.value.code, caught.value.status, caught.value.message) == (429, "RESOURCE_EXHAUSTED", "quota")
    form = GeminiNativeForm("m", "chat", PLAIN)
    assert form.asked_seconds(caught.value.details) == form.asked_seconds([json.loads(fault.body)]) == 17
    assert form.asked_seconds({"error": {"details": [{"retryDelay": "1e9s"}, {"retryDelay": 5}, 3]}}) == 0
