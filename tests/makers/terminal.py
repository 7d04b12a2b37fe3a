"""A terminal of any width, and its final contents."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys


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
