"""`pfgen-fast discern collect`: makes a collection of texts from a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from typer import Argument, Option

from .app import Quiet, counted, fail, note, print_line, shown
from .discern_source import Language, Task, pair


class _Collect:
    """Makes a collection for discern run from a data set with several references or answers for each item.

    One text of each item is chosen, and the others become its references. The items are drawn at random. An item is a
    row with its texts in 'text' and 'references', or several rows with the same ID.

    Example

      pfgen-fast discern collect data.jsonl --column references=summaries --task summarization -o texts.jsonl
    """

    data: str = Argument(
        help="Data set: JSON lines, CSV, TSV or Parquet with id, and text or references. Optional columns: task, "
        "language, question, context, alternative. - is stdin.",
        metavar="DATA",
    )
    output: Path = Option(
        ..., "-o", help="Write a .jsonl, .csv, .tsv or .parquet table, which may be compressed.", metavar="FILE"
    )
    column: list[Any] | None = Option(  # typer takes no list of pairs
        None, help="Read a key from another column, such as text=summary. May be repeated.", parser=pair,
        metavar="KEY=COLUMN",
    )  # fmt: skip
    task: Task = None
    language: Language = None
    encoding: str | None = Option(None, help="Set the encoding of a CSV or TSV file. Default: UTF-8.", metavar="NAME")
    choose: Literal["longest", "sentences"] = Option(
        "longest", help="Choose the longest text of each item, or the text with the most sentences."
    )
    min_length: int = Option(1, min=1, help="Choose only texts of at least this number of characters.", metavar="N")
    max_length: int | None = Option(
        None, min=1, help="Choose only texts of at most this number of characters.", metavar="N"
    )
    items: int | None = Option(None, min=1, help="Draw this number of items. Default: all items.", metavar="N")
    seed: int = Option(0, min=0, help="Set the seed of the draw; the same seed draws the same items.")
    donors: Path | None = Option(
        None,
        help="Write the items that are not drawn, without those with a drawn question, for discern run --donors.",
        metavar="FILE",
    )
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..discernment.collecting import Bounds, collect, write_items
        from ..discernment.item_files import ItemColumns
        from ..tables.value_table import check_value_table
        from .table import is_same

        for path in (self.output, *([] if self.donors is None else [self.donors])):
            check_value_table(path)
            if is_same(self.data, str(path)):
                fail(f"{shown(path)}: is the data set itself; expected another file")
        if self.donors is not None and self.donors.resolve() == self.output.resolve():
            fail("-o and --donors: expected two different files")
        bounds = Bounds(self.min_length, self.max_length)
        found = collect(
            self.data,
            columns=ItemColumns(dict(self.column or ()), task=self.task, language=self.language),
            encoding=self.encoding,
            choice=self.choose,
            bounds=bounds,
            n_items=self.items,
            seed=self.seed,
        )
        if self.donors is not None and not found.donors:
            fail("--donors: no item is left for donors; draw fewer (--items)")
        n_drawn = len(found.collection)
        if self.donors is not None:
            write_items(self.donors, found.donors)
        write_items(self.output, found.collection.items)
        if found.n_fitting < found.n_read:
            n_left_out = found.n_read - found.n_fitting
            note(f"{n_left_out:,} of {counted(found.n_read, 'item')} left out: no text of {bounds}")
        if not self.quiet:
            print_line(f"{n_drawn:,} of {counted(found.n_fitting, 'item')}: {shown(self.output)}")
            if self.donors is not None:
                print_line(f"{counted(len(found.donors), 'donor')}: {shown(self.donors)}")
