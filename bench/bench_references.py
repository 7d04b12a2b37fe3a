"""Metrics of answers with references in their rows, beside the Python libraries that define them.

On one thread, as processor time. Each side takes five references of 100 characters; the results of both are compared
first.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from pfgen_fast import ReferenceScorer

from .measuring import Measure, agree

pytestmark = pytest.mark.benchmark(group="references", timer=time.process_time)
_ROUNDS, _N_REFERENCES, _LENGTH, _GROUP = 5, 5, 100, 8
_N_ROWS, _N_OF_LIBRARY = 8_000, 400

Rows = tuple[list[str], list[list[str]]]
Metric = Callable[[str, list[str]], float]


def _sacrebleu(name: str, **settings: Any) -> Metric:
    metric = getattr(import_module("sacrebleu.metrics"), name)(**settings)
    return lambda answer, references: metric.sentence_score(answer, references).score


def _rouge(name: str, tokenize: Callable[[str], list[str]] | None) -> Metric:
    tokenizer = None if tokenize is None else type("Tokenizer", (), {"tokenize": staticmethod(tokenize)})()
    scorer = import_module("rouge_score.rouge_scorer").RougeScorer([name], tokenizer=tokenizer)
    return lambda answer, references: scorer.score_multi(references, answer)[name].fmeasure


_LIBRARIES: dict[tuple[str, str], Callable[[], Metric]] = {
    ("bleu", "English"): partial(_sacrebleu, "BLEU", effective_order=True),
    ("bleu", "Japanese"): partial(_sacrebleu, "BLEU", effective_order=True, tokenize="char"),
    ("chrf", "English"): partial(_sacrebleu, "CHRF"),
    ("chrf", "Japanese"): partial(_sacrebleu, "CHRF"),
    ("chrf++", "English"): partial(_sacrebleu, "CHRF", word_order=2),
    ("rouge_2", "English"): partial(_rouge, "rouge2", None),
    ("rouge_l", "English"): partial(_rouge, "rougeL", None),
    ("rouge_l", "Japanese"): partial(_rouge, "rougeL", list),
    ("rouge_lsum", "English"): partial(_rouge, "rougeLsum", None),
}


def _rows(language: str, n: int, group: int) -> Rows:
    """Random texts of a small vocabulary; `group` answers have one list of references."""
    rng = random.Random(f"{language}{group}")
    if language == "English":
        words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 8))) + " " for _ in range(300)]
    else:
        words = [chr(rng.randrange(0x3042, 0x3093)) for _ in range(60)] + [
            chr(rng.randrange(0x4E00, 0x5000)) for _ in range(300)
        ]

    def text() -> str:
        return "".join(rng.choices(words, k=_LENGTH))[:_LENGTH]

    lists = [[text() for _ in range(_N_REFERENCES)] for _ in range(-(-n // group))]
    return [text() for _ in range(n)], [lists[row // group] for row in range(n)]


@pytest.mark.parametrize("group", [1, _GROUP], ids=["fresh", "groups"])
@pytest.mark.parametrize(("metric", "language"), _LIBRARIES)
def test_a_metric(measure: Measure, metric: str, language: str, group: int) -> None:
    """Rows per second, and how many times those of the library."""
    library = _LIBRARIES[metric, language]
    scorer = ReferenceScorer(metric, tokenize="char" if language == "Japanese" else None, threads=1)
    answers, references = _rows(language, measure.amount(_N_ROWS, 4 * _GROUP), group)
    some = measure.amount(_N_OF_LIBRARY, 2 * _GROUP)
    score_by_library = partial(_score_each, library, answers[:some], references[:some])
    agree(metric, scorer.score(answers, references)[metric][:some].tolist(), score_by_library())
    own, other = measure.times(_ROUNDS, partial(scorer.score, answers, references), {"library": score_by_library})
    what = f"references: {metric}, {language}, {_N_REFERENCES} references of {_LENGTH} characters"
    rows = "each row its own" if group == 1 else f"groups of {group} rows"
    measure.row(f"{what}, {rows}", len(answers) / own, "rows/s", other / some / (own / len(answers)), "the library")


def _score_each(library: Callable[[], Metric], answers: list[str], references: list[list[str]]) -> list[float]:
    metric = library()  # a new one each time, because sacrebleu keeps the tokens of texts
    return [metric(answer, list(row_references)) for answer, row_references in zip(answers, references, strict=True)]
