"""User code as an evaluator: `python:module:function`, and the base that programs share.

Equal requests are sent once. Each score is stored when it arrives, so an error or a kill only loses the requests in
progress.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import importlib
import inspect
import json
import math
import os
import sys
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
from . import evaluator as protocol
from .evaluator import Evaluator, Item, Metric, Texts

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
    """An evaluator that calls a user's code.

    Args:
        name: The name of the evaluator.
        identity: Everything that affects a score besides item and text.
        metrics: The metrics; by default those of the first call that returned scores.
        lower_is_better: The metrics for which lower values are better.
        cache: The file of stored scores; by default none.
    """

    def __init__(
        self,
        name: str,
        identity: str,
        *,
        metrics: Sequence[Metric] | None = None,
        lower_is_better: Collection[str] = (),
        cache: str | Path | None = None,
    ) -> None:
        self.name, self._identity = name, identity
        self._where = f"evaluator {in_one_line(name, 200)}"
        self._lower = frozenset(lower_is_better)
        self._metrics = None if metrics is None else protocol.turned(metrics, self._lower, self._where)
        self._kept = None if cache is None else KeptScores(Path(cache))

    @abstractmethod
    def _ask(self, requests: Sequence[Request], receive: Receive) -> None:
        """Gets the scores of all requests, and calls `receive` once for each, in any order."""

    @property
    def signature(self) -> str:
        """The identity, and the metrics for which lower values are better."""
        lower = sorted(self._lower | {metric.name for metric in self.metrics if not metric.higher_is_better})
        return f"{self._identity}|lower_is_better:{json.dumps(lower)}" if lower else self._identity

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
        texts = protocol.column_of(items, texts)
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
                seen = (item.id, item.text, item.task, item.language, item.question, item.context, item.references)
                begun[id(item)] = hashlib.sha256(utf8(json.dumps([self._identity, *seen], ensure_ascii=False)) + b"\n")
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
                self._metrics = protocol.turned(map(Metric, names), self._lower, self._where)
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
        return protocol.on_scale(metric, np.array(column, dtype=np.float64))


class KeptScores:
    """The scores in a file, by key."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)
        self._scores: dict[bytes, Scores] = {}
        self._refresh()
        if not self._scores and self._journal.has_lines:
            raise DiscernmentError(f"{path}: expected scores of an evaluator, found only other content")

    def _refresh(self) -> None:
        for entry in self._journal.entries():
            key, scores = entry.get("key"), entry.get("scores")
            if isinstance(key, str) and isinstance(scores, dict):
                with contextlib.suppress(ValueError):  # the key is not hexadecimal
                    self._scores[bytes.fromhex(key)] = {
                        name: protocol.score_of(value) for name, value in scores.items()
                    }

    def get(self, key: bytes) -> Scores | None:
        """The scores with this key; None if they are missing."""
        return self._scores.get(key)

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
        self._scores[key] = scores


Function = Callable[[Sequence[Item], Sequence[str]], Mapping[str, Sequence[Any]]]
"""Takes items and one text for each, and returns by metric one score for each text."""

_BATCH = 256


class FunctionEvaluator(OutsideEvaluator):
    """A function of items and texts that returns a sequence of scores for each metric, or an object with such a method.

    Args:
        target: The function, or an object with the protocol `Evaluator`. It gets lists of items and texts; each text is
            scored instead of the item's own text.
        name: The name of the evaluator; by default that of the object.
        version: Any text that changes when the scores of a function may change, such as the hash of its source.
        options: The other options of `OutsideEvaluator`.

    Example:
        >>> from pfgen_fast.lab.evaluators.evaluator import text_column
        >>> def length(items, texts):
        ...     return {"length": [len(text) for text in texts]}
        >>> evaluator = FunctionEvaluator(length, name="length", version="1")
        >>> item = Item("1", "Ice floats.", "answers")
        >>> evaluator.score([item, item], text_column(["Ice floats.", "Ice"]))
        {'length': array([11.,  3.])}
        >>> evaluator.metrics
        (Metric(name='length', higher_is_better=True, low=None, high=None, combined=True),)
    """

    def __init__(
        self, target: Function | Evaluator, *, name: str | None = None, version: str = "", **options: Any
    ) -> None:
        self._target: Any = target
        if hasattr(target, "score"):
            own: Any = target
            super().__init__(name or own.name, own.signature, **{"metrics": own.metrics, **options})
        else:
            name = name or "function"
            super().__init__(name, f"python:{json.dumps(name)}|version:{json.dumps(version)}", **options)

    def again(self) -> Self:
        """The same evaluator without stored scores; see the protocol `Evaluator`."""
        anew = super().again()
        if hasattr(self._target, "again"):
            anew._target = self._target.again()
            anew._identity = anew._target.signature
        return anew

    def _ask(self, requests: Sequence[Request], receive: Receive) -> None:
        for begin in range(0, len(requests), _BATCH):
            self._score(requests[begin : begin + _BATCH], begin, receive)

    def _score(self, requests: Sequence[Request], begin: int, receive: Receive) -> None:
        """Scores a batch; if that fails, scores its halves, to find the failing row and store the scores before it."""
        items, texts = [request.item for request in requests], [request.text for request in requests]
        try:
            if hasattr(self._target, "score"):
                returned = self._target.score(items, protocol.text_column(texts))
            else:
                returned = self._target(items, texts)
            columns = {
                name: column.tolist() for name, column in protocol.checked_columns(returned, len(requests)).items()
            }
        except Exception as error:
            if len(requests) == 1:
                problem = str(error) if isinstance(error, DiscernmentError) else f"raised {protocol.raised(error)}"
                raise DiscernmentError(f"{self._where}, {requests[0]}: {problem}") from error
            half = len(requests) // 2
            self._score(requests[:half], begin, receive)
            self._score(requests[half:], begin + half, receive)
            return
        for row in range(len(requests)):
            receive(begin + row, {name: column[row] for name, column in columns.items()})


def open_function(path: str, **options: Any) -> FunctionEvaluator:
    """Imports a function, or a class or object with the protocol `Evaluator`; a class is called without arguments."""
    where = f"evaluator python:{in_one_line(path)}"
    module_name, _, name = path.partition(":")
    if not module_name or not name:
        raise DiscernmentError(f"{where}: expected python:module:function")
    # At the end, so that a file in the working directory never replaces a module of another package.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise DiscernmentError(f"{where}: the module cannot be imported: {protocol.raised(error)}") from error
    if not hasattr(module, name):
        known = [known for known, value in vars(module).items() if callable(value) and not known.startswith("_")]
        raise DiscernmentError(f"{where}: {unknown_name('name', name, known)}")
    target = getattr(module, name)
    if isinstance(target, type):
        try:
            target = target()
        except Exception as error:
            raise DiscernmentError(
                f"{where}: raised {protocol.raised(error)} when it was called without arguments"
            ) from error
    if all(hasattr(target, part) for part in ("name", "signature", "metrics", "score")):
        return FunctionEvaluator(target, **options)
    if not callable(target):
        raise DiscernmentError(f"{where}: expected a function or an evaluator, not {type(target).__name__}")
    try:
        source = hashlib.sha256(inspect.getsource(module).encode()).hexdigest()
    except (OSError, TypeError):
        source = ""
    return FunctionEvaluator(target, name=path, version=source, **options)
