"""`pfgen-fast checklists correlate`: which methods of scoring answers agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Option

from .app import fail
from .checklists_options import DrawnFindingOptions, JudgedRuns, MarksScale
from .suite_line import given_suite

if TYPE_CHECKING:
    from ..checklists.reliability.method_values import Place
    from ..checklists.runs import Run


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
