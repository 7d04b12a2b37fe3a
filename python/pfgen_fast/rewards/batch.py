"""The answers of a batch, and everything that the parts of a shape need to know about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, count
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import RewardError
from ..native import _core
from ..native.core_errors import worded
from ..native.threads import cached_property, default_threads

Floats = NDArray[np.float64]


class TextGroups:
    """Groups of texts that several answers share: the reference answers of a question, or a prompt.

    What is computed from a group is kept, so a suite's groups are prepared once.
    """

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        self.groups = groups
        self._copied: dict[int, _core.CopySources] = {}

    @cached_property
    def median_lengths(self) -> Floats:
        """The median number of characters of the texts of each group."""
        return np.array([np.median(list(map(len, texts))) if len(texts) else np.nan for texts in self.groups])

    def copied_shares(self, answers: _core.TextColumn, rows: NDArray[np.int32], run: int, n_threads: int) -> Floats:
        """The share of each answer that is copied in runs of at least `run` characters from one text of its group."""
        sources = self._copied.get(run)
        if sources is None:
            texts = _core.TextColumn(list(chain.from_iterable(self.groups)), "texts", False)
            ends = np.array(list(accumulate(map(len, self.groups))), dtype=np.int64)
            sources = self._copied.setdefault(run, _core.CopySources(texts, ends, run))
        return sources.copied_shares(answers, rows, n_threads)


def grouped(groups: Iterable[Sequence[str]]) -> tuple[TextGroups, NDArray[np.int32]]:
    """The distinct groups, and the number of the group of each row."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    rows = np.array(list(map(numbers.__getitem__, map(tuple, groups))), dtype=np.int32)
    return TextGroups(list(numbers)), rows  # type: ignore[arg-type]


@dataclass
class Batch:
    """A batch of answers; columns that are computed are computed once."""

    answers: _core.TextColumn
    prompts: Any = None
    finished: Any = None
    n_tokens: Any = None
    references: tuple[TextGroups, NDArray[np.int32]] | None = None
    reference_means: Callable[[], Floats] | None = None  # the mean score of the references of each row
    n_threads: int = 0

    def __post_init__(self) -> None:
        self.n_threads = self.n_threads or default_threads()
        if self.prompts is not None:
            self.prompts = self._column("prompts", self.prompts)
        if self.finished is not None:
            self.finished = np.asarray(self._column("finished", self.finished))
            if self.finished.dtype != np.bool_:
                raise RewardError("finished: expected True or False for each answer")
        if self.n_tokens is not None:
            self.n_tokens = _numbers("n_tokens", self._column("n_tokens", self.n_tokens))

    def _column(self, name: str, values: Any) -> Any:
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise RewardError(f"{name}: expected one value for each answer, not a {type(values).__name__}")
        if len(values) != len(self.answers):
            raise RewardError(f"{len(values)} {name} for {len(self.answers)} answers; expected one for each answer")
        return values

    @cached_property
    def n_characters(self) -> Floats:
        """The number of code points of each answer; NaN for a missing answer."""
        with worded():
            return _core.count_code_points(self.answers, self.n_threads)

    def lengths(self, unit: str) -> Floats:
        """The lengths in a unit of `parts.UNITS`."""
        if unit == "characters":
            return self.n_characters
        if unit == "tokens":
            if self.n_tokens is None:
                _missing("n_tokens", "a length in tokens")
            return self.n_tokens  # type: ignore[no-any-return]
        groups, rows = self._references("a length relative to the references")
        return self.n_characters / np.maximum(groups.median_lengths[rows], 1.0)

    def repeated_shares(self, n: int) -> Floats:
        """The share of the n-grams of each answer that occurred before in it."""
        with worded():
            return _core.repeated_shares(self.answers, n, self.n_threads)

    def copied_shares(self, source: str, run: int) -> Floats:
        """The share of each answer that is copied from its prompt, or from one of its references."""
        if source == "prompts":
            if self.prompts is None:
                _missing("prompts", "the part copying")
            groups, rows = self._prompts
        else:
            groups, rows = self._references("the part copying")
        with worded():
            return groups.copied_shares(self.answers, rows, run, self.n_threads)

    def means_of_references(self) -> Floats:
        """The mean score of the references of each row."""
        if self.reference_means is None:
            _missing("references", "the part scale")
        return self.reference_means()

    @cached_property
    def _prompts(self) -> tuple[TextGroups, NDArray[np.int32]]:
        prompts = self.prompts.tolist() if hasattr(self.prompts, "tolist") else list(self.prompts)
        wrong = next((row for row, prompt in enumerate(prompts) if not isinstance(prompt, str)), None)
        if wrong is not None:
            raise RewardError(f"prompts[{wrong}]: expected a text, not {type(prompts[wrong]).__name__}")
        return grouped(zip(prompts, strict=True))

    def _references(self, needed_for: str) -> tuple[TextGroups, NDArray[np.int32]]:
        if self.references is None:
            _missing("references", needed_for)
        return self.references


def batch_of_texts(answers: Any, **known: Any) -> Batch:
    """A batch of these texts, for a part that is called alone."""
    with worded():
        return Batch(_core.TextColumn(answers, "answers", False), **known)


def _numbers(name: str, values: Any) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RewardError(f"{name}: expected numbers") from None
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        row = int(np.argmin(np.isfinite(numbers) & (numbers >= 0)))
        raise RewardError(f"{name}[{row}]: expected a number of at least 0, not {numbers[row]:g}")
    return numbers


def _missing(name: str, needed_for: str) -> NoReturn:
    raise RewardError(f"{name} are missing; {needed_for} needs them")
