"""Judges that reason, refuse parameters, or have another protocol: asked online and in batches, by all commands."""

import csv
import json
import re

import pytest
from makers.checklists_to_judge import N_TASKS, as_judge, judge_command, reply_of, run, suite
from makers.fault_server import KEY, Reply, answering, anthropic_error, fault_of_message, message, refusing, serving
from pfgen_fast.lab.checklists.checklist_suite import write_suite
from pfgen_fast.lab.checklists.judgements import read_judgements


@pytest.fixture
def runs(tmp_path):
    write_suite(suite(), tmp_path / "suite")
    run(tmp_path / "runs" / "a")
    return tmp_path / "runs"


@pytest.fixture
def judge(call, runs):
    return lambda behave, *options, **more: judge_command(call, runs, *options, behave=behave, **more)


def replies_of(runs):
    return [json.loads(line) for line in (runs / "a" / "judge-replies.jsonl").read_text().splitlines()]


def rows_of(runs):
    return read_judgements(runs / "a" / "judgements.jsonl", suite())


def fault_of_openai(body):
    """What a model of today says against a request; `""` if nothing."""
    for name in ("temperature", "top_p", "seed"):
        if name in body:
            return f"Unsupported parameter: '{name}' is not supported with this model."
    if "max_tokens" in body:
        return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
    return ""


def reasoning_judge(request):
    if fault := fault_of_openai(request.body):
        return refusing(400, fault)
    draft = reply_of(request.prompt, 1).replace("1.0", "0.5")
    return as_judge(f"<think>Perhaps {draft}? No.</think>\n{reply_of(request.prompt, 7)}")


def claude(request):
    if fault := fault_of_message(request.body):
        return anthropic_error(400, "invalid_request_error", fault)
    return Reply(json.dumps(message(request.body, reply_of(request.prompt, 7))).encode())


FIT = ("--omit", "top_p,seed", "--temperature", "none", "--max-tokens-name", "max_completion_tokens")


def test_a_judge_that_reasons_and_refuses_parameters(judge, printed, runs):
    code, _, err, requests = judge(reasoning_judge)
    assert code == 2
    assert len({request.body["messages"][-1]["content"] for request in requests}) <= 12
    assert "Unsupported parameter: 'temperature'" in err
    assert "try --omit temperature" in err
    code, _out, err, requests = judge(reasoning_judge, *FIT, "--reasoning-effort", "low")
    assert code == 0, err
    assert len(requests) == N_TASKS  # no reply is unusable because of its reasoning
    assert {request.body["reasoning_effort"] for request in requests} == {"low"}
    assert [row.verdicts for row in rows_of(runs)] == [
        tuple(entry["evaluation_score"] for entry in json.loads(reply["reply"].partition("</think>")[2]))
        for reply in sorted(replies_of(runs), key=lambda item: re.search(r"number (\d+)", str(item))[1].zfill(2))
    ]
    assert {row.temperature for row in rows_of(runs)} == {None}
    assert {row.request for row in rows_of(runs)} == {
        '{"max_tokens_name": "max_completion_tokens", "omit": ["seed", "temperature", "top_p"], '
        '"reasoning_effort": "low"}'
    }
    out = printed("checklists", "table", runs, "--suite", runs.parent / "suite", "--json")
    assert '|request:{\\"max_tokens_name\\"' in out
    parameters = replies_of(runs)[0]["request"]["parameters"]
    assert parameters["omit"] == ["seed", "temperature", "top_p"]
    assert parameters["reasoning_effort"] == "low"


