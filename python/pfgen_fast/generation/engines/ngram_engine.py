"""The engine `ngram`: samples answers from the n-grams of the suite's own reference answers, without a model.

Prompts do not affect answers, which depend only on the question and the seed. Rules: docs/ngram_engine.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from ...base.errors import EngineError, PfgenError
from ...scoring.reply_text import Mode, first_part
from ...suite.suite import Suite
from ..ngram_sampler import ORDER, NgramSampler
from ..prompts import Task
from . import Sampling


class NgramEngine:
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

    async def answers(self, tasks: Sequence[Task]) -> AsyncGenerator[tuple[int, str], None]:
        """Yields an answer to each task, question by question."""
        by_question: dict[str, list[int]] = {}
        for index, task in enumerate(tasks):
            by_question.setdefault(task.question, []).append(index)
        for question, indices in by_question.items():
            seeds = [tasks[index].seed for index in indices]
            drawn = await asyncio.to_thread(self._sampler.sample, question, seeds)
            for index, answer in zip(indices, drawn, strict=True):
                yield index, first_part(answer, self._stop)

    async def close(self) -> None:
        """Does nothing; there are no resources to release."""
