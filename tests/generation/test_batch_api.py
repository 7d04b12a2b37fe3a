"""Batch files: the input for OpenAI's Batch API, and the import of its output."""

from __future__ import annotations

import json
import re

import pytest
from makers.runs import answers_by_trial
from pfgen_fast import TrialsError
from pfgen_fast.errors import EngineError
from pfgen_fast.generation.batch_api import batch_config, batch_lines, import_batch, read_config
from pfgen_fast.generation.engines import Sampling
from pfgen_fast.generation.openai_protocol import RequestForm
from pfgen_fast.generation.prompts import MODES, STOP, make_tasks
from pfgen_fast.generation.setting import Setting

SETTING = Setting("gpt", "chat")


def reply(custom_id, text, **changes):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None, **changes}


def write(path, lines):
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("mode", MODES)
def test_a_line_is_a_request_of_the_batch_api(mini, mode):
    setting = Setting("gpt", mode, Sampling(top_k=3, stop=STOP[mode]))
    lines = list(batch_lines(mini, setting, trials=2))
    assert len({line["custom_id"] for line in lines}) == len(lines) == 16
    form = RequestForm("gpt", mode, setting.sent_sampling)
    for line, task in zip(lines, [*setting.tasks(mini, 1), *setting.tasks(mini, 2)], strict=True):
        path, body = form.path_and_body(task)  # which a test of the engine checks
        assert line == {"custom_id": line["custom_id"], "method": "POST", "url": f"/v1{path}", "body": body}
        assert line["custom_id"].endswith(f"-trial_{task.trial:03}-{task.question_id}")


def test_a_batch_becomes_a_run_by_the_commands_alone(mini, tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    usual = ("prompts", "-s", "mini", "--mode", "qa", "-n", 2, "--format", "openai-batch")
    code, _, err = call(*usual)
    assert (code, "--format openai-batch needs --model and --output" in err) == (2, True)
    assert call(*usual, "-m", "gpt", "-o", "b.jsonl")[0] == 0
    asked = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()]
    replies = [reply(line["custom_id"], f"A: {line['custom_id'][-3:]}") for line in reversed(asked)]
    refusal = {"status_code": 429, "body": {"error": {"message": "slow\x1b[2J"}}}
    replies[6] = reply(asked[9]["custom_id"], "", response=refusal)
    write(tmp_path / "out.jsonl", replies)
    code, _, err = call("import-batch", "out.jsonl", "--config", "b.config.json", "-s", "mini", "--no-score")
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
    result = json.loads(call("import-batch", "rest.jsonl", "--config", "b.config.json", "-s", "mini", "--json")[1])
    assert (result["n_new"], result["status"]) == (1, "scored")
    assert answers_by_trial(folder)[1] == [question.question_id for question in mini]
    names = "config.json replies.jsonl.xz result.json trial_001.jsonl trial_002.jsonl trials.jsonl.xz"
    assert sorted(path.name for path in folder.iterdir()) == names.split()


def custom_ids(mini):
    return [line["custom_id"] for line in batch_lines(mini, SETTING, trials=1)]


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
def test_a_request_that_failed_is_listed(mini, tmp_path, changes, problem):
    first, *others = custom_ids(mini)
    source = write(tmp_path / "out.jsonl", [reply(first, "x", **changes), *(reply(name, "x") for name in others)])
    imported = import_batch([source], mini, SETTING.config(mini, "openai"), output=tmp_path / "result")
    assert list(imported.problems) == [
        f"{source}, line 1 ({first}): {problem}",
        "trial 1: no usable answer to Q01",
    ]
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
        (
            [{"custom_id": "0000000-trial_001-Q01"}],
            "belongs to a run 0000000 with other parameters, not to [0-9a-f]{7}",
        ),
    ],
)
def test_an_output_file_of_something_else_leaves_nothing_and_stops_no_other_file(mini, tmp_path, lines, message):
    first, second, *_ = custom_ids(mini)
    lost = [reply(first, "lost")] if lines else []
    source, config = write(tmp_path / "out.jsonl", [*lines, *lost]), batch_config(mini, SETTING)
    with pytest.raises(TrialsError, match=message):
        import_batch([source], mini, config, output=tmp_path / "result")
    assert not (tmp_path / "result").exists()
    replies = [reply(first, "one"), reply(second, "two"), reply(first, "three")]
    good = write(tmp_path / "good.jsonl", replies)
    found = import_batch([source, good], mini, config, output=tmp_path / "result")
    assert found.n_new == 2
    *refused, twice, unfinished = found.problems
    assert all(re.search(f"{message}.*; no reply of this file is imported", each) for each in refused)
    assert len(refused) == len(lines)
    assert re.search(r"good\.jsonl, line 3 .*: this request has an earlier answer, which is kept", twice)
    assert unfinished.startswith("trial 1: no usable answer to Q03, ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected the parameters of a run, with 'engine', 'mode' and 'model'"),
        ('{"engine": "openai", "mode": "x", "model": "m"}', "unknown mode 'x'"),
    ],
)
def test_wrong_parameters_are_refused(tmp_path, content, message):
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(EngineError, match=message):
        read_config(tmp_path / "c.json")


@pytest.mark.parametrize("mode", MODES)
def test_prompts_are_printed_as_they_are_sent(mini, mode, call):
    usual = ("prompts", "--suite", "mini", "--mode", mode, "--trials", 2, "--examples", 2, "--seed", "s")
    tasks = [task for k in (1, 2) for task in make_tasks(mini, k, mode=mode, num_examples=2, seed="s")]
    for line, task in zip(map(json.loads, call(*usual)[1].splitlines()), tasks, strict=True):
        assert (line["question_id"], line["trial"], line["seed"]) == (task.question_id, task.trial, task.seed)
        assert line.get("prompt", "") == task.prompt.text
        assert line.get("messages") == (None if task.prompt.messages is None else list(task.prompt.messages))


def test_a_batch_for_gemini_becomes_its_run(mini, tmp_path, call):
    command = ("prompts", "-s", "mini", "--mode", "qa", "--format", "openai-batch", "-e", "gemini", "--multi-choice")
    assert call(*command, "-m", "google/gemini-test", "-o", tmp_path / "b.jsonl")[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (lines[0]["url"], lines[0]["body"]["model"]) == ("/v1/chat/completions", "gemini-test")
    config = read_config(tmp_path / "b.config.json")
    assert (config["engine"], config["model"], config["multi_choice"]) == ("gemini", "google/gemini-test", True)
    choices = [{"message": {"content": text}} for text in ("no", "yes")]
    response = {"status_code": 200, "body": {"choices": choices}}
    replies = [reply(line["custom_id"], "", response=response) for line in lines]
    made = import_batch([write(tmp_path / "out.jsonl", replies)], mini, config, output=tmp_path / "result")
    assert (made.n_new, made.problems) == (8, ())
    assert answers_by_trial(made.folder) == {1: ["yes"] * 8}
    with pytest.raises(EngineError, match="the engine vllm has no batch files; expected one of openai,"):
        batch_config(mini, SETTING, engine="vllm")
