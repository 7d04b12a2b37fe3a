"""The stages that one question's answers in one set pass through: each takes a table of answers and keeps a part of it.

A stage handles no files. Its result depends only on the answers and the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..suite.units import Spelling, Tokenizer, source_of
from .answer_tables import arrow, mapped
from .build_config import Config, Frequency, Length, Normalise, QuestionConfig, Select
from .normalise import EMPTY, first_objections, normalised_answers
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


OnStep = Callable[[str], None]
Run = Callable[[Any, int, OnStep], Sifted]
"""Processes a table of answers with this number of threads; the last argument is called with the progress."""


@dataclass(frozen=True)
class Stage:
    """One stage with its parameters."""

    name: str  # in file names
    advice: str  # what to relax if the stage leaves too few answers
    parameters: Mapping[str, Any]  # all inputs of the result besides the answers
    run: Run


def stages_of(
    config: Config, asked: QuestionConfig, set_name: str, others: Callable[[], list[Any]] = list
) -> list[Stage]:
    """The stages after `raw` for one question and set; `others` reads the filtered answers that count beside those."""
    select = replace(config.select, size=asked.size)
    return [
        normalise_stage(config.normalise),
        filter_stage(asked.wrong, asked.required),
        frequency_stage(config.frequency, asked.tokenizer, others),
        length_stage(replace(config.length, target=asked.typical), select, asked.tokenizer),
        select_stage(select, f"{config.seed}/{asked.question_id}/{set_name}", asked.tokenizer),
    ]


def normalise_stage(how: Normalise) -> Stage:
    """Stage 1: normalises texts, and removes answers that a rule of a list rejects."""
    rules = how.rules

    def run(answers: Any, threads: int, on_step: OnStep) -> Sifted:
        normalise = partial(normalised_answers, nfkc=how.nfkc, white_space=how.white_space, rules=rules)
        parts = mapped(answers.column("answer"), normalise, threads)
        texts = arrow().chunked_array([texts for texts, _, _ in parts], arrow().string())
        n_changed = {rule.name: sum(row.get(number, 0) for *_, row in parts) for number, rule in enumerate(rules)}
        names = [*(f"{rule.name}: {rule.pattern}" for rule in rules), EMPTY]
        figures = {"changed": {name: n for name, n in n_changed.items() if n}}
        return _sift_by(answers.set_column(1, "answer", texts), [by for _, by, _ in parts], names, figures)

    listed = [[rule.name, rule.kind, rule.pattern, rule.text] for rule in rules]
    parameters = {"nfkc": how.nfkc, "white_space": how.white_space, "rules": listed}
    advice = "take out rules that remove answers (normalise.remove, or name them in normalise.without)"
    return Stage("normalise", advice, parameters, run)


def filter_stage(wrong: tuple[str, ...], required: tuple[str, ...]) -> Stage:
    """Stage 2: removes answers that match a wrong pattern or lack a required one."""

    def run(answers: Any, threads: int, on_step: OnStep) -> Sifted:
        objections = partial(first_objections, wrong=wrong, required=required)
        parts = mapped(answers.column("answer"), objections, threads)
        names = [*(f"wrong: {pattern}" for pattern in wrong), *(f"lacks: {pattern}" for pattern in required)]
        return _sift_by(answers, parts, names, {})

    parameters = {"wrong": wrong, "required": required}
    return Stage("filter", "loosen the question's wrong and required patterns", parameters, run)


def frequency_stage(
    rare: Frequency, tokenizer: Tokenizer | None = None, others: Callable[[], list[Any]] = list
) -> Stage:
    """Stage 3: removes answers that contain an n-gram that is rare among these and the other answers."""
    rare = replace(rare, order=rare.order or (5 if tokenizer is None else 3))

    def run(answers: Any, threads: int, on_step: OnStep) -> Sifted:
        gone: list[Any] = []
        rounds = []
        n_own, answers = len(answers), arrow().concat_tables([answers, *others()])  # the own ones stay in front
        sifted = None
        while sifted is None or (rare.until_stable and len(sifted.removed)):
            sifted = sift_once(answers, n_own, threads)
            answers, n_removed = sifted.kept, sifted.figures["n_removed"]
            n_own -= n_removed
            rounds.append(dict(sifted.figures))
            gone.append(sifted.removed.slice(0, n_removed))
            on_step(f"round {len(rounds)}: {n_removed:,} removed")
        return Sifted(answers.slice(0, n_own), arrow().concat_tables(gone).sort_by("row"), {"rounds": rounds})

    def sift_once(answers: Any, n_own: int, threads: int) -> Sifted:
        texts = in_units(answers, tokenizer)
        ngrams = find_rare_ngrams(texts, order=rare.order, below=rare.below, threads=threads)
        first = ngrams.first

        def reasons(gone: NDArray[np.int64]) -> list[str]:  # the first rare n-gram of each removed answer
            texts, starts = answers.column("answer").take(gone).to_pylist(), first[gone].tolist()
            if tokenizer is None:
                return [text[start : start + rare.order] for text, start in zip(texts, starts, strict=True)]
            located = zip(texts, tokenizer.tokens(texts), starts, strict=True)
            return [text[tokens[at].start : tokens[at + rare.order - 1].end] for text, tokens, at in located]

        n_removed = int((first[:n_own] >= 0).sum())
        figures = {"n_rare": ngrams.n_rare, "n_distinct": ngrams.n_distinct, "n_removed": n_removed}
        return _sift(answers, first < 0, reasons, figures)

    advice = "add raw answers, lower frequency.order or frequency.below, or leave until_stable out"
    return Stage("frequency", advice, {**asdict(rare), **source_of(tokenizer)}, run)


def length_stage(length: Length, select: Select, tokenizer: Tokenizer | None = None) -> Stage:
    """Stage 4: keeps the answers whose length is nearest to the target, the earlier ones in case of ties."""

    def run(answers: Any, threads: int, on_step: OnStep) -> Sifted:
        lengths = lengths_in_units(answers, tokenizer)
        by_distance = np.argsort(np.abs(lengths - length.target), kind="stable")
        n_kept, figures = number_to_keep(candidates(answers, select)[by_distance])
        stays = np.zeros(len(lengths), bool)
        stays[by_distance[:n_kept]] = True
        return _sift(answers, stays, lambda gone: [f"length {length}" for length in lengths[gone]], figures)

    def number_to_keep(may_be_selected: NDArray[np.bool_]) -> tuple[int, dict[str, Any]]:
        """The number of answers to keep, and a note if it differs from `keep`; the nearest answers come first."""
        n, keep = len(may_be_selected), length.keep
        if keep == "all" or (isinstance(keep, int) and keep < n):
            return (n if keep == "all" else int(keep)), {}
        wanted = min(math.isqrt(int(may_be_selected.sum()) * select.size), MOST_KEPT * select.size)
        n_kept = min(int(np.searchsorted(np.cumsum(may_be_selected), wanted)) + 1, n)
        if keep == "auto":
            return n_kept, {}
        note = (
            f"length.keep is {keep:,}, but this stage received only {n:,} answers, so it keeps the {n_kept:,} nearest "
            f'to {length.target:,}; add raw answers, lower length.keep, or set it to "auto" or "all"'
        )
        return n_kept, {"note": note}

    of_select = {"size": select.size, "duplicates": select.duplicates}
    return Stage("length", "raise length.keep", {**asdict(length), **of_select, **source_of(tokenizer)}, run)


def select_stage(select: Select, seed: str, tokenizer: Tokenizer | None = None) -> Stage:
    """Stage 5: selects answers that together have nearly the n-gram distribution of all answers."""
    options = asdict(select)

    def run(answers: Any, threads: int, on_step: OnStep) -> Sifted:
        stays = candidates(answers, select)
        rows = np.flatnonzero(stays)
        if len(rows) < select.size:  # the caller reports that there are too few
            return _sift(answers, stays, lambda gone: ["duplicate"] * len(gone), {})
        texts = in_units(answers.filter(arrow().array(stays)), tokenizer)
        chosen = select_answers(
            texts,
            **{name: value for name, value in options.items() if name != "duplicates"},
            seed=seed,
            threads=threads,
            progress=lambda proposals, error: on_step(f"{proposals:,} swaps tried, error {error:.3g}"),
        )
        is_chosen = np.zeros(len(answers), bool)
        is_chosen[rows[chosen.rows]] = True
        covered = coverage(texts, chosen.rows, max_order=select.max_order)
        names = ("error", "initial_error", "proposals", "accepted", "restart", "finished")
        figures = {
            **{name: getattr(chosen, name) for name in names},
            "curve": [list(point) for point in chosen.curve],
            "coverage": [[order.n_ngrams, order.n_held, order.share] for order in covered],
        }
        return _sift(
            answers, is_chosen, lambda gone: ["not chosen" if stays[row] else "duplicate" for row in gone], figures
        )

    advice = 'lower select.size, raise length.keep, or set select.duplicates to "keep"'
    return Stage("select", advice, {**options, "seed": seed, **source_of(tokenizer)}, run)


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
        "unit": source_of(tokenizer),
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
