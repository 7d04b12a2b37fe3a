"""`NgramSampler`: samples millions of answers natively from the n-grams of a suite's references; the engine `ngram`.

Rules: docs/ngram_engine.md. An answer depends only on the reference answers, the options, the question and the seed.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import EngineError, PfgenError, SuiteError
from ..base.native import _core, checked_threads, whole_number
from ..scoring.reply_text import Mode, first_part
from ..suite.questions import Question
from ..suite.suite import Suite
from ..suite.suite_reading import check_suite
from .engines.engine import Engine
from .prompts import Sampling, Task
from .protocol import RawReply

ORDER = 5
"""The default order of n-grams."""


class NgramSampler:
    """Samples answers to the questions of one suite; thread-safe. A question's n-grams are counted at its first use.

    Args:
        suite: The suite, or any argument of `Suite.load`.
        order: Code points per n-gram: the next code point depends on the `order - 1` code points before it.
        temperature: Counts are raised to `1 / temperature`; 0 always takes the most frequent continuation.
        top_p: Keep only the most frequent continuations that together reach this share.
        top_k: Keep only this number of most frequent continuations; by default all.
        sets: Names of the reference sets from which answers are sampled; by default all sets.
        max_code_points: The maximum length of an answer; longer answers are cut off.
        threads: Number of threads that sample a batch of answers; by default one per core.

    Raises:
        SuiteError: The suite violates the rules, or has no set of this name.
        ValueError: An option is out of range.

    Example:
        >>> sampler = NgramSampler("mini", order=200)
        >>> answers = sampler.sample("Q07", range(1000))
        >>> set(answers) <= {answer for of_set in sampler.suite["Q07"].answers.values() for answer in of_set}
        True
    """

    def __init__(
        self,
        suite: Suite | str | Path,
        *,
        order: int = ORDER,
        temperature: float = 1.0,
        top_p: float = 1.0,
        top_k: int | None = None,
        sets: Sequence[str] | None = None,
        max_code_points: int = 300,
        threads: int | None = None,
    ) -> None:
        self._threads = checked_threads(threads)
        self._order = whole_number("order", order)
        self._temperature = _number(
            "temperature", temperature, lambda value: value == 0 or 0.001 <= value <= 1000, "0, or 0.001 to 1000"
        )
        self._top_p = _number("top_p", top_p, lambda value: 0 < value <= 1, "a number above 0 and up to 1")
        self._top_k = 0 if top_k is None else whole_number("top_k", top_k)
        self._max_code_points = whole_number("max_code_points", max_code_points)
        self.suite = suite if isinstance(suite, Suite) else Suite.load(suite)
        if not self.suite.is_checked:
            check_suite(self.suite.name, self.suite.questions)
        self.sets = self.suite.set_names if sets is None else _known_sets(self.suite, sets)
        self._cores: dict[str, _core.NgramSampler] = {}

    def sample(self, question: str, seeds: Iterable[int] | NDArray[Any]) -> list[str]:
        """Samples one answer per seed, in the order of the seeds.

        Args:
            question: ID or text of a question.
            seeds: Integers from 0 to 2**64 - 1: a range, a list or a NumPy array.

        Raises:
            TrialsError: The question is unknown.
            SuiteError: The question has none of the selected sets.
            ValueError: A seed is out of range.

        Example:
            >>> NgramSampler("mini", order=200, temperature=0).sample("Q08", [1, 2])[0][:12]
            'A microwave '
        """
        asked = self.suite[question]
        core = self._cores.get(asked.question_id)
        if core is None:  # two threads may do this at the same time, because they create equal samplers
            core = self._cores[asked.question_id] = self._counted(asked)
        return core.sample(_seeds(seeds), self._max_code_points, self._threads)

    def _counted(self, question: Question) -> _core.NgramSampler:
        answers = [question.answers[name] for name in self.sets if name in question.answers]
        if not answers:
            raise SuiteError(
                f"suite {self.suite.name}, question {question.question_id}: none of the sets "
                f"{', '.join(map(repr, self.sets))}; there are {', '.join(map(repr, question.answers))}"
            )
        digest = hashlib.sha1(question.question.encode("utf-8", "surrogatepass")).hexdigest()
        return _core.NgramSampler(
            answers, self._order, self._temperature, self._top_p, self._top_k, stream=int(digest[:16], 16)
        )


def _known_sets(suite: Suite, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not names:
        raise ValueError(f"sets: expected a list of names of reference sets, not {names!r}")
    for name in names:
        if name not in suite.set_names:
            raise SuiteError(f"suite {suite.name}: no set {name!r}; there are {', '.join(map(repr, suite.set_names))}")
    # Each set once, in the order of the suite, so that the order of names has no effect.
    return tuple(name for name in suite.set_names if name in names)


def _number(name: str, value: Any, is_valid: Callable[[Any], bool], expected: str) -> float:
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not is_valid(value):
        raise ValueError(f"{name}: expected {expected}, not {value!r}")
    return float(value)


def _seeds(seeds: Iterable[int] | NDArray[Any]) -> NDArray[np.uint64]:
    if isinstance(seeds, np.ndarray) and seeds.ndim == 1 and seeds.dtype.kind in "ui" and not (seeds < 0).any():
        return np.ascontiguousarray(seeds, np.uint64)
    return np.array([whole_number("seeds", seed, least=0, most=2**64 - 1) for seed in seeds], np.uint64)


class NgramEngine(Engine):
    """Samples answers from a character n-gram model of each question's reference answers."""

    name = "ngram"

    def __init__(
        self,
        *,
        suite: Suite,
        model: str,
        mode: Mode,
        sampling: Sampling,
        order: int = ORDER,
        sets: Sequence[str] | None = None,
    ) -> None:
        try:
            self._sampler = NgramSampler(
                suite,
                order=order,
                temperature=sampling.temperature,
                top_p=1.0 if sampling.top_p is None else sampling.top_p,
                top_k=sampling.top_k,
                sets=sets,
                max_code_points=sampling.max_tokens,
            )
        except PfgenError:
            raise
        except ValueError as error:
            raise EngineError(f"the engine ngram: {error}") from None
        self._stop = sampling.stop
        unused = dict.fromkeys(("context", "instruction", "instructions", "num_examples", "prefix"))
        self.parameters: Mapping[str, Any] = {
            **unused,
            "order": order,
            "sets": None if sets is None else list(self._sampler.sets),
        }

    async def answers(self, tasks: Sequence[Task]) -> AsyncGenerator[tuple[int, RawReply | None], None]:
        """Yields an answer to each task, question by question."""
        by_question: dict[str, list[int]] = {}
        for index, task in enumerate(tasks):
            by_question.setdefault(task.question, []).append(index)
        for question, indices in by_question.items():
            seeds = [tasks[index].seed for index in indices]
            drawn = await asyncio.to_thread(self._sampler.sample, question, seeds)
            for index, answer in zip(indices, drawn, strict=True):
                yield index, RawReply(first_part(answer, self._stop))
