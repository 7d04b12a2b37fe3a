"""Installs this checkout into the environment of the Python that runs it, and shows how far it is.

The build tools are installed first and stay there, so that the next call compiles only what has changed: an isolated
build would bring its own tools, in another folder each time, and compile everything again. Needs no package.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD_TOOLS = ("scikit-build-core>=0.10", "pybind11>=2.13", "cmake>=3.20", "ninja>=1.11")
PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check")

_COMPILED = re.compile(r"^\s*\[(\d+)/(\d+)\] ")
_SHOWN_ON_FAILURE = 60


def run(what: str, command: Sequence[str]) -> None:
    """Runs a command and shows one line: what it does, how far it is (on a terminal), and how long it took.

    The line must fit a terminal of 80 columns, or else it would not be overwritten.

    Raises:
        SystemExit: The command fails; the end of what it said is on stderr.
    """
    begin = time.monotonic()
    is_terminal = sys.stdout.isatty()
    print(what, end="" if is_terminal else "\n", flush=True)
    said: deque[str] = deque(maxlen=_SHOWN_ON_FAILURE)
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            compiled = _COMPILED.match(line)
            if compiled and is_terminal:
                print(f"\r{what}: {compiled[1]} of {compiled[2]}\033[K", end="", flush=True)
    seconds = f"{time.monotonic() - begin:.0f} s"
    if process.returncode:
        print(f"\n{''.join(said)}\n{what}: failed after {seconds}", file=sys.stderr)
        raise SystemExit(1)
    print(f"\r{what}: {seconds}\033[K" if is_terminal else f"  done in {seconds}", flush=True)


def main() -> None:
    """Installs the build tools, then the package."""
    run("1/2 installing build tools", [*PIP, "--quiet", *BUILD_TOOLS])
    run(
        "2/2 installing pfgen-fast (compiling takes minutes)",
        [*PIP, "--verbose", "--no-build-isolation", "."],
    )


if __name__ == "__main__":
    main()
