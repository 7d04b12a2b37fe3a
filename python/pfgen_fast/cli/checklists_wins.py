"""`pfgen-fast checklists wins`: how often a model's answers are better than another's."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typer import Option

from .checklists_options import DrawnFindingOptions, JudgedRuns


class _Wins:
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
    margin: float = Option(
        0.0, min=0, max=100, help="Count a difference of scores (0 to 100) up to this as a tie.", metavar="X"
    )
    given: DrawnFindingOptions

    def __call__(self) -> None:
        from ..checklists.people.reading import read_people
        from ..checklists.reliability import wins
        from ..checklists.runs import open_runs
        from ..checklists.scoring.scoring import score_runs
        from ..errors import ChecklistError

        given, suite, runs = self.given, self.given.loaded, open_runs(self.runs)
        sources, notes, signature = {}, [], f"suite:{suite.name} {suite.hash}"
        judged = [run for run in runs if run.judgements_path is not None]
        if len(judged) > 1:
            scores = score_runs(suite, judged, draws=0, **given.of_judge)
            notes += [*scores.notes, *scores.left_out]
            signature = scores.models[0].signature
            sources[wins.JUDGE] = wins.by_scores(scores, margin=self.margin)
        if self.pairs:
            people = read_people(self.pairs, suite, runs=runs)
            if not people.pairs:
                expected = "expected exports of 'annotate --ask pairs'"
                raise ChecklistError(f"--pairs: no choices between two answers; {expected}")
            notes += people.notes
            sources[wins.PEOPLE] = wins.by_people(people.pairs, suite, runs)
        if not sources:
            raise ChecklistError("expected at least two judged runs, or choices of people (--pairs)")
        found = [
            wins.wins(
                source,
                comparisons,
                reference=self.reference,
                ties=self.ties,
                draws=given.draws,
                seed=given.seed,
            )
            for source, comparisons in sources.items()
        ]
        signature += f"|ties:{self.ties}|margin:{self.margin:g}|draws:{given.draws}|seed:{given.seed}"
        finding = wins.wins_finding(found, reference=self.reference, ties=self.ties, signature=signature, notes=notes)
        given.finish(finding, tables=tuple(table.name for table in finding.tables))
