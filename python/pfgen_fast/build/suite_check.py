"""What the scores of a suite tell apart: reference answers that were taken out are scored against the others.

Every tenth reference answer of each set is taken out, in memory. Good scores of these answers, and low scores of worse
ones made from them, are what a suite needs; warnings name what would mislead, with the figure and what to change.
"""

from __future__ import annotations

import math
import random
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from ..base.table import Column, Table
from ..base.untrusted_text import counted, few_names, in_one_line
from ..oracle import Reading, position_and_name
from ..scoring.scorer import Scorer
from ..suite.keywords import pattern_time_limit
from ..suite.questions import Question, some_references
from ..suite.rules import AVERAGE_FIRST, PARTS
from ..suite.suite import Suite
from .answer_fit import evenly_spaced, fits, is_alphabetic, mixed_scripts, script_of, text_figures, unit_name, units_of

N_QUESTIONS = 50
"""The maximum number of questions that are tried, evenly spaced."""

_LEAST_QUESTIONS, _MOST_CODE_POINTS = 5, 20_000_000
"""Fewer questions are tried, but not fewer than 5, if the references to all have more code points; with tokens, four
times as many count, because they take as much longer."""

N_ANSWERS = 100
"""The maximum number of reference answers of a question that are scored, evenly spaced."""

ENOUGH_REFERENCES = 100
"""Number of reference answers in a set below which the scores of answers depend on chance."""

_SLACK = 1.5  # lengths are warned of where they fit less well than a build would decide
_EVERY = 10  # of so many reference answers, one is taken out
_LEAST = 20  # smaller sets lose none
_MOST_OF_OTHER = 0.25  # the score of an answer to another question, as a share of that of a good one
_MOST_OF_CUT = 0.95  # the score of an answer without its last third, likewise
_TRUE, _MOST_TRUE = 0.99, 0.9  # a truthfulness near 1, and the share of good answers that may have it
_MOST_TRUE_OF_OTHER = 0.5  # but not if the truthfulness of an answer to another question is lower than this
_MOST_FAILED = 0.5  # the share of the reference answers that may fail a rule
_N_LIMITS = 10  # times the limit: how much of an answer is searched for a keyword that the limit cuts off
_ALIKE, _MOST_ALIKE = 0.9, 0.2  # Jaccard similarity of near-duplicates, and the share of answers that may have one
_SHINGLE, _N_COMPARED = 5, 400  # characters; of each answer
_N_APART, _LEAST_WORDS = 50, 10  # references whose words are compared, and the words that one has at the median
_APART, _MOST_APART = 0.25, 0.1  # of the usual share of common words; share of the references in another group

GOOD, CUT, OTHER, JOINED = "held-out references", "without their last third", "of another question", "two joined"
KINDS = (GOOD, CUT, OTHER, JOINED)
"""The kinds of answers that are scored."""


@dataclass(frozen=True)
class HeldOut:
    """Figures of the reference answers to one question that were taken out."""

    question: Question
    figures: Mapping[str, Any]  # `text_figures`
    means: Mapping[str, tuple[float, ...]]  # by kind of answer: mean score, fluency, truthfulness, helpfulness
    share_true: float  # share of the answers with a truthfulness near 1
    share_alike: float  # share of the answers that have a near-duplicate among the others
    share_apart: float  # share of the references in a second group, which shares almost no words with the largest
    failed: Mapping[str, tuple[float, float]]  # by keyword rule: share of failing answers, and of those cut too early

    @property
    def lengths(self) -> tuple[float, float]:
        """The median and the 90th percentile, in units of the question."""
        median, decile, _ = self.figures["lengths"][unit_name(self.question.tokenizer)]
        return median, decile


