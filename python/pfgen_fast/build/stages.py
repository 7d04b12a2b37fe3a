"""The stages that one question's answers in one set pass through: each takes a table of answers and keeps a part of it.

A stage handles no files. Its result depends only on the answers and the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..suite.units import Spelling, Tokenizer, source_of
from .answer_tables import arrow, mapped
from .build_config import Config, Frequency, Length, Normalise, QuestionConfig, Select
from .normalise import EMPTY, first_objections, normalised
from .selection import coverage, find_rare_ngrams, select_answers

NAMES = ("raw", "normalise", "filter", "frequency", "length", "select")
"""The names of all stages in order; `raw` is the input."""

LONGEST_SHOWN = 400  # longer answers are counted together
MOST_KEPT = 30  # the most answers that `length.keep = "auto"` keeps for each one to select
_MAX_REASONS = 50


@dataclass(frozen=True)
class Sifted:
    """The result of a stage."""

    kept: Any  # table of answers that are kept
    removed: Any  # table of answers that are removed, with reasons
    # figures for reports, as JSON values; `note` is a sentence for the user
    figures: Mapping[str, Any] = field(default_factory=dict)


class Stage(Protocol):
    """One stage with its parameters."""

    name: ClassVar[str]  # in file names
    advice: ClassVar[str]  # what to relax if the stage leaves too few answers

    @property
    def parameters(self) -> Mapping[str, Any]:
        """All inputs of the result besides the answers."""

    def run(self, answers: Any, threads: int, on_step: Callable[[str], None]) -> Sifted:
        """Processes a table of answers; `on_step` is called regularly with the progress."""


def stages_of(config: Config, asked: QuestionConfig, set_name: str) -> list[Stage]:
    """The stages after `raw` for one question and set."""
    return [
        NormaliseStage(config.normalise),
        FilterStage(asked.wrong, asked.required),
        FrequencyStage(config.frequency, asked.tokenizer),
        LengthStage(config.length, config.select, asked.tokenizer),
        SelectStage(config.select, f"{config.seed}/{asked.question_id}/{set_name}", asked.tokenizer),
    ]


@dataclass(frozen=True)
class NormaliseStage:
    """Stage 1: normalises texts, and removes answers that a rule of a list rejects."""

    how: Normalise
    name: ClassVar[str] = "normalise"
    advice: ClassVar[str] = "take out rules that remove answers (normalise.remove, or name them in normalise.without)"

    @property
    def parameters(self) -> Mapping[str, Any]:  # noqa: D102 - see Stage
        rules = [[rule.name, rule.kind, rule.pattern, rule.text] for rule in self.how.rules]
        return {"nfkc": self.how.nfkc, "white_space": self.how.white_space, "rules": rules}

    def run(self, answers: Any, threads: int, on_step: Callable[[str], None]) -> Sifted:  # noqa: D102 - see Stage
        rules = self.how.rules
        normalise = partial(normalised, nfkc=self.how.nfkc, white_space=self.how.white_space, rules=rules)
        parts = mapped(answers.column("answer"), normalise, threads)
        texts = arrow().chunked_array([texts for texts, _, _ in parts], arrow().string())
        n_changed = {rule.name: sum(row.get(number, 0) for *_, row in parts) for number, rule in enumerate(rules)}
        names = [*(f"{rule.name}: {rule.pattern}" for rule in rules), EMPTY]
        figures = {"changed": {name: n for name, n in n_changed.items() if n}}
        return _sift_by(answers.set_column(1, "answer", texts), [by for _, by, _ in parts], names, figures)


@dataclass(frozen=True)
class FilterStage:
    """Stage 2: removes answers that match a wrong pattern or lack a required one."""

    wrong: tuple[str, ...]
    required: tuple[str, ...]
    name: ClassVar[str] = "filter"
    advice: ClassVar[str] = "loosen the question's wrong and required patterns"

    @property
    def parameters(self) -> Mapping[str, Any]:  # noqa: D102 - see Stage
        return asdict(self)

    def run(self, answers: Any, threads: int, on_step: Callable[[str], None]) -> Sifted:  # noqa: D102 - see Stage
        objections = partial(first_objections, wrong=self.wrong, required=self.required)
        parts = mapped(answers.column("answer"), objections, threads)
        names = [*(f"wrong: {pattern}" for pattern in self.wrong), *(f"lacks: {pattern}" for pattern in self.required)]
        return _sift_by(answers, parts, names, {})


@dataclass(frozen=True)
class FrequencyStage:
    """Stage 3: removes answers that contain a rare n-gram."""

    rare: Frequency
    tokenizer: Tokenizer | None = None
    name: ClassVar[str] = "frequency"
    advice: ClassVar[str] = "add raw answers, lower frequency.order or frequency.below, or leave until_stable out"

    @property
    def parameters(self) -> Mapping[str, Any]:  # noqa: D102 - see Stage
        return {**asdict(self.rare), **source_of(self.tokenizer)}

    def run(self, answers: Any, threads: int, on_step: Callable[[str], None]) -> Sifted:  # noqa: D102 - see Stage
        gone, rounds = [], []
        while True:
            sifted = self._sifted_once(answers, threads)
            answers = sifted.kept
            rounds.append(dict(sifted.figures))
            gone.append(sifted.removed)
            on_step(f"round {len(rounds)}: {len(sifted.removed):,} removed")
            if not (self.rare.until_stable and len(sifted.removed)):
                return Sifted(answers, arrow().concat_tables(gone).sort_by("row"), {"rounds": rounds})

    def _sifted_once(self, answers: Any, threads: int) -> Sifted:
        texts = in_units(answers, self.tokenizer)
        rare = find_rare_ngrams(texts, order=self.rare.order, below=self.rare.below, threads=threads)
        first = rare.first
        figures = {"n_rare": rare.n_rare, "n_distinct": rare.n_distinct, "n_removed": int((first >= 0).sum())}
        return _sift(answers, first < 0, lambda gone: self._reasons(answers, first, gone), figures)

    def _reasons(self, answers: Any, first: NDArray[np.int32], gone: NDArray[np.int64]) -> list[str]:
        """The first rare n-gram of each removed answer."""
        texts, order = answers.column("answer").take(gone).to_pylist(), self.rare.order
        starts = first[gone].tolist()
        if self.tokenizer is None:
            return [text[start : start + order] for text, start in zip(texts, starts, strict=True)]
        located = zip(texts, self.tokenizer.tokens(texts), starts, strict=True)
        return [text[tokens[at].start : tokens[at + order - 1].end] for text, tokens, at in located]


@dataclass(frozen=True)
class LengthStage:
    """Stage 4: keeps the answers whose length is nearest to the target, the earlier ones in case of ties."""

    length: Length
    select: Select
    tokenizer: Tokenizer | None = None
    name: ClassVar[str] = "length"
    advice: ClassVar[str] = "raise length.keep"

    @property
    def parameters(self) -> Mapping[str, Any]:  # noqa: D102 - see Stage
        select = {"size": self.select.size, "duplicates": self.select.duplicates}
        return {**asdict(self.length), **select, **source_of(self.tokenizer)}

    def run(self, answers: Any, threads: int, on_step: Callable[[str], None]) -> Sifted:  # noqa: D102 - see Stage
        lengths = lengths_in_units(answers, self.tokenizer)
        by_distance = np.argsort(np.abs(lengths - self.length.target), kind="stable")
        n_kept, figures = self._n_kept(candidates(answers, self.select)[by_distance])
        stays = np.zeros(len(lengths), bool)
        stays[by_distance[:n_kept]] = True
        return _sift(answers, stays, lambda gone: [f"length {length}" for length in lengths[gone]], figures)

    def _n_kept(self, may_be_selected: NDArray[np.bool_]) -> tuple[int, dict[str, Any]]:
        """The number of answers to keep, and a note if it differs from `keep`; the nearest answers come first."""
        n, keep = len(may_be_selected), self.length.keep
        if keep == "all":
            return n, {}
        if isinstance(keep, int) and keep < n:
            return keep, {}
        n_kept = self._n_kept_automatically(may_be_selected)
        if keep == "auto":
            return n_kept, {}
        note = (
            f"length.keep is {keep:,}, but this stage received only {n:,} answers, so it keeps the {n_kept:,} nearest "
            f'to {self.length.target:,}; add raw answers, lower length.keep, or set it to "auto" or "all"'
        )
        return n_kept, {"note": note}

    def _n_kept_automatically(self, may_be_selected: NDArray[np.bool_]) -> int:
        n_candidates, size = np.cumsum(may_be_selected), self.select.size
        wanted = min(math.isqrt(int(may_be_selected.sum()) * size), MOST_KEPT * size)
        return min(int(np.searchsorted(n_candidates, wanted)) + 1, len(may_be_selected))


@dataclass(frozen=True)
class SelectStage:
    """Stage 5: selects answers that together have nearly the n-gram distribution of all answers."""

    select: Select
    seed: str
    tokenizer: Tokenizer | None = None
    name: ClassVar[str] = "select"
    advice: ClassVar[str] = 'lower select.size, raise length.keep, or set select.duplicates to "keep"'

    @property
    def parameters(self) -> Mapping[str, Any]:  # noqa: D102 - see Stage
        return {**asdict(self.select), "seed": self.seed, **source_of(self.tokenizer)}

    def run(self, answers: Any, threads: int, on_step: Callable[[str], None]) -> Sifted:  # noqa: D102 - see Stage
        wanted = self.select
        stays = candidates(answers, wanted)
        rows = np.flatnonzero(stays)
        if len(rows) < wanted.size:  # the caller reports that there are too few
            return _sift(answers, stays, lambda gone: ["duplicate"] * len(gone), {})
        texts = in_units(answers.filter(arrow().array(stays)), self.tokenizer)
        options = asdict(wanted)
        del options["size"], options["duplicates"]
        chosen = select_answers(
            texts,
            wanted.size,
            **options,
            seed=self.seed,
            threads=threads,
            progress=lambda proposals, error: on_step(f"{proposals:,} swaps tried, error {error:.3g}"),
        )
        is_chosen = np.zeros(len(answers), bool)
        is_chosen[rows[chosen.rows]] = True
        names = ("error", "initial_error", "proposals", "accepted", "restart", "finished")
        figures = {
            **{name: getattr(chosen, name) for name in names},
            "curve": [list(point) for point in chosen.curve],
            "coverage": [
                [order.n_ngrams, order.n_held, order.share]
                for order in coverage(texts, chosen.rows, max_order=wanted.max_order)
            ],
        }
        return _sift(
            answers, is_chosen, lambda gone: ["not chosen" if stays[row] else "duplicate" for row in gone], figures
        )


def candidates(answers: Any, wanted: Select) -> NDArray[np.bool_]:
    """Which answers of a table may be selected: all, or only the first of each text."""
    if wanted.duplicates == "keep":
        return np.ones(len(answers), bool)
    codes = answers.column("answer").combine_chunks().dictionary_encode()
    codes = codes.combine_chunks() if hasattr(codes, "num_chunks") else codes
    stays = np.zeros(len(answers), bool)
    stays[np.unique(np.asarray(codes.indices), return_index=True)[1]] = True
    return stays


def _sift(
    answers: Any,
    stays: NDArray[np.bool_],
    reasons: Callable[[NDArray[np.int64]], Sequence[str]],
    figures: dict[str, Any],
) -> Sifted:
    """Splits a table into kept and removed rows; `reasons` returns the reasons for the rows it is given."""
    pa, gone = arrow(), np.flatnonzero(~stays)
    removed = answers.filter(pa.array(~stays)).append_column("reason", pa.array(list(reasons(gone)), pa.string()))
    return Sifted(answers.filter(pa.array(stays)), removed, figures)


def _sift_by(answers: Any, parts: Sequence[NDArray[np.int32]], names: Sequence[str], figures: dict[str, Any]) -> Sifted:
    """Removes the rows for which the parts hold the number of a reason; -1 keeps a row."""
    removed_by = np.concatenate([np.empty(0, np.int32), *parts])
    return _sift(answers, removed_by < 0, lambda gone: [names[number] for number in removed_by[gone]], figures)


def in_units(answers: Any, tokenizer: Tokenizer | None) -> Any:
    """The answers of a table as texts with one code point per unit."""
    if tokenizer is None:
        return answers.column("answer")
    texts = answers.column("answer").to_pylist()
    return arrow().array(Spelling.learned(tokenizer, texts).spelled(texts), arrow().large_string())


def lengths_in_units(answers: Any, tokenizer: Tokenizer | None) -> NDArray[np.int64]:
    """The lengths of the answers of a table, in units."""
    return np.asarray(arrow("pyarrow.compute").utf8_length(in_units(answers, tokenizer)), np.int64)


def describe(answers: Any, tokenizer: Tokenizer | None = None) -> dict[str, Any]:
    """The number of answers in a table, and their lengths in units."""
    lengths = lengths_in_units(answers, tokenizer)
    counted = np.bincount(np.minimum(lengths, LONGEST_SHOWN + 1), minlength=LONGEST_SHOWN + 2)
    return {
        "n": len(lengths),
        "mean": float(lengths.mean()) if len(lengths) else None,
        "std": float(lengths.std()) if len(lengths) else None,
        "lengths": counted.tolist(),
    }


def most_frequent_reasons(removed: Any) -> list[tuple[str, int]]:
    """The reasons in a table of removed answers with their counts, the most frequent first."""
    counts = removed.column("reason").value_counts()
    pairs = [(pair["values"], pair["counts"]) for pair in counts.to_pylist()] if len(removed) else []
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:_MAX_REASONS]


def examples(table: Any, n: int) -> Iterator[dict[str, Any]]:
    """Some rows, evenly spaced over the table."""
    rows = np.unique(np.linspace(0, len(table) - 1, min(n, len(table))).astype(np.int64))
    yield from table.take(arrow().array(rows)).to_pylist()
