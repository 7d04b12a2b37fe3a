"""`pfgen-fast checklists agreement` and `reasonable`: how far annotators agree, and what they say about judges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from .checklists_options import DrawnFindingOptions, FindingOptions, JudgedRuns, MarksScale

Sources = Annotated[
    list[Path],
    Argument(
        help="Exports of annotators, tables of marks as for 'checklists fit', and runs with judgements.",
        metavar="MARKS|RUN...",
    ),
]


class _Agreement:
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
    given: DrawnFindingOptions

    def __call__(self) -> None:
        from ..checklists.people.reading import People, read_marks
        from ..checklists.reliability.agreement_finding import agreement_finding
        from ..checklists.reliability.judge_marks import JudgeMarks, is_of_judges, judge_marks
        from ..checklists.reliability.rater_agreement import MarkedAnswers

        given, suite = self.given, self.given.loaded
        runs = [path for path in self.sources if is_of_judges(path)]
        files = [path for path in self.sources if path not in runs]
        people = read_marks(files, suite, scale=self.scale) if files else People()
        answers = {mark.answer for mark in people.marks}
        judges = judge_marks(runs, suite, answers=answers, **given.of_judge) if runs else JudgeMarks()
        marks = (*people.marks, *judges.marks)
        found = MarkedAnswers(suite, marks, draws=given.draws, seed=given.seed)
        finding = agreement_finding(found, judges.judges, (*people.notes, *judges.notes))
        given.finish(finding, tables=("parts", "annotators", "pairs"))


class _Reasonable:
    """Which share of a judge's verdicts do people call reasonable?

    Reads the exports of 'annotate --ask judgements'. Shows the share by judge and area with its interval, and how far
    those who said it agree.

    Example

      pfgen-fast checklists reasonable runs --opinions people/exports/a1.jsonl --suite essays-en
    """

    runs: JudgedRuns
    opinions: list[Path] = Option(..., help="Exports of annotators. May be repeated.", metavar="FILE")
    given: FindingOptions

    def __call__(self) -> None:
        from ..checklists.people.reading import read_people
        from ..checklists.reliability.reasonable import reasonable_finding
        from ..checklists.runs import open_runs
        from ..errors import ChecklistError

        given, suite = self.given, self.given.loaded
        people = read_people(self.opinions, suite)
        if not people.opinions:
            raise ChecklistError("no opinions on verdicts: expected exports of 'annotate --ask judgements'")
        given.finish(reasonable_finding(suite, people.opinions, open_runs(self.runs), people.notes), tables=("rates",))
