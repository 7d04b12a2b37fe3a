"""Finds directories of weights, such as the checkpoints of a training run, and names each by a hash of its weights."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

_NOT_WEIGHTS = re.compile(
    r"(\.|optimizer|scheduler|scaler|rng_state|trainer_state|training_args|events\.out).*|.*(\.md|\.log|_results\.json)",
    re.IGNORECASE,
)
"""The names of files that do not affect answers."""

_STEP = re.compile(r"(checkpoint|iter|global_step|step|epoch)[-_]?[0-9]+")
_PIECE_BYTES = 1 << 16
_N_PIECES = 16


@dataclass(frozen=True)
class Checkpoint:
    """A directory of weights."""

    folder: Path  # as the user named it

    @property
    def label(self) -> str:
        """The checkpoint below its training run, such as `my-training/checkpoint-100`."""
        parts = self.folder.resolve().parts[1:]
        # Weights may be below the directory with the step, such as global_step_5/actor/huggingface.
        step = next((n for n in range(1, len(parts) + 1) if _STEP.fullmatch(parts[-n])), 1)
        return "/".join(parts[-step - 1 :])

    def model(self) -> str:
        """The name of the model in runs: other weights with the same path have another name."""
        digest = sha1()
        for path, status in sorted(self._files()):
            if not _NOT_WEIGHTS.fullmatch(path.name):
                name = path.relative_to(self.folder).as_posix()
                digest.update(f"{name}\0{status.st_size}\0".encode(errors="surrogateescape"))
                for piece in _pieces(path, status.st_size):
                    digest.update(piece)
        return f"{self.label}-{digest.hexdigest()[:7]}"

    def changed(self) -> float:
        """The time of the last change; copies keep the times of modification, so the times of their names count too."""
        states = [self.folder.stat(), *(status for _, status in self._files())]
        return max(max(status.st_mtime, status.st_ctime) for status in states)

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for root, _, names in os.walk(self.folder):
            for path in (Path(root, name) for name in names):
                if path.exists():  # links without a target are left out
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


def find_checkpoints(name: str) -> list[Checkpoint] | None:
    """The directories that match a pattern, a directory of weights, or the directories of weights in a directory.

    They are in the order of their numbers: checkpoint-9 comes before checkpoint-100. None for a name that is neither a
    pattern nor an existing directory, such as a name on a hub.
    """
    if glob.has_magic(name):
        folders = [Path(path) for path in glob.glob(name, recursive=True) if os.path.isdir(path)]
    elif not os.path.isdir(name):
        return None
    else:
        folders = [path for path in (Path(name),) if _has_weights(path)]
        folders = folders or [path for path in Path(name).iterdir() if _has_weights(path)]
    return [Checkpoint(path) for path in sorted(folders, key=_numbered)]


def _has_weights(folder: Path) -> bool:
    """Whether a directory has a model's configuration; a run has a config.json too."""
    is_other = folder.name.startswith((".", "tmp-")) or any(folder.glob("trial*"))
    return not is_other and any((folder / name).is_file() for name in ("config.json", "adapter_config.json"))


def _numbered(path: Path) -> list[int | str]:
    return [int(part) if index % 2 else part for index, part in enumerate(re.split("([0-9]+)", str(path)))]
