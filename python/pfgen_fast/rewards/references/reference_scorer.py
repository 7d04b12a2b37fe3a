"""The scorer of answers with references in their rows.

A score depends only on the settings, the answer and its references, not on threads, batches or containers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Counts, Floats
from ...base.native import _core, cached_property, check_cancelled, checked_threads, worded
from ...base.untrusted_text import unknown_name
from ...suite.rules import check_choice
from .metrics import (
    BLEU,
    BLEU_ROUGE,
    CHRF,
    CHRF_WORDS,
    CORPUS_BLEU,
    MOST_ORDER,
    NGRAM_METRICS,
    NMT_BLEU,
    TOKENIZERS,
    TextMetric,
    Tokenize,
    TokenNumbers,
    corpus_name,
    read_metrics,
)
from .reference_lists import NgramScores, ReferenceLists, read_lists
from .reference_scores import ReferenceScores

Reduce = Literal["best", "mean"]
Unit = Literal["characters", "words"]
LengthsOf = Literal["usual", "references"]
Scale = Literal["usual", "unit"]
Smooth = Literal["exp", "floor", "add-k", "none"]

_LARGEST_SETTING = 1e100  # so that scores are finite
_SMOOTHING_VALUES = {"exp": 0.0, "none": 0.0, "floor": 0.1, "add-k": 1.0}


@dataclass(frozen=True)
class ReferenceScorer:
    """Scores answers, each by its own list of references; thread-safe.

    Args:
        metrics: The names of the metrics: `bleu`, `corpus_bleu`, `nmt_bleu`, `bleu_rouge_f1`, `chrf`, `chrf++`,
            `rouge_1`, `rouge_2` (any n), `rouge_l`, `rouge_lsum`, `token_f1`, `exact_match`, `rep_4`, `distinct_2`
            (any n), `fluency` and `truthfulness` of docs/scoring.md (truthfulness needs at least 100 references in
            each row).
        reduce: What a score with several references is: `"best"`, as the usual libraries define it, or `"mean"` of the
            scores with each reference alone.
        scale: The range of scores: `"usual"`, or `"unit"`, in which BLEU and chrF are divided by 100, and no metric
            is above 1.
        tokenize: The tokenizer of all metrics that count tokens: `"13a"`, `"char"`, `"intl"`, `"zh"`, `"none"`, or a
            function from a text to a list of tokens. By default each metric has the tokenizer of its usual library.
        unit: What fluency and truthfulness count: `"characters"` or `"words"`.
        lengths: The target length and the limit of fluency and truthfulness: `"usual"` (100 and 150), or
            `"references"`, twice and three times the median length of the references in the row.
        lowercase: Whether texts are compared in lower case; fluency and truthfulness are not.
        smooth: How BLEU treats n-grams without a match, as in sacrebleu: `"exp"`, `"floor"`, `"add-k"` or `"none"`.
        smooth_value: The value of `"floor"` (default 0.1) or `"add-k"` (default 1).
        effective_order: Whether BLEU leaves out orders that an answer is too short for.
        max_order: The longest n-grams of BLEU.
        char_order: The longest n-grams of characters of chrF.
        beta: How much more recall counts than precision in chrF.
        whitespace: Whether chrF counts white space.
        eps_smoothing: Whether chrF smooths as NLTK and Moses do.
        threads: The number of threads; by default one for each core.

    Raises:
        ValueError: A metric, tokenizer or setting is invalid.

    Example:
        >>> scorer = ReferenceScorer(["bleu", "chrf"])
        >>> scores = scorer.score(["Ice floats on water."], [["Ice floats on water.", "Water carries ice."]])
        >>> scores.bleu.round(1).tolist(), scores.columns
        ([100.0], ('bleu', 'chrf'))
    """

    metrics: str | Sequence[str]
    _: KW_ONLY
    reduce: Reduce = "best"
    scale: Scale = "usual"
    unit: Unit = "characters"
    lengths: LengthsOf = "usual"
    tokenize: str | Tokenize | None = None
    lowercase: bool = False
    smooth: Smooth = "exp"
    smooth_value: float | None = None
    effective_order: bool = True
    max_order: int = 4
    char_order: int = 6
    beta: float = 2
    whitespace: bool = False
    eps_smoothing: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", tuple(metric.name for metric in read_metrics(self.metrics)))
        if self.tokenize not in (None, *TOKENIZERS) and not callable(self.tokenize):
            raise ValueError(unknown_name("tokenizer", self.tokenize, TOKENIZERS))
        check_choice("reduce", self.reduce, get_args(Reduce))
        check_choice("scale", self.scale, get_args(Scale))
        check_choice("unit", self.unit, get_args(Unit))
        check_choice("lengths", self.lengths, get_args(LengthsOf))
        check_choice("smooth", self.smooth, get_args(Smooth))
        for name, value in (("smooth_value", self._smooth_value), ("beta", self.beta)):
            if not isinstance(value, Real) or not 0 <= value <= _LARGEST_SETTING:
                raise ValueError(f"{name}: expected a number from 0 to {_LARGEST_SETTING:g}, not {value!r}")
        for name, order in (("max_order", self.max_order), ("char_order", self.char_order)):
            if not isinstance(order, Integral) or not 1 <= order <= MOST_ORDER:
                raise ValueError(f"{name}: expected 1 to {MOST_ORDER}, not {order!r}")
        checked_threads(self.threads)

    @cached_property
    def _wanted(self) -> tuple[TextMetric, ...]:
        return read_metrics(self.metrics)

    @cached_property
    def _ngram_scores(self) -> NgramScores:
        return NgramScores(in_words=self.unit == "words", fits_lengths=self.lengths == "references")

    @cached_property
    def _native(self) -> _core.ReferenceScorer:
        is_own = callable(self.tokenize)
        return _core.ReferenceScorer(
            metrics=[(metric.kind, metric.order) for metric in self._wanted if metric.kind is not None],
            reduce=getattr(_core.Reduce, self.reduce),
            tokenizer=TOKENIZERS.index(self.tokenize) if isinstance(self.tokenize, str) else None,
            has_own_tokens=is_own,
            is_lower_case=self.lowercase and not is_own,
            is_effective=self.effective_order,
            bleu=_core.BleuOptions(
                smoothing=getattr(_core.Smoothing, self.smooth.replace("-", "_")),
                smoothing_value=self._smooth_value,
                max_order=self.max_order,
            ),
            chrf=_core.ChrfOptions(
                char_order=self.char_order,
                beta=self.beta,
                has_white_space=self.whitespace,
                is_smoothed=self.eps_smoothing,
            ),
        )

    @property
    def _smooth_value(self) -> float:
        return _SMOOTHING_VALUES[self.smooth] if self.smooth_value is None else self.smooth_value

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of scores."""
        return tuple(name for metric in self._wanted if metric.name != CORPUS_BLEU for name in metric.columns)

    @property
    def needs_references(self) -> bool:
        """Whether some metric compares with references."""
        return any(metric.needs_references for metric in self._wanted)

    @property
    def signature(self) -> str:
        """Identifies how scores are computed: version, metrics and their settings."""
        parts = [f"{metric.name}({','.join(self._settings(metric))})" for metric in self._wanted]
        return "|".join([f"pfgen-fast:{_core.__version__}", *parts, f"case:{'lower' if self.lowercase else 'mixed'}"])

    def _settings(self, metric: TextMetric) -> list[str]:
        settings, yes = [], ("no", "yes")
        if metric.reads_tokens:
            own = self.tokenize or metric.usual_tokenizer
            if not isinstance(own, str):
                own = f"{getattr(own, '__module__', '')}.{getattr(own, '__qualname__', type(own).__qualname__)}"
            settings.append(f"tok:{own}")
        if metric.name in {BLEU, CORPUS_BLEU}:
            value = "" if self.smooth in {"exp", "none"} else f"[{self._smooth_value:g}]"
            is_effective = metric.name == BLEU and self.effective_order
            settings += [f"smooth:{self.smooth}{value}", f"eff:{yes[bool(is_effective)]}"]
        if metric.name in {BLEU, CORPUS_BLEU, NMT_BLEU, BLEU_ROUGE}:
            settings.append(f"order:{self.max_order}")
        if metric.name in {CHRF, CHRF_WORDS}:
            settings += [f"nc:{self.char_order}", f"nw:{2 * (metric.name == CHRF_WORDS)}", f"beta:{self.beta:g}"]
            settings += [f"space:{yes[bool(self.whitespace)]}", f"eff:{yes[not self.eps_smoothing]}"]
        if metric.name in NGRAM_METRICS:
            settings.append("profile:leaderboard")
            settings += [f"unit:{self.unit}"] * (self.unit != "characters")
            settings += [f"lengths:{self.lengths}"] * (self.lengths != "usual")
        elif self.reduce != "best" and metric.needs_references and metric.name != CORPUS_BLEU:
            settings.append(f"refs:{self.reduce}")
        settings += [f"scale:{self.scale}"] * (self.scale != "usual")
        return settings

    def score(
        self, answers: Any, references: Any = None, *, nulls: Literal["error", "null"] = "error"
    ) -> ReferenceScores:
        """Scores a batch.

        Args:
            answers: A column of texts: a list of str, a NumPy array, or any object that exports an Arrow string column.
            references: A list of references for each answer: a list of lists of str, or a column of lists. A list that
                several rows share is read once. Not needed for `rep_n` and `distinct_n`.
            nulls: How to treat a missing answer or list: `"error"` raises an error that names its row, `"null"` gives
                it null scores.

        Raises:
            TrialsError: An answer or a reference is not a text, or a row has no references.

        Example:
            >>> scores = ReferenceScorer("chrf").score(["It floats.", "It sinks."], [["Ice floats."]] * 2)
            >>> scores.chrf.round(1).tolist()
            [61.0, 10.8]
        """
        check_choice("nulls", nulls, ("error", "null"))
        with worded():
            column = _core.TextColumn(answers, "answers", nulls == "null")
            if references is None and not self.needs_references:  # one empty list for all rows
                none, numbers_of_lists = _core.TextColumn([], "references"), np.zeros(len(column), np.uint32)
                lists = ReferenceLists(none, np.zeros(2, np.uint64), numbers_of_lists)
            else:
                lists = read_lists(references, len(column), nulls)
            own = self._own_tokens(column, lists.texts)
            n_threads = checked_threads(self.threads)
            values, counts = self._native.score(
                column, lists.numbers, lists.texts, lists.begins, own, n_threads, check_cancelled
            )
            names = [name for metric in self._wanted if metric.kind is not None for name in metric.columns]
            by_name = dict(zip(names, values, strict=True))
            if wanted := set(self.metrics).intersection(NGRAM_METRICS):
                by_name |= self._ngram_scores.score(wanted, column, lists, n_threads)
        floats = {name: self._scaled(name, by_name[name]) for name in self.columns}
        return ReferenceScores(self, column, floats, self._counts_of(counts))

    def _own_tokens(self, *columns: _core.TextColumn) -> Any:
        if not callable(self.tokenize):
            return None
        numbers = TokenNumbers(self.tokenize, lowercase=self.lowercase)
        kinds = [numbers.of_texts, *([numbers.of_sentences] if "rouge_lsum" in self.metrics else [])]
        return tuple([number(texts) for number in kinds] for texts in columns)

    def matrix(self, hypotheses: Any, references: Any = None) -> dict[str, Floats]:
        """Scores each hypothesis with each reference alone.

        Args:
            hypotheses: A column of texts.
            references: A column of texts; by default the hypotheses.

        Returns:
            For each column of scores an array with a row for each hypothesis and a column for each reference.

        Raises:
            ValueError: A metric does not compare an answer with one reference.
            TrialsError: A hypothesis or a reference is not a text.

        Example:
            >>> ReferenceScorer("chrf").matrix(["It floats.", "It sinks."], ["Ice floats."])["chrf"].round(1).tolist()
            [[61.0], [10.8]]
        """
        for metric in self._wanted:
            if not metric.has_pairs:
                problem = f"metric {metric.name!r}: expected a metric that compares an answer with one reference"
                raise ValueError(problem)
        with worded():
            texts = [_core.TextColumn(hypotheses, "hypotheses")]
            if references is not None:
                texts.append(_core.TextColumn(references, "references"))
            n_threads, own = checked_threads(self.threads), self._own_tokens(*texts)
            columns = self._native.score_pairs(texts[0], (*texts, None)[1], own, n_threads, check_cancelled)
        return {name: self._scaled(name, column) for name, column in zip(self.columns, columns, strict=True)}

    def mbr(self, hypotheses: Any, references: Any = None) -> dict[str, Floats]:
        """The expected utility of each hypothesis: the mean of its row in `matrix`.

        The choice of minimum Bayes risk decoding is the hypothesis with the highest value.

        Raises:
            ValueError: There are no references, or a metric does not compare an answer with one reference.
            TrialsError: A hypothesis or a reference is not a text.

        Example:
            >>> utility = ReferenceScorer("chrf").mbr(["It sinks.", "Ice floats.", "It floats."])["chrf"]
            >>> int(utility.argmax())
            1
        """
        matrices = self.matrix(hypotheses, references)
        if not all(matrix.shape[1] for matrix in matrices.values()):
            raise ValueError(f"{'hypotheses' if references is None else 'references'}: expected at least one text")
        return {name: matrix.mean(axis=1) for name, matrix in matrices.items()}

    def _scaled(self, column: str, values: Floats) -> Floats:
        if self.scale == "usual":
            return values
        return np.minimum(values / (100 if column in {BLEU, CHRF, CHRF_WORDS} else 1), 1)

    def _counts_of(self, counts: Counts) -> dict[str, Counts]:
        """The counts of the metrics of which corpora have a value."""
        sizes = {BLEU: 2 + 2 * self.max_order, CHRF: 3 * self.char_order, CHRF_WORDS: 3 * (self.char_order + 2)}
        parts = {}
        begin = 0
        for metric in self._wanted:
            name = corpus_name(metric.name)
            if name in sizes:
                parts[name] = counts[:, begin : begin + sizes[name]]
                begin += sizes[name]
        return parts

    def of_corpus(self, metric: str, sums: NDArray[np.int64]) -> float:
        """The score of a corpus from the sums of the counts of its rows; see `ReferenceScores.counts`."""
        value = self._native.bleu(sums) if metric == BLEU else self._native.chrf(sums)
        return value if self.scale == "usual" else min(value / 100, 1.0)
