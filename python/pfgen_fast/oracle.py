"""The rules of docs/scoring.md in plain, slow Python; the native core must equal it bit for bit.

It shares no scoring code with the core or the modules around it, so a mistake in one of them shows as a difference. It
follows the order of the rules, and comments name their sections. Use it for checks; it is too slow for scoring many
answers.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from .base.untrusted_text import shown_value
from .scoring.normalisation import nfkc, normalised, tokens_of
from .suite.keywords import Rule, searched
from .suite.questions import Question
from .suite.rules import MAX_ORDER, THRESHOLD, Lengths
from .suite.suite import Suite

__all__ = ["Oracle", "ReferenceCounts", "average", "compensated_sum", "discount", "naive_sum", "position_and_name"]

_ORDERS = range(1, MAX_ORDER + 1)
_SKIPPED_IN_PAPER = frozenset("、。・「」『』（）【】［］〈〉《》")
SKIPPED = _SKIPPED_IN_PAPER | {"^", "$"}
USUAL_WIDTH = {ord(c) + 0xFEE0: c for c in string.digits + string.ascii_letters}
_MOST_ADDED = 19
"""How much longer one more character can make a normalised text: by 18, and a full stop or a space before them."""

Units = Any
"""The units of n-grams: the characters of a str, or a tuple of tokens."""
NGram = Any
"""A slice of units, or `(starts, slice, ends)` for an n-gram that holds a begin or end mark (profile paper)."""


class Oracle:
    """Scores answers exactly as the rules are written.

    Example:
        >>> suite = Suite.load("mini")
        >>> Oracle(suite).score_one("Q01", "")["average"]
        0.0
    """

    def __init__(self, suite: Suite, *, profile: str = "leaderboard", float_sum: str = "compensated") -> None:
        if profile not in ("leaderboard", "paper", "normalised") or float_sum not in ("compensated", "naive"):
            raise ValueError(f"unknown profile {profile!r} or unknown float sum {float_sum!r}")
        self._suite, self._float_sum = suite, float_sum
        self._profile = _Paper if profile == "paper" else _Leaderboard
        self.reading = NormalisedReading if profile == "normalised" else Reading  # a text as the profile reads it
        self._tables: dict[str, dict[str, ReferenceCounts]] = {}

    def tables(self, question: Question) -> dict[str, ReferenceCounts]:
        """The reference tables of a question by set, cached after the first call."""
        if question.question_id not in self._tables:
            rules = self._profile(question.lengths)
            self._tables[question.question_id] = {
                name: ReferenceCounts([self.reading(question, answer).units for answer in answers], rules)
                for name, answers in question.answers.items()
            }
        return self._tables[question.question_id]

    def searched(self, question: Question, reading: Reading) -> Reading:
        """The form of an answer whose helpfulness counts: of equal ones, the first."""
        rules = self._profile(question.lengths)
        return max(reading.forms(), key=lambda form: rules.helpfulness(form, question.keywords)[0])

    def score_one(self, question: str, answer: str) -> dict[str, Any]:
        """Scores one answer and returns the object of section 5."""
        asked = self._suite[question]
        tables, reading, rules = self.tables(asked), self.reading(asked, answer), self._profile(asked.lengths)
        units, k = reading.units, len(tables)
        forms = [rules.helpfulness(form, asked.keywords) for form in reading.forms()]
        helpfulness, details = max(forms, key=lambda pair: pair[0])
        scores = {
            "fluency": {name: round(rules.fluency(units, table) / k, 6) for name, table in tables.items()},
            "fluency_discount": rules.fluency_discount(len(units)),
            "truthfulness": {name: round(rules.truthfulness(units, table) / k, 6) for name, table in tables.items()},
            "helpfulness": round(helpfulness, 5),
            "helpfulness_results": details,
        }
        return {**scores, "average": average(scores, self._float_sum)}


def discount(n: int, target: int = 100, limit: int = 150) -> float:
    """The factor by which a length of `n` units discounts a score; negative past the limit."""
    return 1 - max(n - target, 0) / (limit - target)


class ReferenceCounts:
    """Section 2: the document frequencies of one reference set, and its baseline."""

    def __init__(self, answers: list[Units], rules: _Leaderboard) -> None:
        self.rules = rules
        self.n_answers = len(answers)
        # Document frequency: an n-gram counts once in each answer.
        self.document_frequency: Counter[NGram] = Counter()
        for answer in answers:
            self.document_frequency.update(set(rules.ngrams(answer)))
        # Baseline: the mean fluency of the answers, computed with the baseline 1.0.
        self.baseline = 1.0
        self.baseline = naive_sum(rules.fluency(answer, self) for answer in answers) / len(answers)


class _Leaderboard:
    """Sections 2 to 4, with the lengths of section 9."""

    def __init__(self, lengths: Lengths) -> None:
        self.lengths = lengths
        self.discount = partial(discount, target=lengths.target, limit=lengths.limit)

    def fluency_discount(self, n_units: int) -> float:
        return 1.0

    def ngrams(self, text: Units) -> Iterator[NGram]:
        """The n-grams of a text, of all orders."""
        return (text[start : start + n] for n in _ORDERS for start in range(len(text) - n + 1))

    # Section 2: fluency

    def fluency(self, answer: Units, table: ReferenceCounts) -> float:
        return max(self.prefix_scores(answer, table), default=0.0)

    def prefix_scores(self, answer: Units, table: ReferenceCounts) -> Iterator[float]:
        """The fluency s(n) of each prefix, from the shortest; values below 0, past the limit, become 0."""
        # Step 1: the answer is cut.
        text = answer[: self.lengths.look_ahead]
        distinct: set[NGram] = set()
        raw = 0
        for n in range(1, len(text) + 1):
            # Step 2: raw(n) adds the n-grams that end at n and did not occur before.
            for ngram in (text[n - order : n] for order in _ORDERS if order <= n):
                if ngram not in distinct:
                    distinct.add(ngram)
                    raw += table.document_frequency.get(ngram, 0)
            # Step 3: s(n), from left to right.
            yield max(0.0, raw * self.discount(n) / table.baseline)

    # Section 3: truthfulness

    def truthfulness(self, answer: Units, table: ReferenceCounts) -> float:
        # Step 1: the answer between ^ and $ is cut.
        text = marked(answer)[: self.lengths.look_ahead + 2]
        shares = [min(1.0, cover / table.n_answers * (1 / THRESHOLD)) for cover in covers(text, table)]
        return max([0.0, *(score for score, _ in truthful_prefixes(text, shares, self.lengths))])

    # Section 4: helpfulness

    def helpfulness(self, reading: Reading, rules: tuple[Rule, ...]) -> tuple[float, list[list[Any]]]:
        """The helpfulness and its details."""
        # Step 1: the position of each rule in the cut answer.
        text = reading.cut(self.lengths.look_ahead)
        positions = [position_and_name(rule, text, reading.position, self.lengths.missing) for rule in rules]
        # Step 2: the score of each truncation.
        scores = {}
        for i in range(len(reading.units[: self.lengths.look_ahead]) + 1):
            if self.discount(i) >= 0:
                scores[i] = self.discount(i)
                for rule, (position, _) in zip(rules, positions, strict=True):
                    if i < position:
                        scores[i] *= 1 - rule.importance
        return self.best_truncation(scores, rules, positions)

    def best_truncation(
        self, scores: dict[int, float], rules: tuple[Rule, ...], positions: list[tuple[int, str]]
    ) -> tuple[float, list[list[Any]]]:
        # Step 3: the largest truncation with the highest score.
        best = max(scores.values())
        n = max(i for i, score in scores.items() if score == best)
        # Step 4: the details are the rules that are not met there, and the excess length.
        details: list[list[Any]] = [
            [name, 1 - rule.importance] for rule, (position, name) in zip(rules, positions, strict=True) if n < position
        ]
        if n > self.lengths.target and best > 0:
            details.append([f"{n - self.lengths.target}字超過", self.discount(n)])
        return best, details


def marked(answer: Units) -> Units:
    """The answer between `^` and `$`."""
    return f"^{answer}$" if isinstance(answer, str) else ("^", *answer, "$")


def truthful_prefixes(text: Units, shares: Iterable[float], lengths: Lengths) -> Iterator[tuple[float, int]]:
    """Section 3: the scores of the prefixes whose best one counts, and their last positions in a marked answer."""
    # Step 2: the mean share of the counted characters up to each position, discounted.
    total, count, last = 0.0, 0, None
    for j, (unit, share) in enumerate(zip(text, shares, strict=True)):
        if unit not in SKIPPED:
            total += share
            count += 1
            last = total / count * discount(j, lengths.target, lengths.limit), j
            if j >= lengths.target:
                yield last
    if last:
        yield last


def covers(text: Units, table: ReferenceCounts) -> list[int]:
    """Section 3: for each unit of a text, the document frequency of the most frequent 3-gram over it."""
    frequencies = [table.document_frequency.get(text[i : i + 3], 0) for i in range(len(text) - 2)]
    return [max(frequencies[max(j - 2, 0) : j + 1], default=0) for j in range(len(text))]


def decided(
    rule: Rule, text: str, position_of: Callable[[int], int], missing: int = 9999
) -> tuple[int, str, re.Match[str] | None]:
    """Section 4: the position, in units, at which a rule is first met, its name in the details, and what met it."""
    if rule.form == "t":
        match = searched(re.compile(rule.pattern).search, text, f"the pattern {shown_value(rule.pattern)}")
        position, name = (position_of(match.end()) if match else missing), rule.pattern
    else:
        choose = max if rule.form == "and" else min
        places = (decided(part, text, position_of, missing) for part in rule.parts)
        position, name, match = choose(places, key=lambda place: place[0])
    return position, name if rule.name is None else rule.name, match


def position_and_name(rule: Rule, text: str, position_of: Callable[[int], int], missing: int = 9999) -> tuple[int, str]:
    """The position at which a rule is first met, and its name in the details."""
    return decided(rule, text, position_of, missing)[:2]


def average(scores: dict[str, Any], float_sum: str) -> float:
    """Section 5: the score of an answer, computed from its rounded parts."""
    total = naive_sum if float_sum == "naive" else compensated_sum
    fluency, truthfulness = scores["fluency"].values(), scores["truthfulness"].values()
    helpfulness: float = scores["helpfulness"]
    return round((total(fluency) + total(truthfulness) + helpfulness) / 3, 5)


def naive_sum(values: Iterable[float]) -> float:
    """Sums from left to right, as CPython's `sum` did up to 3.11."""
    total = 0.0
    for value in values:
        total += value
    return total


