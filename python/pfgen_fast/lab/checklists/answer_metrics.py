"""Classic metrics of the answers of runs, answer by answer, and their means by area and by wanted length.

Metrics with references use the `reference` of a task; METEOR is for English only. A metric that cannot be computed for
an answer is None, and means leave it out. Values are shares of 1, except perplexity.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...base.errors import ChecklistError, optional
from ...base.table import Column, Table, figure
from ...base.untrusted_text import in_one_line, unknown_name
from ...generation.engines.transformers import checked_device, loaded_model
from ...rewards.references.reference_scorer import ReferenceScorer
from .checklist_runs import Run
from .checklist_suite import ChecklistSuite, OfModel, keys_in_order
from .line_files import OnFault
from .tasks import AnswerKey, ChecklistTask
from .words import COUNTERS, Counter, counter_name, counter_there, without, words

MAX_ORDER = 4
"""The longest n-grams of BLEU."""

COMPARING = ("bleu", "rouge_l")
"""The metrics that compare with a reference."""
_OF_ONE_TEXT = {"repetition": "rep", "distinct": "distinct"}

BleuCounts = tuple[int, ...]
"""The counts of an answer that determine BLEU; the counts of a corpus are the sums of the counts of its answers."""


def _comparing(metrics: Sequence[str], tokens: Callable[[str], Sequence[Any]]) -> ReferenceScorer:
    return ReferenceScorer(metrics, tokenize=tokens, smooth="none", effective_order=False, max_order=MAX_ORDER)


def repetition(tokens: Sequence[Any]) -> float | None:
    """Repetition-4 of one text, given its tokens."""
    (value,) = ReferenceScorer(["rep_4"], tokenize=lambda text: tokens).score([""])["rep_4"].tolist()
    return _or_none(value)


def _or_none(value: float) -> float | None:
    return value if value == value else None


class Meteor:
    """METEOR as NLTK computes it (alpha 0.9, beta 3, gamma 0.5), for English only.

    Words match if they are equal or have the same Porter stem. With WordNet's files, words also match if their stems
    are synonyms, as in NLTK.
    """

    def __init__(self, wordnet: Path | None = None) -> None:
        self._score: Callable[..., float] = _nltk("nltk.translate.meteor_score").single_meteor_score
        # Without a cache, the stemmer would take most of the time.
        self._stemmer = SimpleNamespace(stem=cache(_nltk("nltk.stem.porter").PorterStemmer().stem))
        self._wordnet = SimpleNamespace(synsets=lambda word: ()) if wordnet is None else _wordnet(wordnet)
        self.name = "meteor" if wordnet else "meteor (no synonyms)"
        self.version = str(_nltk("nltk").__version__)

    def __call__(self, words: Sequence[str], references: Iterable[Sequence[str]]) -> float:
        """The score against the best of the references, 0 to 1."""
        return max(
            self._score(reference, words, stemmer=self._stemmer, wordnet=self._wordnet) for reference in references
        )


def _wordnet(folder: Path) -> Any:
    """NLTK's reader of WordNet's files; NLTK opens files only in the directories of `nltk.data.path`."""
    expected = "expected the folder corpora/wordnet of NLTK's data, with lexnames and index.noun"
    for name in ("lexnames", "index.noun"):
        if not (folder / name).is_file():
            raise ChecklistError(f"{folder}: has no file {name}; {expected}")
    reader, known = _nltk("nltk.corpus.reader.wordnet").WordNetCorpusReader, _nltk("nltk.data").path
    root = folder.resolve()
    data = root.parents[1:2] if root.parent.name == "corpora" else ()
    known += [str(path) for path in (root, *data) if str(path) not in known]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about other languages than English
            return reader(str(root), omw_reader=None)
    except Exception as error:  # NLTK's reader may raise any exception for other files
        raise ChecklistError(f"{folder}: cannot be read as WordNet ({type(error).__name__}); {expected}") from None


def _nltk(module: str) -> Any:
    return optional(module, extra="metrics", needed_for="METEOR", error=ChecklistError)


WINDOW = 512
"""The number of tokens of a piece in the published figures; GPT-2 would allow 1,024."""


class Perplexity:
    """Computes perplexities with a model that `AutoModelForCausalLM` loads."""

    def __init__(self, model: str, *, device: str | None = None, dtype: str = "float32", window: int = WINDOW) -> None:
        self._device = checked_device(device, "perplexity")
        self._tokenizer, self._model = loaded_model(model, dtype, self._device)
        room = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        self._window = window if room is None else min(window, room)
        self.signature = f"ppl:{in_one_line(model, 200)}|{dtype}|{self._device}|window={self._window}"

    def __call__(self, text: str) -> float | None:
        """The perplexity of a text; None without a piece of two tokens, or if it overflows."""
        import torch

        encodable = text.encode("utf-8", "replace").decode()  # tokenizers refuse lone surrogates
        tokens = self._tokenizer(encodable, add_special_tokens=False, verbose=False)["input_ids"]
        losses = []
        with torch.inference_mode():
            for start in range(0, len(tokens), self._window):
                piece: Any = torch.tensor([tokens[start : start + self._window]], device=self._device)
                if piece.shape[1] > 1:
                    logits = self._model(piece).logits[0, :-1].float()
                    losses.append(float(torch.nn.functional.cross_entropy(logits, piece[0, 1:])))
        try:
            return math.fsum(map(math.exp, losses)) / len(losses) if losses else None
        except OverflowError:
            return None


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

    def corpus_bleu(self, counts: Iterable[BleuCounts | None]) -> float | None:
        """BLEU of several answers together, 0 to 1, from their counts; None without any answer."""
        rows = np.array([row for row in counts if row is not None], np.int64)
        bleu = _comparing(["bleu"], partial(words, counter=self.tokens))
        return min(bleu.of_corpus("bleu", rows.sum(axis=0)) / 100, 1.0) if len(rows) else None

    def of_tokens(
        self, texts: Sequence[str], references: Sequence[str | None]
    ) -> tuple[Mapping[str, list[float | None]], list[BleuCounts | None]]:
        """The metrics on tokens of each text by name, and its counts for BLEU; some texts have no reference."""
        tokens = lru_cache(maxsize=None)(partial(words, counter=self.tokens))
        columns: dict[str, list[float | None]] = {}
        alone = {name: f"{native}_{self.n}" for name, native in _OF_ONE_TEXT.items() if name in self.metrics}
        if alone:
            values = ReferenceScorer(list(alone.values()), tokenize=tokens).score(texts)
            columns |= {name: [_or_none(value) for value in values[native].tolist()] for name, native in alone.items()}
        counts: list[BleuCounts | None] = [None] * len(texts)
        compared = [name for name in COMPARING if name in self.metrics]
        rows = [row for row, reference in enumerate(references) if reference]
        if compared:
            listed = [[str(references[row])] for row in rows]
            scores = _comparing(compared, tokens).score([texts[row] for row in rows], listed)
            for name in compared:
                columns[name] = [None] * len(texts)
                scale = 100 if name == "bleu" else 1
                for row, value in zip(rows, scores[name].tolist(), strict=True):
                    columns[name][row] = min(value / scale, 1.0)  # sacrebleu's best score is slightly above 100
            if "bleu" in compared:
                for row, row_counts in zip(rows, scores.counts("bleu").tolist(), strict=True):
                    counts[row] = tuple(row_counts)
        return columns, counts

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
        from ... import __version__

        with_meteor = f"|meteor:nltk {self.meteor.version}" if self.meteor else ""
        perplexity = getattr(self.perplexity, "signature", None)
        return (
            f"metrics:{','.join(self.names)}|tokens:{counter_name(self.tokens)}{with_meteor}"
            f"{f'|{perplexity}' if perplexity else ''}|suite:{self.suite.hash[:12]}|pfgen-fast:{__version__}"
        )


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """The metrics of an answer."""

    key: AnswerKey
    task: ChecklistTask
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


ModelMetrics = OfModel[MeasuredAnswer, MeanMetrics]
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
                notes += [] if wordnet else ["meteor without WordNet: words match if they or their stems are equal"]
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
) -> list[MeasuredAnswer]:
    """The metrics of the answers of a run, in the order of the suite."""
    suite = measures.suite
    answers = run.answers(suite, on_fault=on_fault)
    if not answers:
        raise ChecklistError(f"{run.folder}: has no answers; expected answers.jsonl, which may be compressed")
    split = lru_cache(maxsize=None)(partial(words, counter=measures.counter))
    rows = [(task, key, answers[key].response) for task, key in keys_in_order(suite, answers)]
    columns, counts = measures.of_tokens([text for *_, text in rows], [task.reference for task, *_ in rows])
    meteor, perplexity = measures.meteor, measures.perplexity
    measured = []
    for row, (task, key, text) in enumerate(rows):
        listed = split(text)
        values = {name: column[row] for name, column in columns.items()}
        values["meteor"] = meteor(listed, [split(task.reference)]) if meteor and task.reference else None
        values["ppl"] = perplexity(text) if perplexity else None
        named = {measures.name_of(metric): values[metric] for metric in measures.metrics}
        measured.append(MeasuredAnswer(key, task, len(listed), named, counts[row]))
        if on_progress is not None:
            on_progress(len(measured), len(answers))
    return measured


def model_metrics(model: str, answers: Sequence[MeasuredAnswer], measures: MetricSet) -> ModelMetrics:
    """The mean metrics of a model; parts without any answer are left out."""

    def mean(values: Sequence[float]) -> Mean:
        return Mean(math.fsum(values) / len(values) if values else None, len(values))

    def means(part: Sequence[MeasuredAnswer]) -> MeanMetrics:
        listed = {name: [value for row in part if (value := row.values[name]) is not None] for name in measures.names}
        metrics, corpus = {name: mean(values) for name, values in listed.items()}, (row.bleu for row in part)
        return MeanMetrics(len(part), mean([row.words for row in part]).mean, metrics, measures.corpus_bleu(corpus))

    return OfModel.of(model, answers, measures.suite, means)


def metric_table(models: Sequence[ModelMetrics], names: Sequence[str], *, with_areas: bool) -> Table:
    """The means for readers, in percent except for Distinct and perplexity."""

    def column(name: str) -> Column:
        is_percent = not name.startswith(("distinct", "ppl"))
        percent = (lambda value: figure(100 * value, 2)) if is_percent else None
        return Column(name, digits=3 if name.startswith("distinct") else 2, form=percent)

    columns = [Column("model"), Column("answers"), Column("words", digits=0), *map(column, names)]
    if has_bleu := any(name.startswith("bleu") for name in names):
        columns.append(column("corpus"))
    rows = [
        (name, part.n, part.words, *(part.metrics[metric].mean for metric in names), *[part.corpus_bleu] * has_bleu)
        for model in models
        for name, part in model.parts(with_areas=with_areas)
    ]
    corpus = "; corpus: BLEU of all answers together" if has_bleu else ""
    return Table(columns, rows, f"Means in %, except Distinct and perplexity (ppl){corpus}")


ANSWER_COLUMNS: Mapping[str, type] = {
    **dict.fromkeys(("model", "id", "length"), str),
    "trial": int,
    **dict.fromkeys(("area", "category"), str),
    "words": int,
}
"""The first columns of a table of answers, and their types."""


def metric_rows(models: Iterable[ModelMetrics]) -> Iterator[tuple[Any, ...]]:
    """A row for each answer, with its metrics after the `ANSWER_COLUMNS`."""
    for model in models:
        for row in model.answers:
            yield model.model, *row.key, *row.task.place, row.words, *row.values.values()
