"""Classic metrics of the answers of runs, answer by answer, and their means by area and by wanted length.

Metrics with references use the `reference` of a task; METEOR is for English only. A metric that cannot be computed for
an answer is None, and means leave it out. Values are shares of 1, except perplexity.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ...base.errors import ChecklistError, optional
from ...base.table import Column, Table, figure
from ...base.untrusted_text import in_one_line
from ...generation.engines.transformers import checked_device, loaded_model
from ...rewards.references.reference_scorer import ReferenceScorer
from ..words import Counter, counter_name, counter_there, instead_of_nltk, words
from .checklist_runs import Run
from .checklist_suite import ChecklistSuite, OfModel, keys_in_order
from .line_files import OnFault
from .tasks import AnswerKey, ChecklistTask

REFERENCES = ("bleu_4", "rouge_l")
"""The metrics on tokens that compare with a reference."""


def token_metrics(
    texts: Sequence[str], references: Sequence[str | None], tokenize: Callable[[str], Sequence[Any]]
) -> dict[str, list[float | None]]:
    """Repetition-4, Distinct-4, BLEU-4 (unsmoothed) and ROUGE-L of each text; some texts have no reference."""
    alone = ReferenceScorer(["rep_4", "distinct_4"], tokenize=tokenize).score(texts)
    named = {"repetition_4": alone["rep_4"], "distinct_4": alone["distinct_4"]}
    columns = {name: [value if value == value else None for value in values.tolist()] for name, values in named.items()}
    columns |= {name: [None] * len(texts) for name in REFERENCES}
    rows = [row for row, reference in enumerate(references) if reference]
    scorer = ReferenceScorer(["bleu", "rouge_l"], tokenize=tokenize, smooth="none", effective_order=False, max_order=4)
    scores = scorer.score([texts[row] for row in rows], [[str(references[row])] for row in rows])
    for row, bleu, rouge_l in zip(rows, scores["bleu"].tolist(), scores["rouge_l"].tolist(), strict=True):
        columns["bleu_4"][row] = min(bleu / 100, 1.0)  # sacrebleu's best score is slightly above 100
        columns["rouge_l"][row] = min(rouge_l, 1.0)
    return columns


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

    def __init__(self, model: str, *, device: str | None = None, window: int = WINDOW) -> None:
        self._device = checked_device(device, "perplexity")
        self._tokenizer, self._model = loaded_model(model, "float32", self._device)
        room = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        self._window = window if room is None else min(window, room)
        self.signature = f"ppl:{in_one_line(model, 200)}|float32|{self._device}|window={self._window}"

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


@dataclass(frozen=True)
class MetricSet:
    """Which metrics are computed, and how; see `open_metrics`."""

    suite: ChecklistSuite
    meteor: Meteor | None = None
    perplexity: Perplexities | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def counter(self) -> Counter:
        """How words are counted, which are the tokens of all metrics but the perplexity."""
        return counter_there(self.suite.words)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics in tables."""
        compared = REFERENCES if any(task.reference for task in self.suite.tasks) else ()
        meteor = (self.meteor.name,) if self.meteor else ()
        return ("repetition_4", "distinct_4", *compared, *meteor, *(("ppl",) if self.perplexity else ()))

    @property
    def signature(self) -> str:
        """Everything that the values depend on, besides the answers."""
        from ... import __version__

        with_meteor = f"|meteor:nltk {self.meteor.version}" if self.meteor else ""
        perplexity = getattr(self.perplexity, "signature", None)
        return (
            f"metrics:{','.join(self.names)}|tokens:{counter_name(self.counter)}{with_meteor}"
            f"{f'|{perplexity}' if perplexity else ''}|suite:{self.suite.hash[:12]}|pfgen-fast:{__version__}"
        )


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """The metrics of an answer."""

    key: AnswerKey
    task: ChecklistTask
    words: int
    values: Mapping[str, float | None]


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

    def to_dict(self) -> dict[str, Any]:
        """The means as JSON values."""
        metrics = {name: {"mean": figure.mean, "n": figure.n} for name, figure in self.metrics.items()}
        return {"n": self.n, "words": self.words, **metrics}


ModelMetrics = OfModel[MeasuredAnswer, MeanMetrics]
"""The mean metrics of a model."""


def open_metrics(
    suite: ChecklistSuite, *, wordnet: Path | None = None, perplexity: Perplexities | None = None
) -> MetricSet:
    """Prepares all metrics that are possible; METEOR needs NLTK and references in English."""
    measures = MetricSet(suite, perplexity=perplexity)
    notes = [] if measures.counter == suite.words else [instead_of_nltk(f"the counter {measures.counter} counts words")]
    meteor = None
    if not any(task.reference for task in suite.tasks):
        notes.append("no task of the suite has a reference, which BLEU, ROUGE-L and METEOR need")
    elif suite.language.partition("-")[0] != "en":
        notes.append(f"METEOR is for English only; the suite's language is {suite.language}")
    else:
        try:
            meteor = Meteor(wordnet)
        except ChecklistError as error:
            if wordnet is not None:
                raise
            notes.append(str(error))
    if meteor is not None and wordnet is None:
        notes.append("meteor without WordNet: words match if they or their stems are equal")
    return replace(measures, meteor=meteor, notes=tuple(notes))


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
    columns = token_metrics([text for *_, text in rows], [task.reference for task, *_ in rows], split)
    meteor, perplexity = measures.meteor, measures.perplexity
    measured = []
    for row, (task, key, text) in enumerate(rows):
        values = {name: column[row] for name, column in columns.items()}
        if meteor is not None:
            values[meteor.name] = meteor(split(text), [split(task.reference)]) if task.reference else None
        values["ppl"] = None if perplexity is None else perplexity(text)
        named = {name: values[name] for name in measures.names}
        measured.append(MeasuredAnswer(key, task, len(split(text)), named))
        if on_progress is not None:
            on_progress(len(measured), len(answers))
    return measured


def model_metrics(model: str, answers: Sequence[MeasuredAnswer], measures: MetricSet) -> ModelMetrics:
    """The mean metrics of a model; parts without any answer are left out."""

    def mean(values: Sequence[float]) -> Mean:
        return Mean(math.fsum(values) / len(values) if values else None, len(values))

    def means(part: Sequence[MeasuredAnswer]) -> MeanMetrics:
        listed = {name: [value for row in part if (value := row.values[name]) is not None] for name in measures.names}
        metrics = {name: mean(values) for name, values in listed.items()}
        return MeanMetrics(len(part), mean([row.words for row in part]).mean, metrics)

    return OfModel.of(model, answers, measures.suite, means)


def metric_table(models: Sequence[ModelMetrics], names: Sequence[str], *, with_areas: bool) -> Table:
    """The means for readers, in percent except for Distinct and perplexity."""

    def column(name: str) -> Column:
        is_percent = not name.startswith(("distinct", "ppl"))
        percent = (lambda value: figure(100 * value, 2)) if is_percent else None
        return Column(name, digits=3 if name.startswith("distinct") else 2, form=percent)

    columns = [Column("model"), Column("answers"), Column("words", digits=0), *map(column, names)]
    rows = [
        (name, part.n, part.words, *(part.metrics[metric].mean for metric in names))
        for model in models
        for name, part in model.parts(with_areas=with_areas)
    ]
    return Table(columns, rows, "Means in %, except Distinct and perplexity (ppl)")


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
