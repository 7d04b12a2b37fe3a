"""The first of many names, made harmless, for a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ..files.untrusted_text import in_one_line

_N_NAMED = 3
_LONGEST = 60


def first_names(names: Sequence[str]) -> str:
    """The first three names, with "such as" before them if there are more."""
    return ("such as " if len(names) > _N_NAMED else "") + ", ".join(map(in_one_line, names[:_N_NAMED]))


def few_names(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    more = f" and {len(names) - _N_NAMED:,} more" if len(names) > _N_NAMED else ""
    return ", ".join(in_one_line(name, _LONGEST) for name in names[:_N_NAMED]) + more
