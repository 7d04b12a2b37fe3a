"""The command `generate`: what it prints, and what kills and Ctrl-C leave behind."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys

import pytest
from makers.effort import share
from makers.fault_server import Gate, answering, echo, serving
from makers.runs import files_below
from pfgen_fast import Generation
from pfgen_fast.base.errors import EngineError


def generate_arguments(server, output, *more):
    return [
        *("generate", "--engine", "openai", "--base-url", server.base_url, "--model", "org/m", "--suite", "mini"),
        *("--output", output, "--concurrency", 4, *more),
    ]


def test_the_age_of_existing_answers_is_shown(tmp_path, call, monkeypatch):
    """A server gives a model's name to new weights, or does not run any more: nothing is asked."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    with serving(echo) as server:
        arguments = generate_arguments(server, tmp_path, "--trials", 1, "--mode", "chat")
        assert "existed already" not in call(*arguments)[2]
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    told = "8 answers existed already, the oldest from 2026-09-21 14:13; if the model has changed since then, remove"
    assert told in " ".join(call(*arguments)[2].split())
    result = json.loads(call(*arguments, "--json")[1])
    assert (result["n_new"], result["n_existing"]) == (0, 8)
    assert result["oldest_answer"] == "2026-09-21T14:13:20+00:00"
    (packed,) = tmp_path.rglob("trials.jsonl.xz")
    for path in packed.parent.glob("trial_*.jsonl"):
        path.unlink()
    assert told in " ".join(call(*arguments)[2].split())


def test_one_object_of_options_makes_and_scores_the_run_of_the_command(mini, tmp_path, call):
    code, _, _ = call("generate", "-e", "ngram", "-s", "mini", "-n", 2, "--order", 3, "-o", tmp_path / "command")
    assert code == 0
    generation = Generation.of("ngram", options={"order": 3, "sets": None})
    made = generation.run(mini, trials=2, output=tmp_path / "library")
    assert (made.n_new, made.problems) == (16, ())
    assert made.score(mini).status == "scored"
    assert made.folder == generation.folder(mini, tmp_path / "library")
    names = [{path.relative_to(folder) for path in folder.rglob("*")} for folder in sorted(tmp_path.iterdir())]
    assert names[0] == names[1]
    with pytest.raises(EngineError, match="--device is an option of hf, transformers, not of ngram"):
        Generation.of("ngram", options={"device": "cpu"}).open(mini)


@contextlib.contextmanager
def start(server, output, *more, **environment):
    """The command in a separate process, which does not outlive a test that fails."""
    with subprocess.Popen(
        [sys.executable, "-m", "pfgen_fast", *map(str, generate_arguments(server, output, *more))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def moody_echo(request):
    """Deterministic; some questions get no answer in their first round."""
    answer = echo(request)
    return answering("") if request.body["seed"] % 3 == 0 and "か" in request.question else answer


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_files(tmp_path):
    n_kills, n_trials = share(10, at_least=3), 20
    gate = Gate(0)

    def behave(request):
        gate.wait()
        return moody_echo(request)

    with serving(behave) as server:
        for _ in range(n_kills):
            gate = Gate(8 * n_trials // (n_kills + 2))
            with start(server, tmp_path / "killed", "--trials", n_trials, SOURCE_DATE_EPOCH="1700000000") as process:
                assert gate.reached.wait(60)
                process.kill()
                assert process.wait() == -signal.SIGKILL
            gate.open()
        with start(server, tmp_path / "killed", "--trials", n_trials, SOURCE_DATE_EPOCH="1700000000") as process:
            assert process.wait() == 0, process.stderr.read()
        n_asked = len(server.requests)
    with serving(moody_echo) as server:
        with start(server, tmp_path / "whole", "--trials", n_trials, SOURCE_DATE_EPOCH="1700000000") as process:
            assert process.wait() == 0, process.stderr.read()
        n_needed = len(server.requests)
    killed, whole = files_below(tmp_path / "killed"), files_below(tmp_path / "whole")
    assert len(whole) == n_trials + 4  # the trials, packed trials, raw replies, config.json and result.json
    assert killed == whole
    # Only the requests in progress during a kill and those with empty answers are repeated.
    n_empty = n_needed - 8 * n_trials
    assert n_asked <= n_needed + n_kills * (4 + n_empty)


@pytest.mark.slow
def test_ctrl_c_ends_in_one_line_and_keeps_the_answers(tmp_path):
    gate = Gate(40)

    def behave(request):
        gate.wait()
        return moody_echo(request)

    with serving(behave) as server:
        with start(server, tmp_path, "--trials", 100) as process:
            assert gate.reached.wait(60)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        gate.open()
        assert (process.returncode, out) == (130, "")
        *happened, error = err.splitlines()
        stopped = r"stopped with (\d+) of 800 answers, which are kept; run the same command again to continue"
        kept = re.fullmatch(f"error: {stopped}", error)
        assert kept, err
        told = [re.split("[;,]", line)[0] for line in happened]
        assert told == ["note: empty answer: the answer is empty", f"{kept[1]} of 800 answers"]
        assert int(kept[1]) >= 30
    lines = [line for path in tmp_path.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(lines) >= int(kept[1])
    assert not list(tmp_path.rglob(".lock"))
