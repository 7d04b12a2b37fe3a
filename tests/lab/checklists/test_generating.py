"""Answers of a model to the tasks of a suite: what is sent, what is kept, and that kills and faults change nothing."""

import hashlib
import json
import os
import signal
import subprocess
import sys

import pytest
from makers.fault_server import Gate, Reply, answering, refusing, serving
from makers.own_checklists import TASKS, own_suite, own_suite_in
from makers.runs import files_below
from pfgen_fast import EngineError
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.generation.prompts import Sampling
from pfgen_fast.lab.checklists.checklist_generation import (
    ChecklistSetting,
    chosen_tasks,
    generate_answers,
    open_answering,
)
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.tasks import ChecklistTask

MAIN = [task for task in TASKS if task.length is None]


def told(request) -> Reply:
    """An answer that depends on prompt and seed; some are cut off."""
    digest = hashlib.sha1(f"{request.prompt}{request.body['seed']}".encode()).hexdigest()
    reason = "length" if digest[0] < "8" else "stop"
    text = f" An answer {digest}\n\nA: with lines.\n"
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text}}
    return Reply(json.dumps({"model": "m-2026-01-01", "choices": [choice]}).encode())


def asked(folder, suite, server, *, setting=None, **options):
    setting = setting or ChecklistSetting("org/m")
    engine = open_answering("openai", setting, base_url=server.base_url, backoff=0.001, retries=1)
    return generate_answers(suite, engine, setting, folder, **options)


def test_tasks_are_sent_as_single_messages_with_the_published_settings_and_answers_stored_unchanged(tmp_path):
    suite = own_suite()
    with serving(told) as server:
        created = asked(tmp_path / "m", suite, server)
    assert sorted(files_below(tmp_path / "m")) == ["answers.jsonl", "config.json"]
    (run,) = open_runs([tmp_path])
    answers = run.answers(suite)
    assert list(answers) == [(task.id, None, 1) for task in MAIN]
    assert all(answer.response.startswith(" An answer") and "A: with" in answer.response for answer in answers.values())
    assert (created.n_answers, created.n_new, created.missing, created.problem) == (5, 5, (), None)
    assert {answer.finish_reason for answer in answers.values()} <= {"stop", "length"}
    assert created.n_cut == sum(answer.finish_reason == "length" for answer in answers.values())
    assert (run.key, run.name) == ("m", "org/m")
    assert (run.config["max_tokens"], run.config["temperature"]) == (16384, 0.8)
    bodies = [request.body for request in server.requests]
    assert {body["messages"][0]["content"] for body in bodies} == {task.instruction for task in MAIN}
    assert {(len(body["messages"]), body["temperature"], body["max_tokens"]) for body in bodies} == {(1, 0.8, 16384)}
    assert not any("top_p" in body or "stop" in body for body in bodies)
    assert len({body["seed"] for body in bodies}) == 5


def test_lengths_areas_and_a_limit_choose_tasks_with_a_whole_instruction():
    suite = own_suite()
    assert [task.id for task in chosen_tasks(suite)] == [task.id for task in MAIN]
    assert [task.key for task in chosen_tasks(suite, lengths=["90"])] == [("report_1", "90")]
    assert [task.id for task in chosen_tasks(suite, areas=["reports"])] == ["report_1", "report_2"]
    assert [task.id for task in chosen_tasks(suite, limit=3)] == ["letter_1", "letter_2", "report_1"]
    tasks = (*TASKS, *(ChecklistTask(f"cut_{n}", "letters", "thanks", "Write…", sha256="0" * 64) for n in range(4)))
    for chosen_from, options, message in (
        (suite, {"lengths": ["9"]}, "unknown length '9'; expected one of 90"),
        (suite, {"areas": ["letter"]}, "unknown area 'letter'; expected one of letters, reports"),
        (suite, {"lengths": ["90"], "areas": ["letters"]}, "no task has these lengths and areas"),
        (own_suite(tasks), {}, "suite own: .* the whole instruction of 4 tasks, such as cut_0, cut_1, cut_2; "),
    ):
        with pytest.raises(ChecklistError, match=message):
            chosen_tasks(chosen_from, **options)


def test_existing_answers_are_kept_and_lengths_come_into_the_same_run(tmp_path):
    suite = own_suite()
    with serving(told) as server:
        asked(tmp_path, suite, server, tasks=chosen_tasks(suite, limit=2))
        first = len(server.requests)
        created = asked(tmp_path, suite, server)
        asked(tmp_path, suite, server, tasks=chosen_tasks(suite, lengths=["90"]))
        asked(tmp_path, suite, server, trials=2)
        with pytest.raises(ChecklistError, match=r"made with other parameters \(temperature\); expected the same"):
            asked(tmp_path, suite, server, setting=ChecklistSetting("org/m", Sampling(16384, 0.7, None, stop=())))
    assert sorted(files_below(tmp_path)) == ["answers.jsonl", "config.json"]
    assert (first, created.n_new, created.n_answers, len(server.requests)) == (2, 3, 5, 11)
    (run,) = open_runs([tmp_path])
    assert list(run.answers(suite)) == [
        (task.id, task.length, trial) for task in TASKS for trial in (1, 2) if not (task.length and trial == 2)
    ]


