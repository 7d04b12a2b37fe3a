"""Patterns over columns of answers: which ones match, and which answers are wrong for a question.

Patterns are RE2 regular expressions, which match in linear time. Syntax that RE2 lacks (look-around,
back-references) is rejected when the config is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BuildError
from .answer_tables import arrow


def check_pattern(pattern: str, where: str) -> None:
    """Raises BuildError unless RE2 accepts the pattern; `where` names it in the message."""
    pa = arrow()
    if not pattern:
        raise BuildError(f"{where}: an empty pattern matches everything; expected a regular expression")
    try:
        matches(pa.array([""], pa.string()), pattern)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        raise BuildError(f"{where}: the pattern {pattern!r} does not compile: {_problem(error)}") from None


def _problem(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "it holds a lone surrogate"
    return str(error).removeprefix("Invalid regular expression: ")


def matches(answers: Any, pattern: str) -> Any:
    """Which of the answers (an Arrow array) contain a match of the pattern."""
    return arrow("pyarrow.compute").match_substring_regex(answers, pattern)


def first_objections(answers: Any, *, wrong: Sequence[str] = (), required: Sequence[str] = ()) -> NDArray[np.int32]:
    """The index of the first pattern that rejects each answer; -1 if none does."""
    found = np.full(len(answers), -1, np.int32)
    for number, pattern in enumerate((*wrong, *required)):
        hit = np.asarray(matches(answers, pattern))
        against = hit if number < len(wrong) else ~hit
        found[against & (found < 0)] = number
    return found