def compensated_sum(values: Iterable[float]) -> float:
    """Section 5: Neumaier's compensated sum, as in CPython's `sum` since 3.12."""
    total, compensation = 0.0, 0.0
    for value in values:
        new = total + value
        if abs(total) >= abs(value):
            compensation += (total - new) + value
        else:
            compensation += (value - new) + total
        total = new
    return total + compensation


class _Paper(_Leaderboard):
    """Section 7: the formulas as printed in the paper."""

    def fluency_discount(self, n_units: int) -> float:
        return max(0.0, self.discount(n_units))

    def ngrams(self, text: Units) -> Iterator[NGram]:
        """The n-grams of a text with its begin mark, at 0, and its end mark, at `last`."""
        last = len(text) + 1
        for n in _ORDERS:
            for start in range(last + 1 - n + 1):
                end = start + n - 1
                inner = text[max(start - 1, 0) : end]
                yield (start == 0, inner, end == last) if start == 0 or end == last else inner

    def fluency(self, answer: Units, table: ReferenceCounts) -> float:
        if not answer:
            return 0.0
        raw = sum(table.document_frequency.get(ngram, 0) for ngram in self.ngrams(answer))
        return raw / table.n_answers * self.fluency_discount(len(answer)) / table.baseline

    def truthfulness(self, answer: Units, table: ReferenceCounts) -> float:
        # Step 1: the frequency of each 3-gram of the marked answer.
        last, frequencies = len(answer) + 1, []
        for start in range(last - 1):
            begins, ends = start == 0, start + 2 == last
            inner = answer[max(start - 1, 0) : start + 2]
            ngram = (begins, inner, ends) if begins or ends else inner
            frequencies.append(table.document_frequency.get(ngram, 0))
        # Step 2: T(I), and the largest product of T(I) and the discount.
        total, count, mean, best = 0.0, 0, 0.0, 0.0
        for j, unit in enumerate(answer, start=1):
            if unit not in _SKIPPED_IN_PAPER:
                cover = max(frequencies[max(j - 2, 0) : j + 1])
                total += min(1.0, cover / table.n_answers * 200.0)
                count += 1
                mean = total / count
            if j >= min(self.lengths.target, len(answer)):
                best = max(best, self.fluency_discount(j) * mean)
        return best

    def helpfulness(self, reading: Reading, rules: tuple[Rule, ...]) -> tuple[float, list[list[Any]]]:
        positions = [position_and_name(rule, reading.text, reading.position, self.lengths.missing) for rule in rules]
        whole = naive_sum(rule.importance for rule in rules)
        length, scores = len(reading.units), {}
        for i in range(min(self.lengths.target, length), length + 1):
            met = naive_sum(
                rule.importance for rule, (position, _) in zip(rules, positions, strict=True) if position <= i
            )
            scores[i] = self.fluency_discount(i) * (met / whole if whole else 1.0)
        return self.best_truncation(scores, rules, positions)


