"""How much the tests repeat: a part in `make test`, everything with `--all` (`make test-all`)."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

everything = False  # conftest.py sets it before the tests are imported

_DIVISOR = 16


def share(n: int, *, at_least: int = 5) -> int:
    """The number of repetitions: `n` with `--all`, otherwise a sixteenth, but at least `at_least`."""
    return n if everything else min(n, max(at_least, n // _DIVISOR))


def examples(n: int, *, at_least: int = 5, **options: Any) -> settings:
    """Settings of a property test with `share(n)` generated examples."""
    return settings(max_examples=share(n, at_least=at_least), **options)
