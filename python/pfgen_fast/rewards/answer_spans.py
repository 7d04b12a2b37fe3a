"""Where in an answer its reward comes from: a share for each character, and for each token of a trainer."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from operator import index
from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..base.errors import RewardError
from ..base.native import _core
from ..base.untrusted_text import shown_value
from ..oracle import SKIPPED, USUAL_WIDTH, Oracle, decided, marked, truthful_prefixes
from ..scoring.index import spelled_sets
from ..scoring.normalisation import aligned
from ..scoring.scorer import Scorer
from ..scoring.tinting import Frequencies
from ..suite.questions import Question
from ..suite.rules import PARTS, THRESHOLD


@dataclass(frozen=True)
class KeywordSpan:
    """A keyword rule that the score counts as met, and the characters that met it (of an `and`, its last part)."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class RewardSpans:
    """The shares of the characters of one answer in its reward; created by `Reward.spans`.

    The shares of a part of the score add up to that part exactly, in any order, and so do `shares` to the reward. An
    empty answer has no characters and no shares.

    Attributes:
        answer: The answer.
        reward: Its reward.
        truthfulness: For each character, its share: those that count up to the best prefix of each reference set, by
            how common the 3-grams over them are.
        fluency: For each character, its share: the fluency of a reference set is given at the end of its best prefix.
        helpfulness: For each character, its share: divided among the keywords of `keywords` in proportion to their
            importance, and evenly over their characters; without keywords, it is given where the answer is cut.
        shares: For each character, its share in the reward, in proportion to the metric. A reward below 0, or of a
            score of 0, is given at the last character.
        stops: For each reference set, the length in characters of the shortest prefix with the fluency of the answer.
        keywords: The keyword rules that are met.

    Example:
        >>> from pfgen_fast import Reward
        >>> spans = Reward("mini").spans("Q07", "Ice is less dense than water.")
        >>> spans.keywords, spans.stops
        ((KeywordSpan(name='lower density', start=12, end=17),), {'A': 29, 'B': 29})
    """

    answer: str
    reward: float
    truthfulness: Floats
    fluency: Floats
    helpfulness: Floats
    shares: Floats
    stops: dict[str, int]
    keywords: tuple[KeywordSpan, ...]

    def token_rewards(self, offsets: Any) -> Floats:
        """The reward of each token; together they are the reward of the answer, exactly.

        A character belongs to the last token that begins at it or before it, so a character that several tokens encode
        belongs to the last of them.

        Args:
            offsets: The beginning and the end of each token in characters of the answer, as tokenizers return them. An
                empty span, such as that of a special token, gets 0.

        Raises:
            RewardError: A span does not fit the answer or begins before the span of the token before it.

        Example:
            >>> from pfgen_fast import Reward
            >>> spans = Reward("mini").spans("Q07", "Ice is less dense than water.")
            >>> spans.token_rewards([(0, 3), (3, 11), (11, 29), (0, 0)]).sum().item() == spans.reward
            True
        """
        if not hasattr(offsets, "__len__"):
            raise RewardError(f"offsets: expected a start and an end of each token, got {shown_value(offsets)}")
        rewards, tokens, starts = np.zeros(len(offsets)), [], [0]
        for number, span in enumerate(offsets):
            try:
                start, end = map(index, span)
            except (TypeError, ValueError):
                raise RewardError(f"offsets[{number}]: expected a start and an end, got {shown_value(span)}") from None
            if not 0 <= start <= end <= len(self.answer) or (start < end and start < starts[-1]):
                problem = f"expected a span from {starts[-1]} on within {len(self.answer)} characters"
                raise RewardError(f"offsets[{number}]: {problem}, got {start} to {end}")
            if start < end:
                tokens.append(number)
                starts.append(start)
        if self.answer and not tokens:
            raise RewardError(f"offsets: no token covers a character of the answer, which has {len(self.answer)}")
        owners = np.maximum(np.searchsorted(starts[1:], np.arange(len(self.answer)), side="right") - 1, 0)
        np.add.at(rewards, np.array(tokens, dtype=np.intp)[owners], self.shares)
        return rewards


