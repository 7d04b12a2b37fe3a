"""`pfgen-fast checklists fit`, `agreement`, `reasonable`, `wins` and `correlate`: people, judges and other methods."""

from __future__ import annotations

from pathlib import Path

from ..app import print_line, shown
from ..parser import Argument, Option
from .options import FindingOptions, JudgedFindingOptions


class ChecklistsFit:
    """Fits the weights of each checklist to people's marks.

    The marks of whole answers are regressed on the verdicts, without an intercept and with no coefficient below 0.5.
    The weights are the coefficients divided by their sum. A category whose marks do not determine its weights is
    reported, and gets no weights.

    Examples

      pfgen-fast checklists fit people/exports/*.jsonl --suite SUITE -o weights.json
      pfgen-fast checklists fit marks.csv --suite SUITE -o weighted-suite
    """

    marks: list[Path] = Argument(
        ...,
        "Exports of annotators, or tables with id, response_sha256, annotator, verdicts and overall (0 to 10).",
        metavar="MARKS...",
    )
    output: Path | None = Option(None, "Write weights (.json) or a suite with them (a directory).", "-o", metavar="OUT")
    options: FindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.checklist_suite import check_suite_folder
        from ...lab.checklists.fitting import fit_finding, fit_suite, write_weights
        from ...lab.checklists.marks import read_marks

        if self.output is not None and self.output.suffix != ".json":
            check_suite_folder(self.output)
        options = self.options
        fit = fit_suite(options.loaded, read_marks(self.marks, options.loaded))
        options.finish(fit_finding(fit))
        if self.output is not None:
            write_weights(fit, self.output)
            if not (options.quiet or options.as_json):
                print_line(f"weights of {len(fit.weights)} categories: {shown(self.output)}")


class ChecklistsAgreement:
    """How far do annotators agree, people and judges?

    Annotators are the people of exports and tables, and the judges of runs. Shows the correlation of overall marks and
    the agreement of verdicts for each two annotators, and Krippendorff's alpha and Fleiss' kappa by area. The overall
    mark of a judge is its score. Beside people, a judge counts on the answers that people marked.

    Examples

      pfgen-fast checklists agreement people/exports/*.jsonl runs --suite essays-en
      pfgen-fast checklists agreement runs-by-gpt runs-by-claude --suite SUITE
    """

    sources: list[Path] = Argument(
        ..., "Exports of annotators, tables of marks, and directories of runs.", metavar="MARKS|RUN..."
    )
    options: FindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.rater_agreement import MarkedAnswers, agreement_finding, marks_of

        suite = self.options.loaded
        people = marks_of(self.sources, suite, on_fault=self.options.faults)
        self.options.finish(agreement_finding(MarkedAnswers(suite, people.marks), people.notes))


class ChecklistsReasonable:
    """Which share of a judge's verdicts, or of instructions, do people call reasonable?

    Reads the exports of 'annotate --ask judgements', or without RUN those of 'annotate --ask instructions'. Shows the
    share by judge or question and area with its interval, the share of each annotator, and how far these people agree
    (Pearson, equal decisions, Fleiss' kappa, Krippendorff's alpha).

    Examples

      pfgen-fast checklists reasonable runs --opinions people/exports/a1.jsonl --suite essays-en
      pfgen-fast checklists reasonable --opinions people/exports/a1.jsonl --suite essays-en
    """

    runs: list[Path] | None = Argument(None, "The judged runs; without them, instructions.", metavar="[RUN]...")
    opinions: list[Path] = Option(..., "Read these exports of annotators.")
    options: FindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.marks import read_people
        from ...lab.checklists.rater_agreement import reasonable_finding

        options, people = self.options, read_people(self.opinions, self.options.loaded)
        options.finish(reasonable_finding(options.loaded, people.opinions, open_runs(self.runs or ()), people.notes))


class ChecklistsWins:
    """How often is a model better than another?

    A model wins on a task if the score of its answer is higher, or if people chose it (--pairs); a tie counts as half a
    win. Shows win rates against a reference model or between all models, with intervals over tasks.

    Examples

      pfgen-fast checklists wins runs --suite essays-en --reference gpt-4o
      pfgen-fast checklists wins runs --suite essays-en --pairs people/exports/a1.jsonl
    """

    reference: str | None = Option(None, "Compare with this run only. Default: all pairs.", metavar="RUN")
    pairs: list[Path] | None = Option(None, "Use choices of people: exports, or tables of choices.")
    options: JudgedFindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.wins import find_wins

        options, pairs = self.options, self.pairs or ()
        options.finish(
            find_wins(options.loaded, options.opened, pairs=pairs, reference=self.reference, **options.of_judge)
        )


class ChecklistsCorrelate:
    """Which methods agree with people, or with the checklist, about answers and about models?

    Computes rank correlations over answers and over the means of models, with all methods on the same answers and
    intervals over tasks. Methods are checklist (weighted), avg-c (equal weights), llm-eval and llm-eval-c if there are
    such judgements, classic metrics or any numbers (--metrics), and people (--marks).

    Example

      pfgen-fast checklists correlate runs --suite SUITE --metrics metrics.csv --marks marks.csv
    """

    metrics: list[Path] | None = Option(None, "Compare with a table of metrics, as 'checklists metrics -o' writes it.")
    marks: list[Path] | None = Option(None, "Compare with marks, as for 'checklists fit'.")
    area: str | None = Option(None, "Compare the answers of this area only.")
    options: JudgedFindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.method_correlation import correlate, correlated, values_of

        options, metrics, marks = self.options, self.metrics or (), self.marks or ()
        values = values_of(options.loaded, options.opened, metrics=metrics, marks=marks, **options.of_judge)
        options.finish(correlate(correlated(values, area=self.area)))
