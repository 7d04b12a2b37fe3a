"""What a person sees on a terminal: rows beside the progress bar, tables that fit, totals."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
from makers.runs import make_varied_runs
from makers.terminal import on_terminal
from pfgen_fast import cli


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


@pytest.mark.skipif(os.name != "posix", reason="no modes here")
def test_a_warning_is_one_line(tmp_path):
    cache = tmp_path / "cache\x1b"
    cache.mkdir()
    cache.chmod(0o777)
    command = [sys.executable, "-m", "pfgen_fast", "explain", "-s", "mini", "-q", "Q07", "-a", "Ice."]
    run = subprocess.run(command, env={**os.environ, "PFGEN_FAST_CACHE": str(cache)}, capture_output=True, text=True)
    assert run.returncode == 0
    (line,) = run.stderr.splitlines()
    assert line.startswith(f"warning: {tmp_path}/cache\\u001b: others may write to it (mode 777), so it is not used")


def test_redirected_output_is_utf8_where_the_system_has_a_code_page(monkeypatch):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    redirected = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    cli._write_utf8(redirected, None)  # None is the stderr of a program without a console
    redirected.write("流暢性")
    redirected.flush()
    assert redirected.buffer.getvalue() == "流暢性".encode()
