"""Sentences about names that are unknown: what there is, the nearest name first."""

from __future__ import annotations

from collections.abc import Iterable

from ..files.untrusted_text import in_one_line, nearest_names

_MOST = 40
"""How many names are listed at most; those of a stranger's file may be any number."""


def unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """An error message for a name that is none of the known ones."""
    shown = in_one_line(name)
    names = list(known)
    ordered = list(dict.fromkeys((*nearest_names(shown, names, n=_MOST), *names)))
    listed = ", ".join(in_one_line(one, 60) for one in ordered[:_MOST])
    more = f" and {len(ordered) - _MOST} more" if len(ordered) > _MOST else ""
    return f"unknown {what} '{shown}'; expected one of {listed or 'none'}{more}"
