"""`pfgen-fast checklists table` and `report`: the scores of runs, from their judgements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...base.untrusted_text import counted
from ..app import Json, exit_if_partial, note, print_json, print_line, print_tables, shown
from ..gate_options import ThresholdOptions
from ..parser import Option
from .options import ChecklistScoreOptions

if TYPE_CHECKING:
    from ...lab.checklists.checklist_scoring import Gap, ModelScores
    from ...lab.checklists.tasks import Missing
    from ...runs.gates import Check


class ChecklistsTable:
    """Scores models and ranks them: average, interval, areas, words, and rank range.

    A score is the weighted sum of an answer's verdicts, 0 to 100, and printed rescaled as the suite says: (score - 75)
    * 4. The average is the mean of the areas, which have equal weights. A * marks a figure with missing judgements. The
    rank range has the ranks that chance allows. A single run is shown with its areas, categories and lengths, and the
    mean verdict on each question. The exit code is 3 if answers are left out because the judge gave no usable reply.
    --fail-under is an error, with exit code 3, if answers of a model are left out.

    Examples

      pfgen-fast checklists table runs --suite hellobench --missing zero --lengths
      pfgen-fast checklists table runs/a runs/b --suite essays-en --weights equal --csv table.csv
      pfgen-fast checklists table runs --suite essays-en --calibrate people/exports/a1.jsonl
    """

    categories: bool = Option(False, "Also show the score on each category.")
    lengths: bool = Option(False, "Also show the tests of wanted lengths, and the errors of lengths.")
    csv: Path | None = Option(None, "Also write all figures with full digits to this file.")
    answers: Path | None = Option(None, "Also write the score of each answer to this table, which compare reads.")
    calibrate: list[Path] | None = Option(
        None, "Also estimate the scores that people would give, from their marks of some answers.", metavar="MARKS"
    )
    verbose: bool = Option(
        False, "Also print the columns that a narrow terminal leaves out, below the others.", "--verbose", "-v"
    )
    as_json: Json = False
    gate: ThresholdOptions
    options: ChecklistScoreOptions

    def __call__(self) -> None:
        from ...base.file_writing import write_whole
        from ...base.untrusted_text import utf8
        from ...lab.checklists import checklist_tables as tables
        from ...lab.checklists.calibration import calibrate
        from ...lab.checklists.checklist_scoring import ANSWER_COLUMNS, answer_rows
        from ...lab.checklists.marks import read_marks
        from ...tables.formats import check_value_table, writing_values

        options, calibration = self.options, None
        self.gate.prepare()
        ends = ("", "_low", "_high")
        self.gate.check_names(f"{name}{end}" for name in ("average", *options.loaded.areas) for end in ends)
        if self.answers is not None:
            check_value_table(self.answers)
        people = self.calibrate and read_marks(self.calibrate, options.loaded)
        scores = options.score()
        if people:
            note(*people.notes)
            calibration = calibrate(scores, people.marks)
        figures = tables.full_table(scores, calibration)
        if self.csv is not None:
            write_whole(self.csv, utf8(figures.to_csv()))
        if self.answers is not None:
            with writing_values(self.answers, ANSWER_COLUMNS) as write:
                write(answer_rows(scores))
        checks = [check for model in scores.models for check in self._checks(model, scores.missing)]
        is_quiet = options.quiet or self.as_json
        if self.as_json:
            settings = {"method": scores.method, "weights": scores.weights, "missing": scores.missing}
            about = {"suite": scores.suite.name, "suite_sha256": scores.suite.hash, **settings}
            print_json({**about, "rows": figures.to_dicts(), "notes": scores.notes, **self.gate.record(checks)})
        else:
            parts = tables.shown_tables(scores, calibration, categories=self.categories, lengths=self.lengths)
            print_tables(parts, all_columns=self.verbose)
        if not is_quiet:
            for sentence in tables.scale_sentences(scores):
                print_line((sentence, "dim"))
            for sentence in tables.missing_sentences(scores):
                print_line(shown(sentence))
        note(*scores.notes, *(calibration.notes if calibration else ()), *scores.left_out)
        self.gate.finish(checks, "quiet" if is_quiet else "text", "checklists table")
        exit_if_partial(options.faults or scores.n("unjudged"))

    def _checks(self, model: ModelScores, missing: Missing) -> list[Check]:
        """The checks of a model; errors if answers are left out, because the model could gain by losing answers."""
        gaps: tuple[Gap, ...] = ("stale", "unjudged", *(() if missing == "zero" else ("missing",)))
        if n := sum(map(model.n, gaps)):
            reasons = ", ".join(f"{model.n(gap):,} {gap}" for gap in gaps if model.n(gap))
            return self.gate.without_figures(model.model, f"{counted(n, 'answer')} left out ({reasons})")
        figures: dict[str, float | None] = {}
        for name, part in {"average": model.average, **model.areas}.items():
            low, high = part.interval or (None, None)
            figures |= {name: part.rescaled, f"{name}_low": low, f"{name}_high": high}
        return self.gate.check(figures, model.model)


class ChecklistsReport:
    """Creates a page of models: scores with intervals, categories, questions, and answers with verdicts and reasons.

    The page needs no network, and text of answers and reasons cannot run code in it. A single file has at most 12 MB:
    if the texts exceed this limit, the page leaves out the ends of long answers, and says so. A directory contains all
    texts, opens from disk, and only replaces an earlier report. The table is also written as CSV next to the page. The
    exit code is 3 if answers are left out because the judge gave no usable reply, or because their lines cannot be
    read.

    Examples

      pfgen-fast checklists report runs --suite hellobench -o report.html
      pfgen-fast checklists report runs/a runs/b --suite essays-en --missing zero -o report
    """

    output: Path = Option(
        Path("checklists"),
        "Write a page such as report.html, or a directory with a page and its data.",
        "-o",
        metavar="FILE.html|FOLDER",
    )
    options: ChecklistScoreOptions

    def __call__(self) -> None:
        from ...report.checklists_page import write_checklists
        from ...report.pages import check_output

        check_output(self.output)
        options = self.options
        scores = options.score()
        page, table = write_checklists(
            scores, options.opened, self.output, judge=options.judge, on_fault=options.faults
        )
        if not options.quiet:
            print_line(f"{counted(len(scores.models), 'model')}: {shown(page)}, and next to it {shown(table.name)}")
        note(*scores.notes, *scores.left_out)
        exit_if_partial(options.faults or scores.n("unjudged"))
