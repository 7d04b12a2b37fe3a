"""Items: what an annotator decides about, together with what only the maker of the sheets knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .rows import Kind

_OTHER = {"first": "second", "second": "first", "first_sha256": "second_sha256", "second_sha256": "first_sha256"}


@dataclass(frozen=True)
class Item:
    """An item."""

    kind: Kind
    key: str  # identity of the item
    content: Mapping[str, Any]  # what the annotator sees, as `sheets.Sheet` describes it
    stratum: tuple[str, ...]  # items are spread evenly over strata, such as areas and models
    source: tuple[str, ...]  # models and judges, which the annotator does not see

    def swapped(self) -> Item:
        """A pair with its answers in reverse order."""
        content = {name: self.content[_OTHER.get(name, name)] for name in self.content}
        return replace(self, content=content, source=self.source[::-1])
