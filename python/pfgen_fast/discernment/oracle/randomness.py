"""Random choices: SplitMix64, whose state depends only on the kind, the text and the seed."""

from __future__ import annotations

import hashlib

_BITS = (1 << 64) - 1


class Generator:
    """SplitMix64."""

    def __init__(self, state: int) -> None:
        self._state = state & _BITS

    def next(self) -> int:
        """The next number of 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _BITS
        return _mixed(self._state)

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return self.next() * n >> 64

    def shuffled(self, n: int) -> list[int]:
        """The numbers 0 to n - 1 in random order."""
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


def _mixed(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _BITS
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _BITS
    return z ^ z >> 31


def first(state: int) -> int:
    """The first number of a generator in this state."""
    return Generator(state).next()


def stream(kind: str, text: str) -> int:
    """The number that depends on kind and text."""
    hashed = b"discernment\0" + kind.encode() + b"\0" + text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(hashed).digest()[:8], "big")


def state(kind: str, text: str, seed: int) -> int:
    """The initial state of the generator of a kind and a text."""
    return first(first(stream(kind, text)) ^ seed & _BITS)
