"""What `pfgen-fast discern` works on: the collection and the plan that the options name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .app import fail
from .discern_options import columns_of
from .suite_line import given_suite, print_origin, suite_or_here

if TYPE_CHECKING:
    from ..discernment.items import Collection
    from ..discernment.plan import Plan
    from ..suite.suite import Suite


@dataclass(frozen=True)
class Source:
    """The options that say which texts are damaged."""

    file: str | None
    run: str | None
    from_suite: bool
    per_question: int
    max_items: int | None
    suite: str | None
    columns: list[str] | None
    task: str | None
    language: str | None
    encoding: str | None

    @cached_property
    def collection(self) -> Collection:
        """The items; ends the command unless exactly one source is given."""
        n_sources = sum([self.file is not None, self.run is not None, self.from_suite])
        if n_sources != 1:
            fail(f"{n_sources or 'no'} sources of texts: expected one of COLLECTION, --from-run RUN and --from-suite")
        found = self._read()
        if self.language is not None and self.file is None:
            found = replace(found, items=tuple(replace(item, language=self.language) for item in found.items))
        return found if self.max_items is None else replace(found, items=found.items[: self.max_items])

    def _read(self) -> Collection:
        from ..discernment import originals
        from ..discernment.item_files import ItemColumns, read_collection

        if self.run is not None:
            return originals.from_run(self.run, self.loaded_suite, per_question=self.per_question)
        if self.from_suite:
            return originals.from_suite(self.loaded_suite, per_question=self.per_question)
        assert self.file is not None
        names, perturbed = columns_of(self.columns)
        columns = ItemColumns(names, perturbed, task=self.task, language=self.language)
        return read_collection(self.file, columns=columns, encoding=self.encoding)

    @cached_property
    def loaded_suite(self) -> Suite:
        """The suite that is named, or that of the run's checkout, or that of the working folder."""
        if self.run is None:
            return suite_or_here(self.suite)
        from ..runs.checkout import suite_of

        return suite_of(Path(self.run), given_suite(self.suite))

    def print_suite(self) -> None:
        """Prints which suite was used, if one was."""
        if "loaded_suite" in vars(self):
            print_origin(self.loaded_suite)

    def plan(
        self, name: str, kinds: Sequence[str] | None, levels: Sequence[str] | None, *, rules_only: bool = False
    ) -> Plan:
        """The plan with this name or file, or the part of it with these kinds and levels."""
        from ..discernment.choosing import chosen_plan, open_plan

        items = self.collection.items
        found = open_plan(name, items, rules_only=rules_only)
        return chosen_plan(found, kinds=kinds, levels=levels) if kinds or levels else found

    def donors(self, file: Path | None) -> list[str] | None:
        """The texts of a collection of donors; None if there is none."""
        if file is None:
            return None
        from ..discernment.item_files import ItemColumns, read_collection

        return [item.text for item in read_collection(file, columns=ItemColumns(task=self.task or "answers")).items]
