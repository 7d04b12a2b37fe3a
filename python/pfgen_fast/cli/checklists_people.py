"""`pfgen-fast checklists agreement` and `reasonable`: how far annotators agree, and what they say about judges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from .checklists_options import DrawnFindingOptions, FindingOptions, JudgedRuns, MarksScale

MarksFiles = Annotated[
    list[Path], Argument(help="Marks: exports of annotators, or tables as for 'checklists fit'.", metavar="MARKS...")
]


class _Agreement:
    """How far do annotators agree, with each other and with judges?

    Compares people; 'checklists agree' compares two judges. Shows the correlation of the overall marks of each two
    annotators, Krippendorff's alpha of marks and verdicts and Fleiss' kappa of verdicts by area, annotators who differ
    from the others, and questions on which annotators disagree. With --run, judges are compared with the annotators on
    the same answers. Intervals are over tasks.

    Examples

      pfgen-fast checklists agreement people/exports/*.jsonl --suite essays-en

      pfgen-fast checklists agreement marks.csv --suite SUITE --scale unit --run runs -o agreement
    """

    marks: MarksFiles
    scale: MarksScale = None
    run: list[Path] | None = Option(
        None, help="Compare the judges of this run, or of a directory of runs. May be repeated.", metavar="RUN"
    )
    given: DrawnFindingOptions

    def __call__(self) -> None:
        from ..checklists.people.reading import read_marks
        from ..checklists.reliability.judge_selection import JudgeSelection
        from ..checklists.reliability.people import MarkedAnswers
        from ..checklists.reliability.people_finding import people_finding

        given, suite = self.given, self.given.loaded
        people = read_marks(self.marks, suite, scale=self.scale)
        sides = JudgeSelection(suite, **given.of_judge).together(self.run) if self.run else []
        found = MarkedAnswers(suite, people.marks, draws=given.draws, seed=given.seed)
        given.finish(people_finding(found, sides, people.notes), tables=("parts", "judges", "annotators", "pairs"))


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
