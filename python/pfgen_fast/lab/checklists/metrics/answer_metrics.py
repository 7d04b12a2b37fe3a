"""Classic metrics of the answers of runs, answer by answer, and their means by area and by wanted length.

Metrics with references use the `reference` of a task; METEOR is for English only. A metric that cannot be computed for
an answer is None, and means leave it out. Values are shares of 1, except perplexity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from ....base.errors import ChecklistError
from ....base.untrusted_text import unknown_name
from ..checklist_runs import Run
from ..checklist_suite import ChecklistSuite, OfModel, keys_in_order
from ..judgements import AnswerKey
from ..line_files import OnFault
from ..tasks import Task
from ..words import COUNTERS, Counter, counter_name, counter_there, without, words
from .token_metrics import COMPARING, MAX_ORDER, BleuCounts, Meteor, TokenMetrics

Perplexities = Callable[[str], float | None]

METRICS = ("repetition", "distinct", "bleu", "rouge_l", "meteor", "ppl")
"""The metrics by the names of options; in tables, the names of n-gram metrics contain their order."""

_WITH_REFERENCES = (*COMPARING, "meteor")
_USUAL = METRICS[:-1]


@dataclass(frozen=True)
class MetricSet:
    """Which metrics are computed, and how; see `open_metrics`."""

    suite: ChecklistSuite
    metrics: tuple[str, ...]
    tokens: Counter
    n: int = MAX_ORDER
    meteor: Meteor | None = None
    perplexity: Perplexities | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def counter(self) -> Counter:
        """How words are counted, for METEOR and for the numbers of words."""
        return counter_there(self.suite.words)

    @cached_property
    def token_metrics(self) -> TokenMetrics:
        """The metrics of tokens."""
        return TokenMetrics(self.metrics, lambda text: words(text, self.tokens), self.n)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics in tables."""
        return tuple(self.name_of(metric) for metric in self.metrics)

    def name_of(self, metric: str) -> str:
        """The name of a metric in tables."""
        if metric == "meteor" and self.meteor is not None:
            return self.meteor.name
        return {"bleu": f"bleu_{MAX_ORDER}"}.get(metric, f"{metric}_{self.n}" if metric in METRICS[:2] else metric)

    @property
    def signature(self) -> str:
        """Everything that the values depend on, besides the answers."""
        from .... import __version__

        with_meteor = f"|meteor:nltk {self.meteor.version}" if self.meteor else ""
        perplexity = getattr(self.perplexity, "signature", None)
        return (
            f"metrics:{','.join(self.names)}|tokens:{counter_name(self.tokens)}{with_meteor}"
            f"{f'|{perplexity}' if perplexity else ''}|suite:{self.suite.hash[:12]}|pfgen-fast:{__version__}"
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """The metrics of an answer."""

    key: AnswerKey
    task: Task
    words: int
    values: Mapping[str, float | None]
    bleu: BleuCounts | None = None


@dataclass(frozen=True)
class Mean:
    """The mean of a metric, and the number of answers that have it."""

    mean: float | None
    n: int


@dataclass(frozen=True)
class MeanMetrics:
    """The mean metrics of some answers of a model."""

    n: int
    words: float | None
    metrics: Mapping[str, Mean]
    corpus_bleu: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The means as JSON values."""
        metrics = {name: {"mean": figure.mean, "n": figure.n} for name, figure in self.metrics.items()}
        corpus = {} if self.corpus_bleu is None else {f"corpus_bleu_{MAX_ORDER}": self.corpus_bleu}
        return {"n": self.n, "words": self.words, **metrics, **corpus}


ModelMetrics = OfModel[Measured, MeanMetrics]
"""The mean metrics of a model."""


def open_metrics(
    suite: ChecklistSuite,
    *,
    metrics: Sequence[str] | None = None,
    tokens: str | None = None,
    n: int = MAX_ORDER,
    wordnet: Path | None = None,
    perplexity: Perplexities | None = None,
) -> MetricSet:
    """Chooses and prepares metrics."""
    for metric in metrics or ():
        if metric not in METRICS:
            raise ChecklistError(unknown_name("metric", metric, METRICS))
    if tokens is not None and tokens not in COUNTERS:
        raise ChecklistError(unknown_name("kind of tokens", tokens, COUNTERS))
    counter: Counter = tokens if tokens is not None else counter_there(suite.words)
    notes = [] if tokens or counter == suite.words else [without(suite.words, counter)]
    chosen: list[str] = []
    meteor = None
    for metric in dict.fromkeys(metrics or _USUAL):
        try:
            _check_metric(metric, suite, perplexity)
            if metric == "meteor":
                meteor = Meteor(wordnet)
        except ChecklistError as error:
            if metrics is not None or (metric == "meteor" and wordnet is not None):
                raise
            notes.append(str(error))
        else:
            chosen.append(metric)
    if perplexity is not None and "ppl" not in chosen:
        chosen.append("ppl")
    return MetricSet(suite, tuple(chosen), counter, n, meteor, perplexity, tuple(dict.fromkeys(notes)))


def _check_metric(metric: str, suite: ChecklistSuite, perplexity: Perplexities | None) -> None:
    if metric in _WITH_REFERENCES and not any(task.reference for task in suite.tasks):
        raise ChecklistError("no task of the suite has a reference, which BLEU, ROUGE-L and METEOR need")
    if metric == "meteor" and suite.language.partition("-")[0] != "en":
        raise ChecklistError(f"METEOR is for English only; the suite's language is {suite.language}")
    if metric == "ppl" and perplexity is None:
        raise ChecklistError("perplexity needs a model: expected --perplexity MODEL")


def measure(
    run: Run,
    measures: MetricSet,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    on_fault: OnFault | None = None,
) -> list[Measured]:
    """The metrics of the answers of a run, in the order of the suite."""
    suite = measures.suite
    answers = run.answers(suite, on_fault=on_fault)
    if not answers:
        raise ChecklistError(f"{run.folder}: has no answers; expected answers.jsonl, which may be compressed")
    split = lru_cache(maxsize=None)(partial(words, counter=measures.counter))
    rows = [(task, key, answers[key].response) for task, key in keys_in_order(suite, answers)]
    columns, counts = measures.token_metrics.score([text for *_, text in rows], [task.reference for task, *_ in rows])
    meteor, perplexity = measures.meteor, measures.perplexity
    measured = []
    for row, (task, key, text) in enumerate(rows):
        listed = split(text)
        values = {name: column[row] for name, column in columns.items()}
        values["meteor"] = meteor(listed, [split(task.reference)]) if meteor and task.reference else None
        values["ppl"] = perplexity(text) if perplexity else None
        named = {measures.name_of(metric): values[metric] for metric in measures.metrics}
        measured.append(Measured(key, task, len(listed), named, counts[row]))
        if on_progress is not None:
            on_progress(len(measured), len(answers))
    return measured


def model_metrics(model: str, answers: Sequence[Measured], measures: MetricSet) -> ModelMetrics:
    """The mean metrics of a model; parts without any answer are left out."""
    return OfModel.of(model, answers, measures.suite, lambda part: _means(part, measures))


def _means(answers: Sequence[Measured], measures: MetricSet) -> MeanMetrics:
    """The mean of each metric over the answers that have it."""
    return MeanMetrics(
        len(answers),
        _mean([row.words for row in answers]).mean,
        {name: _mean([value for row in answers if (value := row.values[name]) is not None]) for name in measures.names},
        measures.token_metrics.corpus_bleu(row.bleu for row in answers if row.bleu is not None),
    )


def _mean(values: Sequence[float]) -> Mean:
    return Mean(math.fsum(values) / len(values) if values else None, len(values))
