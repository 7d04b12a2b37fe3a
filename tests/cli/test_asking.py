"""What a person sees while a model is asked: a log where there is no terminal, a bar on one, and a summary."""

from __future__ import annotations

import json
import re

import pytest
from makers.fault_server import answering, echo, refusing, serving
from pfgen_fast.cli import asking
from pfgen_fast.generation.events import Trouble


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log(clock):
    return asking._Log("answers", clock=clock)


@pytest.fixture
def lines(capsys):
    """The lines on stderr since the last call."""
    return lambda: capsys.readouterr().err.splitlines()


def test_a_log_has_a_line_for_each_tenth(log, clock, lines):
    for done in range(1001):
        clock.now = 6.0 * done
        log._last_time = max(log._last_time, clock.now - 59)  # silence is another rule
        log.events.n_answers = done
        log.count(done, 1000)
    found = lines()
    assert len(found) == 10
    assert found[0] == "100 of 1,000 answers, 0.2/s, 1 h 30 min left"
    assert found[-1] == "1,000 of 1,000 answers, 0.2/s, 0 s left"


@pytest.mark.parametrize(("seconds", "of", "counts"), [(0.004, 1000, []), (30.0, 100_000, ["2", "4", "6", "8", "10"])])
def test_a_quick_call_has_no_lines_and_a_slow_one_has_a_line_each_minute(log, clock, lines, seconds, of, counts):
    for done in range(11 if of > 1000 else of + 1):
        clock.now = seconds * done
        log.count(done, of)
    assert [line.split(" of ")[0] for line in lines()] == counts


def test_a_server_that_only_refuses_is_heard_of_each_minute(log, clock, lines):
    log.count(0, 80)
    for second in range(150):
        clock.now = float(second)
        log.events.add(Trouble.RATE_LIMIT, "HTTP 429: slow down")
    assert lines() == [
        "note: rate limit: HTTP 429: slow down",
        "0 of 80 answers, 0.0/s; 61 rate limits",
        "0 of 80 answers, 0.0/s; 121 rate limits",
    ]


def test_speed_and_time_left_count_new_answers_only(log, clock, lines):
    log.count(900, 1000)
    clock.now = 60.0
    log.events.n_answers = 30
    log.count(930, 1000)
    assert lines() == ["930 of 1,000 answers, 0.5/s, 2 min 20 s left"]
    assert log.summary() == "930 of 1,000 answers, 30 new in 1 min 0 s (0.5/s)"


def command(server, output, *more):
    usual = ("-e", "openai", "-m", "org/m", "-s", "mini", "-n", 1, "--concurrency", 1, "-o", output)
    return ("generate", "--base-url", server.base_url, *usual, *more)


def faulty(request):
    first = {0: refusing(429, "slow down", Retry_After="0.01"), 1: refusing(500, "oops"), 2: answering("")}
    return first.get(request.number) or echo(request)


@pytest.mark.slow
def test_generate_says_what_happened(call, tmp_path):
    with serving(faulty) as server:
        code, out, err = call(*command(server, tmp_path))
    assert code == 0
    assert out.startswith("8 new answers: ")
    *notes, summary = err.splitlines()
    assert [note.split(";")[0] for note in notes] == [
        "note: rate limit: HTTP 429: slow down",
        "note: server error: HTTP 500: oops",
        "note: empty answer: the answer is empty",
    ]
    counts = "1 rate limit, 1 server error, 1 empty answer, (paused 0 s as asked, )?2 sent again"
    assert re.fullmatch(rf"8 of 8 answers, 8 new in \d+ s \([\d.,]+/s\); {counts}", summary)


@pytest.mark.slow
def test_counts_are_in_the_json_of_generate_and_quiet_is_quiet(call, tmp_path):
    with serving(faulty) as server:
        _, out, err = call(*command(server, tmp_path / "json", "--json"))
    assert err == ""
    events = json.loads(out)["events"]
    assert events["troubles"] | {"rate limit": 1, "server error": 1, "empty answer": 1} == events["troubles"]
    assert (events["n_retries"], events["n_given_up"]) == (2, 0)
    with serving(faulty) as server:
        assert call(*command(server, tmp_path / "quiet", "--quiet")) == (0, "", "")


def test_a_command_that_ends_after_trouble_says_what_happened_before(call, tmp_path):
    with serving(lambda request: refusing(500, "oops")) as server:
        code, _, err = call(*command(server, tmp_path, "--retries", 0))
    assert code == 2
    note, summary, error = err.splitlines()
    assert note == "note: server error: HTTP 500: oops"
    assert re.fullmatch(r"0 of 8 answers, 0 new in \d+ s; 10 server errors, 10 given up", summary)
    assert "10 requests in a row have failed" in error
