"""Programs as evaluators: good ones, failing ones, and ones that do what nobody expects."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from lab.evaluators.programs import FAILS_AT_LAST, LENGTHS, scored, script
from makers.reward_server import wait_until
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.evaluators import command_evaluator as command
from pfgen_fast.lab.evaluators.command_evaluator import CommandEvaluator
from pfgen_fast.lab.evaluators.evaluator import Item, Metric, text_column

TEXTS = ["Ice floats.", "Iron sinks.", "Wood"]
SCORES = {"length": [11, 11, 4]}


@pytest.fixture
def evaluator(tmp_path):
    """Makes an evaluator of the body of a script."""

    def make(body, **options):
        return CommandEvaluator(shlex.join(script(tmp_path / "score.py", body)), **{"name": "own", **options})

    return make


def is_running(pid):
    """Whether a process has not ended; one that nobody has waited for has."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_program_scores_texts_and_names_its_metrics(evaluator):
    own = evaluator(LENGTHS)
    assert own.metrics == ()
    assert scored(own, TEXTS) == SCORES
    assert own.metrics == (Metric("length"),)
    assert scored(own, []) == {"length": []}


def test_it_reads_row_id_question_context_and_text(evaluator, tmp_path):
    body = "all = list(asked())\nopen(sys.argv[0] + '.json', 'w').write(json.dumps(all))\n"
    body += "for each in all:\n    say(each['row'], a=1)\n"
    items = [Item("a", "x", "qa", "en", "Why?", "Because.", ("ref",)), Item("b\ud800", "x", "qa")]
    evaluator(body).score([items[0], items[1], items[0]], text_column(["One\n\x00", "氷\ud800\u202e", None]))
    assert json.loads((tmp_path / "score.py.json").read_text()) == [
        {"row": 0, "id": "a", "question": "Why?", "context": "Because.", "text": "One\n\x00"},
        {"row": 1, "id": "b\ud800", "question": None, "context": None, "text": "氷\ud800\u202e"},
    ]


@pytest.mark.parametrize(
    "body",
    [
        "for each in reversed(list(asked())):\n    say(each['row'], length=len(each['text']))\n",
        "lines = sys.stdin.read().splitlines()\n"
        "print('\\n\\n'.join(json.dumps({'row': i, 'scores': {'length': len(json.loads(line)['text'])}, 'x': [1]})"
        " for i, line in enumerate(lines)), end='')\n",
        LENGTHS + "os.close(1)\n",
        "os.set_blocking(1, True)\nsys.stdout.write(' ' * 100 + '\\r\\n')\n" + LENGTHS,
        "print('\\ufeff' + json.dumps({'row': 2, 'scores': {'length': 4}}), flush=True)\n"
        "for each in asked():\n    if each['row'] < 2:\n        say(each['row'], length=len(each['text']))\n",
    ],
    ids=["backwards", "at the end", "closes stdout", "blank lines", "before it reads"],
)
def test_it_may_write_its_scores_in_any_order_and_at_any_time(evaluator, body):
    assert scored(evaluator(body), TEXTS) == SCORES


def test_input_and_output_may_be_larger_than_the_buffers_of_pipes(evaluator):
    body = "for each in asked():\n    print(json.dumps({'row': each['row'], 'scores': {'n': len(each['text'])}, "
    body += "'x': 'y' * 3000}))\n"
    texts = [f"{number:04}" * 2000 for number in range(300)]
    assert scored(evaluator(body), texts)["n"] == [8000] * 300


def test_scores_of_some_metrics_may_be_missing(evaluator):
    body = """
scores = [{"a": 1, "b": None}, {"b": 2.5}, {"a": "3", "b": float("nan")}, {"a": float("inf"), "b": 1e99}, {}]
for each in asked():
    say(each["row"], **scores[each["row"]])
"""
    result = scored(evaluator(body), ["1", "2", "3", "4", "5"])
    missing = np.nan
    assert np.array_equal(result["a"], [1, missing, missing, missing, missing], equal_nan=True)
    assert np.array_equal(result["b"], [missing, 2.5, missing, 1e99, missing], equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (FAILS_AT_LAST, r", row 1 \(item i1\): exited with 3, but 2 of 3 texts have no scores"),
        ("say(1, a=1)\nos.kill(os.getpid(), 9)\n", r", row 0 .*: exited with -9, but 2 of 3"),
        ("for row in range(4):\n    say(row, a=1)\n", r", line 4 of its output: row 3: expected below 3"),
        ("say(0, a=1)\nsay(0, a=1)\n", r", line 2 of its output: row 0: scores for the second time"),
        ("print('hello\\x1b[2J', flush=True)\n", r", line 1 of its output, column 1: not JSON: Expecting value"),
        ('print(\'{"row": 0, "scores": [1]}\')\n', r", line 1 of its output: scores: expected an object, not a list"),
        ('print(\'{"row": "0", "scores": {}}\')\n', r", line 1 of its output: row: expected a whole number .* not '0'"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\n')\n", r", line 1 of its output: not UTF-8"),
        ("say(0, a=1)\nprint('x' * (1 << 24) + 'yy')\n", r", line 2 of its output: longer than 16 MiB"),
        ("for each in asked():\n    say(each['row'])\n", r": returned no score of any metric for 3 texts"),
    ],
)
def test_a_program_that_fails_is_named_with_row_and_exit_code(evaluator, body, message):
    with pytest.raises(DiscernmentError, match=f"^evaluator own{message}") as caught:
        scored(evaluator(body), TEXTS)
    assert re.search("[\x00-\x1f]", str(caught.value)) is None


