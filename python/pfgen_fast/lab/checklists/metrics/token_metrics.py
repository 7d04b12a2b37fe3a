"""Metrics of long answers: those of tokens (`ReferenceScorer`), METEOR by nltk, and perplexity under a causal model.

A metric is None if the answer is too short for it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ....base.errors import ChecklistError
from ....base.native import optional
from ....base.untrusted_text import in_one_line
from ....generation.engines.transformers import checked_device, loaded_model
from ....rewards.references.reference_scorer import ReferenceScorer

MAX_ORDER = 4
"""The longest n-grams of BLEU."""

COMPARING = ("bleu", "rouge_l")
"""The metrics that compare with a reference."""
_OF_ONE_TEXT = {"repetition": "rep", "distinct": "distinct"}

BleuCounts = tuple[int, ...]
"""The counts of an answer that determine BLEU; the counts of a corpus are the sums of the counts of its answers."""


class TokenMetrics:
    """Computes some of the metrics on tokens; `n` is the order of the n-grams of repetition and distinct n-grams."""

    def __init__(self, metrics: Iterable[str], tokens: Callable[[str], Sequence[Any]], n: int = MAX_ORDER) -> None:
        self._metrics, self._tokens, self._n = tuple(metrics), tokens, n

    def score(
        self, texts: Sequence[str], references: Sequence[str | None]
    ) -> tuple[Mapping[str, list[float | None]], list[BleuCounts | None]]:
        """The metrics of each text by name, and its counts for BLEU; some texts have no reference."""
        tokens = lru_cache(maxsize=None)(self._tokens)
        columns: dict[str, list[float | None]] = {}
        alone = {name: f"{native}_{self._n}" for name, native in _OF_ONE_TEXT.items() if name in self._metrics}
        if alone:
            values = ReferenceScorer(list(alone.values()), tokenize=tokens).score(texts)
            columns |= {name: [_or_none(value) for value in values[native].tolist()] for name, native in alone.items()}
        counts: list[BleuCounts | None] = [None] * len(texts)
        compared = [name for name in COMPARING if name in self._metrics]
        rows = [row for row, reference in enumerate(references) if reference]
        if compared:
            listed = [[str(references[row])] for row in rows]
            scores = self._comparing(compared, tokens).score([texts[row] for row in rows], listed)
            for name in compared:
                columns[name] = [None] * len(texts)
                scale = 100 if name == "bleu" else 1
                for row, value in zip(rows, scores[name].tolist(), strict=True):
                    columns[name][row] = min(value / scale, 1.0)  # sacrebleu's best score is slightly above 100
            if "bleu" in compared:
                for row, row_counts in zip(rows, scores.counts("bleu").tolist(), strict=True):
                    counts[row] = tuple(row_counts)
        return columns, counts

    def corpus_bleu(self, counts: Iterable[BleuCounts]) -> float | None:
        """BLEU of several answers together, 0 to 1, from their counts; None without any answer."""
        import numpy as np

        rows = np.array(list(counts), np.int64)
        return min(self._bleu.of_corpus("bleu", rows.sum(axis=0)) / 100, 1.0) if len(rows) else None

    @cached_property
    def _bleu(self) -> ReferenceScorer:
        return self._comparing(["bleu"], self._tokens)

    @staticmethod
    def _comparing(metrics: Sequence[str], tokens: Callable[[str], Sequence[Any]]) -> ReferenceScorer:
        return ReferenceScorer(metrics, tokenize=tokens, smooth="none", effective_order=False, max_order=MAX_ORDER)


def repetition(tokens: Sequence[Any]) -> float | None:
    """Repetition-4 of one text, given its tokens."""
    columns, _ = TokenMetrics(["repetition"], lambda text: tokens).score([""], [None])
    return columns["repetition"][0]


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