def test_an_empty_answer_is_asked_for_again_with_another_seed_and_then_missing(tmp_path):
    def behave(request):
        return answering(" \n") if "teacher" in request.prompt else told(request)

    with serving(behave) as server:
        created = asked(tmp_path, own_suite(), server)
        assert created.missing == (("letter_2", None, 1),)
        assert "1 answers are missing: letter_2" in created.problem
        seeds = [request.body["seed"] for request in server.requests if "teacher" in request.prompt]
        assert len(set(seeds)) == 3
    with serving(told) as server:
        created = asked(tmp_path, own_suite(), server)
    assert (created.n_new, created.problem, len(server.requests)) == (1, None, 1)


def test_answers_before_a_fault_of_the_server_are_kept_and_without_any_nothing_is_left_behind(tmp_path):
    def behave(request):
        return told(request) if request.number < 2 else refusing(401, "no such key")

    setting = ChecklistSetting("org/m")
    with serving(behave) as server:
        engine = open_answering("openai", setting, base_url=server.base_url, backoff=0.001, retries=0, concurrency=1)
        with pytest.raises(EngineError, match="a key is needed"):
            generate_answers(own_suite(), engine, setting, tmp_path / "m")
    assert sorted(files_below(tmp_path / "m")) == ["answers.jsonl", "config.json"]
    (run,) = open_runs([tmp_path])
    assert len(run.answers(own_suite())) == 2
    with serving(lambda request: refusing(401, "no")) as server, pytest.raises(EngineError):
        asked(tmp_path / "none", own_suite(), server)
    assert not (tmp_path / "none").exists()


def test_a_line_that_a_kill_has_cut_is_asked_for_again_and_packed_answers_are_not_added_to(tmp_path):
    row = {"id": "letter_2", "length": None, "response": "Thanks."}
    (tmp_path / "answers.jsonl").write_text(json.dumps(row) + '\n{"id": "letter_1", "torn')
    with serving(told) as server:
        asked(tmp_path, own_suite(), server)
        assert len(server.requests) == 4
        (run,) = open_runs([tmp_path])
        assert [answer.id for answer in run.answers(own_suite()).values()] == [task.id for task in MAIN]
        (tmp_path / "answers.jsonl").rename(tmp_path / "answers.jsonl.xz")
        with pytest.raises(ChecklistError, match=r"answers are added to answers.jsonl; expected it unpacked"):
            asked(tmp_path, own_suite(), server)


# The command


@pytest.fixture
def command(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: call("checklists", "generate", *arguments)


def test_the_command_writes_a_run_says_what_it_did_and_ends_with_3_where_answers_are_missing(tmp_path, command):
    own_suite_in(tmp_path / "suite")
    with serving(lambda request: answering("") if "90 words" in request.prompt else told(request)) as server:
        usual = ("--suite", "suite", "--model", "org/m", "--base-url", server.base_url, "-o", "runs")
        code, out, _ = command(*usual, "--dry-run")
        assert (code, out) == (0, "5 answers: prompts of about 52 tokens, answers of 81,920 at most\n")
        assert not server.requests
        code, out, _ = command(*usual)
        assert (code, out) == (0, "5 new answers, 5 in all: runs/org_m\n")
        assert command(*usual)[1] == "0 new answers, 5 in all: runs/org_m\n"
        code, _, missing = command(*usual, "--length", "90")
    assert code == 3
    assert "error: runs/org_m: 1 answers are missing: report_1 (90)" in missing
    assert len(server.requests) == 8
    assert sorted(os.listdir(tmp_path / "runs/org_m")) == ["answers.jsonl", "config.json"]


@pytest.mark.slow
@pytest.mark.parametrize("kills", [(3,), pytest.param((0, 1, 7, 5, 6), marks=pytest.mark.slow)])
def test_a_run_is_the_same_after_any_kills(tmp_path, kills):
    own_suite_in(tmp_path / "suite")
    suite = ChecklistSuite.load(tmp_path / "suite")
    with serving(told) as server:
        asked(tmp_path / "whole", suite, server, trials=4)
    for n_answers in kills:
        gate = Gate(n_answers)

        def behave(request, gate=gate):
            gate.wait()
            return told(request)

        with serving(behave) as server:
            options = ("--suite", "suite", "-m", "org/m", "--base-url", server.base_url, "-o", "runs", "-n", "4")
            words = [sys.executable, "-m", "pfgen_fast", "checklists", "generate", *options, "--concurrency", "1"]
            work = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            assert gate.reached.wait(60)
            work.send_signal(signal.SIGKILL)
            work.wait()
            gate.open()
        assert work.returncode == -signal.SIGKILL
    with serving(told) as server:
        asked(tmp_path / "runs/org_m", suite, server, trials=4)
    assert files_below(tmp_path / "runs/org_m") == files_below(tmp_path / "whole")
