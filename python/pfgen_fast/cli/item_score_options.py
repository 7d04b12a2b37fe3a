"""Options of the commands that take tables of scores and logs beside runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from . import options
from .app import fail, note
from .parser import Option, option_group

if TYPE_CHECKING:
    from ..runs.items.item_table import ItemScores


@option_group
class ItemScoreOptions:
    """The columns of tables of scores, and the choice of models."""

    help_group = "Tables of scores"
    for_input = "tables"
    item_column: str | None = Option(None, "Name the column with the items. Default: item, id or another usual name.")
    model_column: str | None = Option(None, "Name the column with the models. Default: model or another usual name.")
    score_columns: list[str] | None = Option(
        None,
        "Name a column with scores; each is a metric. May be repeated. Default: score, accuracy or other usual "
        "names, or in a wide table one column for each model.",
        "--score-column",
    )
    trial_column: str | None = Option(None, "Name the column that numbers the trials of a model on an item.")
    metric_column: str | None = Option(None, "Name the column with the metrics.")
    subject_column: str | None = Option(None, "Name the column with the subject of each item.")
    cluster_column: str | None = Option(None, "Name the column with the cluster of each item, such as its document.")
    encoding: options.Encoding = None
    lower_is_better: list[str] | None = Option(
        None,
        "Treat lower scores of these metrics as better, separated by commas. May be repeated.",
        parser=options.name_list,
        metavar="METRIC,...",
    )
    models: list[str] | None = Option(
        None,
        "Use only these models, in this order, separated by commas. May be repeated.",
        parser=options.name_list,
        metavar="NAME,...",
    )

    def read(self, paths: Sequence[str], *, quiet: bool = False, all_models: bool = False) -> ItemScores:
        """Reads the chosen models, or all of them, from tables and logs, and prints how they were read."""
        from ..runs.items.score_columns import ColumnNames
        from ..runs.items.score_tables import read_item_scores

        columns = ColumnNames(
            item=self.item_column,
            model=self.model_column,
            score=tuple(self.score_columns or ()),
            trial=self.trial_column,
            metric=self.metric_column,
            subject=self.subject_column,
            cluster=self.cluster_column,
        )
        scores = read_item_scores(paths, columns, encoding=self.encoding)
        if not quiet:
            note(*scores.notes)
        lower = options.names_of(self.lower_is_better)
        for metric in lower:
            if metric not in scores.metrics:
                from ..base.untrusted_text import unknown_name

                fail(f"--lower-is-better: {unknown_name('metric', metric, scores.metrics)}")
        scores = replace(scores, higher_is_better={**scores.higher_is_better, **dict.fromkeys(lower, False)})
        return scores.only(models=self.chosen_of(scores.models)) if self.models and not all_models else scores

    def chosen_of(self, models: Sequence[str]) -> list[str]:
        """The names in --models; a value that is the name of a model, with commas, is one name."""
        return [name for text in self.models or () for name in ([text] if text in models else options.names_of([text]))]
