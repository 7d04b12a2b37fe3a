"""Two texts side by side with their differences marked: deleted parts in the first, new parts in the second.

Of long texts, only the part around the first difference is compared, so that marking is never slow.
"""

from __future__ import annotations

import unicodedata
from difflib import SequenceMatcher

from ..lab.experiments.finding import Piece, Pieces

N_SHOWN = 300
"""The maximum number of characters shown of a text."""

_N_IN_FRONT = 60
_CUT = Piece("…")
_JOINER = "\u200d"


def marked(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Both texts in pieces. Both have equal unchanged pieces; no character is split from its marks."""
    is_long = max(len(before), len(after)) > N_SHOWN
    start = max(0, n_equal(before, after) - _N_IN_FRONT) if is_long else 0
    # A cut may split a character from its marks; dots show where the text is cut.
    windows = [text[start : start + N_SHOWN] for text in (before, after)]
    first, second = map(_characters, windows)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    if start:
        for side in pieces:
            side.append(_CUT)
    are_cut = [len(text) > start + N_SHOWN for text in (before, after)]
    steps = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    if all(are_cut) and len(steps) > 2 and steps[-1][0] in ("delete", "insert"):
        del steps[-1]  # only one text reaches this far, because it is shorter before this point
    for tag, begin, end, begin_after, end_after in steps:
        for side, text in zip(pieces, ("".join(first[begin:end]), "".join(second[begin_after:end_after])), strict=True):
            if text:
                side.append(Piece(text, is_changed=tag != "equal"))
    for side, is_cut in zip(pieces, are_cut, strict=True):
        if is_cut:
            side.append(_CUT if all(are_cut) else Piece("…", is_changed=True))
    return tuple(pieces[0]), tuple(pieces[1])


def n_equal(first: str, second: str) -> int:
    """The length of the longest common beginning of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _characters(text: str) -> list[str]:
    """The characters of a text, each with the marks that are joined to it."""
    parts: list[str] = []
    for char in text:
        if parts and (parts[-1].endswith(_JOINER) or char == _JOINER or unicodedata.category(char).startswith("M")):
            parts[-1] += char
        else:
            parts.append(char)
    return parts
