"""`pfgen-fast checklists correlate`: how far checklists, metrics, people and n-grams say the same of answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import checklists_options as options
from .app import fail
from .checklists_findings import DrawnFindingOptions
from .engine_options import with_options


@with_options(given=DrawnFindingOptions)
def correlate(
    runs: options.JudgedRuns,
    metrics: Annotated[
        list[Path] | None,
        typer.Option(
            "--metrics",
            help="Compare with a table of metrics, as 'checklists metrics -o' writes it. May be repeated.",
            metavar="FILE",
        ),
    ] = None,
    marks: Annotated[
        Path | None, typer.Option("--marks", help="Compare with marks, as for 'checklists fit'.", metavar="FILE")
    ] = None,
    scale: Annotated[
        options.ScaleChoice | None,
        typer.Option("--scale", help="Set the scale of the verdicts in --marks: 0 to 1, or 0 to 4."),
    ] = None,
    ngram: Annotated[
        str | None,
        typer.Option(
            "--ngram", help="Compare with n-gram scores by the suite given to 'from-suite'.", metavar="FOLDER"
        ),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            "--ratings", help="Compare with stored replies of 'experiment judge', with --ngram.", metavar="FILE"
        ),
    ] = None,
    rater: Annotated[str | None, typer.Option("--rater", help="Name the judge of --ratings.", metavar="MODEL")] = None,
    rater_template: Annotated[
        str, typer.Option("--rater-template", help="Name the template of --ratings.", metavar="NAME")
    ] = "default",
    n_ratings: Annotated[
        int, typer.Option("--n-ratings", min=1, help="Set how often --ratings has each answer rated.")
    ] = 1,
    rater_language: Annotated[
        str, typer.Option("--rater-language", help="Set the language that --ratings expected of answers.")
    ] = "Japanese",
    rater_seed: Annotated[str, typer.Option("--rater-seed", help="Set the seed of --ratings.")] = "",
    against: Annotated[
        str | None,
        typer.Option("--against", help="Compare with this method. Default: people, or else checklist.", metavar="M"),
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option("--method", help="Take only this method. May be repeated.", metavar="METHOD")
    ] = None,
    *,
    given: DrawnFindingOptions,
) -> None:
    """Which methods say the same of answers, and of models?

    Rank correlations over answers and over the means of models, all methods on the same answers, with intervals that
    draw whole tasks. Methods are checklist (weighted), avg-c (equal weights), llm-eval and llm-eval-c where they were
    judged, classic metrics (--metrics), people (--marks), n-gram scores (--ngram) and the 1-to-10 judge (--ratings).
    Each question of the checklists is compared with whatever is no checklist.

    Examples

      pfgen-fast checklists correlate runs --suite SUITE --metrics metrics.csv --marks marks.csv --scale unit -o out

      pfgen-fast checklists correlate runs --suite SUITE --ngram data --ratings judge-ratings.jsonl --rater org/judge
    """
    from ..checklists.reliability.correlation import correlate as find
    from ..checklists.reliability.correlation import correlated
    from ..checklists.reliability.method_values import (
        Values,
        checklist_values,
        metric_values,
        ngram_values,
        people_values,
    )
    from ..checklists.runs import open_runs
    from .suite_line import given_suite

    if (marks is None) != (scale is None):
        fail("--marks and --scale belong together: --scale says whether verdicts are 0 to 1 (unit) or 0 to 4 (ui)")
    if (ratings is None) != (rater is None) or (ratings is not None and ngram is None):
        fail("--ratings needs --rater, the judge's name, and --ngram, the suite that was answered")
    read, listed = given.loaded, open_runs(runs)
    values = checklist_values(read, listed, **given.of_judge)
    found, notes = dict(values.methods), list(values.notes)
    for path in metrics or ():
        found |= metric_values(path, read)
    if marks is not None and scale is not None:
        found["people"], of_marks = people_values(marks, read, listed, scale=scale)
        notes += of_marks
    ngram_suite = given_suite(ngram)
    if ngram_suite is not None:
        found |= ngram_values(listed, read, ngram_suite)
        if ratings is not None and rater is not None:
            from ..checklists.reliability.method_values import judge_values
            from ..experiments.judge import JudgeOptions

            options = JudgeOptions(rater, rater_template, rater_language, n_ratings, seed=rater_seed, cache=ratings)
            found["judge 1 to 10"] = judge_values(listed, read, ngram_suite, options)
    everything = Values(read, found, values.verdicts, tuple(notes), values.signature)
    compared = correlated(everything, against=against, methods=methods, draws=given.draws, seed=given.seed)
    given.finish(find(compared))
