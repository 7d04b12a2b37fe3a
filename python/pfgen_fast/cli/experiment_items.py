"""`pfgen-fast experiment items`: what each item of a benchmark says about models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typer import Argument, Option

from . import options
from .app import fail
from .experiment_call import Call
from .score_table_options import ScoreTableOptions

if TYPE_CHECKING:
    from ..experiments.item_rows import ItemRows


class _Items:
    """What does each item (question) say about the models, and how many items keep the order of the models?

    Computes the difficulty and discrimination of each item, its share in the differences between models, redundant
    pairs, items that no or every model solves, and items on which an organisation or a mode differs from other models
    with the same score. Writes the shortest list of items that keeps the order of models that did not choose it
    (subset.txt), and all items, the most telling first (order.txt); '--questions @subset.txt' takes such a file.

    Examples

      pfgen-fast experiment items --table published -o items

      pfgen-fast experiment items scores.csv --by none -o items
    """

    paths: list[str] | None = Argument(
        None, help="Runs, or tables of scores and logs of evaluation programs.", metavar="[PATH...]"
    )
    table: str | None = Option(
        None,
        help="Read results instead: the published ones ('published'), or JSON lines of results.",
        metavar="FILE.jsonl",
    )
    metric: str | None = Option(None, help="Tables: name the metric. Default: the only one.")
    by: Literal["organisation", "mode", "none"] = Option(
        "organisation",
        help="Find items that favour an organisation (the part of a model's name before the slash), or a mode.",
    )
    agreement: float = Option(0.95, help="Keep the order of the models by at least this Kendall correlation.")
    keep: int | None = Option(None, min=1, help="Write this many items to subset.txt, instead of --agreement.")
    pair: str | None = Option(
        None, help="Tell after how many items the comparison of these two models would have stopped.", metavar="A,B"
    )
    seed: options.RandomSeed = 0
    columns: ScoreTableOptions
    call: Call

    def __call__(self) -> None:
        from ..experiments.items import ItemAnalysis, items
        from ..files.writing import write_whole

        analysis = ItemAnalysis(
            self._rows(), by=self.by, agreement=self.agreement, keep=self.keep, seed=self.seed, pair=self.pair
        )
        self.call.show(items(analysis))
        lists = {"subset.txt": analysis.n_kept, "order.txt": analysis.n_items} if analysis.has_orders else {}
        for name, n in lists.items():
            if n is not None:
                write_whole(self.call.output / name, analysis.list_text(n).encode())
        self.call.end()

    def _rows(self) -> ItemRows:
        from ..experiments.item_rows import rows_of_results, rows_of_runs, rows_of_scores
        from ..item_scores.reading import is_score_table
        from ..runs.result_tables import read_entries

        paths = self.paths or []
        if bool(paths) == (self.table is not None):
            fail(f"{'both paths and' if paths else 'neither paths nor'} --table: expected one of them")
        if self.table is not None:
            return rows_of_results(read_entries(self.table))
        are_tables = {is_score_table(path) for path in paths}
        if len(are_tables) > 1:
            fail("runs and tables of scores cannot be mixed: name only runs or only tables")
        if True in are_tables:
            return rows_of_scores(self.columns.read(paths), self.metric)
        if self.metric is not None or self.columns.named:
            fail(f"{'--metric' if self.metric is not None else self.columns.named}: only tables of scores have it")
        return rows_of_runs(self.call.figures(paths))
