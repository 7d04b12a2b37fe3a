"""Trials whose answers contain reasoning of a model: how many there are, and the trials without it."""

from __future__ import annotations

import json

from ..files.journal import json_line
from ..native import _core
from ..scoring.reasoning_text import closing_tags_in, without_reasoning
from .trials import Trials


def reasoning_notes(trials: Trials) -> list[str]:
    """A sentence if answers contain reasoning."""
    n_reasoning = sum(map(closing_tags_in, trials.lines.answers.tolist()))
    if not n_reasoning:
        return []
    return [
        f"{trials.path}: {n_reasoning:,} of {len(trials):,} answers contain reasoning, which is scored with them; "
        "'pfgen-fast score --reasoning strip --output FOLDER' scores the answers alone"
    ]


def stripped(trials: Trials) -> Trials:
    """Trials whose answers lack the reasoning."""
    rows = (trials.trial(row) for row in range(len(trials)))
    lines = [json_line({**row, "answer": without_reasoning(row["answer"])}) for row in rows]
    numbers = tuple(map(trials.line_number, range(len(trials))))
    return Trials(trials.path, trials.input_hash, _core.TrialLines(b"".join(lines), _unreadable), numbers)


def _unreadable(index: int, line: bytes) -> tuple[str, str]:
    trial = json.loads(line)  # such as one with a lone surrogate
    return trial["question"], trial["answer"]