def test_the_signature_names_command_and_files(tmp_path, monkeypatch):
    (tmp_path / "score.sh").write_text("1")
    commands = ["python3 x", "python3 y", str(tmp_path / "score.sh")]
    signatures = {CommandEvaluator(item).signature for item in commands}
    (tmp_path / "score.sh").write_text("2222")
    signatures |= {CommandEvaluator(commands[2]).signature}
    signatures |= {CommandEvaluator("python3 x", metrics=[Metric("a", higher_is_better=False)]).signature}
    assert len(signatures) == 5
    assert CommandEvaluator("python3 x", name="own").signature == 'command:[["python3", "x"], [null, null]]'
    monkeypatch.setattr(command, "_HASHED_BYTES", 3)  # the signature has only the size of larger files
    assert '"4 bytes"' in CommandEvaluator(commands[2]).signature


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("score 'a", {}, "evaluator command:score 'a: not a command: No closing quotation"),
        ("", {}, r"evaluator command: expected a program, as in command:\./score\.sh"),
        ("x", {"time_limit": float("nan")}, "evaluator x: time limit: expected a number of seconds above 0, not nan"),
        ("no-such-program x", {}, "evaluator no-such-program x: cannot be started: No such file or directory"),
        ("./a\x00b", {}, "cannot be started: embedded null byte"),
    ],
)
def test_an_invalid_command_or_time_limit_is_refused(line, options, message):
    with pytest.raises(DiscernmentError, match=message):
        scored(CommandEvaluator(line, **options), TEXTS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)\n",
        "os.close(0)\nos.close(1)\ntime.sleep(600)\n",
        "while True:\n    print('working', file=sys.stderr, flush=True)\n    time.sleep(0.01)\n",
    ],
    ids=["ignores SIGTERM", "closes all", "only stderr"],
)
def test_a_program_without_scores_ends_at_the_time_limit(evaluator, tmp_path, body, monkeypatch):
    monkeypatch.setattr(command, "_PATIENCE_SECONDS", 0.3)
    begin = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    own = evaluator(begin + body, time_limit=1.5)
    started = time.monotonic()
    message = r"evaluator own, row 0 \(item i0\): no score for 1\.5 seconds, which is the time limit"
    with pytest.raises(DiscernmentError, match=message):
        scored(own, [text * 100_000 for text in TEXTS])
    assert time.monotonic() - started < 30
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.slow
def test_the_time_limit_begins_anew_with_each_score(evaluator):
    body = "for each in asked():\n    time.sleep(0.6)\n    say(each['row'], length=len(each['text']))\n"
    assert scored(evaluator(body, time_limit=1.7), [*TEXTS, "more"])["length"] == [11, 11, 4, 4]


@pytest.mark.slow
def test_a_program_must_end_after_its_last_score(evaluator, monkeypatch):
    monkeypatch.setattr(command, "_GRACE_SECONDS", 0.3)
    monkeypatch.setattr(command, "_PATIENCE_SECONDS", 0.3)
    assert scored(evaluator(LENGTHS + "time.sleep(600)\n"), TEXTS) == SCORES
    assert scored(evaluator(LENGTHS + "os.close(1)\ntime.sleep(600)\n"), TEXTS) == SCORES


def test_children_of_a_program_end_with_it(evaluator, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_PATIENCE_SECONDS", 0.3)
    pid = tmp_path / "pid"
    body = f"""
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", stubborn])
open({str(pid)!r}, "w").write(str(child.pid))
time.sleep(0.5)
print("no JSON", flush=True)
time.sleep(600)
"""
    with pytest.raises(DiscernmentError, match="not JSON"):
        scored(evaluator(body), TEXTS)
    wait_until(lambda: not is_running(int(pid.read_text())))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for other processes")
def test_ctrl_c_ends_the_program_and_keeps_its_scores(tmp_path):
    body = LENGTHS.replace("for", f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\nfor", 1)
    body = body.replace("    say", "    if each['row']:\n        time.sleep(600)\n    say")
    line = shlex.join(script(tmp_path / "score.py", body))
    call = f"""
from lab.evaluators.programs import scored
from pfgen_fast.lab.evaluators.command_evaluator import CommandEvaluator
try:
    scored(CommandEvaluator({line!r}, cache={str(tmp_path / "scores.jsonl")!r}), {TEXTS!r})
except KeyboardInterrupt:
    print("interrupted")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        wait_until(lambda: (tmp_path / "scores.jsonl").exists() and (tmp_path / "scores.jsonl").read_text())
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert not is_running(int((tmp_path / "pid").read_text()))
    (kept,) = map(json.loads, (tmp_path / "scores.jsonl").read_text().splitlines())
    assert kept["item"] == "i0"
