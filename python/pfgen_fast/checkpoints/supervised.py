"""Runs a command in a process group, and ends the group when standard input ends, that is, when the owner ends."""

import contextlib
import os
import signal
import subprocess
import sys
import threading

_PATIENCE_SECONDS = 20.0


def main(words: list[str]) -> int:
    """Runs the command and returns its exit code."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)

    def end_with_owner() -> None:
        while os.read(0, 1):  # ends when the owner closes the pipe, or is killed
            pass
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE_SECONDS)
        _signal(process, signal.SIGKILL)

    threading.Thread(target=end_with_owner, daemon=True).start()
    code = process.wait()
    _signal(process, signal.SIGKILL)  # ends processes that the command has started
    return code


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # only the owner ends the group
    sys.exit(main(sys.argv[1:]))
