"""The rules of docs/scoring.md (profile leaderboard) over an Aho-Corasick automaton for each reference set.

daachorse is a compact double-array automaton over code points, in Rust; pyahocorasick has a Python object at each
pattern, in C.

The automaton finds every occurrence of a reference n-gram in one pass; what follows visits only these occurrences, and
only positions that can decide a score. An automaton comes as a function of the n-grams, so that any library will do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pfgen_fast import Question
from pfgen_fast.oracle import average, discount, naive_sum, position_and_name
from pfgen_fast.suite.keywords import Rule

Occurrences = Callable[[str], list[tuple[int, int, int]]]
"""From a text to `(start, end, index of the n-gram)` in it, ends rising."""

Build = Callable[[Sequence[str]], Occurrences]
"""From distinct n-grams to their occurrences: what a library has to offer."""


def build_daachorse(ngrams: Sequence[str]) -> Occurrences:
    """Its overlapping matches come as they are needed."""
    from daachorse import CharwiseDoubleArrayAhoCorasick

    occurrences: Occurrences = CharwiseDoubleArrayAhoCorasick(list(ngrams)).find_overlapping
    return occurrences


def build_pyahocorasick(ngrams: Sequence[str]) -> Occurrences:
    """Its matches tell the last position only, so each pattern carries its length."""
    from ahocorasick import Automaton

    automaton = Automaton()
    for index, ngram in enumerate(ngrams):
        automaton.add_word(ngram, (len(ngram) - 1, index))
    automaton.make_automaton()
    return lambda text: [(last - before, last + 1, index) for last, (before, index) in automaton.iter(text)]


AUTOMATA: dict[str, tuple[str, Build]] = {
    "daachorse": ("daachorse", build_daachorse),
    "pyahocorasick": ("ahocorasick", build_pyahocorasick),
}
"""By library: the module to import, and how its automaton is built."""

_SKIPPED = frozenset("^$、。・「」『』（）【】［］〈〉《》")
_DISCOUNT = [discount(n) for n in range(151)]
_FULL, _LAST = 100, 149
"""Up to which length nothing is lost, and up to which something is left."""


class ReferenceSet:
    """One reference set: its automaton, document frequencies and baseline."""

    def __init__(self, references: Sequence[str], build: Build) -> None:
        counted: Counter[str] = Counter()
        for reference in references:
            counted.update(set(_ngrams(reference)))
        self._ngrams = list(counted)
        self._document_frequency = list(counted.values())
        self._credit = [min(1.0, df / len(references) * 200.0) for df in self._document_frequency]
        self._occurrences = build(self._ngrams)
        self.baseline = 1.0
        self.baseline = naive_sum(self.fluency_and_truthfulness(text)[0] for text in references) / len(references)

    def document_frequencies(self) -> dict[str, int]:
        return dict(zip(self._ngrams, self._document_frequency, strict=True))

    def fluency_and_truthfulness(self, answer: str) -> tuple[float, float]:
        """Sections 2 and 3 of the rules, from one pass over the answer between its marks."""
        text = f"^{answer}$"[:202]
        result = self._occurrences(text[: _LAST + 3])  # up to the last 3-gram that covers the last position
        return self._fluency(result, len(answer)), self._truthfulness(result, text)

    def _fluency(self, result: list[tuple[int, int, int]], length: int) -> float:
        document_frequency, baseline = self._document_frequency, self.baseline
        # Up to 100 the longest prefix is the best; after that a prefix is only better for a new n-gram at its end.
        last = min(length, _FULL) + 1
        seen = {ngram for start, end, ngram in result if start and end <= last}
        raw = sum(map(document_frequency.__getitem__, seen))
        best = raw * 1.0 / baseline
        if length > _FULL:
            last = min(length, _LAST) + 1
            for start, end, ngram in result:
                if _FULL + 1 < end <= last and start and ngram not in seen:
                    seen.add(ngram)
                    raw += document_frequency[ngram]
                    best = max(best, raw * _DISCOUNT[end - 1] / baseline)
        return best

    def _truthfulness(self, result: list[tuple[int, int, int]], text: str) -> float:
        credit = [0.0] * (len(text) + 2)  # of the 3-gram that starts two positions before
        for start, end, ngram in result:
            if end - start == 3:
                credit[start + 2] = self._credit[ngram]
        total, count, last, score, best = 0.0, 0, 0, 0.0, 0.0
        for j, character in enumerate(text[: _LAST + 1]):
            if character not in _SKIPPED:
                total += max(credit[j : j + 3])
                count += 1
                last = j
                if j >= _FULL:
                    best = max(best, total / count * _DISCOUNT[j])
        if last >= _FULL:
            return best
        if count and all(character in _SKIPPED for character in text[_LAST + 1 :]):
            score = total / count
        return score


class AutomatonScorer:
    """Scores answers to one question, given its sets."""

    def __init__(self, question: Question, sets: dict[str, ReferenceSet]) -> None:
        self._sets = sets
        self._rules = question.keywords

    def score_one(self, answer: str) -> dict[str, Any]:
        """The object of section 5 of the rules without its details."""
        k = len(self._sets)
        fluency, truthfulness = {}, {}
        for name, references in self._sets.items():
            set_scores = references.fluency_and_truthfulness(answer)
            fluency[name], truthfulness[name] = round(set_scores[0] / k, 6), round(set_scores[1] / k, 6)
        scores = {
            "fluency": fluency,
            "truthfulness": truthfulness,
            "helpfulness": round(_helpfulness(answer[:200], self._rules), 5),
        }
        return {**scores, "average": average(scores, "compensated")}


def _helpfulness(text: str, rules: tuple[Rule, ...]) -> float:
    positions = [position_and_name(rule, text, int)[0] for rule in rules]
    # A truncation past 100 is only better than the one before it where it meets a rule.
    best = 0.0
    for i in {min(len(text), _FULL), *(position for position in positions if _FULL < position <= _LAST)}:
        score = _DISCOUNT[i]
        for rule, position in zip(rules, positions, strict=True):
            if i < position:
                score *= 1 - rule.importance
        best = max(best, score)
    return best


def _ngrams(text: str) -> Iterable[str]:
    for n in range(1, 11):
        for start in range(len(text) - n + 1):
            yield text[start : start + n]
