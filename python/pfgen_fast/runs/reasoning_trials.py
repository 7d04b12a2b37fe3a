"""Counts the answers of a run that contain a model's reasoning, and removes the reasoning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..files.journal import json_line
from ..native import _core
from ..scoring.reasoning_text import CLOSING_TAGS, divided_text
from .trials import Trials


def reasoning_notes(trials: Trials) -> list[str]:
    """Returns one sentence if answers contain reasoning; otherwise the list is empty."""
    n_reasoning = trials.lines.answers.n_with_any(CLOSING_TAGS)
    if not n_reasoning:
        return []
    return [
        f"{trials.path}: {n_reasoning:,} of {len(trials):,} answers contain reasoning, which is scored too; "
        "'pfgen-fast score --reasoning strip --output FOLDER' scores the answers without it"
    ]


def stripped(trials: Trials, config: Mapping[str, Any] | None) -> Trials:
    """Returns the trials without the reasoning in their answers."""
    rows = (trials.trial(row) for row in range(len(trials)))
    tags = recorded_tags(config or {}) or []
    lines = [json_line({**row, "answer": divided_text(row["answer"], tags).answer}) for row in rows]
    numbers = tuple(map(trials.line_number, range(len(trials))))
    return Trials(trials.path, trials.input_hash, _core.TrialLines(b"".join(lines), _unreadable), numbers)


def recorded_tags(config: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """The additional tags that a config.json records; None if they are not a list of pairs of texts."""
    pairs = config.get("reasoning_tags") or []
    is_valid = isinstance(pairs, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(tag, str) and tag for tag in pair)
        for pair in pairs
    )
    return [(opening, closing) for opening, closing in pairs] if is_valid else None


def _unreadable(index: int, line: bytes) -> tuple[str, str]:
    trial = json.loads(line)  # such as one with a lone surrogate
    return trial["question"], trial["answer"]