def hold_out(suite: Suite, *, threads: int | None = None) -> list[HeldOut]:
    """Scores reference answers of a suite against the others: every tenth of each set with at least 20 answers.

    Questions without such a set are left out, and so are those past 50, and answers past 100 for a question; both are
    chosen evenly spaced. Raises PatternTimeout for a keyword rule that takes too long on an answer.
    """
    asked = [question for question in suite if any(map(_is_large, question.answers.values()))]
    asked = list(evenly_spaced(asked, N_QUESTIONS))
    n_code_points = sum(
        len(text) * (1 if question.tokenizer is None else 4)
        for question in asked
        for texts in question.answers.values()
        for text in texts
    )
    if n_code_points > _MOST_CODE_POINTS:
        asked = list(evenly_spaced(asked, max(_LEAST_QUESTIONS, len(asked) * _MOST_CODE_POINTS // n_code_points)))
    taken: dict[str, list[str]] = {}
    kept = []
    for question in asked:
        sets, out = dict(question.answers), []
        for name, texts in question.answers.items():
            if _is_large(texts):
                written = list(filter(str.strip, texts))
                out += written[::_EVERY]
                sets[name] = tuple(text for place, text in enumerate(written) if place % _EVERY)
        taken[question.question_id] = list(evenly_spaced(out, N_ANSWERS))
        kept.append(replace(question, answers=MappingProxyType(sets)))
    if not kept:
        return []
    scorer = Scorer(Suite(suite.name, tuple(kept), suite.metadata_hash), threads=threads)
    with pattern_time_limit():
        return [_held_out(scorer, question, taken) for question in kept]


def _is_large(texts: Sequence[str]) -> bool:
    return sum(map(bool, map(str.strip, texts))) >= _LEAST


def _held_out(scorer: Scorer, question: Question, taken: Mapping[str, Sequence[str]]) -> HeldOut:
    answers = taken[question.question_id]
    names = list(taken)
    others = taken[names[(names.index(question.question_id) + 1) % len(names)]]
    between = "" if question.tokenizer is None else " "
    kinds = {
        GOOD: answers,
        CUT: [_without_last_third(question, answer) for answer in answers],
        OTHER: others if len(names) > 1 else [],
        JOINED: [between.join(pair) for pair in pairwise([*answers, answers[0]])],
    }
    scored = {kind: scorer.score(question.question_id, list(texts)) for kind, texts in kinds.items() if texts}
    texts = [text for texts in question.answers.values() for text in texts]
    return HeldOut(
        question,
        text_figures(answers, [question.tokenizer]),
        {kind: tuple(float(table[metric].mean()) for metric in AVERAGE_FIRST) for kind, table in scored.items()},
        float((scored[GOOD].truthfulness >= _TRUE).mean()),
        _share_alike(evenly_spaced(answers, N_ANSWERS // 2), evenly_spaced(texts, 10 * N_ANSWERS)),
        _share_apart(texts),
        dict(_failed(question, answers)),
    )


def _without_last_third(question: Question, answer: str) -> str:
    n = 2 * question.n_units(answer) // 3
    return answer[:n] if question.spelling is None else question.spelling.read(answer).cut(n)


def _failed(question: Question, answers: Sequence[str]) -> Iterator[tuple[str, tuple[float, float]]]:
    """For each keyword rule, the shares of the answers that do not meet it before the limit, and that do so later."""
    limit, missing = question.lengths.limit, question.lengths.missing
    readings = [Reading(question, answer) for answer in answers]
    for rule in question.keywords:
        name = rule.own_name or next(rule.leaves()).pattern
        failing = [
            read for read in readings if position_and_name(rule, read.cut(limit), read.position, missing)[0] >= limit
        ]
        later = [
            read
            for read in failing
            if position_and_name(rule, read.cut(_N_LIMITS * limit), read.position, len(read.text) + 1)[0]
            <= len(read.text)
        ]
        yield name, (len(failing) / len(readings), len(later) / len(readings))


def _share_alike(sample: Sequence[str], others: Sequence[str]) -> float:
    """The share of the texts in a sample that have a near-duplicate among the others, by their shingles."""
    places, holds = _table_of_parts(list(map(_shingles, sample)))
    sizes, most = holds.sum(1), np.zeros(len(sample))
    for parts in map(_shingles, others):
        shared = holds[:, [places[part] for part in parts if part in places]].sum(1)
        most = np.maximum(most, shared / np.maximum(sizes + len(parts) - shared, 1))
    return float((most >= _ALIKE).mean())


def _share_apart(texts: Sequence[str]) -> float:
    """The share of texts in the second largest group of those that share words; 0 for short texts."""
    sample = random.Random(0).sample(texts, min(len(texts), _N_APART))  # not evenly spaced: languages may alternate
    words = [
        set(re.findall(r"\w+", text[: 10 * _N_COMPARED].casefold()))
        for text in sample
        if is_alphabetic(script_of(text))
    ]
    if len(words) < 2 or statistics.median(map(len, words)) < _LEAST_WORDS:
        return 0.0
    _, holds = _table_of_parts(words)
    sizes = holds.sum(1)
    shared = holds @ holds.T / np.minimum.outer(sizes, sizes)
    np.fill_diagonal(shared, 0)
    is_linked = (shared >= _APART * np.median(shared.max(1))) | np.eye(len(words), dtype=bool)
    for _ in range(_N_APART.bit_length()):  # which doubles the length of the paths
        is_linked = is_linked.astype(np.int32) @ is_linked > 0
    groups = sorted(np.unique(is_linked, axis=0, return_counts=True)[1])
    return float(groups[-2] / len(sample)) if len(groups) > 1 else 0.0


def _table_of_parts(texts: Sequence[set[str]]) -> tuple[dict[str, int], np.ndarray]:
    """The columns of all parts of texts, and a row of 0 and 1 for each text."""
    places = {part: place for place, part in enumerate(set().union(*texts))}
    holds = np.zeros((len(texts), len(places)), np.int32)
    for row, parts in enumerate(texts):
        holds[row, [places[part] for part in parts]] = 1
    return places, holds


def _shingles(text: str) -> set[str]:
    text = text[:_N_COMPARED]
    return {text[at : at + _SHINGLE] for at in range(max(1, len(text) - _SHINGLE + 1))}


def held_out_table(held: Sequence[HeldOut]) -> Table:
    """The mean scores over questions of each kind of answer, and their share of the score of held-out references."""
    by_kind = {kind: _means(held, kind) for kind in KINDS if any(kind in part.means for part in held)}
    whole = by_kind[GOOD][0] if held else 0.0
    columns = [
        Column("answers"),
        *map(Column, ("score", *PARTS)),
        Column("share", "of a reference", form="{:.1%}".format),
    ]
    return Table(
        columns,
        [(kind, *means, means[0] / whole if whole else None) for kind, means in by_kind.items()],
        name="held_out",
    )


def _means(held: Sequence[HeldOut], kind: str) -> list[float]:
    means = [part.means[kind] for part in held if kind in part.means]
    return [statistics.fmean(values) for values in zip(*means, strict=True)]


def suite_warnings(suite: Suite, held: Sequence[HeldOut]) -> Iterator[str]:
    """Yields a sentence for each way in which the scores of a suite would mislead, with the figure and what to change.

    Args:
        suite: The suite.
        held: The result of `hold_out`; empty to warn only of too few references and of the unit.
    """
    yield from _few_references(suite)
    alphabetic = [question.question_id for question in suite if _counts_letters(question)]
    if alphabetic:
        yield (
            f"{len(alphabetic):,} of {counted(len(suite), 'question')} ({few_names(alphabetic)}) compare answers in an "
            "alphabet by characters: an n-gram of 10 characters is one or two words, so wrong answers in the usual "
            'words score well; compare words ("unit": "token", "tokenizer": "words"; docs/scoring.md, section 8)'
        )
    if held:
        yield from _length_warnings(held)
        yield from _score_warnings(held)
        yield from mixed_scripts({part.question.question_id: [part.figures] for part in held}, by_question=False)


def _few_references(suite: Suite) -> Iterator[str]:
    sizes = {
        f"question {question.question_id}, set {name}": len(answers)
        for question in suite
        for name, answers in question.answers.items()
    }
    few = {where: size for where, size in sizes.items() if size < ENOUGH_REFERENCES}
    if few:
        where = min(few, key=lambda name: few[name])
        yield (
            f"{len(few):,} of {len(sizes):,} sets have fewer than {ENOUGH_REFERENCES} reference answers "
            f"({in_one_line(where)}: {few[where]}), so chance decides their scores: with one reference answer "
            "and no keyword rules, even an empty answer has the score 0.333; add answers, raise "
            "select.size of the build if it is below the number of answers, or use reference metrics (pfgen-fast score "
            "--metric; docs/references.md)"
        )


def _counts_letters(question: Question) -> bool:
    """Whether answers in an alphabet are compared by characters."""
    if question.tokenizer is not None:
        return False
    return is_alphabetic(next(iter(text_figures(some_references(question), ())["scripts"]), ""))


def _misfit(part: HeldOut) -> str:
    (median, decile), lengths = part.lengths, part.question.lengths
    if median > lengths.limit or decile > lengths.limit * _SLACK:
        return "longer"
    return "" if fits(lengths, median, slack=_SLACK) else "shorter"


def _length_warnings(held: Sequence[HeldOut]) -> Iterator[str]:
    for is_longer, word in ((True, "longer"), (False, "shorter")):
        named = [part for part in held if _misfit(part) == word]
        if named:
            worst = max(named, key=lambda part: part.lengths[0] * (1 if is_longer else -1))
            lengths, (median, decile) = worst.question.lengths, worst.lengths
            harm = "text past the limit has no effect" if is_longer else "an answer gains by saying more than it should"
            yield (
                f"references to {len(named):,} of {counted(len(held), 'question')} are much {word} than "
                f"the target ({worst.question.question_id}: median {median:,.0f}, 90th percentile {decile:,.0f} "
                f"{units_of(worst.question.tokenizer)}; target {lengths.target:,}, limit {lengths.limit:,}), so "
                f"{harm}; set [score] target and limit to about 2 and 3 times the median length"
            )

    if late := _failed_rules(held, is_cut=True):
        yield (
            f"the limit cuts more than {_MOST_FAILED:.0%} of the reference answers before they meet "
            f"{counted(len(late), 'keyword rule')}: {few_names(late)}; raise [score] target and limit"
        )


def _failed_rules(held: Sequence[HeldOut], *, is_cut: bool) -> list[str]:
    """The rules that too many references fail, the worst first: those that most of these meet later, or the others."""
    failed = {
        f"{part.question.question_id} {name} {share:.0%}": share
        for part in held
        for name, (share, later) in part.failed.items()
        if share > _MOST_FAILED and (later > share / 2) == is_cut
    }
    return sorted(failed, key=lambda name: -failed[name])


def _score_warnings(held: Sequence[HeldOut]) -> Iterator[str]:
    good = _means(held, GOOD)[0] or math.inf
    if (share := _means(held, CUT)[0] / good) > _MOST_OF_CUT:
        yield (
            f"reference answers without their last third score {share:.2f} of whole ones (expected at most "
            f"{_MOST_OF_CUT:g}), so an unfinished answer looks good; raise the target, or count words in place of "
            "characters"
        )
    true = statistics.fmean(part.share_true for part in held)
    if any(OTHER in part.means for part in held):
        score, _, other_true, helpfulness = _means(held, OTHER)
        if (share := score / good) > _MOST_OF_OTHER:
            if helpfulness > share:
                change = "add keyword rules, or look at fluency"
            elif any(_counts_letters(part.question) for part in held):
                change = "count words in place of characters"
            else:
                change = "remove phrases that answers to all questions share ([normalise] replace)"
            yield (
                f"answers to another question score {share:.2f} of good ones (expected at most {_MOST_OF_OTHER:g}; "
                f"truthfulness {other_true:.2f}, helpfulness {helpfulness:.2f}), so wrong answers look right; {change}"
            )
        true = true if other_true > _MOST_TRUE_OF_OTHER else 0.0
    if true > _MOST_TRUE:
        yield (
            f"{true:.0%} of the held-out reference answers have a truthfulness of at least {_TRUE:g}, and answers to "
            "another question are hardly lower, so truthfulness cannot tell answers apart; look at fluency, and at "
            "helpfulness if there are keyword rules"
        )
    if failed := _failed_rules(held, is_cut=False):
        yield (
            f"{counted(len(failed), 'keyword rule')} fail in more than {_MOST_FAILED:.0%} of the reference answers: "
            f"{few_names(failed)}; add alternatives (or), lower importance, or "
            "select references that meet them (required)"
        )
    if apart := [
        f"{part.question.question_id} ({part.share_apart:.0%})" for part in held if part.share_apart > _MOST_APART
    ]:
        yield (
            f"the references to {counted(len(apart), 'question')} fall into groups that share almost no words, as two "
            f"languages do: {few_names(apart)}; a reference set has one language, so remove the other answers "
            "([normalise] remove)"
        )
    alike = [part for part in held if part.share_alike > _MOST_ALIKE]
    if alike:
        worst = max(alike, key=lambda part: part.share_alike)
        yield (
            f"references to {len(alike):,} of {counted(len(held), 'question')} have near-duplicates "
            f"({worst.question.question_id}: {worst.share_alike:.0%} of them), which count several times; sample with "
            "more varied prompts or a higher temperature"
        )
