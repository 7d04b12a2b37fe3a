"""What a page needs to score answers by itself: the core as WebAssembly, a compiled suite, and typical references."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import PfgenError
from ..runs.items.answer_means import ANSWER_NAMES, MODEL_NAMES, QUESTION_NAMES
from ..scoring.scorer import Scorer
from ..scoring.tinting import BOUNDS, LEVELS
from ..suite.suite import Suite
from .answers import packed

MODULE = Path(__file__).parents[1] / "data" / "wasm" / "pfgen.wasm"
"""The module, beside its JavaScript as a classic script that defines `pfgen`; `make wasm` builds both."""

FIELD = ("../../data/wasm/pfgen.js", "try/words.js", "try/field.js")
"""The scripts of a field that scores answers; they follow unpacking.js and marks.js."""

MAX_INDEX = 2_000_000
"""The maximum size in bytes of the index in a page in one file."""


@cache
def packed_core(suite: Suite, *, is_one_file: bool = False) -> list[str]:
    """What pages need to score answers, packed: the suite's `head_of`, its index, and the module."""
    if not MODULE.is_file():
        raise PfgenError("this build of pfgen-fast has no WebAssembly module; 'make wasm' in its sources builds it")
    index = (scorer := Scorer(suite)).to_bytes()
    if is_one_file and len(index) > MAX_INDEX:
        size = f"{len(index) / 1e6:.0f} MB, more than {MAX_INDEX // 1_000_000} MB"
        raise PfgenError(f"{suite.title}: the index has {size}; write a directory, or use --serve")
    level = 6 if len(index) <= MAX_INDEX else 1
    return [packed(head_of(scorer)), packed(index, level), packed(MODULE.read_bytes())]


def head_of(scorer: Scorer) -> dict[str, Any]:
    """What a page shows beside its scores: how answers are marked, and the reference answers' scores in millionths.

    The typical reference answer of a question is the one whose score is the median.
    """
    questions = {}
    for question in scorer.suite:
        texts = [text for group in question.answers.values() for text in group]
        scores = scorer.score(question.question_id, texts).average
        order = np.argsort(scores, kind="stable")
        sorted_scores = np.rint(1e6 * scores[order]).astype(int).tolist()
        questions[question.question_id] = texts[order[len(order) // 2]], sorted_scores
    return {
        "title": scorer.suite.title,
        "bounds": BOUNDS,
        "levels": LEVELS,
        "names": {"question": QUESTION_NAMES, "answer": ANSWER_NAMES, "model": MODEL_NAMES},
        "questions": questions,
    }
