"""What a person sees on a terminal: rows beside the progress bar, tables that fit, totals."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys

import pytest
from makers.runs import make_varied_runs
from makers.terminal import on_terminal
from pfgen_fast import cli
from pfgen_fast.cli.app import warn
from rich.cells import cell_len


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
    always, others = ["rank", "score", "±95 %", "rank range", "model"], ["length", "fluency", "truthful", "helpful"]
    for columns, heads in ((80, always), (140, [*always, *others])):
        head, *rows = on_terminal("-m", "pfgen_fast", "leaderboard", str(runs), columns=columns)
        assert re.split("  +", head) == heads
        assert all(cell_len(row) <= columns for row in rows)
        assert mini.metadata_hash in " ".join(rows[4:])
        assert "interval over questions; rank range: the ranks that chance allows" in " ".join(rows[4:])
        assert rows[-1] == "👑 human answers (no rank); 💬 another mode than completion"
        names = [re.split("  +", row.strip())[4] for row in rows[:4]]
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


def test_redirected_output_is_utf8_where_the_system_has_a_code_page(monkeypatch):
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    redirected = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    cli._write_utf8(redirected, None)  # None is the stderr of a program without a console
    redirected.write("流暢性")
    redirected.flush()
    assert redirected.buffer.getvalue() == "流暢性".encode()
