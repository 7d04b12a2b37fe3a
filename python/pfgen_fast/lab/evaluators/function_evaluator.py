"""A user's Python function or class as an evaluator: `python:module:function`."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line, unknown_name
from .evaluator import Evaluator, Item, checked_columns, raised, text_column
from .user_code import OutsideEvaluator, Receive, Request, Scores

if TYPE_CHECKING:
    from typing_extensions import Self

Function = Callable[[Sequence[Item], Sequence[str]], Mapping[str, Sequence[Any]]]
"""Takes items and one text for each, and returns by metric one score for each text."""

_BATCH = 256
_MEMBERS = ("name", "signature", "metrics", "score")


class BatchedEvaluator(OutsideEvaluator):
    """A user's code that scores a batch of texts in each call."""

    def __init__(self, name: str, *, batch: int = _BATCH, **options: Any) -> None:
        super().__init__(name, **options)
        if batch < 1:
            raise DiscernmentError(f"{self._where}: batch: expected at least 1, not {batch}")
        self._batch = batch

    @abstractmethod
    def _called(self, items: Sequence[Item], texts: Sequence[str]) -> Any:
        """The result of the user's code for some texts; may raise any exception."""

    def _seen(self, item: Item) -> Sequence[object]:
        return (item.id, item.text, item.task, item.language, item.question, item.context, item.references)

    def _ask(self, requests: Sequence[Request], receive: Receive) -> None:
        for begin in range(0, len(requests), self._batch):
            self._score(requests[begin : begin + self._batch], begin, receive)

    def _score(self, requests: Sequence[Request], begin: int, receive: Receive) -> None:
        """Scores a batch; if that fails, scores its halves, to find the failing row and store the scores before it."""
        try:
            checked = self._checked(requests)
        except Exception as error:
            if len(requests) == 1:
                problem = str(error) if isinstance(error, _Misshapen) else f"raised {raised(error)}"
                raise DiscernmentError(f"{self._where}, {requests[0]}: {problem}") from error
            half = len(requests) // 2
            self._score(requests[:half], begin, receive)
            self._score(requests[half:], begin + half, receive)
            return
        for place, scores in enumerate(checked, begin):
            receive(place, scores)

    def _checked(self, requests: Sequence[Request]) -> list[Scores]:
        returned = self._called([request.item for request in requests], [request.text for request in requests])
        try:
            columns = {name: column.tolist() for name, column in checked_columns(returned, len(requests)).items()}
        except DiscernmentError as error:
            raise _Misshapen(str(error)) from None
        return [{name: column[row] for name, column in columns.items()} for row in range(len(requests))]


class _Misshapen(DiscernmentError):
    """A result that does not consist of one score for each text."""


class FunctionEvaluator(BatchedEvaluator):
    """A function of items and texts that returns a sequence of scores for each metric.

    Args:
        function: The function. It gets lists of items and texts; each text is scored instead of the item's own text.
        name: The name of the evaluator.
        version: Any text that changes when scores may change, such as the hash of the function's source.
        options: The options of `BatchedEvaluator`.

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

    def __init__(self, function: Function, *, name: str, version: str = "", **options: Any) -> None:
        super().__init__(name, **options)
        self._function, self._version = function, version

    @property
    def identity(self) -> str:
        """The name and the version."""
        return f"python:{json.dumps(self.name)}|version:{json.dumps(self._version)}"

    def _called(self, items: Sequence[Item], texts: Sequence[str]) -> Any:
        return self._function(items, texts)


class _OfProtocol(BatchedEvaluator):
    """A user's evaluator, whose scores are checked and stored."""

    def __init__(self, evaluator: Evaluator, name: str, *, version: str = "", **options: Any) -> None:
        own = {"metrics": evaluator.metrics, "is_deterministic": getattr(evaluator, "is_deterministic", False)}
        super().__init__(name, **{**own, **options})
        self._evaluator, self._version = evaluator, version

    @property
    def identity(self) -> str:
        """The signature of the evaluator, and the version if it is not empty."""
        signature = self._evaluator.signature
        return f"{signature}|version:{json.dumps(self._version)}" if self._version else signature

    def again(self) -> Self:
        """The same evaluator without stored scores; see the protocol `Evaluator`."""
        anew = super().again()
        anew._evaluator = getattr(self._evaluator, "again", lambda: self._evaluator)()
        return anew

    def _called(self, items: Sequence[Item], texts: Sequence[str]) -> Any:
        return self._evaluator.score(items, text_column(texts))


def open_function(path: str, *, name: str | None = None, version: str = "", **options: Any) -> OutsideEvaluator:
    """Imports a function, or a class or object with the protocol `Evaluator`; a class is called without arguments."""
    where = f"evaluator python:{in_one_line(path)}"
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise DiscernmentError(f"{where}: expected python:module:function")
    module = _imported(module_name, where)
    target = _attribute(module, attribute, where)
    if isinstance(target, type):
        try:
            target = target()
        except Exception as error:
            raise DiscernmentError(f"{where}: raised {raised(error)} when it was called without arguments") from error
    if all(hasattr(target, member) for member in _MEMBERS):
        return _OfProtocol(target, name=name or target.name, version=version, **options)
    if not callable(target):
        raise DiscernmentError(f"{where}: expected a function or an evaluator, not {type(target).__name__}")
    versions = "|".join(part for part in (version, _source_hash(module)) if part)
    return FunctionEvaluator(target, name=name or path, version=versions, **options)


def _imported(name: str, where: str) -> ModuleType:
    # At the end, so that a file in the working directory never replaces a module of another package.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise DiscernmentError(f"{where}: the module cannot be imported: {raised(error)}") from error


def _attribute(module: ModuleType, path: str, where: str) -> Any:
    target: Any = module
    for name in path.split("."):
        if not hasattr(target, name):
            known = [known for known, value in vars(target).items() if callable(value) and not known.startswith("_")]
            raise DiscernmentError(f"{where}: {unknown_name('name', name, known)}")
        target = getattr(target, name)
    return target


def _source_hash(module: ModuleType) -> str:
    """SHA-256 of the module's source; empty if the source is not available."""
    try:
        return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()
    except (OSError, TypeError):
        return ""
