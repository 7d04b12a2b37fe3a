"""Texts from which other texts take parts. The parts of all donors are listed once, for all texts that take some."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence


class Candidates:
    """Distinct parts, sorted by code points, without those at some indexes."""

    def __init__(self, parts: Sequence[str], left_out: Iterable[int]) -> None:
        self._parts = parts
        self._left_out = sorted(set(left_out))

    def __len__(self) -> int:
        return len(self._parts) - len(self._left_out)

    def __getitem__(self, number: int) -> str:
        for index in self._left_out:
            if index > number:
                break
            number += 1
        return self._parts[number]


class _Parts:
    """The distinct parts of all donors, sorted, and those that only one group has."""

    def __init__(self, parts_by_group: Iterable[tuple[Hashable, Iterable[str]]]) -> None:
        groups: dict[str, set[Hashable]] = {}
        for group, parts in parts_by_group:
            for part in parts:
                groups.setdefault(part, set()).add(group)
        self.sorted = sorted(groups)
        self.index = {part: i for i, part in enumerate(self.sorted)}
        self.only_in: dict[Hashable, list[int]] = {}
        for i, part in enumerate(self.sorted):
            group, *others = groups[part]
            if not others:
                self.only_in.setdefault(group, []).append(i)


class Donors:
    """Texts whose parts are inserted into other texts.

    With groups, a text takes parts only from texts of other groups, such as answers to other questions. A text without
    a group (None) is its own group. Without groups, every text may take parts from every donor.
    """

    def __init__(self, texts: Sequence[str], groups: Sequence[str | None] | None = None) -> None:
        self.texts = texts
        self.groups: list[Hashable] | None = None
        if groups is not None:
            self.groups = [row if group is None else group for row, group in enumerate(groups)]
        self._parts: dict[Hashable, _Parts] = {}

    def candidates(
        self, key: Hashable, parts_of: Callable[[str], Iterable[str]], group: Hashable, without: Iterable[str]
    ) -> Candidates:
        """The parts that texts of other groups have, without those that a text has itself.

        Args:
            key: Names `parts_of`, whose results are listed once for all texts.
            parts_of: Returns the parts of a donor.
            group: The group of the text, if the donors have groups.
            without: Parts to leave out.
        """
        if key not in self._parts:
            groups = self.groups or [None] * len(self.texts)
            self._parts[key] = _Parts(zip(groups, map(parts_of, self.texts), strict=True))
        parts = self._parts[key]
        left_out = [] if self.groups is None else parts.only_in.get(group, [])
        return Candidates(parts.sorted, [*left_out, *(parts.index[part] for part in without if part in parts.index)])
