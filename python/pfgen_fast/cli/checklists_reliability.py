"""`pfgen-fast checklists agree`, `drift`, `noise` and `correlate`: how far judges and methods can be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import ChecklistError
from .app import Exit, exit_if_partial, fail
from .checklists_options import DrawnFindingOptions, FindingOptions, JudgedRuns, MarksScale
from .suite_line import given_suite

if TYPE_CHECKING:
    from ..checklists.reliability.method_values import Place
    from ..checklists.runs import Run

Paths = Annotated[
    list[Path],
    Argument(
        help="Directories of runs, directories with many runs, or files of judgements; each path is one side.",
        metavar="PATH...",
    ),
]


class _Agree:
    """How far do two judges of the same answers agree?

    Compares the answers that both judged, with the same text and the same questions. Over all questions and for each
    question, it shows the shares of equal and of adjacent levels, and kappa; over answers, the correlation of scores;
    over models, the places in the two tables. Intervals are over tasks. If a path has several judges, each is a side.
    Three sides or more are compared in pairs, and together by Krippendorff's alpha.

    Examples

      pfgen-fast checklists agree runs-by-gpt runs-by-claude --suite SUITE -o agreement

      pfgen-fast checklists agree runs --suite SUITE --json
    """

    paths: Paths
    given: DrawnFindingOptions

    def __call__(self) -> None:
        from ..checklists.reliability.agreement_finding import agree as find
        from ..checklists.reliability.judge_selection import JudgeSelection

        given, suite = self.given, self.given.loaded
        sides = JudgeSelection(suite, **given.of_judge).of_each(self.paths)
        given.finish(find(sides, suite, draws=given.draws, seed=given.seed))


class _Drift:
    """Does a judge still give the same verdicts?

    Compares a judge's verdicts on the same answers at two times, OLD and NEW: by how many points each area moved, with
    an interval over tasks, which questions moved most, and which pairs of models change their order. A single path with
    two versions of a judge is both sides, the earlier one first.

    Examples

      pfgen-fast checklists drift runs-of-may runs-of-june --suite SUITE -o drift

      pfgen-fast checklists drift runs --sentinels --suite SUITE --check
    """

    paths: Paths
    sentinels: bool = Option(False, help="Compare the runs with the last answers that 'judge --sentinel' asked again.")
    fail_on_drift: bool = Option(False, "--check", help="Exit with 1 if an area or a question moved beyond chance.")
    given: DrawnFindingOptions

    def __call__(self) -> None:
        from ..checklists.reliability.agreement import agreed
        from ..checklists.reliability.drift import Drifted, drift_finding
        from ..checklists.reliability.judge_selection import JudgeSelection, check_number

        given, suite = self.given, self.given.loaded
        selection = JudgeSelection(suite, given.judge, given.mixed or self.sentinels, given.faults)
        sides = selection.of_each(self.paths)
        if self.sentinels:
            sides.append(selection.of_sentinels(self.paths)[-1])
        check_number(sides, 2, "drift compares two sides")
        old, new = sides
        found = Drifted(agreed(old, new, suite, draws=given.draws, seed=given.seed))
        finding = drift_finding(found, old, new)
        given.present(finding, finding.to_dict())
        if self.fail_on_drift and found.has_moved:
            fail("the judge has drifted", Exit.NO)
        exit_if_partial(given.faults)


class _Noise:
    """How much of a score is chance, and which questions are worth asking?

    Reports how precise scores are, and how many tasks or ratings more precise scores would need. If answers were rated
    several times ('judge --ratings K'), it separates the noise of ratings from the noise of tasks. For each question it
    shows whether the question separates models, repeats another question, or rewards length. It also shows how well the
    last question alone predicts the score.

    Example

      pfgen-fast checklists noise runs --suite SUITE -o noise
    """

    runs: JudgedRuns
    wanted: float = Option(1.0, min=0.01, help="Plan for this half width of an interval, in points.", metavar="X")
    given: FindingOptions

    def __call__(self) -> None:
        from ..checklists.reliability.judge_selection import JudgeSelection, check_number, counted_words
        from ..checklists.reliability.noise import Noise
        from ..checklists.reliability.noise_finding import noise_finding
        from ..checklists.reliability.paired_judgements import pair

        if not math.isfinite(self.wanted):
            raise ChecklistError(f"--wanted: expected a number of points, not {self.wanted}")
        given, suite = self.given, self.given.loaded
        sides = JudgeSelection(suite, **given.of_judge).together(self.runs)
        check_number(sides, 1, "noise needs the judgements of one version of a judge")
        (side,) = sides
        found = Noise(side, pair(side, side, suite), counted_words(self.runs, side, suite))
        given.finish(noise_finding(found, self.wanted))


class _Correlate:
    """Which methods agree about answers, and about models?

    Computes rank correlations over answers and over the means of models, with all methods on the same answers.
    Intervals are from draws of whole tasks. Methods are checklist (weighted), avg-c (equal weights), llm-eval and
    llm-eval-c if there are such judgements, classic metrics (--metrics), people (--marks), n-gram scores (--ngram) and
    the 1-to-10 judge (--ratings). Each question of the checklists is also compared with the methods without a
    checklist.

    Examples

      pfgen-fast checklists correlate runs --suite SUITE --metrics metrics.csv --marks marks.csv --scale unit -o out

      pfgen-fast checklists correlate runs --suite SUITE --ngram data --ratings judge-ratings.jsonl --rater org/judge
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
        None, help="Compare with n-gram scores by the suite given to 'from-suite'.", metavar="FOLDER"
    )
    ratings: Path | None = Option(
        None, help="Compare with stored replies of 'experiment judge', with --ngram.", metavar="FILE"
    )
    rater: str | None = Option(None, help="Name the judge of --ratings.", metavar="MODEL")
    rater_template: str = Option("default", help="Name the template of --ratings.", metavar="NAME")
    n_ratings: int = Option(1, min=1, help="Set the number of ratings of each answer in --ratings.")
    rater_language: str = Option("Japanese", help="Set the expected language of the answers in --ratings.")
    rater_seed: str = Option("", help="Set the seed of --ratings.")
    against: str | None = Option(
        None, help="Compare with this method. Default: people, or else checklist.", metavar="M"
    )
    methods: list[str] | None = Option(
        None, "--method", help="Take only this method. May be repeated.", metavar="METHOD"
    )
    given: DrawnFindingOptions

    def __call__(self) -> None:
        from ..checklists.reliability import method_values
        from ..checklists.reliability.correlation import correlate as find
        from ..checklists.reliability.correlation import correlated
        from ..checklists.runs import open_runs

        if self.scale is not None and not self.marks:
            fail("--scale: expected with --marks")
        if (self.ratings is None) != (self.rater is None) or (self.ratings is not None and self.ngram is None):
            fail("--ratings needs --rater (the judge's name) and --ngram (the n-gram suite)")
        suite, runs = self.given.loaded, open_runs(self.runs)
        values = method_values.checklist_values(suite, runs, **self.given.of_judge)
        found, notes = dict(values.methods), list(values.notes)
        for path in self.metrics or ():
            found |= method_values.metric_values(path, suite)
        if self.marks:
            found["people"], of_marks = method_values.people_values(self.marks, suite, runs, scale=self.scale)
            notes += of_marks
        found |= self.scores_by_ngrams(runs)
        everything = method_values.Values(suite, found, values.verdicts, tuple(notes), values.signature)
        draws, seed = self.given.draws, self.given.seed
        compared = correlated(everything, against=self.against, methods=self.methods, draws=draws, seed=seed)
        self.given.finish(find(compared))

    def scores_by_ngrams(self, runs: Sequence[Run]) -> dict[str, dict[Place, float]]:
        """The scores of methods that need an n-gram suite, if one is given."""
        from ..checklists.reliability.method_values import judge_values, ngram_values
        from ..experiments.judge import JudgeOptions

        suite, ngram_suite = self.given.loaded, given_suite(self.ngram)
        if ngram_suite is None:
            return {}
        found = ngram_values(runs, suite, ngram_suite)
        if self.ratings is not None and self.rater is not None:
            language, seed = self.rater_language, self.rater_seed
            stored = JudgeOptions(
                self.rater, self.rater_template, language, self.n_ratings, seed=seed, cache=self.ratings
            )
            found["judge 1 to 10"] = judge_values(runs, suite, ngram_suite, stored)
        return found
