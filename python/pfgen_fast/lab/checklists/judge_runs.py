"""Judges the answers of runs: estimates the cost, asks in rounds of tries, and writes the judgements that follow.

Judgements are derived from stored replies alone, so interruptions of asking do not change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from ...base.errors import ChecklistError
from ...base.untrusted_text import counted, few_names
from ...generation.events import Events
from ..judging.judge_asking import (
    Connect,
    CostEstimate,
    JudgePrices,
    Progress,
    Spending,
    ask_in_rounds,
    estimate_of_tries,
    open_tries,
)
from ..judging.reply_store import ReplyStore
from .checklist_requests import JudgeOptions, Rating, Wording
from .checklist_runs import JUDGEMENTS_FILE, Run
from .checklist_suite import ChecklistSuite
from .judgements import Judgement, read_judgements, write_judgements
from .tasks import check_instructions


@dataclass(frozen=True)
class JudgingProgress:
    """The progress of judging a run."""

    n_ratings: int
    n_judged: int
    unjudged: tuple[tuple[str, str], ...]  # task and fault
    n_out_of_tokens: int  # of the unjudged, those whose last reply ended at the limit of tokens
    n_open: int
    n_unreadable: int
    versions: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether each answer has verdicts."""
        return not (self.unjudged or self.n_open or self.n_unreadable)

    @property
    def sentence(self) -> str:
        """The progress in words."""
        unjudged = few_names([f"{id} ({fault})" for id, fault in self.unjudged])
        parts = {
            f"{self.n_judged:,} of {counted(self.n_ratings, 'rating')}": True,
            f"{len(self.unjudged):,} unjudged after all tries: {unjudged}": self.unjudged,
            f"{self.n_out_of_tokens:,} of them ended at the limit of tokens: raise --max-tokens": self.n_out_of_tokens,
            f"{self.n_open:,} without a reply": self.n_open,
            f"{counted(self.n_unreadable, 'answer')} that cannot be read": self.n_unreadable,
            f"judged by {' and '.join(self.versions)}": self.versions,
        }
        return "; ".join(part for part, holds in parts.items() if holds)


class RunToJudge:
    """A run and a judge's replies about its answers.

    Attributes:
        ratings: The ratings of the answers.
        faults: Messages on lines of answers that cannot be read.
    """

    def __init__(self, run: Run, wording: Wording, replies: ReplyStore) -> None:
        self.run, self.faults = run, list[str]()
        self._suite, self._source = wording.suite, (wording.judge.model, wording.options.method)
        answers = run.answers(self._suite, on_fault=self.faults.append)
        if not answers:
            missing = f"{run.folder}: holds no answers; expected answers.jsonl to judge"
            raise ChecklistError(self.faults[0] if self.faults else missing)
        pairs = [(answer, self._suite.by_key[answer.id, answer.length]) for answer in answers.values()]
        check_instructions([task for _, task in pairs], str(run.folder))
        numbers = range(1, wording.options.n_ratings + 1)
        self.ratings = [Rating(answer, task, n, wording, replies) for answer, task in pairs for n in numbers]
        self._of_others(run.judgements(self._suite))

    def judgements(self) -> list[Judgement]:
        """The judgements that follow from the replies, in the order of the answers."""
        return [judgement for rating in self.ratings if (judgement := rating.judgement()) is not None]

    def progress(self) -> JudgingProgress:
        """The progress of the judging."""
        judgements = self.judgements()
        judged = [judgement for judgement in judgements if judgement.verdicts is not None]
        return JudgingProgress(
            n_ratings=len(self.ratings),
            n_judged=len(judged),
            unjudged=tuple((row.id, row.fault or "") for row in judgements if row.verdicts is None),
            n_out_of_tokens=sum(rating.is_out_of_tokens for rating in self.ratings),
            n_open=len(self.ratings) - len(judgements),
            n_unreadable=len(self.faults),
            versions=tuple(dict.fromkeys(judgement.version or "unknown" for judgement in judged)),
        )

    def write(self) -> list[Judgement]:
        """Writes the judgements that follow from the replies, and returns them; see `Judging.write`."""
        path, judgements = self.run.judgements_path or self.run.folder / JUDGEMENTS_FILE, self.judgements()
        former = read_judgements(path, self._suite) if path.exists() else []
        rows = sorted([*self._of_others(former), *judgements], key=lambda row: (row.judge, row.method))
        if rows != former:
            write_judgements(path, rows)
        return judgements

    def _of_others(self, rows: Sequence[Judgement]) -> list[Judgement]:
        """The judgements by other judges or methods; imported judgements of this judge are an error."""
        own = [row for row in rows if (row.judge, row.method) == self._source]
        if any(row.prompt_sha256 is None for row in own):
            raise ChecklistError(
                f"{self.run.judgements_path}: holds imported judgements of {self._source[0]}, which judging would "
                "replace; copy the answers to another folder, and judge them there"
            )
        return [row for row in rows if (row.judge, row.method) != self._source]


@dataclass(frozen=True)
class Judging:
    """The judging of several runs by one judge."""

    runs: Sequence[RunToJudge]

    @classmethod
    def open(
        cls, runs: Iterable[Run], suite: ChecklistSuite, options: JudgeOptions, *, offline: bool = False
    ) -> Judging:
        """Opens the replies of runs; nothing is asked yet.

        Args:
            runs: The runs.
            suite: Their suite.
            options: How answers are judged.
            offline: Whether only stored replies are used, which then must exist.

        Raises:
            ChecklistError: An option does not fit the suite, a run has no answers or imported judgements of the same
                judge, or a task has no whole instruction.
            JudgingError: A file of replies is missing or holds something else.
        """
        wording = Wording(suite, options)
        return cls([RunToJudge(run, wording, ReplyStore(run.replies_path, must_exist=offline)) for run in runs])

    @property
    def ratings(self) -> list[Rating]:
        """The ratings of all runs."""
        return [rating for judged in self.runs for rating in judged.ratings]

    @property
    def n_open(self) -> int:
        """The number of ratings that need another reply."""
        return len(open_tries(self.ratings))

    def estimate(self, prices: JudgePrices | None = None) -> CostEstimate:
        """Estimates the maximum cost of the missing replies, if each is usable."""
        return reduce(add, (estimate_of_tries(judged.ratings, prices) for judged in self.runs))

    def ask(
        self,
        connect: Connect | None,
        *,
        spending: Spending | None = None,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies, run by run, and writes the judgements, even after an error or an interruption.

        An unusable reply is requested again with another seed.

        Args:
            connect: Opens the engine that asks the judge, such as `Server(...).engine`; None for stored replies only.
            spending: Prices and budget, to which the cost is added.
            on_progress: Called with the number of finished requests and the total, which grows with each new try.
            events: Counts retries and other events.

        Returns:
            A sentence on why some replies are still missing; None if all are there.

        Raises:
            EngineError: An error affects all requests. Replies that were stored before are kept.
            JudgingError: Another process is adding replies to a file.
        """
        options: Any = {"spending": spending, "on_progress": on_progress, "events": events}
        try:
            return None if connect is None else ask_in_rounds(self.ratings, connect, keeps_empty=True, **options)
        finally:
            if connect is None or any(rating.n_replied for rating in self.ratings):  # else former judgements stay
                self.write()

    def write(self) -> list[Judgement]:
        """Writes the judgements of each run that follow from the replies, and returns them.

        They replace all judgements by the same judge and method, with any prompts and temperature; other judgements
        stay. A file is only written if it changes.

        Raises:
            ChecklistError: The file holds imported judgements of the judge.
        """
        return [judgement for judged in self.runs for judgement in judged.write()]