def test_a_judge_with_the_protocol_of_anthropic(judge, runs, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    options = ("--engine", "anthropic")
    code, _out, err, requests = judge(claude, *options, "--structured", model="org/judge-2026-01-01")
    assert code == 0, err
    assert len(requests) == N_TASKS
    assert all(request.path.startswith("/v1/messages") for request in requests)
    assert "warning" not in err
    schema = {json.dumps(_schema_in(request.body)) for request in requests}
    assert len(schema) == 2  # one for lists of three questions, one for two
    assert {row.judge for row in rows_of(runs)} == {"org/judge-2026-01-01"}
    assert replies_of(runs)[0]["request"]["parameters"]["engine"] == "anthropic"


def _schema_in(body):
    if "output_config" in body:
        return body["output_config"]["format"]["schema"]
    return body["response_format"]["json_schema"]["schema"]


def test_a_schema_describes_the_replies_that_are_usable(judge):
    jsonschema = pytest.importorskip("jsonschema")

    def behave(request):
        return as_judge(json.dumps({"verdicts": json.loads(reply_of(request.prompt, 7))}))

    code, _, err, requests = judge(behave, "--structured")
    assert code == 0, err
    for request in requests:
        schema = _schema_in(request.body)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate({"verdicts": json.loads(reply_of(request.prompt, 7))}, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"verdicts": [{"checklist_id": 9, "reason": "", "evaluation_score": 1}]}, schema)


@pytest.mark.parametrize("why", ["json_schema is not available", "not supported when temperature is set"])
def test_a_server_that_refuses_the_schema_ends_the_command(judge, why):
    code, _, err, _ = judge(lambda request: refusing(400, f"response_format: {why}"), "--structured")
    assert code == 2
    assert f"refuses a request with a JSON schema: HTTP 400: response_format: {why}; leave out --structured" in err


def test_replies_that_end_in_the_reasoning_name_the_option(judge):
    code, out, err, _ = judge(lambda request: as_judge("", finish_reason="length"))
    assert code == 3
    assert "12 of them ended at the limit of tokens: raise --max-tokens" in out
    assert "run the same command again" not in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--engine", "anthropic", "--chat-template-kwargs", "{}"), "not of anthropic"),
        (("--engine", "anthropic", "--thinking-budget", "2048"), "only with a temperature of 1"),
        (("--omit", "temprature"), "unknown parameter 'temprature'"),
        (("--extra-body", "[]"), "expected a JSON object"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_asked(judge, options, sentence):
    code, _, err, requests = judge(reasoning_judge, *options)
    assert (code, requests) == (2, [])
    assert sentence in " ".join(err.split())


def test_a_budget_counts_the_tokens_of_reasoning_that_the_server_reports(judge):
    def behave(request):
        reply = json.loads(as_judge(reply_of(request.prompt, 7)).body)
        return Reply(json.dumps({**reply, "usage": {"prompt_tokens": 9, "completion_tokens": 4000}}).encode())

    prices = ("--reply-price", "1000", "--budget", "10", "--concurrency", "1")
    code, _, err, requests = judge(behave, *prices)
    assert (code, len(requests)) == (3, 2)  # of 4 each, and the next may cost 4.096
    assert "the budget of 10 is used up after 2 requests (about 8.00)" in err


@pytest.mark.slow
def test_an_experiment_asks_such_a_judge_too(call, varied, tmp_path):
    def behave(request):
        fault = fault_of_openai(request.body)
        return refusing(400, fault) if fault else answering(f"<think>[[1]]</think>[[{7 + len(request.prompt) % 3}]]")

    arguments = ("experiment", "judge", varied, "--suite", "mini", "-m", "org/judge", "-n", "1", "-o", tmp_path / "o")
    with serving(behave) as server:
        code, _out, err = call(*arguments, "--base-url", server.base_url, *FIT)
    assert code == 0, err
    with (tmp_path / "o" / "judge-models.csv").open() as file:
        assert all(7 <= float(row["org/judge (verdicts)"]) <= 9 for row in csv.DictReader(file))


@pytest.mark.slow
def test_discern_asks_such_a_judge_too(printed, tmp_path):
    text = "A text about river number {}. It is long enough."
    items = [{"id": f"i{n}", "task": "story", "text": text.format(n), "context": "Rivers."} for n in range(10)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    arguments = ("discern", "run", tmp_path / "texts.jsonl", "-e", "judge", "-m", "org/judge")
    plan = ("--kinds", "char_delete/300", "--ratings", "1", "-o", tmp_path / "o")
    with serving(lambda request: answering("[[3]]")) as server:
        printed(*arguments, *plan, "--base-url", server.base_url, *FIT)
        assert not {"temperature", "seed", "top_p", "max_tokens"} & server.requests[0].body.keys()
