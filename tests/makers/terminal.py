"""A terminal of any width and its final contents, and the shell blocks of the docs.

Those run in bash, or, which takes a fraction, with our own commands in this process.
"""

import contextlib
import glob
import io
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import pytest
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


LEFT_OUT = ("pip install", "apt-get install", "python3 -m venv", "make ")  # what tests have installed

_OURS = re.compile(r"^pfgen-fast ((?:.*\\\n)*.*)$", re.MULTILINE)
_NEEDS_A_SHELL = re.compile(r"&$|^export ", re.MULTILINE)


def run_in_bash(block: str) -> str:
    """What a block prints; what it has started in the background ends with it."""
    kept = "\n".join(line for line in block.splitlines() if not line.startswith(LEFT_OUT))
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(["bash", "-ec", kept], stdout=output, stderr=output, start_new_session=True)
        try:
            code = process.wait(timeout=300)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        output.seek(0)
        out = output.read()
    assert code == 0, out
    return out


def run_here(block: str) -> str:
    """What a block prints; commands of ours run in this process, everything between them in bash."""
    if _NEEDS_A_SHELL.search(block):
        return run_in_bash(block)
    before, *rest = _OURS.split(block)
    printed = _between(before)
    for arguments, after in zip(rest[::2], rest[1::2], strict=True):
        printed += _call(_words(arguments)) + _between(after)
    return printed


def _between(lines: str) -> str:
    return run_in_bash(lines) if any(not line.startswith(LEFT_OUT) for line in lines.split("\n") if line) else ""


def _words(arguments: str) -> list[str]:
    """The words of a command line; a word with an asterisk stands for the paths that it fits."""
    words = shlex.split(arguments.replace("\\\n", " "), comments=True)
    return [path for word in words for path in (sorted(glob.glob(word)) if "*" in word else [word])]


def _call(arguments: list[str]) -> str:
    printed = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        patch.setattr(sys, "argv", ["pfgen-fast", *arguments])
        patch.setattr(sys, "path", [*sys.path])
        with pytest.raises(SystemExit) as stop:
            app.main()
    assert not stop.value.code, printed.getvalue()
    return printed.getvalue()
