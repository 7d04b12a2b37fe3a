"""Finds the checkpoints of a training run: their steps, whether they are complete, and a hash of their weights."""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha1
from pathlib import Path

from ..errors import EngineError
from ..files.untrusted_text import in_one_line

USUAL_PATTERN = r"(?:checkpoint|iter|global_step|step|epoch)[-_]?(\d+)"
"""The names that common trainers give to checkpoints; the group is the step."""

_LAST_FILE = "trainer_state.json"  # the file that Hugging Face's Trainer writes last

_NOT_WEIGHTS = re.compile(
    r"(\.|optimizer|scheduler|scaler|rng_state|trainer_state|training_args|events\.out).*|.*(\.md|\.log|_results\.json)",
    re.IGNORECASE,
)
"""The names of files that do not affect answers."""

_CLOCK_SECONDS = 2.0
"""How much newer than the Trainer's last file other files may be, because file systems round times."""

_PIECE_BYTES = 1 << 16
_N_PIECES = 16
_MAX_STEP_DIGITS = 12


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint."""

    folder: Path
    weights: Path  # directory of the weights: `folder` or a directory below it
    step: int
    digest: str  # hash of the weights, because other weights may get the same path later

    @property
    def model(self) -> str:
        """The name of the model in runs: the training run, the checkpoint and the digest."""
        return f"{self.folder.parent.name}/{self.folder.name}-{self.digest}"


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints in a directory, which need not exist yet.

    A checkpoint is complete if its ready file exists. Without a ready file, it is complete if the Trainer's last file
    can be read and no file is newer, or if no file has changed for `unchanged_seconds`.
    """

    folder: Path  # directory of a training run
    # regular expression for the whole name of a checkpoint; the step is its first group, or the last digits of the name
    pattern: str = USUAL_PATTERN
    ready_file: str | None = None  # name of the file that the trainer writes last
    unchanged_seconds: float = 60.0
    weights: str = "."  # directory of weights within a checkpoint, such as `actor/huggingface`
    _digests: dict[Path, tuple[object, str]] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        _ = self._name
        if not self.unchanged_seconds >= 0:
            raise EngineError(f"unchanged_seconds: expected a number from 0, got {self.unchanged_seconds:g}")
        for path in filter(None, (self.ready_file, self.weights)):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise EngineError(f"{in_one_line(path)}: expected a path within a checkpoint")

    @cached_property
    def _name(self) -> re.Pattern[str]:
        try:
            return re.compile(self.pattern)
        except re.error as error:
            raise EngineError(f"pattern {in_one_line(self.pattern)}: {error}") from None

    def named(self) -> list[tuple[int, Path]]:
        """The steps and directories of all checkpoints, complete or not, in the order of steps."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise EngineError(f"{self.folder}: cannot be read: {error.strerror}") from None
        steps = ((self._step(name), self.folder.resolve() / name) for name in names)
        return sorted((step, path) for step, path in steps if step is not None and path.is_dir())

    def complete(self) -> list[Checkpoint]:
        """The complete checkpoints in the order of steps; warns about a checkpoint that cannot be read."""
        found = []
        for step, path in self.named():
            try:
                files = list(_files(path))
                if files and self._is_complete(path, files):
                    weights = path / self.weights
                    found.append(Checkpoint(path, weights, step, self._digest(weights, files)))
            except FileNotFoundError:
                continue
            except OSError as error:
                warnings.warn(f"{path}: cannot be read: {error.strerror}", RuntimeWarning, stacklevel=2)
        return found

    def _step(self, name: str) -> int | None:
        match = self._name.fullmatch(name)
        if match is None:
            return None
        digits = match[1] if match.lastindex else next(iter(re.findall(r"\d+", name)[-1:]), "")
        is_step = bool(digits) and digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_STEP_DIGITS
        return int(digits) if is_step else None

    def _is_complete(self, path: Path, files: list[tuple[Path, os.stat_result]]) -> bool:
        if not (path / self.weights).is_dir():
            return False
        if self.ready_file is not None:
            return (path / self.ready_file).exists()
        folders = {path, *(file.parent for file, _ in files)}  # their times change when a file is removed
        states = [*(status for _, status in files), *(folder.stat() for folder in folders)]
        try:
            json.loads((path / _LAST_FILE).read_bytes())
            last = (path / _LAST_FILE).stat().st_mtime
            if all(status.st_mtime <= last + _CLOCK_SECONDS for status in states):
                return True
        except (OSError, ValueError, RecursionError):
            pass
        newest = max(max(status.st_mtime, status.st_ctime) for status in states)
        return time.time() - newest >= self.unchanged_seconds

    def _digest(self, weights: Path, files: list[tuple[Path, os.stat_result]]) -> str:
        parts = [
            (file.relative_to(weights).as_posix(), file, status)
            for file, status in files
            if file.is_relative_to(weights) and not _NOT_WEIGHTS.fullmatch(file.name)
        ]
        state = tuple((name, status.st_size, status.st_mtime_ns, status.st_ctime_ns) for name, _, status in parts)
        known = self._digests.get(weights)
        if known is None or known[0] != state:
            digest = sha1()
            for name, file, status in sorted(parts):
                digest.update(f"{name}\0{status.st_size}\0".encode(errors="surrogateescape"))
                for piece in _pieces(file, status.st_size):
                    digest.update(piece)
            known = self._digests[weights] = (state, digest.hexdigest()[:7])
        return known[1]


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    def refuse(error: OSError) -> None:
        raise error

    for root, _, names in os.walk(folder, onerror=refuse):
        for name in names:
            path = Path(root, name)
            if path.exists() or not path.is_symlink():  # links without a target are left out
                yield path, path.stat()


def _pieces(file: Path, n_bytes: int) -> Iterator[bytes]:
    """The content of a small file, or evenly spread pieces of a large file, because weights may have many gigabytes."""
    with open(file, "rb") as opened:
        if n_bytes <= _N_PIECES * _PIECE_BYTES:
            yield opened.read(_N_PIECES * _PIECE_BYTES)
            return
        for number in range(_N_PIECES):
            opened.seek((n_bytes - _PIECE_BYTES) * number // (_N_PIECES - 1))
            yield opened.read(_PIECE_BYTES)
