"""Every command at 80 and 140 columns, and redirected: lines that fit, nothing broken inside a number or a name."""

import io
import json
import os
import re
import subprocess
import sys

import pytest
from makers.fault_server import answering, echo, refusing, serving
from makers.runs import make_varied_runs, write_small_suite
from makers.terminal import on_terminal
from pfgen_fast import cli
from pfgen_fast.base import text_width as layout
from pfgen_fast.base.table import Column, Table
from pfgen_fast.cli import progress
from pfgen_fast.cli.app import print_line, print_table, warn
from pfgen_fast.generation.events import Trouble
from rich.cells import cell_len

ANSWER = "Ice floats because it is less dense than water."


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, mini):
    """A checkout with scored runs, whose paths are longer than a narrow terminal is wide."""
    folder = tmp_path_factory.mktemp("layout") / "a-checkout-with-a-name-that-nobody-would-like-to-type"
    write_small_suite(folder / "data")
    make_varied_runs(folder / "result/an-organisation-with-a-long-name", mini, n_runs=3, n_trials=2)
    return folder


@pytest.fixture(scope="module")
def commands(checkout):
    """A command line for each command that prints results; those that generate have done so before."""
    result = checkout / "result"
    first, second, *_ = sorted(path.parent for path in result.rglob("trials.jsonl"))
    created = checkout / "made"
    generating = [
        ["generate", "-e", "ngram", "-n", 1, "-o", created],
        ["sweep", "-e", "ngram", "-n", 2, "--order", 2, "--order", 3, "--temperature", 0.5, "-o", created],
    ]
    _redirected(checkout, generating, 80)
    return [
        *generating,
        ["score", result, "--force"],
        ["score", result],  # up to date
        ["leaderboard", result],
        ["compare", first, second],
        ["compare", first, first],
        ["explain", "-q", "Q07", "-a", ANSWER],
        ["score", "--verify", result, "--sample", 2],
        ["sweep", "-e", "ngram", "-n", 2, "--order", 2, "--order", 3, "--dry-run", "-o", created],
        ["suite", "info", checkout / "data"],
        ["suite", "check"],
        ["suite", "compile"],
    ]


PROGRAM = """
import json, os, sys
from pfgen_fast.cli.app import main
os.chdir(sys.argv[1])
for line in sys.argv[2:]:
    sys.argv = ["pfgen-fast", *json.loads(line)]
    print("$", sys.argv[1])
    try:
        main()
    except SystemExit as end:
        assert not end.code, (line, end.code)
"""


def _on_terminal(checkout, commands, columns):
    return on_terminal("-c", PROGRAM, *_arguments(checkout, commands), columns=columns)


def _redirected(checkout, commands, columns):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": str(columns)}
    program = [sys.executable, "-c", PROGRAM, *_arguments(checkout, commands)]
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout


def _arguments(checkout, commands):
    return [str(checkout), *(json.dumps(list(map(str, command))) for command in commands)]


@pytest.mark.slow
def test_redirected_output_does_not_depend_on_the_width(checkout, commands):
    narrow, wide = (_redirected(checkout, commands, columns) for columns in (40, 300))
    seconds = r"\(\d+\.\d+ s\)"
    assert re.sub(seconds, "", narrow) == re.sub(seconds, "", wide)
    assert "…" not in narrow


@pytest.fixture(scope="module")
def known_words(checkout, commands):
    """What all commands print on a terminal that is wide enough for anything."""
    return _words(_on_terminal(checkout, commands, 500))


def _words(lines):
    return {word for line in lines for word in re.split(r"[\s|]+", line)}


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, pytest.param(140, marks=pytest.mark.slow)])
def test_lines_fit_a_terminal_and_break_no_number_and_no_name(checkout, commands, known_words, columns):
    lines = _on_terminal(checkout, commands, columns)
    assert max(map(cell_len, lines)) <= columns
    lines = [line for line in lines if not line.startswith("not shown in ")]
    seconds = r"\(\d+\.\d+|\d+:\d+:\d+"
    strange = {word for word in _words(lines) - known_words if "…" not in word and not re.fullmatch(seconds, word)}
    assert strange == set()


def test_a_path_is_shortened_nearer_to_its_beginning():
    path = "result/openai/gpt-4o-2024-08-06/5e1e9f4"
    assert layout.shortened(path, len(path)) == path
    assert layout.shortened(path, None) == path
    assert layout.shortened(path, 21) == "resul…4-08-06/5e1e9f4"
    assert cell_len(layout.shortened("結果" * 40, 30)) <= 30
    assert layout.shortened(path, 3) == layout.shortened(path, 12)  # what is shorter tells nothing


# ---- What a person sees on a terminal: rows beside the progress bar, tables that fit, totals


