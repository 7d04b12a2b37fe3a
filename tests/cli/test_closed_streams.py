"""Commands with closed standard streams, as cron and launchers start them: they write their results all the same."""

import json
import os
import subprocess
import sys

import pytest
from makers.runs import make_run, trial_lines
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no shell that closes streams")

CLOSED = ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"]
ALL_CLOSED = CLOSED[-1]
TABLE = ["score", "--suite", "mini", "--question-column", "q", "--answer-column", "a"]
DISCERN = ["discern", "run", "--from-run", "run", "-s", "mini", "-e", "ngram", "-o", "out", "--kinds"]


@pytest.fixture
def closed(tmp_path, mini):
    """Runs a command in a folder with a table and a run."""
    (tmp_path / "in.csv").write_text("q,a\nQ07,Ice floats.\n")
    (tmp_path / "bad.csv").write_text("q,a\nQ77,Ice floats.\n")
    make_run(tmp_path / "run", trial_lines(mini, 2), {"model": "me/run", "mode": "qa"})
    assert [done.status for done in RunScorer(suite=mini).score(find_runs([tmp_path / "run"]))] == ["scored"]

    def run(words, streams, wanted):
        shell = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "pfgen_fast", *words]
        done = subprocess.run(shell, cwd=tmp_path, input=b"", capture_output=True, check=False, timeout=120)
        assert (done.returncode, b"Traceback" in done.stderr) == (wanted, False), done.stderr.decode()
        return done

    return run


@pytest.mark.parametrize("streams", [ALL_CLOSED, *(pytest.param(item, marks=pytest.mark.slow) for item in CLOSED[:-1])])
def test_results_are_written_without_standard_streams(closed, tmp_path, streams):
    done = closed([*TABLE, "in.csv", "-o", "out.csv"], streams, 0)
    assert (tmp_path / "out.csv").read_text().splitlines()[0].startswith("q,a,fluency,")
    assert (b"1 row scored" in done.stdout) == (">&-" not in streams.replace("2>&-", ""))


def test_an_encoding_without_the_characters_of_the_output_is_one_sentence(closed, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    done = closed(["suite", "info", "mini"], "", 2)
    assert done.stderr == b"error: stdout: latin-1 cannot encode all characters; set PYTHONIOENCODING=utf-8\n"


@pytest.mark.parametrize("is_unbuffered", ["", "1"])
def test_a_reader_that_ends_early_ends_the_command_quietly(is_unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    env = {**os.environ, "PYTHONUNBUFFERED": is_unbuffered}
    command = [sys.executable, "-m", "pfgen_fast", "suite", "info", "mini"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=env, check=False, timeout=120)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "streams", "code"),
    [
        ([*TABLE, "in.csv", "-o", "-"], ">&-", 2),
        ([*TABLE, "-", "-o", "out.csv"], "<&-", 2),
        (["explain", "--suite", "mini", "--question", "Q07"], "<&-", 2),
        *(
            pytest.param(words, streams, code, marks=[pytest.mark.nightly] * (streams != ALL_CLOSED))
            for streams in CLOSED
            for words, code in [
                (["--help"], 0),
                (["score", "--suite", "mini", "--force", "run"], 0),
                ([*TABLE, "bad.csv", "-o", "out.csv"], 2),
                ([*DISCERN, "char_delete/300"], 0),
            ]
        ),
    ],
)
def test_exit_codes_are_right_without_standard_streams(closed, tmp_path, words, streams, code):
    closed(words, streams, code)
    assert not (tmp_path / "out.csv").exists()
    if words[0] == "score" and code == 0:
        assert json.loads((tmp_path / "run/result.json").read_bytes())["num_trials"] == 2
