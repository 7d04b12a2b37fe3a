"""The manual engine: a person at a terminal, played by a pipe and by a pseudo-terminal."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from makers.runs import answers_by_trial
from pfgen_fast.generation.generating import Generation
from pfgen_fast.generation.prompts import make_tasks

OPTIONS = ["--engine", "manual", "--model", "web/chat", "--mode", "qa", "--suite", "mini", "--trials", "1"]


def typing(monkeypatch, *lines):
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_each_prompt_is_shown_and_the_line_typed_is_its_answer(mini, tmp_path, monkeypatch, call):
    typing(monkeypatch, *(f" A: answer {number}" for number in range(8)))
    code, out, err = call("generate", *OPTIONS, "--output", tmp_path, "--json")
    assert code == 0
    assert json.loads(out)["n_new"] == 8  # stdout holds the result alone
    shown = [err.index(task.prompt.messages[0]["content"]) for task in make_tasks(mini, 1, mode="qa")]
    assert shown == sorted(shown)
    (folder,) = (tmp_path / "web" / "chat").iterdir()
    assert answers_by_trial(folder) == {1: [f"answer {number}" for number in range(8)]}


def test_an_empty_line_puts_a_question_off_and_ten_fail_its_trial(mini, tmp_path, monkeypatch):
    typing(monkeypatch, "", *"bcdefg", "  ", "h", "a")
    made = Generation.of("manual", model="m", mode="chat").run(mini, trials=1, output=tmp_path)
    assert answers_by_trial(made.folder) == {1: ["h", *"bcdefg", "a"]}
    typing(monkeypatch, *"abcdefg", *[""] * 10)
    made = Generation.of("manual", model="other").run(mini, trials=1, output=tmp_path)
    assert made.failed == {1: "trial 1: no usable answer to Q08 in 10 rounds (the line is empty)"}


def test_answers_before_the_end_of_the_input_are_kept(mini, tmp_path, monkeypatch, call):
    typing(monkeypatch, "one", "two")
    code, _, err = call("generate", *OPTIONS, "--output", tmp_path)
    assert code == 2
    assert err.endswith(
        "error: Q03 in trial 1: the input ended; run the same command again to continue with this question\n"
    )
    typing(monkeypatch, *"345678")
    code, _, err = call("generate", *OPTIONS, "--output", tmp_path)
    assert code == 0
    assert "(6 of 6)" in err
    (folder,) = (tmp_path / "web" / "chat").iterdir()
    assert answers_by_trial(folder) == {1: ["one", "two", *"345678"]}


def test_a_prompt_cannot_act_on_the_terminal(make_suite, monkeypatch, capsys, tmp_path):
    from pfgen_fast import Suite

    suite = Suite.load(make_suite({"question": "a\x1b[2J\u202eb?"}))
    typing(monkeypatch, "answer")
    Generation.of("manual", model="m", examples=0).run(suite, trials=1, output=tmp_path / "result")
    assert r"Q: a\u001b[2J\u202eb?" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_ctrl_c_ends_at_once_and_keeps_the_typed_answers(tmp_path):
    """On a real terminal, while the process waits for a line."""
    import pty

    person, terminal = pty.openpty()
    command = [sys.executable, "-m", "pfgen_fast", "generate", *OPTIONS, "--output", str(tmp_path)]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True) as process:
        os.close(terminal)
        read_until(person, "(1 of 8)", "later): ")
        os.write(person, b"the first answer\n")
        read_until(person, "(2 of 8)", "later): ")
        process.send_signal(signal.SIGINT)
        said = read_until(person, "continue")
        assert process.wait() == 130
    os.close(person)
    assert "Traceback" not in said
    assert re.search(r"stopped with 1 of 8 answers, which are kept", said)
    (journal,) = tmp_path.rglob(".unfinished.jsonl")
    assert json.loads(journal.read_text(encoding="utf-8"))["answer"] == "the first answer"


def read_until(terminal, *wanted):
    """Reads until each text has come, one after another; the end of the output raises."""
    said = ""
    for text in wanted:
        while text not in said:
            said += os.read(terminal, 4096).decode("utf-8", "replace")
    return said