class Reading:
    """Section 8: an answer in the units of its question; `units` can be sliced."""

    def __init__(self, question: Question, text: str) -> None:
        self.text = text
        self.units: Units = text
        self._tokens = None
        if question.tokenizer is not None:
            self._tokens = tokens_of(question.tokenizer, text)
            # A token that is a skipped character equals that character.
            written = [text[token.start : token.end].strip() for token in self._tokens]
            pairs = zip(self._tokens, written, strict=True)
            self.units = tuple(shown if shown in SKIPPED else token.key for token, shown in pairs)

    def cut(self, n: int) -> str:
        """The text of the first `n` units."""
        if self._tokens is None or len(self._tokens) <= n:
            return self.text[:n] if self._tokens is None else self.text
        return self.text[: self._tokens[n - 1].end] if n else ""

    def position(self, end: int) -> int:
        """The number of units that begin before the index `end` of the text."""
        return end if self._tokens is None else sum(token.start < end for token in self._tokens)

    def forms(self) -> list[Reading]:
        """The texts in which keyword rules are searched."""
        return [self]


class NormalisedReading(Reading):
    """Section 10: a text in the units of profile normalised, the characters or tokens of its normalised text."""

    def __init__(self, question: Question, text: str) -> None:
        self._question, self._written = question, text
        super().__init__(question, self._normalised(len(text)))

    def _normalised(self, end: int) -> str:
        """The normalised text of the first `end` characters."""
        return normalised(self._written[:end], has_spaces=self._question.tokenizer is not None)

    def cut(self, n: int) -> str:
        """The longest prefix whose normalised text is no longer than the first `n` units."""
        limit, end = len(super().cut(n)), len(self._written)
        while (over := len(self._normalised(end)) - limit) > 0:
            end -= -(-over // _MOST_ADDED)  # no prefix that is short enough is passed over
        return self._written[:end]

    def position(self, end: int) -> int:
        """The number of units that begin in the normalised text of the first `end` characters."""
        return super().position(len(self._normalised(end)))

    def forms(self) -> list[Reading]:
        """The text as it is, with digits and Latin letters of usual width, and in NFKC; equal texts once."""
        texts = dict.fromkeys([self._written, self._written.translate(USUAL_WIDTH), nfkc(self._written)])
        return [NormalisedReading(self._question, text) for text in texts]
