"""`pfgen-fast checklists wins`: how often the answers of one model are better than those of another."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typer import Option

from .checklists_options import FindingOptions, JudgedRuns


class _Wins:
    """How often does a model win against another model, by a judge's verdicts and by people's choices?

    From verdicts, the answer with the higher score wins. --pairs also counts people's choices between two answers
    (exports of 'annotate', or tables with id, first_sha256, second_sha256, choice and annotator). With --reference,
    models are compared with one model; otherwise, each model is compared with all other models. Intervals are
    clustered by task. The rate at equal lengths takes out the share of wins that a logistic regression explains by the
    difference of lengths.

    Examples

      pfgen-fast checklists wins runs --suite hellobench --reference gpt4o_0806

      pfgen-fast checklists wins runs --suite essays-en --pairs people/exports/a1.jsonl --ties skip -o wins
    """

    runs: JudgedRuns
    reference: str | None = Option(
        None, help="Compare all models with this model (its key in tables).", metavar="MODEL"
    )
    pairs: list[Path] | None = Option(
        None, help="Also count people's choices between two answers in this file. May be repeated.", metavar="FILE"
    )
    ties: Literal["half", "skip", "win", "loss"] = Option(
        "half", help="Count a tie as half a win, not at all, as a win, or as a loss of the model against the reference."
    )
    weights: Literal["suite", "equal"] = Option("suite", help="Use the suite's weights, or equal weights, for scores.")
    given: FindingOptions

    def __call__(self) -> None:
        from ..checklists.people.reading import read_people
        from ..checklists.reliability.win_finding import win_finding
        from ..checklists.reliability.win_rates import check_reference, wins_of_people, wins_of_verdicts
        from ..checklists.runs import open_runs
        from ..checklists.scoring.scoring import score_runs
        from ..errors import ChecklistError

        given, suite, runs = self.given, self.given.loaded, open_runs(self.runs)
        check_reference(self.reference, [run.key for run in runs])
        sources, notes, signature = [], [], f"suite:{suite.name} {suite.hash}"
        if not self.pairs or any(run.judgements_path for run in runs):
            scores = score_runs(suite, runs, weights=self.weights, draws=0, **given.of_judge)
            sources.append(wins_of_verdicts(scores, ties=self.ties, reference=self.reference))
            signature = scores.models[0].signature
        if self.pairs:
            people = read_people(self.pairs, suite)
            if not people.pairs:
                raise ChecklistError("no choices between answers: expected exports of 'annotate' with pairs")
            sources.append(wins_of_people(people.pairs, suite, runs, ties=self.ties, reference=self.reference))
            notes += people.notes
        given.finish(win_finding(sources, self.reference, f"ties:{self.ties}|{signature}", notes), tables=("wins",))
