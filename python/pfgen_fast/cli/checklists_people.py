"""`pfgen-fast checklists fit`, `agreement`, `reasonable`, `wins` and `correlate`: people, judges and other methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from .app import exit_if_partial, fail, print_line, shown
from .checklists_options import DrawnFindingOptions, FindingOptions, JudgedRuns, MarksScale
from .options import RandomSeed
from .parser import Argument, Option, option_group
from .suite_line import given_suite

Sources = Annotated[
    list[Path],
    Argument(
        help="Exports of annotators, tables of marks as for 'checklists fit', and runs with judgements.",
        metavar="MARKS|RUN...",
    ),
]


@option_group
class FitOptions(FindingOptions):
    """The options of a finding; `--page` names its output, because `--output` names the output of the weights."""

    output: Path | None = Option(
        None, "--page", help="Write a page with tables and pictures of the fit to this directory.", metavar="DIR"
    )


class ChecklistsFit:
    """Fits the weights of each checklist to people's marks.

    The marks of whole answers are regressed on the verdicts, without an intercept and with no coefficient below the
    bound. The weights are the coefficients divided by their sum. A category whose marks do not determine its weights
    is reported, and gets no weights.

    Examples

      pfgen-fast checklists fit marks.csv --suite SUITE --scale unit

      pfgen-fast checklists fit marks.jsonl --suite SUITE --scale ui --bootstrap 1000 -o weighted-suite

      pfgen-fast checklists fit marks.jsonl --suite SUITE --scale ui --json
    """

    marks: list[Path] = Argument(
        help="Marks: exports of annotators, or JSON lines, CSV, TSV or Parquet with id, response_sha256, annotator, "
        "verdicts (one for each question, in one cell) and overall (0 to 10); optionally length and category.",
        metavar="MARKS...",
    )
    scale: MarksScale = None
    to: Path | None = Option(
        None,
        "--output",
        "-o",
        help="Write the weights to a .json file, or a copy of the suite with the weights to a directory.",
        metavar="OUT",
    )
    bound: float = Option(
        0.5, min=0, help="Set the smallest allowed coefficient. With a bound above 0, no question is ignored."
    )
    allow_unidentified: bool = Option(
        False, help="If marks do not determine the weights, take the weights nearest to equal weights."
    )
    bootstrap: int = Option(0, min=0, help="Refit on this many draws of the answers.", metavar="N")
    run: list[Path] | None = Option(None, help="Use only marks of answers in this run. May be repeated.", metavar="RUN")
    seed: RandomSeed = 0
    options: FitOptions

    def __call__(self) -> None:
        from ..lab.checklists import fit_finding, fitting
        from ..lab.checklists.checklist_runs import open_runs
        from ..lab.checklists.checklist_suite import check_suite_folder
        from ..lab.checklists.marks import read_marks

        if self.to is not None and self.to.suffix != ".json":
            check_suite_folder(self.to)
        options = self.options
        fit = fitting.fit_suite(
            options.loaded,
            read_marks(self.marks, options.loaded, scale=self.scale, runs=open_runs(self.run or ())),
            bound=self.bound,
            draws=self.bootstrap,
            seed=self.seed,
            allow_unidentified=self.allow_unidentified,
        )
        finding = fit_finding.fit_finding(fit)
        options.present(finding, tables=("fitted",))
        if self.to is not None:
            fitting.write_weights(fit, self.to)
            if not (options.quiet or options.as_json):
                print_line(f"weights of {len(fit.weights)} categories: {shown(self.to)}")
        exit_if_partial(options.faults)


class ChecklistsAgreement:
    """How far do annotators agree, people and judges?

    Annotators are the people of exports and tables, and the judges of runs (a directory, a directory of runs, or a file
    of judgements). Shows the correlation of overall marks and the agreement of verdicts for each two annotators,
    Krippendorff's alpha of marks and verdicts and Fleiss' kappa of verdicts by area, annotators who differ from the
    others, and questions on which annotators disagree. The overall mark of a judge is its score. Beside people, a judge
    counts on the answers that people marked. Intervals are over tasks.

    Examples

      pfgen-fast checklists agreement people/exports/*.jsonl --suite essays-en

      pfgen-fast checklists agreement people/exports/*.jsonl runs --suite essays-en -o agreement

      pfgen-fast checklists agreement runs-by-gpt runs-by-claude --suite SUITE
    """

    sources: Sources
    scale: MarksScale = None
    options: DrawnFindingOptions

    def __call__(self) -> None:
        from ..base.errors import ChecklistError
        from ..lab.checklists.agreement_finding import agreement_finding
        from ..lab.checklists.marks import People, read_marks
        from ..lab.checklists.rater_agreement import JudgeMarks, MarkedAnswers, is_of_judges, judge_marks

        options, suite = self.options, self.options.loaded
        runs = [path for path in self.sources if is_of_judges(path)]
        files = [path for path in self.sources if path not in runs]
        people = read_marks(files, suite, scale=self.scale) if files else People()
        answers = {mark.answer for mark in people.marks}
        judges = judge_marks(runs, suite, answers=answers, **options.of_judge) if runs else JudgeMarks()
        same = {mark.annotator for mark in people.marks} & {mark.annotator for mark in judges.marks}
        if same:
            raise ChecklistError(f"{min(same)}: a judge and a person have this name; expected different names")
        marks = (*people.marks, *judges.marks)
        marked = MarkedAnswers(suite, marks, draws=options.draws, seed=options.seed)
        finding = agreement_finding(marked, judges.judges, (*people.notes, *judges.notes))
        options.finish(finding, tables=("parts", "annotators", "pairs"))


class ChecklistsReasonable:
    """Which share of a judge's verdicts do people call reasonable?

    Reads the exports of 'annotate --ask judgements'. Shows the share by judge and area with its interval, and how far
    those who said it agree.

    Example

      pfgen-fast checklists reasonable runs --opinions people/exports/a1.jsonl --suite essays-en
    """

    runs: JudgedRuns
    opinions: list[Path] = Option(..., help="Exports of annotators. May be repeated.", metavar="FILE")
    options: FindingOptions

    def __call__(self) -> None:
        from ..base.errors import ChecklistError
        from ..lab.checklists.agreement_finding import reasonable_finding
        from ..lab.checklists.checklist_runs import open_runs
        from ..lab.checklists.marks import read_people

        options, suite = self.options, self.options.loaded
        people = read_people(self.opinions, suite)
        if not people.opinions:
            raise ChecklistError("no opinions on verdicts: expected exports of 'annotate --ask judgements'")
        options.finish(
            reasonable_finding(suite, people.opinions, open_runs(self.runs), people.notes), tables=("rates",)
        )


class ChecklistsWins:
    """How often is a model better than another?

    A model wins on a task if the score of its answer is higher, or if people chose it (--pairs, exports of 'annotate
    --ask pairs'). Shows win rates against a reference model or between all models, with intervals over tasks, and
    length-controlled win rates: those of answers of equal length, by a regression.

    Examples

      pfgen-fast checklists wins runs --suite essays-en --reference gpt-4o

      pfgen-fast checklists wins runs --suite essays-en --pairs people/exports/a1.jsonl -o wins
    """

    runs: JudgedRuns
    reference: str | None = Option(None, help="Compare with this run only. Default: all pairs.", metavar="RUN")
    pairs: list[Path] | None = Option(
        None,
        help="Use choices of people: exports of annotators, or tables with id, first_sha256, second_sha256, choice and "
        "annotator. May be repeated.",
        metavar="FILE",
    )
    ties: Literal["half", "skip", "win", "loss"] = Option(
        "half", help="Count a tie as half a win, leave it out, or count it as a win or as a loss of both models."
    )
    options: DrawnFindingOptions

    def __call__(self) -> None:
        from ..base.errors import ChecklistError
        from ..lab.checklists import wins
        from ..lab.checklists.checklist_runs import open_runs
        from ..lab.checklists.checklist_scoring import score_runs
        from ..lab.checklists.marks import read_people

        options, suite, runs = self.options, self.options.loaded, open_runs(self.runs)
        sources, notes, signature = {}, [], f"suite:{suite.name} {suite.hash}"
        judged = [run for run in runs if run.judgements_path is not None]
        if len(judged) > 1:
            scores = score_runs(suite, judged, **options.of_judge)
            notes += [*scores.notes, *scores.left_out]
            signature = scores.models[0].signature
            sources[wins.JUDGE] = wins.by_scores(scores)
        if self.pairs:
            people = read_people(self.pairs, suite, runs=runs)
            if not people.pairs:
                expected = "expected exports of 'annotate --ask pairs'"
                raise ChecklistError(f"--pairs: no choices between two answers; {expected}")
            notes += people.notes
            sources[wins.PEOPLE] = wins.by_people(people.pairs, suite, runs)
        if not sources:
            raise ChecklistError("expected at least two judged runs, or choices of people (--pairs)")
        rates = [
            wins.wins(
                source, comparisons, reference=self.reference, ties=self.ties, draws=options.draws, seed=options.seed
            )
            for source, comparisons in sources.items()
        ]
        signature += f"|ties:{self.ties}|draws:{options.draws}|seed:{options.seed}"
        finding = wins.wins_finding(rates, reference=self.reference, ties=self.ties, signature=signature, notes=notes)
        options.finish(finding, tables=tuple(table.name for table in finding.tables))


class ChecklistsCorrelate:
    """Which methods agree about answers, and about models?

    Computes rank correlations over answers and over the means of models, with all methods on the same answers.
    Intervals are from draws of whole tasks. Methods are checklist (weighted), avg-c (equal weights), llm-eval and
    llm-eval-c if there are such judgements, classic metrics or any numbers (--metrics), people (--marks) and n-gram
    scores (--ngram). Each question of the checklists is also compared with the methods without a checklist.

    Examples

      pfgen-fast checklists correlate runs --suite SUITE --metrics metrics.csv --marks marks.csv --scale unit -o out

      pfgen-fast checklists correlate runs --suite SUITE --ngram data
    """

    runs: JudgedRuns
    metrics: list[Path] | None = Option(
        None,
        help="Compare with a table of metrics, as 'checklists metrics -o' writes it. May be repeated.",
        metavar="FILE",
    )
    marks: list[Path] | None = Option(
        None, help="Compare with marks, as for 'checklists fit'. May be repeated.", metavar="FILE"
    )
    scale: MarksScale = None
    ngram: str | None = Option(
        None, help="Compare with n-gram scores by the suite that was imported.", metavar="FOLDER"
    )
    against: str | None = Option(
        None, help="Compare with this method. Default: people, or else checklist.", metavar="M"
    )
    methods: list[str] | None = Option(
        None, "--method", help="Take only this method. May be repeated.", metavar="METHOD"
    )
    options: DrawnFindingOptions

    def __call__(self) -> None:
        from ..lab.checklists import method_correlation as method_values
        from ..lab.checklists.checklist_runs import open_runs
        from ..lab.checklists.method_correlation import correlate as find
        from ..lab.checklists.method_correlation import correlated

        if self.scale is not None and not self.marks:
            fail("--scale: expected with --marks")
        suite, runs = self.options.loaded, open_runs(self.runs)
        values = method_values.checklist_values(suite, runs, **self.options.of_judge)
        methods, notes = dict(values.methods), list(values.notes)
        for path in self.metrics or ():
            methods |= method_values.metric_values(path, suite)
        if self.marks:
            methods["people"], mark_notes = method_values.people_values(self.marks, suite, runs, scale=self.scale)
            notes += mark_notes
        ngram_suite = given_suite(self.ngram)
        if ngram_suite is not None:
            methods |= method_values.ngram_values(runs, suite, ngram_suite)
        everything = method_values.Values(suite, methods, values.verdicts, tuple(notes), values.signature)
        draws, seed = self.options.draws, self.options.seed
        compared = correlated(everything, against=self.against, methods=self.methods, draws=draws, seed=seed)
        self.options.finish(find(compared))
