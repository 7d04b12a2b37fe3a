"""The base of evaluators that call a user's function or program, and the file in which their scores are stored.

Equal requests are sent once. Each score is stored when it arrives, so an error or a kill only loses the requests in
progress.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.arrays import Floats
from ...base.errors import DiscernmentError
from ...base.journal import Journal
from ...base.native import _core
from ...base.untrusted_text import in_one_line, unknown_name, utf8
from .evaluator import Item, Metric, Texts, column_of, on_scale, score_of, turned

if TYPE_CHECKING:
    from typing_extensions import Self

Scores = Mapping[str, float]
"""The scores of one text by metric; NaN for a missing score."""

Receive = Callable[[int, Scores], None]
"""Takes the scores of a request, by its index among the sent requests."""


@dataclass(frozen=True)
class Request:
    """A text to be scored."""

    key: bytes  # hash of everything that the scores depend on
    row: int  # row of the text's first occurrence in the call
    item: Item
    text: str

    def __str__(self) -> str:
        return f"row {self.row} (item {in_one_line(self.item.id)})"


class OutsideEvaluator(ABC):
    """An evaluator that calls a user's code."""

    def __init__(
        self,
        name: str,
        *,
        metrics: Sequence[Metric] | None = None,
        lower_is_better: Collection[str] = (),
        cache: str | Path | None = None,
        is_deterministic: bool = True,
    ) -> None:
        self.name = name
        self.is_deterministic = is_deterministic
        self._lower = frozenset(lower_is_better)
        self._metrics = None if metrics is None else turned(metrics, self._lower, self._where)
        self._kept = None if cache is None else KeptScores(Path(cache))

    @property
    def _where(self) -> str:
        return f"evaluator {in_one_line(self.name, 200)}"

    @property
    @abstractmethod
    def identity(self) -> str:
        """Everything that affects a score besides item and text."""

    @abstractmethod
    def _seen(self, item: Item) -> Sequence[object]:
        """The parts of an item that may affect scores."""

    @abstractmethod
    def _ask(self, requests: Sequence[Request], receive: Receive) -> None:
        """Gets the scores of all requests, and calls `receive` once for each, in any order."""

    @property
    def signature(self) -> str:
        """The identity, and the metrics for which lower values are better."""
        lower = sorted(self._lower | {metric.name for metric in self.metrics if not metric.higher_is_better})
        return f"{self.identity}|lower_is_better:{json.dumps(lower)}" if lower else self.identity

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The declared metrics, or those of the first call that returned scores; empty before this call."""
        return self._metrics or ()

    def again(self) -> Self:
        """The same evaluator without stored scores, so that it scores all texts again."""
        anew = copy.copy(self)
        anew._kept = None
        return anew

    def score(self, items: Sequence[Item], texts: Texts) -> dict[str, Floats]:
        """Scores the texts without stored scores, and returns all scores."""
        texts = column_of(items, texts)
        requests, places = self._requests(items, texts)
        kept = self._kept
        scores = [None if kept is None else kept.get(request.key) for request in requests]
        if None in scores:
            with contextlib.nullcontext() if kept is None else kept.adding():
                if kept is not None:  # another process may have added scores
                    scores = [kept.get(request.key) for request in requests]
                todo = [number for number, row in enumerate(scores) if row is None]

                def receive(place: int, row: Scores) -> None:
                    number = todo[place]
                    if kept is not None:
                        kept.keep(requests[number].key, requests[number].item.id, row)
                    scores[number] = row

                if todo:
                    self._ask([requests[number] for number in todo], receive)
        self._learn(requests, scores)
        return {metric.name: self._column(metric, scores, places) for metric in self.metrics}

    def _requests(self, items: Sequence[Item], texts: _core.TextColumn) -> tuple[list[Request], list[int | None]]:
        """The distinct requests, and the index of the request for each row; None for a missing text."""
        begun: dict[int, Any] = {}  # by item: a hash of the parts that texts share, because a context may be long
        requests: list[Request] = []
        numbers: dict[bytes, int] = {}
        places: list[int | None] = []
        for row, (item, text) in enumerate(zip(items, texts.tolist(), strict=True)):
            if text is None:
                places.append(None)
                continue
            if id(item) not in begun:
                parts = json.dumps([self.identity, *self._seen(item)], ensure_ascii=False)
                begun[id(item)] = hashlib.sha256(utf8(parts) + b"\n")
            digest = begun[id(item)].copy()
            digest.update(text.encode("utf-8", "surrogatepass"))
            key = digest.digest()
            if key not in numbers:
                numbers[key] = len(requests)
                requests.append(Request(key, row, item, text))
            places.append(numbers[key])
        return requests, places

    def _learn(self, requests: Sequence[Request], scores: Sequence[Scores | None]) -> None:
        """Takes the metrics from the first scores, in the order of the texts; later scores must have no others."""
        names = dict.fromkeys(name for row in scores for name in row or ())
        if self._metrics is None:
            if names:
                self._metrics = turned(map(Metric, names), self._lower, self._where)
            elif requests:
                raise DiscernmentError(f"{self._where}: returned no score of any metric for {len(requests):,} texts")
            return
        known = [metric.name for metric in self._metrics]
        for name in names:
            if name not in known:
                first = next(request for request, row in zip(requests, scores, strict=True) if name in (row or ()))
                raise DiscernmentError(f"{self._where}, {first}: returned an {unknown_name('metric', name, known)}")

    def _column(self, metric: Metric, scores: Sequence[Scores | None], places: Sequence[int | None]) -> Floats:
        values = [(row or {}).get(metric.name, np.nan) for row in scores]
        column = [np.nan if place is None else values[place] for place in places]
        return on_scale(metric, np.array(column, dtype=np.float64))


class KeptScores:
    """The scores in a file, by key."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._scores: dict[bytes, tuple[tuple[str, ...], tuple[float, ...]]] = {}
        self._refresh()
        if not self._scores and self._journal.has_lines:
            raise DiscernmentError(f"{path}: expected scores of an evaluator, found only other content")

    def _refresh(self) -> None:
        for entry in self._journal.entries():
            key, scores = entry.get("key"), entry.get("scores")
            if isinstance(key, str) and isinstance(scores, dict):
                with contextlib.suppress(ValueError):  # the key is not hexadecimal
                    self._store(bytes.fromhex(key), {name: score_of(value) for name, value in scores.items()})

    def _store(self, key: bytes, scores: Scores) -> None:
        # Texts share one tuple of names, because a million dictionaries would need more memory.
        names = tuple(scores)
        self._scores[key] = (self._names.setdefault(names, names), tuple(scores.values()))

    def get(self, key: bytes) -> Scores | None:
        """The scores with this key; None if they are missing."""
        kept = self._scores.get(key)
        return None if kept is None else dict(zip(*kept, strict=True))

    @contextlib.contextmanager
    def adding(self) -> Iterator[None]:
        """Allows `keep`, and reads the scores that other processes have added."""
        with self._journal.locked(what="scores", error=DiscernmentError):
            self._refresh()
            yield

    def keep(self, key: bytes, item: str, scores: Scores) -> None:
        """Stores scores with a key and an item, within `adding`. They are on disk when the call returns."""
        written = {name: None if math.isnan(score) else score for name, score in scores.items()}
        self._journal.add({"key": key.hex(), "item": item, "scores": written})
        self._store(key, scores)
