"""Keeps scores in a journal by the key of what was scored: what is scored once stays, whatever happens later."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ..errors import DiscernmentError
from ..files.journal import Journal
from .score_checks import score_of

Scores = Mapping[str, float]
"""The scores of one text by metric; NaN for a missing one."""


class KeptScores:
    """The scores in a file, by key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._journal = Journal(path)
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._scores: dict[bytes, tuple[tuple[str, ...], tuple[float, ...]]] = {}
        self._refresh()
        if not self._scores and self._journal.has_lines:
            raise DiscernmentError(f"{path}: holds no scores of an evaluator")

    def _refresh(self) -> None:
        for entry in self._journal.entries():
            key, scores = entry.get("key"), entry.get("scores")
            if isinstance(key, str) and isinstance(scores, dict):
                with contextlib.suppress(ValueError):  # not a key of ours
                    self._store(bytes.fromhex(key), {name: score_of(value) for name, value in scores.items()})

    def _store(self, key: bytes, scores: Scores) -> None:
        # Names are shared, so that a million texts need no dictionary each.
        names = tuple(scores)
        self._scores[key] = (self._names.setdefault(names, names), tuple(scores.values()))

    def __len__(self) -> int:
        return len(self._scores)

    def get(self, key: bytes) -> Scores | None:
        """The scores of a key; None if there are none."""
        found = self._scores.get(key)
        return None if found is None else dict(zip(*found, strict=True))

    @contextlib.contextmanager
    def adding(self) -> Iterator[Callable[[bytes, str, Scores], None]]:
        """Yields a function that stores the scores of a key and an item; they are on disk when it returns."""
        with self._journal.locked(what="scores", error=DiscernmentError):
            self._refresh()  # what was scored before the lock was taken is not scored again
            yield self._keep

    def _keep(self, key: bytes, item: str, scores: Scores) -> None:
        written = {name: None if math.isnan(score) else score for name, score in scores.items()}
        self._journal.add({"key": key.hex(), "item": item, "scores": written})
        self._store(key, scores)
