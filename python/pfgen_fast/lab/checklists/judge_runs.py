"""Judges the answers of runs: estimates the cost, asks in rounds of tries, and writes the judgements that follow.

Judgements are derived from stored replies alone, so interruptions of asking do not change them. Requests are sent in
the order of their keys, which are hashes: if a budget or a kill ends the asking, all models are equally complete.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...base.errors import ChecklistError
from ...base.file_writing import held, writing_whole
from ...base.untrusted_text import counted, few_names, first_names, in_one_line, json_text, utf8
from ...generation.batch_api import batch_form
from ...generation.engines.hosted import RequestForm
from ...generation.events import Events
from ..judging.judge_asking import (
    Connect,
    CostEstimate,
    JudgePrices,
    Progress,
    Spending,
    ask_in_rounds,
    estimate_of_tries,
)
from ..judging.reply_store import ReplyStore
from .checklist_requests import JudgeOptions, Rating, Wording, ratings_of
from .checklist_runs import JUDGEMENTS_FILE, Run
from .checklist_suite import ChecklistSuite
from .judged import is_stale
from .judgements import Judgement, read_judgements, write_judgements
from .line_files import numbered_objects
from .tasks import check_instructions

_DATE_OR_HASH = re.compile(
    r"\d{4}-?\d{2}-?\d{2}|(?<!\d)\d{4}(?!\d)|(?<![0-9a-zA-Z])(?=[a-f]*\d)[0-9a-f]{7,64}(?![0-9a-zA-Z])"
)

_PATIENCE_SECONDS = 60.0
"""The longest wait for another process that writes a file of judgements."""

_USUAL_REPLY_TOKENS = 65
"""Typical number of reply tokens per question in the published judgements."""


@dataclass(frozen=True)
class JudgingProgress:
    """The progress of judging a run."""

    n_ratings: int
    n_judged: int
    unjudged: tuple[tuple[str, str], ...]
    n_out_of_tokens: int  # of the unjudged, those whose last reply ended at the limit of tokens
    n_open: int
    n_unreadable: int
    too_long: tuple[str, ...]
    n_cut: int
    versions: tuple[tuple[str | None, int], ...]

    @property
    def is_whole(self) -> bool:
        """Whether each answer has verdicts."""
        return not (self.unjudged or self.n_open or self.too_long or self.n_unreadable)

    @property
    def sentence(self) -> str:
        """The progress in words."""
        unjudged = few_names([f"{id} ({fault})" for id, fault in self.unjudged])
        versions = ", ".join(f"{name or 'unknown'} ({n:,})" for name, n in self.versions)
        (name, _), *others = self.versions or ((None, 0),)
        parts = {
            f"{self.n_judged:,} of {counted(self.n_ratings, 'rating')}": True,
            f"{len(self.unjudged):,} unjudged after all tries: {unjudged}": self.unjudged,
            f"{self.n_out_of_tokens:,} of them ended at the limit of tokens: raise --max-tokens": self.n_out_of_tokens,
            f"{self.n_open:,} without a reply": self.n_open,
            f"{counted(self.n_unreadable, 'answer')} that cannot be read": self.n_unreadable,
            f"{len(self.too_long):,} too long to be sent: {few_names(self.too_long)}": self.too_long,
            f"{self.n_cut:,} shown to the judge up to word 16,000": self.n_cut,
            f"judged by several versions: {versions}": others,
            f"judged by {name}": name and not others,
        }
        return "; ".join(part for part, holds in parts.items() if holds)


class RunToJudge:
    """A run and a judge's replies about its answers.

    Attributes:
        ratings: The ratings of the answers in the chosen areas.
        too_long: The IDs of tasks whose requests are too long to be sent.
        faults: Messages on lines of answers that cannot be read.
        former: The judgements in the file.
    """

    def __init__(self, run: Run, wording: Wording, replies: ReplyStore) -> None:
        self.run, self.wording, self.replies = run, wording, replies
        self.faults: list[str] = []
        suite, areas = wording.suite, wording.options.areas
        answers = run.answers(suite, on_fault=self.faults.append)
        if not answers:
            missing = f"{run.folder}: holds no answers; expected answers.jsonl to judge"
            raise ChecklistError(self.faults[0] if self.faults else missing)
        pairs = [(answer, suite.by_key[answer.id, answer.length]) for answer in answers.values()]
        chosen = [(answer, task) for answer, task in pairs if not areas or task.area in areas]
        check_instructions([task for _, task in chosen], str(run.folder))
        by_answer = [(answer.id, ratings_of(answer, task, wording, replies)) for answer, task in chosen]
        self.too_long = tuple(id for id, ratings in by_answer if not ratings)
        self.ratings = [rating for _, ratings in by_answer for rating in ratings]
        self.former: Sequence[Judgement] = run.judgements(suite)
        self._refuse_imported(self.former)

    def judgements(self) -> list[Judgement]:
        """The judgements that follow from the replies, in the order of the answers."""
        return [judgement for rating in self.ratings if (judgement := rating.judgement()) is not None]

    def standing(self) -> JudgingProgress:
        """The progress of the judging."""
        judgements = self.judgements()
        judged = [judgement for judgement in judgements if judgement.verdicts is not None]
        versions = Counter(judgement.version for judgement in judged)
        return JudgingProgress(
            n_ratings=len(self.ratings),
            n_judged=len(judged),
            unjudged=tuple((row.id, row.fault or "") for row in judgements if row.verdicts is None),
            n_out_of_tokens=sum(rating.is_out_of_tokens for rating in self.ratings),
            n_open=len(self.ratings) - len(judgements),
            n_unreadable=len(self.faults),
            too_long=self.too_long,
            n_cut=sum(judgement.cut for judgement in judged),
            versions=tuple(sorted(versions.items(), key=lambda pair: (-pair[1], pair[0] or ""))),
        )

    def stale(self) -> list[str]:
        """The IDs of tasks whose former judgement is stale; see `judged.is_stale`."""
        suite, answers = self.wording.suite, {rating.answer.key: rating.answer for rating in self.ratings}
        rows = (row for row in self.former if row.key in answers and self._is_own(row))
        return list(dict.fromkeys(row.id for row in rows if is_stale(row, suite, self.run, answers)))

    def write(self) -> list[Judgement]:
        """Writes the judgements that follow from the replies, and returns them; see `Judging.write`."""
        path = self.run.judgements_path or self.run.folder / JUDGEMENTS_FILE
        judgements, rows = self._derived(path)
        if rows != self.former:
            with held(path.with_name(f".{path.name}.lock"), patience=_PATIENCE_SECONDS) as alone:
                if not alone:
                    raise ChecklistError(f"{path}: another process is still writing to it after a minute")
                self.replies.refresh()  # other processes may have added replies and judgements since
                judgements, rows = self._derived(path)
                if rows != self.former:
                    write_judgements(path, rows)
        self.former = rows
        return judgements

    def _derived(self, path: Path) -> tuple[list[Judgement], list[Judgement]]:
        """The judgements that follow from the replies, and the new rows of the file; those of other areas stay."""
        suite, areas = self.wording.suite, self.wording.options.areas
        self.former = read_judgements(path, suite) if path.exists() else []
        self._refuse_imported(self.former)
        judgements = self.judgements()
        kept = [
            row
            for row in self.former
            if not self._is_own(row) or (areas and suite.by_key[row.id, row.length].area not in areas)
        ]
        return judgements, sorted([*kept, *judgements], key=lambda row: (row.judge, row.method))

    def _is_own(self, row: Judgement) -> bool:
        """Whether a judgement is by the same judge and method."""
        return (row.judge, row.method) == (self.wording.judge.model, self.wording.options.method)

    def _refuse_imported(self, rows: Sequence[Judgement]) -> None:
        """Raises ChecklistError if judgements without replies would be replaced."""
        if any(self._is_own(row) and row.prompt_sha256 is None for row in rows):
            raise ChecklistError(
                f"{self.run.judgements_path}: holds imported judgements of {self.wording.judge.model}, which judging "
                "would replace; copy the answers to another folder, and judge them there"
            )


def names_a_version(model: str) -> bool:
    """Whether the name of a model holds a date or a hash, and so means one version."""
    return _DATE_OR_HASH.search(model) is not None


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
        wording = options.wording(suite)
        return cls([RunToJudge(run, wording, ReplyStore(run.replies_path, must_exist=offline)) for run in runs])

    @property
    def ratings(self) -> list[Rating]:
        """The ratings of all runs."""
        return [rating for judged in self.runs for rating in judged.ratings]

    @property
    def open_ratings(self) -> list[Rating]:
        """The ratings of all runs that need another reply."""
        return [rating for rating in self.ratings if rating.next_key() is not None]

    def estimate(self, prices: JudgePrices | None = None) -> CostEstimate:
        """Estimates the maximum cost of the missing replies, if each is usable."""
        return estimate_of_tries(self.ratings, prices)

    def cost(self, prices: JudgePrices) -> str:
        """The maximum and the likely cost of the missing replies, in words."""
        estimate, n_likely = self.estimate(prices), 0
        for rating in self.open_ratings:
            wording = rating.wording
            is_overall = wording.options.method != "checklist"
            n_verdicts = 1 if is_overall else len(wording.suite.checklist(rating.task).questions)
            n_likely += min(n_verdicts * _USUAL_REPLY_TOKENS, wording.judge.max_tokens)
        likely = f"; if replies are as long as usual, {n_likely:,} tokens" if estimate.n_requests else ""
        if likely and prices:
            likely += f" and about {prices.cost(estimate.n_prompt_tokens, n_likely):.2f}"
        return estimate.sentence("ratings") + likely

    def ask(
        self,
        connect: Connect,
        *,
        spending: Spending | None = None,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies, and again with another seed where a reply is unusable; stores each.

        Args:
            connect: Opens the engine that asks the judge, such as `Server(...).engine`.
            spending: Prices and budget, to which the cost is added.
            on_progress: Called with the number of finished requests and the total, which grows with each new try.
            events: Counts retries and other events.

        Returns:
            A sentence on why some replies are still missing; None if all are there.

        Raises:
            EngineError: An error affects all requests. Replies that were stored before are kept.
            JudgingError: Another process is adding replies to a file.
        """
        return ask_in_rounds(
            self.ratings, connect, keeps_empty=True, spending=spending, on_progress=on_progress, events=events
        )

    def write(self) -> list[Judgement]:
        """Writes the judgements of each run that follow from the replies, and returns them.

        They replace all judgements by the same judge and method, with any prompts and temperature; other judgements
        stay. A file is only written if it changes.

        Raises:
            ChecklistError: Another process keeps writing the file, or it holds imported judgements of the judge.
        """
        return [judgement for judged in self.runs for judgement in judged.write()]

    def notes(self) -> list[str]:
        """Notes on a judge without a version, files with replies of other judges only, and stale verdicts."""
        model = self.runs[0].wording.judge.model
        notes = []
        if not names_a_version(model):
            fault = f"the name {model} holds no date or hash, so it may become another model"
            notes.append(f"{fault}; the stored replies name the version")
        for judged in self.runs:
            models = judged.replies.models
            if models and model not in models:
                notes.append(f"{judged.replies.path}: holds replies of {first_names(models)}, but not of {model}")
            if names := judged.stale():
                what = f"{counted(len(names), 'judgement')} of another answer, instruction, checklist or prompt"
                notes.append(f"{judged.run.key}: {what} ({few_names(names)}) no longer count")
        return notes

    def write_batch(self, path: Path) -> int:
        """Writes the open requests as an input file of OpenAI's Batch API; returns their number."""
        ratings = {rating.next_key() or "": rating for rating in self.open_ratings}
        with writing_whole(path) as file:
            for key, rating in sorted(ratings.items()):
                file.write(utf8(f"{json_text(self._form.batch_line(key, rating.next_request()))}\n"))
        return len(ratings)

    def read_batch(self, sources: Iterable[Path]) -> tuple[int, list[str]]:
        """Adds the replies in output files of a batch; returns their number, and sentences on bad lines."""
        known: dict[str, tuple[Rating, int, list[ReplyStore]]] = {}  # by key of the request: rating, try, and files
        for rating in self.ratings:
            for number, key in enumerate(rating.known_keys(), start=1):
                known.setdefault(key, (rating, number, []))[2].append(rating.replies)
        problems: list[str] = []
        n_new = n_lines = 0
        with contextlib.ExitStack() as stack:
            keeps = {id(judged.replies): stack.enter_context(judged.replies.adding()) for judged in self.runs}
            for where, row in (entry for source in sources for entry in _batch_rows(source, problems)):
                key = row.get("custom_id")
                if not isinstance(key, str):
                    problems.append(f"{where}: expected an object with the text 'custom_id'")
                    continue
                where = f"{where} ({in_one_line(key)})"
                if key not in known:
                    problems.append(f"{where}: is the reply to another request; expected a reply about these runs")
                    continue
                n_lines += 1
                body, reply, problem = self._form.batch_answer(row)
                if reply is None:
                    problems.append(f"{where}: {problem}")
                    continue
                rating, number, files = known[key]
                n_new += any(key not in replies for replies in files)
                for replies in files:
                    if key not in replies:
                        keeps[id(replies)](rating.request_of_try(number), reply.text, self._form.details_in(body))
        if not n_lines and problems:
            raise ChecklistError(problems[0])
        return n_new, problems

    @cached_property
    def _form(self) -> RequestForm:
        return batch_form(self.runs[0].wording.judge.form)


def _batch_rows(source: Path, problems: list[str]) -> Iterator[tuple[str, Any]]:
    try:
        yield from numbered_objects(source, on_fault=problems.append)
    except ChecklistError as error:
        problems.append(str(error))
