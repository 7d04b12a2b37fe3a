"""The edit distance of two texts: how many code points must be inserted, deleted or replaced to make one the other."""

from __future__ import annotations


def edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance in code points.

    The time is about the product of the lengths divided by 64: the bits of an integer hold a column of the usual table
    (Myers 1999, in the form of Hyyrö 2003).
    """
    one, other = _without_common_ends(one, other)
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for row, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << row
    every, last = (1 << len(one)) - 1, 1 << len(one) - 1
    rises, falls, distance = every, 0, len(one)  # vertical differences of +1 and -1, and the last row's value
    for character in other:
        equal = places.get(character, 0)
        diagonal = (((equal & rises) + rises) ^ rises) | equal | falls
        right_rises = falls | ~(diagonal | rises) & every
        right_falls = rises & diagonal
        distance += bool(right_rises & last) - bool(right_falls & last)
        right_rises = (right_rises << 1 | 1) & every
        right_falls = right_falls << 1 & every
        rises = right_falls | ~(diagonal | right_rises) & every
        falls = right_rises & diagonal
    return distance


def _without_common_ends(one: str, other: str) -> tuple[str, str]:
    start, most = 0, min(len(one), len(other))
    while start < most and one[start] == other[start]:
        start += 1
    end = 0
    while end < most - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]
