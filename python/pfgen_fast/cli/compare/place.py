"""`pfgen-fast place`: where a run stands among the published runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...base.errors import TrialsError
from ...base.untrusted_text import counted, few_names
from .. import options
from ..app import Json, Quiet, exit_if_partial, fail, print_json, print_line, print_table, shown, warn
from ..gate_options import ThresholdOptions
from ..parser import Argument, Option, refuse_others
from ..suite_line import about_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runs.gates import Check
    from ...runs.placement import Placement


class Place:
    """Tells where runs stand among the 522 published runs.

    Reads the result.json files that 'pfgen-fast score' wrote, and compares each run with the published results of
    pfgen-bench by the paired t-test over questions, corrected by Holm at 5 %. The rank counts the runs with a higher
    score; its range counts only those that differ significantly. The run itself and the yardsticks (system/...)
    do not count.

    A run of some questions, such as that of 'evaluate --quick', is compared on these questions. Runs that cannot be
    placed are listed, and the exit code is then 3.

    Models of a table of scores are placed among the other models of the table (--models), or of another table
    (--against), on the items that all of them have.

    Examples

      pfgen-fast place result/our/model
      pfgen-fast place result/our/model/step-2000 --against result/our/model
      pfgen-fast place result/our/model --fail-under percentile=50 --fail-under rank_high=100
      pfgen-fast place scores.csv --models new
      pfgen-fast place new.csv --against leaderboard.csv --metric accuracy
    """

    paths: list[str] = Argument(
        ...,
        "Runs: directories with a result.json, directories with many runs, or globs. Or tables of scores by item "
        "and model.",
        metavar="PATH...",
    )
    against: str | None = Option(
        None,
        "Place among other runs: a directory, or a table with one result.json per line and the run's name as "
        "'run'. Tables of scores: another such table. Default: the published runs, or the other models of the "
        "table.",
        metavar="DIR|FILE",
    )
    metric: options.MetricOfTable = None
    format: options.FormatWithMarkdown = "text"
    quiet: Quiet = False
    as_json: Json = False
    tables: options.ItemScoreOptions
    gate: ThresholdOptions

    def __call__(self) -> None:
        from ...runs.gates import OF_PLACEMENT
        from ...runs.result_tables import are_score_tables

        self.gate.prepare()
        self.gate.check_names(OF_PLACEMENT)
        problems: list[TrialsError] = []
        placements = self._models() if are_score_tables(self.paths) else self._runs(problems)
        all_checks = list(map(self._checks_of, placements))
        if self.as_json:
            records = zip(placements, all_checks, strict=True)
            print_json([{**placement.to_dict(), **self.gate.record(checks)} for placement, checks in records])
        elif self.format == "markdown":
            sys.stdout.write("\n".join(placement.to_markdown() for placement in placements))
        elif not self.quiet and len(placements) == 1:
            print_placement(placements[0])
        elif not self.quiet and placements:
            print_placements(placements)
        checks = [check for checks in all_checks for check in checks]
        checks += [check for problem in problems for check in self.gate.without_figures("place", str(problem))]
        form = "json" if self.as_json else "quiet" if self.quiet and self.format == "text" else self.format
        self.gate.finish(checks, form, "place")
        exit_if_partial(problems)

    def _checks_of(self, placement: Placement) -> list[Check]:
        from ...runs.gates import RANKS, figures_of_placement

        if placement.n_lost:
            lost = f"it lacks {counted(placement.n_lost, 'item')} that other models have"
            return self.gate.without_figures(placement.run, lost)
        lower = RANKS if placement.higher_is_better else (*RANKS, "score", "score_low", "score_high")
        return self.gate.check(figures_of_placement(placement), placement.run, lower_is_better=lower)

    def _models(self) -> list[Placement]:
        from ...runs.placement import place_models

        if not self.against and not self.tables.models:
            fail("name the models to place (--models), or a table with other models (--against)")
        paths = [*self.paths, *([self.against] if self.against else [])]
        scores = self.tables.read(paths, self.metric, quiet=self.quiet, all_models=True)
        placed = self.tables.chosen_of(scores.models) or self.tables.read(self.paths, quiet=True).models
        if self.against:  # a model that both tables have is named `MODEL (TABLE)`, first that of the first table
            names = {name.rpartition(" (")[0]: name for name in reversed(scores.models)}
            placed = [model if model in scores.models else names.get(model, model) for model in placed]
        return place_models(scores, placed, self.metric)

    def _runs(self, problems: list[TrialsError]) -> list[Placement]:
        from ...runs.result_tables import PUBLISHED, read_entries
        from ...runs.run_placement import Field, entries_at

        def on_problem(problem: TrialsError) -> None:
            warn(str(problem))
            problems.append(problem)

        refuse_others(self, "runs")
        field = Field(read_entries(self.against or PUBLISHED))
        placements = []
        for entry in entries_at(self.paths, on_problem):
            try:
                placements.append(field.place(entry))
            except TrialsError as problem:
                on_problem(problem)
        return placements


def print_placement(placement: Placement) -> None:
    """Prints what a placement says, one sentence per line, and the run among those with the nearest scores."""
    heading, *sentences = placement.words()
    print_line((shown(heading), "bold"))
    for sentence in sentences:
        print_line(shown(sentence))
    print_line()
    print_table(placement.shown, faint=[verdict is not None for verdict in placement.shown.values("verdict")])


def print_placements(placements: Sequence[Placement]) -> None:
    """Prints a table of placements, and the notes about them, each once."""
    from ...runs.placement import table_of

    noun, items = placements[0].nouns
    n_others = len(placements[0].others)
    print_table(table_of(placements))
    print_line(
        (
            f"{about_interval(items, is_share=placements[0].is_share)}; better, worse: significantly at 95 % than this "
            f"number, of {counted(n_others, f'other {noun}')} (Holm, {counted(n_others, 'comparison')}); "
            "rank range: the ranks that chance allows",
            "dim",
        )
    )
    runs: dict[str, list[str]] = {}
    for placement in placements:
        for remark in placement.notes:
            runs.setdefault(remark, []).append(placement.run)
    for remark, names in runs.items():
        print_line(shown(remark if len(names) == len(placements) else f"{few_names(names, 3, 120)}: {remark}"))
