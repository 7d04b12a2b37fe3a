"""`pfgen-fast experiment calibrate`: what a dear evaluator would say, from some of its scores and many cheap scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer import Option

from . import options
from .experiment_call import Call
from .score_table_options import ScoreTableOptions

if TYPE_CHECKING:
    from ..item_scores.table import ItemScores


class _Calibrate:
    """What would a dear evaluator, such as a judge or people, say if it scored all items?

    Estimates the mean dear score of each model from dear scores of some items and cheap scores of all items, with a
    valid interval that is never wider than that of the dear scores alone. The cheap scores are those of runs (n-grams)
    or of a table; the dear scores are a table with the same names of runs or models and of items, such as that of
    'experiment judge --items'. The items with a dear score must be a random sample.

    Examples

      pfgen-fast experiment calibrate result --against ratings.csv -o calibrate

      pfgen-fast experiment calibrate ngram.csv --metric score --against people.csv --half-width 0.02 -o calibrate
    """

    paths: options.Paths
    against: list[str] = Option(..., help="Read the dear scores from this table. May be repeated.", metavar="FILE")
    metric: str | None = Option(
        None,
        help="Use this metric of the cheap scores. Default: score of runs, or the only metric.",
        metavar="NAME",
    )
    against_metric: str | None = Option(
        None, help="Use this metric of the dear scores. Default: the only one.", metavar="NAME"
    )
    half_width: float | None = Option(
        None, help="Tell how many dear scores a mean ± this number takes.", metavar="WIDTH"
    )
    columns: ScoreTableOptions
    call: Call

    def __call__(self) -> None:
        from ..experiments.calibration import calibrate

        dear = self.columns.read(self.against, quiet=self.call.quiet)
        cheap, metric = self._cheap(dear)
        finding = calibrate(cheap, dear, metric=metric, against_metric=self.against_metric, half_width=self.half_width)
        self.call.finish(finding)

    def _cheap(self, dear: ItemScores) -> tuple[ItemScores, str | None]:
        from ..experiments.calibration import scores_of_runs
        from ..runs.result_tables import are_score_tables

        if are_score_tables(self.paths):
            return self.columns.read(self.paths, quiet=self.call.quiet), self.metric
        return scores_of_runs(self.call.figures(self.paths), dear.models), self.metric or "score"
