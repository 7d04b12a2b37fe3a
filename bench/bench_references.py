"""Metrics of answers with references in their rows, beside the Python libraries that define them; all pairs of texts.

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


def _plain(name: str) -> Metric:
    plain = import_module("rewards.references.plain_bleu")
    tokenize = import_module("sacrebleu.metrics.bleu")._get_tokenizer("13a")()  # a new one, because it keeps tokens
    rouge = _rouge("rougeL", None)

    def score(answer: str, references: list[str]) -> float:
        bleu = plain.nmt_bleu(tokenize(answer).split(), [tokenize(text).split() for text in references])
        return float(bleu if name == "nmt_bleu" else plain.harmonic_mean(bleu, rouge(answer, references)))

    return score


_LIBRARIES: dict[tuple[str, str], Callable[[], Metric]] = {
    ("bleu", "English"): partial(_sacrebleu, "BLEU", effective_order=True),
    ("bleu", "Japanese"): partial(_sacrebleu, "BLEU", effective_order=True, tokenize="char"),
    ("nmt_bleu", "English"): partial(_plain, "nmt_bleu"),
    ("bleu_rouge_f1", "English"): partial(_plain, "bleu_rouge_f1"),
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


@pytest.mark.parametrize("n", [8, 64, 256, 1024])
def test_all_pairs(measure: Measure, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """chrF of all pairs of the samples of one prompt, beside fastChrF (pairwise and aggregate) and sacrebleu."""
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    fastchrf, scorer = import_module("fastchrf"), ReferenceScorer("chrf", threads=1)
    texts = _samples(measure.amount(n, 8))
    some, few = texts[:256], texts[:16]
    of_pairs = partial(fastchrf.pairwise_chrf, [some], [some])
    of_library = partial(_score_pairs, _LIBRARIES["chrf", "English"], few)
    matrix = scorer.matrix(texts)["chrf"]
    agree("sacrebleu", matrix[: len(few), : len(few)].tolist(), of_library())
    agree("fastChrF", bool(abs(matrix[: len(some), : len(some)] - of_pairs()[0]).max() < 1e-3), True)  # 32 bits
    others = {
        "fastChrF": of_pairs,
        "aggregate": partial(fastchrf.aggregate_chrf, [texts], [texts]),
        "sacrebleu": of_library,
    }
    own, pairwise, aggregate, library = measure.times(_ROUNDS, partial(scorer.mbr, texts), others)
    what = f"references: chrf of all pairs, {n} samples"
    rate = len(texts) ** 2 / own
    measure.row(what, rate, "pairs/s", pairwise / len(some) ** 2 * rate, "fastChrF, pairwise")
    measure.row(f"{what}: expected utility", 1000 * own, "ms", aggregate / own, "fastChrF, aggregate")
    measure.row(f"{what}: one core", rate, "pairs/s", library / len(few) ** 2 * rate, "sacrebleu")


def _samples(n: int) -> list[str]:
    """Texts of 25 words, most of which they share."""
    rng = random.Random(n)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 8))) for _ in range(60)]
    usual = rng.choices(words, k=25)
    return [" ".join(word if rng.random() < 0.7 else rng.choice(words) for word in usual) for _ in range(n)]


def _score_pairs(library: Callable[[], Metric], texts: list[str]) -> list[list[float]]:
    metric = library()
    return [[metric(text, [reference]) for reference in texts] for text in texts]
