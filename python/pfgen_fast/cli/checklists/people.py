"""`pfgen-fast checklists fit`, `agreement`, `reasonable`, `wins` and `correlate`: people, judges and other methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from ..app import exit_if_partial, fail, print_line, shown
from ..options import RandomSeed
from ..parser import Argument, Option, option_group
from .options import DrawnFindingOptions, FindingOptions, JudgedRuns, MarksScale

Sources = Annotated[
    list[Path],
    Argument(..., "Exports of annotators, tables of marks, and runs with judgements.", metavar="MARKS|RUN..."),
]


@option_group
class FitOptions(FindingOptions):
    """The options of a finding; `--page` names its output, because `--output` names the output of the weights."""

    output: Path | None = Option(None, "Write a page with the tables to this directory.", "--page", metavar="DIR")


class ChecklistsFit:
    """Fits the weights of each checklist to people's marks.

    The marks of whole answers are regressed on the verdicts, without an intercept and with no coefficient below the
    bound. The weights are the coefficients divided by their sum. A category whose marks do not determine its weights
    is reported, and gets no weights.

    Examples

      pfgen-fast checklists fit people/exports/*.jsonl --suite SUITE -o weights.json
      pfgen-fast checklists fit marks.csv --suite SUITE --scale ui --bootstrap 1000 -o weighted-suite
    """

    marks: list[Path] = Argument(
        ...,
        "Exports of annotators, or tables with id, response_sha256, annotator, verdicts and overall (0 to 10).",
        metavar="MARKS...",
    )
    scale: MarksScale = None
    to: Path | None = Option(
        None, "Write weights (.json), or a suite with them (a directory).", "--output", "-o", metavar="OUT"
    )
    bound: float = Option(0.5, "Set the smallest allowed coefficient.", min=0)
    allow_unidentified: bool = Option(False, "If marks do not determine the weights, take the most equal ones.")
    bootstrap: int = Option(0, "Refit on this many draws of the answers.", min=0, max=1_000_000)
    run: list[Path] | None = Option(None, "Use only marks of answers in this run.", metavar="RUN")
    seed: RandomSeed = 0
    options: FitOptions

    def __call__(self) -> None:
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.checklist_suite import check_suite_folder
        from ...lab.checklists.fitting import fit_finding, fit_suite, write_weights
        from ...lab.checklists.marks import read_marks

        if self.to is not None and self.to.suffix != ".json":
            check_suite_folder(self.to)
        options = self.options
        fit = fit_suite(
            options.loaded,
            read_marks(self.marks, options.loaded, scale=self.scale, runs=open_runs(self.run or ())),
            bound=self.bound,
            draws=self.bootstrap,
            seed=self.seed,
            allow_unidentified=self.allow_unidentified,
        )
        options.present(fit_finding(fit), tables=("fitted",))
        if self.to is not None:
            write_weights(fit, self.to)
            if not (options.quiet or options.as_json):
                print_line(f"weights of {len(fit.weights)} categories: {shown(self.to)}")
        exit_if_partial(options.faults)


class ChecklistsAgreement:
    """How far do annotators agree, people and judges?

    Annotators are the people of exports and tables, and the judges of runs (a directory, a directory of runs, or a file
    of judgements). Shows the correlation of overall marks and the agreement of verdicts for each two annotators,
    Krippendorff's alpha and Fleiss' kappa by area, and annotators who differ from the others. The overall mark of a
    judge is its score. Beside people, a judge counts on the answers that people marked.

    Examples

      pfgen-fast checklists agreement people/exports/*.jsonl runs --suite essays-en -o agreement
      pfgen-fast checklists agreement runs-by-gpt runs-by-claude --suite SUITE
    """

    sources: Sources
    scale: MarksScale = None
    options: DrawnFindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.agreement_finding import agreement_finding
        from ...lab.checklists.rater_agreement import MarkedAnswers, marks_of

        options, suite = self.options, self.options.loaded
        marks = marks_of(self.sources, suite, scale=self.scale, **options.of_judge)
        marked = MarkedAnswers(suite, marks.marks, draws=options.draws, seed=options.seed)
        options.finish(agreement_finding(marked, marks.judges, marks.notes), tables=("parts", "annotators", "pairs"))


class ChecklistsReasonable:
    """Which share of a judge's verdicts do people call reasonable?

    Reads the exports of 'annotate --ask judgements'. Shows the share by judge and area with its interval, and how far
    these people agree.

    Example

      pfgen-fast checklists reasonable runs --opinions people/exports/a1.jsonl --suite essays-en
    """

    runs: JudgedRuns
    opinions: list[Path] = Option(..., "Read these exports of annotators.")
    options: FindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.agreement_finding import reasonable_finding
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.marks import read_people

        suite = self.options.loaded
        people = read_people(self.opinions, suite)
        finding = reasonable_finding(suite, people.opinions, open_runs(self.runs), people.notes)
        self.options.finish(finding, tables=("rates",))


class ChecklistsWins:
    """How often is a model better than another?

    A model wins on a task if the score of its answer is higher, or if people chose it (--pairs). Shows win rates
    against a reference model or between all models, with intervals over tasks, and length-controlled win rates: those
    of answers of equal length, by a regression.

    Examples

      pfgen-fast checklists wins runs --suite essays-en --reference gpt-4o
      pfgen-fast checklists wins runs --suite essays-en --pairs people/exports/a1.jsonl -o wins
    """

    runs: JudgedRuns
    reference: str | None = Option(None, "Compare with this run only. Default: all pairs.", metavar="RUN")
    pairs: list[Path] | None = Option(None, "Use choices of people: exports, or tables of choices.")
    ties: Literal["half", "skip", "win", "loss"] = Option(
        "half", "Count a tie as half a win, leave it out, or count it as a win or as a loss of both models."
    )
    options: DrawnFindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.wins import find_wins

        finding = find_wins(
            self.options.loaded,
            open_runs(self.runs),
            pairs=self.pairs or (),
            reference=self.reference,
            ties=self.ties,
            draws=self.options.draws,
            seed=self.options.seed,
            **self.options.of_judge,
        )
        self.options.finish(finding, tables=tuple(table.name for table in finding.tables))


class ChecklistsCorrelate:
    """Which methods agree about answers, and about models?

    Computes rank correlations over answers and over the means of models, with all methods on the same answers and
    intervals over tasks. Methods are checklist (weighted), avg-c (equal weights), llm-eval and llm-eval-c if there are
    such judgements, classic metrics or any numbers (--metrics), and people (--marks).

    Example

      pfgen-fast checklists correlate runs --suite SUITE --metrics metrics.csv --marks marks.csv --scale unit -o out
    """

    runs: JudgedRuns
    metrics: list[Path] | None = Option(None, "Compare with a table of metrics, as 'checklists metrics -o' writes it.")
    marks: list[Path] | None = Option(None, "Compare with marks, as for 'checklists fit'.")
    scale: MarksScale = None
    against: str | None = Option(None, "Compare with this method. Default: people, or else checklist.", metavar="M")
    methods: list[str] | None = Option(None, "Take only this method.", "--method", metavar="METHOD")
    options: DrawnFindingOptions

    def __call__(self) -> None:
        from ...lab.checklists.checklist_runs import open_runs
        from ...lab.checklists.method_correlation import correlate, correlated, values_of

        if self.scale is not None and not self.marks:
            fail("--scale: expected with --marks")
        options = self.options
        values = values_of(
            options.loaded,
            open_runs(self.runs),
            metrics=self.metrics or (),
            marks=self.marks or (),
            scale=self.scale,
            **options.of_judge,
        )
        compared = correlated(
            values, against=self.against, methods=self.methods, draws=options.draws, seed=options.seed
        )
        options.finish(correlate(compared))
