"""What a person sees on a terminal: rows beside the progress bar, tables that fit, totals."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from makers.runs import make_varied_runs
from pfgen_fast.cli import app


def on_terminal(*arguments: str, columns: int = 80) -> list[str]:
    """The lines that a terminal shows in the end, after Python ran there with these arguments."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": str(columns)}
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    output = b""
    try:
        while piece := os.read(ours, 1 << 16):
            output += piece
    except OSError:  # so Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0, output
    return _shown_lines(output.decode())


def _shown_lines(output: str) -> list[str]:
    """The lines as a terminal shows them in the end, for what rich sends: new lines, cursor up, erased lines, text."""
    lines, row = [""], 0
    for control, text in re.findall(r"(\r|\n|\x1b\[[0-9;?]*[A-Za-z])|([^\r\n\x1b]+)", output):
        if text:
            lines[row] += text
        elif control == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif control.endswith("A"):
            row -= int(control[2:-1] or 1)
        elif control.endswith("2K"):
            lines[row] = ""
    return [line.rstrip() for line in lines if line.strip()]


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


def test_rows_go_to_a_file_without_colours(capsys):
    app.print_line(("head", "bold"), " and ", ("red", "red"))
    assert capsys.readouterr().out == "head and red\n"


@pytest.mark.parametrize("columns", [80, 140])
def test_a_leaderboard_on_a_terminal_is_a_table_that_fits(call, tmp_path, mini, columns):
    runs = make_varied_runs(tmp_path, mini, n_runs=3, n_trials=2)
    config = {"model": "a-name-that-is-longer-than-its-column-on-a-narrow-terminal"}
    (runs / "org" / "model-0" / "abc" / "config.json").write_text(json.dumps(config))
    assert call("score", "--suite", "mini", runs)[0] == 0
    shown = on_terminal("-m", "pfgen_fast", "leaderboard", str(runs), columns=columns)
    head, *rows = shown[:4]
    assert head.split() == ["rank", "score", "model", "length", "fluency", "truthful", "helpful"]
    assert len(rows) == 3
    assert mini.metadata_hash in " ".join(shown[4:])
    assert all(len(row) <= columns for row in rows)
    assert not any("<code>" in row or "&nbsp;" in row for row in rows)
    assert sum("…" in row for row in rows) == (columns == 80)


def test_a_leaderboard_elsewhere_is_markdown(call, tmp_path, mini):
    runs = make_varied_runs(tmp_path, mini, n_runs=3, n_trials=2)
    assert call("score", "--suite", "mini", runs)[0] == 0
    assert call("leaderboard", runs)[1].startswith("| <code>Rank</code>")


def test_verify_ends_with_a_total(call, tmp_path, mini):
    runs = make_varied_runs(tmp_path, mini, n_runs=3, n_trials=1)
    out = call("verify", "--suite", "mini", runs, "--sample", "2")[1]
    assert re.fullmatch(r"3 of 3 runs ok, \d+ answers compared", out.splitlines()[-3])


def test_one_row_is_no_plural(call, tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"q": "Q07", "a": "Ice floats."}\n')
    columns = ("--question-column", "q", "--answer-column", "a")
    assert call("score", "--suite", "mini", *columns, source, "-o", target)[1].startswith("1 row scored: ")


def test_explain_finds_the_suite_of_the_working_folder(call, tmp_path, monkeypatch, mini):
    monkeypatch.chdir(tmp_path)
    code, _, err = call("explain", "--question", "Q07", "--answer", "Ice")
    assert code == 2
    assert "name a suite" in err
    shutil.copytree(Path(mini.folder), tmp_path / "data")
    (tmp_path / "result" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "result" / "deep")
    out = call("explain", "--question", "Q07", "--answer", "Ice")[1]
    assert out.splitlines()[-2] == f"suite: {tmp_path / 'data'}"
