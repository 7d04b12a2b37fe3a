"""How much the tests repeat: a sixteenth in `make test`, a quarter with `--rest`, everything with `--all`."""

from typing import Any

from hypothesis import settings

divisor = 16  # conftest.py sets it before the tests are imported


def share(n: int, *, at_least: int = 5) -> int:
    """The number of repetitions: `n` with `--all`, otherwise a part, but at least `at_least`."""
    return min(n, max(at_least, n // divisor))


def examples(n: int, *, at_least: int = 5, **options: Any) -> settings:
    """Settings of a property test with `share(n)` generated examples."""
    return settings(max_examples=share(n, at_least=at_least), **options)
