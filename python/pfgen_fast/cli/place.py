"""`pfgen-fast place`: where a run stands among the published runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer import Argument, Option

from ..errors import TrialsError
from . import options
from .app import Json, Quiet, exit_if_partial, print_json, shown, stderr, stdout, warn

if TYPE_CHECKING:
    from ..runs.placement import Placement


class _Place:
    """Tells where runs stand among the 522 published runs.

    Reads the result.json files that 'pfgen-fast score' wrote, and compares each run with the published results of
    pfgen-bench by the paired t-test over questions, corrected after Benjamini and Hochberg at 5 %. The rank counts the
    runs with a higher score; its range counts only those that differ by more than chance. The run itself and the
    yardsticks (system/...) do not count.

    Runs that cannot be placed are listed, and the exit code is then 3.

    Examples

      pfgen-fast place result/our/model

      pfgen-fast place result -o place.svg

      pfgen-fast place result/our/model/step-2000 --against result/our/model
    """

    paths: list[str] = Argument(
        help="Runs: directories with a result.json, directories with many runs, or globs.", metavar="PATH..."
    )
    against: str = Option(
        "published",
        help="Place among other runs: a directory, or a table with one result.json per line and the run's name as "
        "'run'.",
        metavar="DIR|FILE",
    )
    output: Path | None = Option(
        None, "-o", help="Draw all runs by rank and by size, with these runs marked.", metavar="FILE.svg|FILE.png"
    )
    format: options.FormatWithMarkdown = "text"
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ..runs.leaderboard import find_results, rank
        from ..runs.placement import Field
        from ..runs.result_tables import read_entries

        if self.output:
            from ..report.sweep_plot import check_picture

            check_picture(self.output)
        field = Field(read_entries(self.against))
        problems: list[TrialsError] = []
        placements = []
        results = []
        for path in self.paths:
            try:
                results += find_results([path])
            except TrialsError as problem:
                problems.append(problem)
        for entry in rank(dict.fromkeys(results), on_problem=problems.append):
            try:
                placements.append(field.place(entry))
            except TrialsError as problem:
                problems.append(problem)
        warn(*map(str, problems))
        if self.output and placements:
            self.draw(self.output, placements)
        if self.as_json or self.format == "json":
            print_json([placement.to_dict() for placement in placements])
        elif self.format == "markdown":
            stdout().out("\n".join(placement.to_markdown() for placement in placements), end="", highlight=False)
        elif not self.quiet:
            for placement in placements:
                print_placement(placement)
        exit_if_partial(problems)

    def draw(self, path: Path, placements: list[Placement]) -> None:
        """Writes the picture."""
        from ..report.placement_plot import MAX_MARKED, write_placements

        write_placements(placements, path)
        if not self.quiet:
            n_left_out = len(placements) - MAX_MARKED
            more = f" with the best {MAX_MARKED} of {len(placements)} runs marked" if n_left_out > 0 else ""
            stderr().print(f"picture: {shown(path)}{more}")


def print_placement(placement: Placement) -> None:
    """Prints what a placement says, one sentence per line."""
    stdout().print(f"{shown(placement.run)}: {placement.figures()}", style="bold")
    for sentence in placement.sentences():
        stdout().print(f"  {shown(sentence)}")
    for sentence in placement.notes:
        stdout().print(f"  weaker: {shown(sentence)}", style="dim")
