"""The rules of docs/selection.md in plain Python, which recomputes every error; the native selection must equal it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from fractions import Fraction

from makers.ngram_rules import Generator


def ngrams(answer: str, max_order: int) -> set[str]:
    return {answer[i : i + n] for n in range(1, max_order + 1) for i in range(len(answer) - n + 1)}


def frequencies(held: Iterable[set[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for of_answer in held:
        for gram in of_answer:
            counts[gram] = counts.get(gram, 0) + 1
    return counts


def error(answers: Sequence[str], rows: Sequence[int], max_order: int) -> Fraction:
    return error_of([ngrams(answer, max_order) for answer in answers], rows)


def error_of(held: Sequence[set[str]], rows: Sequence[int]) -> Fraction:
    among_all, among_chosen = frequencies(held), frequencies(held[row] for row in rows)
    n, n_all = len(rows), len(held)
    squares = sum((n_all * among_chosen.get(gram, 0) - n * count) ** 2 for gram, count in among_all.items())
    return Fraction(squares, (n_all * n) ** 2 * max(len(among_all), 1))


class Climb:
    """One climb, computed swap by swap."""

    def __init__(self, answers: Sequence[str], size: int, max_order: int, stream: int) -> None:
        self.held = [ngrams(answer, max_order) for answer in answers]
        self.size = size
        self.random = Generator(stream)
        self.order = list(range(len(answers)))
        self._shuffle()
        self.order = self.order[:size]
        self.error = error_of(self.held, self.order)
        self.initial_error = self.error
        self.proposals = self.accepted = 0
        self.finished = size == len(answers)

    def _shuffle(self) -> None:
        for i in range(self.size):
            j = i + (self.random.draw() * (len(self.order) - i) >> 64)
            self.order[i], self.order[j] = self.order[j], self.order[i]

    def sweep(self, limit: int | None) -> bool:
        """Tries to replace each selected answer once; False if the limit was reached."""
        self._shuffle()
        before = self.accepted
        for slot in range(self.size):
            if limit is not None and self.proposals >= limit:
                return False
            others = [row for row in range(len(self.held)) if row not in self.order]
            self.proposals += len(others)
            swapped = [(self._error_with(slot, row), row) for row in others]
            if swapped and min(swapped)[0] < self.error:
                self.error, self.order[slot] = min(swapped)
                self.accepted += 1
        self.finished = self.accepted == before
        return True

    def _error_with(self, slot: int, row: int) -> Fraction:
        return error_of(self.held, [*self.order[:slot], row, *self.order[slot + 1 :]])


def select(
    answers: Sequence[str], size: int, *, max_order: int, seed: str, restarts: int, proposals: int | None
) -> tuple[Climb, int, int]:
    """The best climb, its index, and the number of proposals of all climbs."""
    streams = Generator(int(hashlib.sha1(seed.encode()).hexdigest()[:16], 16))
    climbs: list[Climb] = []
    for stream in [streams.draw() for _ in range(restarts)]:
        made = sum(climb.proposals for climb in climbs)
        if climbs and proposals is not None and made >= proposals:
            break
        climb = Climb(answers, size, max_order, stream)
        climbs.append(climb)
        while not climb.finished and climb.sweep(None if proposals is None else proposals - made):
            pass
    best = min(range(len(climbs)), key=lambda i: (climbs[i].error, i))
    return climbs[best], best, sum(climb.proposals for climb in climbs)