class SpanFinder:
    """Finds the spans of answers to the questions of a suite; the 3-grams of a question are counted once."""

    def __init__(self, scorer: Scorer) -> None:
        if scorer.profile == "paper":
            raise RewardError("spans: expected the profile 'leaderboard' or 'normalised', not 'paper'")
        self._scorer = scorer
        self._oracle = Oracle(scorer.suite, profile=scorer.profile)
        self._counts: dict[str, dict[str, Frequencies]] = {}

    def spans(self, asked: str, completion: str, answer: str, metric: str, reward: float) -> RewardSpans:
        """The spans of an answer, a part of its completion, with this reward."""
        scores, question = self._scorer.score(asked, [answer]), self._scorer.suite[asked]
        before = max(completion.rfind(answer), 0)
        symbols, units = self._units(question, answer, before)
        ends = [end for _, end in units] or [0]
        weights = {part: np.zeros(ends[-1]) for part in PARTS}
        stops = {}
        for name, counts in self._counts_of(question).items():
            fluency = scores[f"fluency_{name}"][0]
            n_units = bisect_left(ends, fluency, key=partial(self._fluency, question, name, completion, before))
            stops[name] = ends[min(n_units, len(ends) - 1)] if fluency > 0 else before
            weights["fluency"][max(stops[name] - 1, 0) : stops[name]] += fluency
            _spread_truth(question, symbols, units, counts, weights["truthfulness"])
        keywords = self._keywords(question, answer, before, units, weights["helpfulness"])
        size = len(completion)
        parts = {part: _dealt(weights[part], float(scores[part][0]), size) for part in PARTS}
        chosen = [parts[part][: ends[-1]] for part in (PARTS if metric == "score" else [metric])]
        shares = _dealt(np.sum(chosen, axis=0), reward, size)
        return RewardSpans(completion, reward, **parts, shares=shares, stops=stops, keywords=keywords)

    def _fluency(self, question: Question, name: str, completion: str, before: int, end: int) -> float:
        """The fluency of a prefix in one reference set."""
        return float(self._scorer.score(question.question_id, [completion[before:end]])[f"fluency_{name}"][0])

    def _counts_of(self, question: Question) -> dict[str, Frequencies]:
        counts = self._counts.get(question.question_id)
        if counts is None:
            sets = spelled_sets(self._scorer.suite, question, self._scorer.profile)
            counts = {name: Frequencies(None, texts) for name, texts in sets.items()}
            self._counts[question.question_id] = counts
        return counts

    def _units(self, question: Question, answer: str, before: int) -> tuple[str, list[tuple[int, int]]]:
        """The units of an answer that are read, with one code point for each, and their characters."""
        is_normalised, spelling = self._scorer.profile == "normalised", question.spelling
        n_most, n_read = question.lengths.look_ahead + 1, 0
        while True:
            n_read = 2 * (n_read or n_most)
            text = read = answer[:n_read]
            if is_normalised:
                text = _core.NormalisedText(read, has_spaces=spelling is not None).units
            spelled = None if spelling is None else spelling.read(text)
            symbols = text if spelled is None else spelled.symbols
            if len(symbols) > n_most or n_read >= len(answer):
                break
        n_units = min(len(symbols), n_most)
        spans = [(i, i + 1) for i in range(n_units)]
        if spelled is not None:
            spans = list(zip(spelled.starts[:n_units], spelled.ends[:n_units], strict=True))
        if is_normalised:
            places: dict[int, list[int]] = defaultdict(list)
            for i, indexes in enumerate(aligned(read, has_spaces=spelling is not None)):
                for unit in indexes:
                    places[unit].append(i)
            characters = [[i for unit in range(*span) for i in places[unit]] or [0] for span in spans]
            spans = [(min(places), max(places) + 1) for places in characters]
        return symbols, [(before + start, before + end) for start, end in spans]

    def _keywords(
        self, question: Question, answer: str, before: int, units: list[tuple[int, int]], weights: Floats
    ) -> tuple[KeywordSpan, ...]:
        """The keywords that count, whose importance is added to the weights of their characters."""
        column, code = _core.TextColumn([answer], "answers"), self._scorer.suite.questions.index(question)
        cut = self._scorer.core.details(code, column, 0)
        read = self._oracle.reading(question, answer[: units[-1][1] - before] if units else "")
        form = self._oracle.searched(question, read)
        text, lengths = form.cut(question.lengths.look_ahead), question.lengths
        spans = []
        for number, rule in enumerate(question.keywords):
            _, name, match = decided(rule, text, form.position, lengths.missing)
            if match is None or number in {unmet.rule for unmet in cut.unmet}:
                continue
            start, end = before + match.start(), before + match.end()
            written = answer[: len(text)]
            if text not in (written, written.translate(USUAL_WIDTH)):  # but in NFKC, of which units are known
                first, last = form.position(match.start() + 1) - 1, form.position(match.end()) - 1
                start, end = units[max(first, 0)][0], units[max(last, 0)][1]
            spans.append(KeywordSpan(name, start, end))
            weights[min(start, max(end - 1, 0)) : end] += rule.importance / max(end - start, 1)
        if units and not weights.any():
            last = units[max(min(cut.truncation, len(units)), 1) - 1][1]
            weights[last - 1] = 1.0
        return tuple(spans)


def _spread_truth(
    question: Question, symbols: str, units: list[tuple[int, int]], counts: Frequencies, weights: Floats
) -> None:
    """Adds the truthfulness of one reference set to the weights of the characters."""
    text = marked(symbols)[: question.lengths.look_ahead + 2]
    shares = np.minimum(1.0, counts.cover(text) * (1 / THRESHOLD)).tolist()
    score, last = max(truthful_prefixes(text, shares, question.lengths), default=(0.0, 0))
    counted = [j for j in range(last + 1) if text[j] not in SKIPPED] if score > 0 else []
    total = math.fsum(shares[j] for j in counted)
    for j in counted:
        start, end = units[j - 1]
        weights[start:end] += score * shares[j] / total / (end - start)


def _dealt(weights: Floats, total: float, size: int) -> Floats:
    """A total, divided in proportion to the weights of the first characters; the sum of shares is exact in any order.

    Shares are multiples of a power of 2, except the largest one, which takes the rest, too.
    """
    shares = np.zeros(size)
    if total > 0 and weights.any():
        grain = 2.0 ** (math.frexp(total)[1] - 40)
        weighed = shares[: len(weights)]
        weighed[:] = np.floor(weights / weights.sum() * total / grain) * grain
        weighed[weights.argmax()] += total - weighed.sum()
    elif size:
        shares[-1] = total
    return shares