def test_a_line_breaks_between_words_and_keeps_its_styles(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def printed(stream):
        print_line(("error:", "red"), " one two three 四五六七八九 ten", to=stream)
        return stream.getvalue()

    monkeypatch.setenv("COLUMNS", "18")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = " one two\nthree 四五六七八九\nten\n"
    assert printed(Terminal()) == f"\x1b[31merror:\x1b[0m{lines}"
    assert printed(io.StringIO()) == f"error:{lines}".replace("\n", " ").rstrip() + "\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert printed(Terminal()) == f"error:{lines}"


def test_rows_and_the_progress_bar_stay_apart():
    program = """
import itertools
from pfgen_fast.cli import app
from rich.progress import Progress
clock = itertools.count(step=2)
app.time.monotonic = lambda: float(next(clock))  # the bar shows after a second
update = Progress.update
Progress.update = lambda self, *of, **values: (update(self, *of, **values), self.refresh())  # not ten times a second
for number in app.track(range(4), 4, "runs"):
    app.print_line(f"row {number}", ("  (dim)", "dim"))
"""
    assert on_terminal("-c", program) == [f"row {number}  (dim)" for number in range(4)]


@pytest.mark.slow
def test_a_leaderboard_fits_a_terminal_and_keeps_ranks_intervals_and_ties(call, tmp_path, mini):
    runs = make_varied_runs(tmp_path, mini, n_runs=4, n_trials=2)
    long = "org/a-name-that-is-longer-than-a-narrow-terminal-has-room-for"
    models = {0: f"{long}-qa", 1: f"{long}-chat", 2: "system/ground-truth"}
    for run, model in models.items():
        (runs / f"org/model-{run}/abc/config.json").write_text(json.dumps({"model": model}))
    assert call("score", "--suite", "mini", runs)[0] == 0
    heads = ["rank", "model", "trials", "score", "±95 %", "rank range", "length", "fluency", "truthful", "helpful"]
    for columns, heads_shown in ((80, heads[:-4]), (160, heads)):
        head, *rows = on_terminal("-m", "pfgen_fast", "leaderboard", str(runs), columns=columns)
        assert re.split("  +", head) == heads_shown
        assert all(cell_len(row) <= columns for row in rows)
        assert "interval over questions; rank range: the ranks that chance allows" in " ".join(rows[4:])
        marks = "👑 human answers (no rank); 💬 another mode than completion"
        assert (rows[-1], sum("💬" in row for row in rows[:4])) == (marks, 1)
        names = [re.split("  +", row.strip())[1] for row in rows[:4]]
        assert len(set(names)) == 4, "the ends of long names are shown"
        assert sum("…" in name for name in names) == (2 if columns == 80 else 0)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="no modes here")
def test_a_warning_is_one_line(tmp_path):
    cache = tmp_path / "cache\x1b"
    cache.mkdir()
    cache.chmod(0o777)
    command = [sys.executable, "-m", "pfgen_fast", "explain", "-s", "mini", "-q", "Q07", "-a", "Ice."]
    run = subprocess.run(command, env={**os.environ, "PFGEN_FAST_CACHE": str(cache)}, capture_output=True, text=True)
    assert run.returncode == 0
    (line,) = run.stderr.splitlines()
    assert line.startswith(
        f"warning: {tmp_path}/cache\\u001b: other users can write to it (mode 777), so it is not used"
    )


def test_errors_after_the_first_hundred_are_counted(capsys):
    warn(*map(str, range(1200)))
    assert capsys.readouterr().err.splitlines()[-2:] == ["error: 99", "error: and 1,100 more"]
    warn("a: no suite", "b", *(f"{place}: no suite" for place in "cde"))
    assert capsys.readouterr().err == "error: a, c, d and 1 more: no suite\nerror: b\n"


def test_redirected_output_is_utf8_where_the_system_has_a_code_page(monkeypatch):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    redirected = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    cli._write_utf8(redirected, None)  # None is the stderr of a program without a console
    redirected.write("流暢性")
    redirected.flush()
    assert redirected.buffer.getvalue() == "流暢性".encode()


# ---- What a person sees while a model is asked: a log where there is no terminal, a bar on one, and a summary


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
    return progress.Watch("answers", clock=clock)


@pytest.fixture
def lines(capsys):
    """The lines on stderr since the last call."""
    return lambda: capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("seconds", "part", "counts"), [(0.004, 1000, []), (30.0, 100_000, ["2", "4", "6", "8", "10"])]
)
def test_a_quick_call_has_no_lines_and_a_slow_one_has_a_line_each_minute(log, clock, lines, seconds, part, counts):
    for done in range(11 if part > 1000 else part + 1):
        clock.now = seconds * done
        log.count(done, part)
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
    assert lines() == ["930 of 1,000 answers, 0.5/s, 0:02:20 left"]
    assert log.summary() == "930 of 1,000 answers, 30 new in 0:01:00 (0.5/s)"


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
    assert re.fullmatch(rf"8 of 8 answers, 8 new in 0:00:\d+ \([\d.,]+/s\); {counts}", summary)


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
    assert re.fullmatch(r"0 of 8 answers, 0 new in 0:00:\d+; 10 server errors, 10 given up", summary)
    assert "10 requests in a row have failed" in error


def test_columns_that_a_narrow_terminal_leaves_out_are_named(monkeypatch, capsys):
    table = Table(
        [Column("run"), *(Column(name, is_optional=True) for name in ("fluency", "length"))], [("a" * 20, 1, 2)]
    )
    monkeypatch.setattr("pfgen_fast.cli.app.columns", lambda: 30)
    print_table(table)
    assert capsys.readouterr().out.splitlines()[-1] == "not shown in 30 columns: length"
