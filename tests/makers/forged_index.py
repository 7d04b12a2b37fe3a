"""Compiled suites whose content was changed: damaged ones, and forged ones, in which all checksums are right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pfgen_fast.base.native import _core


def forge_question(path: Path, question: int) -> None:
    """Puts the index of other reference answers in the place of the index of a question."""
    file = _core.IndexFile(path.read_bytes())
    index = list(file.questions)
    sets = [["forged"]] * len(index[question].baselines)
    (index[question],) = _core.compile([sets], file.profile, 1)
    _replace(path, file, file.details, index)


def damage_last_byte(path: Path) -> None:
    """Damages the section of the last question."""
    content = path.read_bytes()
    replace(path, content[:-1] + bytes([content[-1] ^ 1]))


def _replace(path: Path, file: _core.IndexFile, details: bytes, index: Sequence[Any]) -> None:
    head = _core.index_file_head(file.profile, file.metadata_hash.decode(), details, index)
    replace(path, b"".join([head, *index]))


def replace(path: Path, content: bytes) -> None:
    """Puts a new file in the place of one that may be mapped."""
    mode = path.stat().st_mode
    path.unlink()
    path.write_bytes(content)
    path.chmod(mode)
