"""Kills a piece of work at the changes that it makes below a folder, and lets it run again: `killed_everywhere`.

A separate process imports what the work needs and forks for each attempt, so that no test waits for imports. A change
is what Python's audit events name: creating, linking, renaming and removing files and folders; and a line of a journal.
"""

import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from makers import checklists_to_judge
from makers.runs import files_below
from pfgen_fast import PfgenError, ScorerSpec, build_suite
from pfgen_fast.lab.checklists.checklist_requests import JudgeOptions
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.judge_runs import Judging
from pfgen_fast.lab.judging.judge_requests import Server
from pfgen_fast.tables.folders import score_files
from pfgen_fast.tables.table_job import TableJob

Work = Callable[..., None]
"""A function of a module, called with a folder and further texts, that changes only what is below the folder."""

_CHANGES = {"os.mkdir", "os.link", "os.rename", "os.remove", "os.rmdir"}
"""Files opened for writing are none of these: they have no name yet, or are a journal or a lock."""


@dataclass(frozen=True)
class Attempt:
    """What was there after a kill, and after the work ran again."""

    point: str  # the change that the kill prevented, such as `os.rename Q01.json`
    killed: dict[str, bytes]
    again: dict[str, bytes]


def is_hidden(path: str) -> bool:
    """Whether a file or a folder that it is in is hidden: a lock, or a part of something that is not finished."""
    return any(part.startswith(".") for part in path.split("/"))


def killed_everywhere(
    folder: Path, work: Work, *arguments: str, before: Path | None = None, most: int | None = None
) -> tuple[dict[str, bytes], list[Attempt]]:
    """Runs the work undisturbed, and then for each change once more, killed just before it makes that change.

    Each attempt begins with the files of `before`; with `most`, only so many changes are prevented. Returns the files
    of the undisturbed run, and the attempts.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SOURCE_DATE_EPOCH": "1700000000"}
    call = [sys.executable, "-m", __name__, str(folder), str(before or ""), str(most or 0)]
    call += [work.__module__, work.__name__, *arguments]
    run = subprocess.run(call, env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    attempts = [
        Attempt((path / "point").read_text(), files_below(path / "killed"), files_below(path / "again"))
        for path in sorted(folder.iterdir())
        if path.name != "whole"
    ]
    return files_below(folder / "whole"), attempts


def _main(folder: Path, before: str, most: int, work: Callable[[Path], None]) -> None:
    def attempt(name: str, kill_at: int | None = None) -> int:
        """The signal that ended an attempt in the folder of this name; 0 if it came to its end."""
        with (folder / "point").open("wb", buffering=0) as point:
            child = os.fork()
            if child == 0:
                _child(folder / name, work, kill_at, point)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise SystemExit(f"{name}: ended with {os.WEXITSTATUS(status)}")
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0

    def start(name: str) -> None:
        if before:
            shutil.copytree(before, folder / name)
        else:
            (folder / name).mkdir(parents=True)

    start("whole")
    assert attempt("whole", 0) == 0
    n_changes = int((folder / "changes").read_text())
    (folder / "changes").unlink()
    for module in (folder / "modules").read_text().split():
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    (folder / "modules").unlink()
    for number in sorted({1 + step * (n_changes - 1) // (most - 1) for step in range(most)}) or range(1, 10_000):
        name = f"{number:04}"
        start(f"{name}/again")
        ended_by = attempt(f"{name}/again", number)
        if ended_by == 0:
            shutil.rmtree(folder / name)
            (folder / "point").unlink()
            return
        assert ended_by == signal.SIGKILL, ended_by
        (folder / "point").rename(folder / name / "point")
        shutil.copytree(folder / name / "again", folder / name / "killed")
        assert attempt(f"{name}/again") == 0
    if not most:
        raise SystemExit("there is no end of changes")
    (folder / "point").unlink()


def _child(folder: Path, work: Callable[[Path], None], kill_at: int | None, point: Any) -> None:
    """Does the work, and ends this process."""
    try:
        os.fsync = lambda descriptor: None  # slow, and of no use against kills
        n_left = [0 if kill_at is None else kill_at]
        if kill_at is not None:
            _kill_after(n_left, str(folder), point.fileno())
        work(folder)
        if folder.name == "whole":
            folder.with_name("changes").write_text(str(-n_left[0]))
            folder.with_name("modules").write_text(" ".join(sys.modules))
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _kill_after(n_left: list[int], folder: str, point: int) -> None:
    """Counts the changes down, and kills this process before the one that makes the number 0."""

    def change(event: str, path: str) -> None:
        n_left[0] -= 1
        if n_left[0] == 0:
            os.write(point, f"{event} {os.path.basename(path)}".encode())
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        path = str(arguments[1 if event in ("os.link", "os.rename") else 0]) if event in _CHANGES else ""
        if path.startswith(folder) and _would_succeed(event, path):
            change(event, path)

    sys.addaudithook(hook)
    from pfgen_fast.base.journal import Journal

    add = Journal.add

    def counted(self: Journal, entry: Any) -> None:
        change("line", str(self.path))
        add(self, entry)

    Journal.add = counted  # type: ignore[method-assign]


def _would_succeed(event: str, path: str) -> bool:
    is_there = os.path.lexists(path)
    return event == "os.rename" or is_there == (event in ("os.remove", "os.rmdir"))


# Work for these tests: each function changes files below the folder that it gets, and nothing else.


def build_by_config(folder: Path) -> None:
    """Builds the suite of the config in the folder."""
    built = build_suite(folder / "config.toml", threads=1)
    assert built.is_written, built.problems


def judge_by_checklists(folder: Path, base_url: str = "") -> None:
    """Judges the answers of the runs in the folder; without an address by kept replies."""
    judging = Judging.open(open_runs([folder]), checklists_to_judge.suite(), JudgeOptions("judge-2024-08-06"))
    judging.ask(Server(base_url, concurrency=1, backoff=0.001).engine if base_url else None)


def score_a_folder(folder: Path) -> None:
    """Scores the tables in the folder into another folder, also if that has scores of other settings."""
    try:
        outcomes = score_files([folder / "in"], folder / "out", TableJob(ScorerSpec("mini", threads=1)))
    except PfgenError:
        outcomes = score_files([folder / "in"], folder / "out", TableJob(ScorerSpec("mini", threads=1)), again=True)
    assert all(outcome.error is None for outcome in outcomes), outcomes


if __name__ == "__main__":
    _folder, _before, _most, _module, _name, *_arguments = sys.argv[1:]
    _works = importlib.import_module(_module)
    _work = getattr(_works, _name)
    _main(Path(_folder), _before, int(_most), lambda at: _work(at, *_arguments))
