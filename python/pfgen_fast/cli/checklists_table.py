"""`pfgen-fast checklists table` and `score`: the scores of runs, from the judgements that are there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import Exit, Json, note, print_json, print_line, shown
from .checklists_options import JudgedRuns, ScoreOptions
from .checklists_printing import Faults, print_table
from .engine_options import with_options
from .layout import columns
from .suite_line import print_signature

if TYPE_CHECKING:
    from ..checklists.scoring.scores import Scores

CsvOption = Annotated[
    Path | None, typer.Option("--csv", help="Also write all figures with full digits to this file.", metavar="FILE")
]

_WIDE = 120
"""A terminal of so many columns has room for the areas beside the average."""
_MOST_SENTENCES = 12


@with_options(given=ScoreOptions)
def table(
    runs: JudgedRuns,
    categories: Annotated[bool, typer.Option("--categories", help="Also show the score on each category.")] = False,
    lengths: Annotated[
        bool, typer.Option("--lengths", help="Also show the tests of wanted lengths, and the errors of lengths.")
    ] = False,
    csv: CsvOption = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Json = False,
    *,
    given: ScoreOptions,
) -> None:
    """Scores models and ranks them: average, interval, areas, words, and who cannot be told apart.

    A score is the weighted sum of an answer's verdicts, 0 to 100, and printed rescaled as the suite says: (score - 75)
    * 4. The average is the mean of the areas, which count alike. A figure with a * lacks answers that nobody judged;
    what it would be by the other rule stands beside it. Models with a letter in common cannot be told apart (all pairs,
    paired by task, corrected). The exit code is 3 if answers are left out because the judge gave no usable reply, or
    was not asked yet.

    Examples

      pfgen-fast checklists table runs --suite hellobench

      pfgen-fast checklists table runs --suite hellobench --missing zero --lengths

      pfgen-fast checklists table runs --suite hellobench --json > scores.json

      pfgen-fast checklists table runs/a runs/b --suite essays-en --weights equal --markdown
    """
    from ..checklists import open_runs
    from ..checklists.scoring.table_data import to_dict
    from ..checklists.scoring.text_tables import by_area, by_category, by_length, ranking, to_markdown, words_by_area

    scores = given.score(open_runs(runs))
    _write_csv(scores, csv)
    if as_json:
        print_json(to_dict(scores))
    elif markdown:
        typer.echo(to_markdown(scores, with_categories=categories, with_lengths=lengths), nl=False)
    else:
        width = columns()
        is_wide = width is None or width >= _WIDE
        shown_tables = [ranking(scores, with_areas=is_wide), *([] if is_wide else [by_area(scores)])]
        shown_tables += [words_by_area(scores), *([by_category(scores)] if categories else [])]
        shown_tables += [by_length(scores)] if lengths and any(model.lengths for model in scores.models) else []
        for one in shown_tables:
            print_table(one)
    say_and_end(scores, given.faults, is_quiet=given.quiet or as_json or markdown)


@with_options(given=ScoreOptions)
def score(
    run: Annotated[Path, typer.Argument(help="Directory of the run, or its file of judgements.", metavar="RUN")],
    csv: CsvOption = None,
    as_json: Json = False,
    *,
    given: ScoreOptions,
) -> None:
    """Scores one run: its areas and categories, and the mean verdict on each question.

    Examples

      pfgen-fast checklists score runs/gpt-4o --suite hellobench

      pfgen-fast checklists score runs/gpt-4o --suite hellobench --json
    """
    from ..checklists import open_runs
    from ..checklists.scoring.table_data import to_dict
    from ..checklists.scoring.text_tables import by_category, by_length, by_question, parts_of

    scores = given.score(open_runs([run]))
    _write_csv(scores, csv)
    if as_json:
        print_json(to_dict(scores, with_questions=True))
    else:
        shown_tables = [*(parts_of(scores, model) for model in scores.models), by_category(scores)]
        shown_tables += [by_length(scores)] if any(model.lengths for model in scores.models) else []
        shown_tables += [by_question(scores, model) for model in scores.models]
        for one in shown_tables:
            if one.rows:
                print_table(one)
    say_and_end(scores, given.faults, is_quiet=given.quiet or as_json)


def _write_csv(scores: Scores, path: Path | None) -> None:
    if path is not None:
        from ..checklists.scoring.table_data import to_csv
        from ..files.untrusted_text import utf8
        from ..files.writing import write_whole

        write_whole(path, utf8(to_csv(scores)))


def say_and_end(scores: Scores, faults: Faults, *, is_quiet: bool) -> None:
    """Prints what a reader must know, and ends with 3 if something is left out that should not be."""
    from ..checklists.scoring.text_tables import missing_sentences

    if not is_quiet:
        sentences = missing_sentences(scores)
        for sentence in sentences[:_MOST_SENTENCES]:
            print_line(shown(sentence))
        if len(sentences) > _MOST_SENTENCES:
            print_line(f"and {len(sentences) - _MOST_SENTENCES:,} more, which --csv and --json name")
        for signature in dict.fromkeys(model.signature for model in scores.models):
            print_signature(signature)
    for sentence in scores.notes:
        note(sentence)
    for sentence in scores.left_out:
        note(sentence)
    if faults or scores.n_unjudged:
        raise SystemExit(Exit.PARTIAL)
