"""The rules of docs/ngram_engine.md and docs/selection.md in plain Python; the core must equal them to the last bit."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

BEGIN, END = -1, 0x110000
_ALL = 2**64 - 1

Weights = dict[int, int]
"""The weights of the remaining continuations, in order."""


def contexts(answers: Iterable[str], order: int) -> dict[tuple[int, ...], Counter[int]]:
    counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for answer in answers:
        code_points = [BEGIN] * (order - 1) + [ord(c) for c in answer] + [END]
        for index in range(order - 1, len(code_points)):
            counts[tuple(code_points[index - order + 1 : index])][code_points[index]] += 1
    return counts


def power(x: float, y: float) -> float:
    result = 1.0
    whole = math.floor(y)
    factor, digits = x, whole
    while digits:
        if digits % 2:
            result *= factor
        factor *= factor
        digits //= 2
    factor, rest = x, y - whole
    while rest > 0:
        factor = math.sqrt(factor)
        rest *= 2
        if rest >= 1:
            rest -= 1
            result *= factor
    return result


def left(counts: Counter[int], temperature: float, top_p: float, top_k: int | None) -> Weights:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    largest = ordered[0][1]
    if temperature == 0:
        top_k = 1
    if temperature in (0, 1):
        weights = dict(ordered)
    else:
        powers = {c: power(count / largest, 1 / temperature) for c, count in ordered}
        weights = {c: math.floor(x * 2.0**40) for c, x in powers.items() if x * 2.0**40 >= 1}
    weights = dict(list(weights.items())[:top_k])
    if top_p == 1:
        return weights
    enough = top_p * float(sum(weights.values()))
    kept: Weights = {}
    for c, weight in weights.items():
        kept[c] = weight
        if float(sum(kept.values())) >= enough:
            break
    return kept


class Generator:
    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self) -> int:
        self.state = self.state + 0x9E3779B97F4A7C15 & _ALL
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _ALL
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _ALL
        return z ^ z >> 31


def first(state: int) -> int:
    return Generator(state).draw()


class Sampler:
    def __init__(
        self,
        question: str,
        answers: Iterable[str],
        *,
        order: int = 5,
        temperature: float = 1.0,
        top_p: float = 1.0,
        top_k: int | None = None,
        max_code_points: int = 300,
    ) -> None:
        self.stream = int(hashlib.sha1(question.encode("utf-8", "surrogatepass")).hexdigest()[:16], 16)
        self.order = order
        self.max_code_points = max_code_points
        self.weights = {
            context: left(counts, temperature, top_p, top_k) for context, counts in contexts(answers, order).items()
        }

    def sample(self, seed: int) -> str:
        generator = Generator(first(first(self.stream) ^ seed))
        code_points = [BEGIN] * (self.order - 1)
        text: list[str] = []
        while len(text) < self.max_code_points:
            weights = self.weights[tuple(code_points[len(code_points) - self.order + 1 :])]
            taken = self._taken(weights, generator)
            if taken == END:
                break
            code_points.append(taken)
            text.append(chr(taken))
        return "".join(text)

    @staticmethod
    def _taken(weights: Weights, generator: Generator) -> int:
        if len(weights) == 1:
            return next(iter(weights))
        r = generator.draw() * sum(weights.values()) >> 64
        for c, weight in reversed(weights.items()):
            if r < weight:
                return c
            r -= weight
        raise AssertionError("r is less than the sum of the weights")


def ngrams(answer: str, max_order: int) -> set[str]:
    return {answer[i : i + n] for n in range(1, max_order + 1) for i in range(len(answer) - n + 1)}


def frequencies(held: Iterable[set[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for answer_grams in held:
        for gram in answer_grams:
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
        created = sum(climb.proposals for climb in climbs)
        if climbs and proposals is not None and created >= proposals:
            break
        climb = Climb(answers, size, max_order, stream)
        climbs.append(climb)
        while not climb.finished and climb.sweep(None if proposals is None else proposals - created):
            pass
    best = min(range(len(climbs)), key=lambda i: (climbs[i].error, i))
    return climbs[best], best, sum(climb.proposals for climb in climbs)
