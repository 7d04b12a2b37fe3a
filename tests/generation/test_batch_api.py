"""Batch files: the input for OpenAI's Batch API, and the answers in its output."""

import json
import re

import pytest
from makers.runs import answers_by_trial
from pfgen_fast import Generation, TrialsError
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.batch_api import read_batch, write_batch
from pfgen_fast.generation.engines.hosted import RequestForm
from pfgen_fast.scoring.reply_text import MODES

CHAT = Generation.of("openai", model="gpt", mode="chat")


def reply(custom_id, text, **changes):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None, **changes}


def write(path, lines):
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("mode", MODES)
def test_a_line_is_a_request_of_the_batch_api(mini, tmp_path, mode):
    options = {"base_url": "http://localhost/v1", "concurrency": 3, "served_model": "tuned"}
    generation = Generation.of("openai-api", model="gpt", mode=mode, top_k=3, options=options)
    assert write_batch(generation, mini, tmp_path / "b.jsonl", trials=2) == 16
    lines, setting = lines_of(tmp_path / "b.jsonl"), generation.setting
    assert len({line["custom_id"] for line in lines}) == len(lines) == 16
    form = RequestForm("gpt", mode, setting.sent_sampling, served_model="tuned")
    for line, task in zip(lines, [*setting.tasks(mini, 1), *setting.tasks(mini, 2)], strict=True):
        path, body = form.path_and_body(task)  # which a test of the engine checks
        assert line == {"custom_id": line["custom_id"], "method": "POST", "url": f"/v1{path}", "body": body}
        assert line["custom_id"].endswith(f"-trial_{task.trial:03}-{task.question_id}")


def test_a_batch_becomes_a_run_by_the_command_alone(mini, tmp_path, monkeypatch, call, refused):
    monkeypatch.chdir(tmp_path)
    usual = ("generate", "-e", "openai", "-m", "gpt", "-s", "mini", "--mode", "qa", "-n", 2)
    assert call(*usual, "--write-batch", "b.jsonl")[1:] == ("16 requests written to b.jsonl\nsuite: mini\n", "")
    asked = lines_of(tmp_path / "b.jsonl")
    replies = [reply(line["custom_id"], f"A: {line['custom_id'][-3:]}") for line in reversed(asked)]
    replies[0]["response"]["body"]["usage"] = {"prompt_tokens": 100, "completion_tokens": 20}
    refusal = {"status_code": 429, "body": {"error": {"message": "slow\x1b[2J"}}}
    replies[6] = reply(asked[9]["custom_id"], "", response=refusal)
    write(tmp_path / "out.jsonl", replies)
    code, _, err = call(*usual, "--read-batch", "out.jsonl", "--no-score")
    digits = asked[0]["custom_id"][:7]
    assert (code, err) == (
        3,
        f"error: out.jsonl, line 7 ({digits}-trial_002-Q02): failed with HTTP 429: slow\\u001b[2J\n"
        "error: trial 2: no usable answer to Q02\n",
    )
    folder = tmp_path / "result" / "gpt" / digits
    assert answers_by_trial(folder) == {1: [question.question_id for question in mini]}
    # The missing answer comes in a separate file; existing answers are kept.
    write(tmp_path / "rest.jsonl", [reply(asked[9]["custom_id"], "late"), reply(asked[0]["custom_id"], "other")])
    result = json.loads(call(*usual, "--read-batch", "rest.jsonl", "--json")[1])
    assert (result["n_new"], result["status"]) == (1, "scored")
    assert answers_by_trial(folder)[1] == [question.question_id for question in mini]
    names = "config.json replies.jsonl.xz result.json trial_001.jsonl trial_002.jsonl trials.jsonl.xz"
    assert sorted(path.name for path in folder.iterdir()) == names.split()
    assert f"belongs to a run {digits} with other parameters, not to " in refused(
        *usual, "--temperature", "0.5", "--read-batch", "rest.jsonl"
    )
    assert call(*usual, "--read-batch", "rest.jsonl", "--write-batch", "b.jsonl")[0] == 2


@pytest.fixture
def custom_ids(mini, tmp_path):
    write_batch(CHAT, mini, tmp_path / "b.jsonl", trials=1)
    return [line["custom_id"] for line in lines_of(tmp_path / "b.jsonl")]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"error": {"code": "batch_expired", "message": "too late"}, "response": None}, "failed: too late"),
        ({"response": None}, "failed with HTTP None: None"),
        ({"response": {"status_code": 500, "body": "x"}}, "failed with HTTP 500: x"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "the response has no answer"),
        ({"response": {"status_code": 200, "body": None}}, "the response has no answer"),
    ],
)
def test_a_request_that_failed_is_listed(mini, custom_ids, tmp_path, changes, problem):
    first, *others = custom_ids
    source = write(tmp_path / "out.jsonl", [reply(first, "x", **changes), *(reply(name, "x") for name in others)])
    imported = read_batch(CHAT, mini, [source], output=tmp_path / "result")
    assert list(imported.problems) == [f"{source}, line 1 ({first}): {problem}", "trial 1: no usable answer to Q01"]
    assert imported.n_new == 7
    assert imported.run is None


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], r"out\.jsonl: no replies; expected one reply on each line"),
        ([{}], "line 1: expected a 'custom_id' such as [0-9a-f]{7}-trial_001-Q01, not None"),
        ([{"custom_id": "request-1"}], "not request-1"),
        ([{"custom_id": "0000000-trial_000-Q01"}], "not 0000000-trial_000-Q01"),
        ([{"custom_id": f"0000000-trial_{'9' * 5000}-Q01"}], "not 0000000-trial_999"),
        ([{"custom_id": "0000000-trial_001-Q99"}], "not 0000000-trial_001-Q99"),
        ([{"custom_id": "0000000-trial_001-Q01"}], "to a run 0000000 with other parameters, not to [0-9a-f]{7}"),
        ([{"custom_id": "REQUEST", "url": "/v1/chat/completions"}], "line 1: a request; expected an output or error "),
    ],
)
def test_an_output_file_of_something_else_stops_no_other_file(mini, custom_ids, tmp_path, lines, message):
    first, second, *_ = custom_ids
    lines = [{**line, "custom_id": first} if line.get("custom_id") == "REQUEST" else line for line in lines]
    lost = [reply(first, "lost")] if lines else []
    source = write(tmp_path / "out.jsonl", [*lines, *lost])
    with pytest.raises(TrialsError, match=message):
        read_batch(CHAT, mini, [source], output=tmp_path / "result")
    assert not (tmp_path / "result").exists()
    replies = [reply(first, "one"), reply(second, "two"), reply(first, "three")]
    good = write(tmp_path / "good.jsonl", replies)
    batch = read_batch(CHAT, mini, [source, good], output=tmp_path / "result")
    assert batch.n_new == 2
    *refused, twice, unfinished = batch.problems
    assert all(re.search(f"{message}.*; no reply of this file is read", item) for item in refused)
    assert len(refused) == len(lines)
    assert re.search(r"good\.jsonl, line 3 .*: this request has an earlier answer, which is kept", twice)
    assert unfinished.startswith("trial 1: no usable answer to Q03, ")


@pytest.mark.parametrize("engine", ["anthropic", "ngram"])
def test_other_engines_have_no_batch_files_in_any_mode(mini, tmp_path, engine):
    with pytest.raises(EngineError, match=r"^only the engine openai has batch files"):
        write_batch(Generation.of(engine, model="m", mode="completion"), mini, tmp_path / "b.jsonl", trials=1)
    assert not list(tmp_path.iterdir())
