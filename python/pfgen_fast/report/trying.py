"""What a page needs to score answers by itself: the core as WebAssembly, a compiled suite, and typical references."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from ..base.errors import PfgenError
from ..scoring.scorer import Scorer
from ..scoring.tinting import BOUNDS
from ..suite.suite import Suite
from .answers import packed

MODULE = Path(__file__).parents[1] / "data" / "wasm" / "pfgen.wasm"
"""The module, beside its JavaScript as a classic script that defines `pfgen`; `make wasm` builds both."""

FIELD = ("../../data/wasm/pfgen.js", "try/words.js", "try/field.js")  # after unpacking.js and marks.js

MAX_INDEX = 2_000_000  # bytes of the index in a page in one file


@cache
def packed_core(suite: Suite, *, is_one_file: bool = False, is_live: bool = False) -> list[str]:
    """What pages need to score answers, packed: bounds of marks and reference answers, the index, and the module."""
    if not MODULE.is_file():
        raise PfgenError("this build of pfgen-fast has no WebAssembly module; 'make wasm' in its sources builds it")
    index = (scorer := Scorer(suite)).to_bytes()
    if (is_large := len(index) > MAX_INDEX) and is_one_file:
        size = f"{len(index) / 1e6:.0f} MB, more than {MAX_INDEX // 1_000_000} MB"
        raise PfgenError(f"{suite.title}: the index has {size}; write a directory, or use --serve")
    head = {"bounds": BOUNDS, "questions": typical_references(scorer)}
    level = int(not is_live) if is_large else 6  # to compress a large index takes seconds
    return [packed(head), packed(index, level), packed(MODULE.read_bytes())]


def typical_references(scorer: Scorer) -> dict[str, tuple[str, list[int]]]:
    """By question, the reference answer with the median score, and all their scores in millionths, sorted."""
    typical = {}
    for question in scorer.suite:
        texts = [text for group in question.answers.values() for text in group]
        scores = np.rint(1e6 * scorer.score(question.question_id, texts).average).astype(int)
        median = np.argsort(scores, kind="stable")[len(texts) // 2]
        typical[question.question_id] = texts[median], sorted(scores.tolist())
    return typical
