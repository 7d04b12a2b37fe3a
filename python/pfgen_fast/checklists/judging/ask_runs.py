"""Judges the answers of runs: says what it costs, asks in rounds of tries, and writes the judgements that follow.

All runs are asked about together, in the order of their requests' keys, which are hashes, so that models get on alike
wherever a budget or a kill stops the asking. What was replied is kept when it comes. Rules: docs/checklists.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import ChecklistError
from ...files.lock import held
from ...files.untrusted_text import first_names
from ...generation.events import Events
from ...judging.asking import Progress
from ...judging.budget import Estimate, Prices, Spending
from ...judging.reply_store import Replies
from ...judging.tries import Connect, ask_in_rounds, estimate_of_tries
from ..judgement_files import read_judgements, write_judgements
from ..judgements import Judgement
from ..runs import JUDGEMENTS_FILE, Run
from ..scoring.judged import is_stale
from ..suite import ChecklistSuite
from .runs_to_judge import JudgeOptions, Rating, RunToJudge

_PATIENCE_SECONDS = 60.0
"""How long another process may take to write a file of judgements."""

_USUAL_REPLY_TOKENS = 65
"""What a judge writes about one question; so much it was in the published judgements."""

_DATE_OR_HASH = re.compile(
    r"\d{4}-?\d{2}-?\d{2}|(?<!\d)\d{4}(?!\d)|(?<![0-9a-zA-Z])(?=[a-f]*\d)[0-9a-f]{7,64}(?![0-9a-zA-Z])"
)


def names_a_version(model: str) -> bool:
    """Whether the name of a model holds a date or a hash, so that it names one version of it."""
    return _DATE_OR_HASH.search(model) is not None


@dataclass
class Judging:
    """The judging of several runs by one judge.

    Attributes:
        runs: The runs with the stored replies.
    """

    runs: Sequence[RunToJudge]
    _former: dict[str, list[Judgement]] = field(default_factory=dict, init=False)

    @classmethod
    def open(
        cls, runs: Iterable[Run], suite: ChecklistSuite, options: JudgeOptions, *, offline: bool = False
    ) -> Judging:
        """Opens the replies of runs; nothing is asked yet.

        Args:
            runs: The runs.
            suite: Their suite.
            options: How their answers are judged.
            offline: Whether nothing will be asked, so that there must be replies.

        Raises:
            ChecklistError: An option does not fit the suite, a run has no answers, a task that was answered has no
                whole instruction, or the run has imported judgements of a judge of the same name.
            JudgingError: A file of replies is missing or holds something else.
        """
        wording = options.wording(suite)
        judging = cls(
            [RunToJudge(run, wording, options, Replies(run.replies_path, must_exist=offline)) for run in runs]
        )
        for one in judging.runs:
            judging._former[one.run.key] = one.run.judgements(suite)
            _refuse_imported(one, judging._former[one.run.key])
        return judging

    def estimate(self, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the replies that are missing, if each can be used: the upper bound."""
        return estimate_of_tries(self._ratings(), prices)

    def likely_reply_tokens(self) -> int:
        """How many tokens the missing replies will have if the judge writes as much as usual."""
        n_tokens = 0
        for rating in self.open_ratings():
            wording = rating.wording
            n_verdicts = len(wording.zeros(wording.suite.checklist(rating.task)))
            n_tokens += min(n_verdicts * _USUAL_REPLY_TOKENS, wording.judge.max_tokens)
        return n_tokens

    def ask(
        self,
        connect: Connect,
        *,
        spending: Spending | None = None,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies, and again with another seed where one cannot be used; stores each.

        Args:
            connect: Opens the engine that asks the judge, such as `Server(...).engine`.
            spending: Prices and budget; what is asked is added to it.
            on_progress: Called with the number of finished requests and the total, which grows with each new try.
            events: Counts what happens.

        Returns:
            A sentence on why some replies are still missing; None if none are.

        Raises:
            EngineError: An error concerns all requests. Replies received before are kept.
            JudgingError: Another process is adding replies to a file.
        """
        ratings = list(self._ratings())
        return ask_in_rounds(
            ratings, connect, keeps_empty=True, spending=spending, on_progress=on_progress, events=events
        )

    @property
    def n_open(self) -> int:
        """The number of ratings that still need a reply."""
        return sum(1 for _ in self.open_ratings())

    def write(self) -> list[Judgement]:
        """Writes the judgements of each run that follow from the replies; returns them.

        Judgements by other judges and by other methods stay; those by the same judge, with whatever prompts and
        temperature, are replaced. A file is only written if it changes.

        Raises:
            ChecklistError: Another process does not finish writing the file, or it holds imported judgements of the
                judge.
            PfgenError: A file cannot be written.
        """
        return [judgement for one in self.runs for judgement in self._write(one)]

    def _write(self, one: RunToJudge) -> list[Judgement]:
        path = one.run.judgements_path or one.run.folder / JUDGEMENTS_FILE
        found, rows, former = _derived(one, path)
        if rows != former:
            with held(path.with_name(f".{path.name}.lock"), patience=_PATIENCE_SECONDS) as alone:
                if not alone:
                    raise ChecklistError(f"{path}: another process has been writing to it for too long")
                one.replies.refresh()  # other processes may have added replies and judgements since
                found, rows, former = _derived(one, path)
                if rows != former:
                    write_judgements(path, rows)
        self._former[one.run.key] = rows
        return found

    def stale(self, one: RunToJudge) -> list[str]:
        """The IDs of the tasks of a run whose former judgement is stale; see `scoring.judged.is_stale`."""
        suite, answers = one.wording.suite, {rating.answer.key: rating.answer for rating in one.ratings}
        rows = (row for row in self._former.get(one.run.key, []) if row.key in answers and _is_of(row, one))
        return list(dict.fromkeys(row.id for row in rows if is_stale(row, suite, answers)))

    def open_ratings(self) -> Iterator[Rating]:
        """The ratings of all runs that need another reply."""
        return (rating for one in self.runs for rating in one.open_ratings())

    def _ratings(self) -> Iterator[Rating]:
        return (rating for one in self.runs for rating in one.ratings)


def _derived(one: RunToJudge, path: Path) -> tuple[list[Judgement], list[Judgement], list[Judgement]]:
    """The judgements that follow from the replies, and the rows of the file with them and as they are."""
    former = read_judgements(path, one.wording.suite) if path.exists() else []
    _refuse_imported(one, former)
    found = one.judgements()
    kept = [row for row in former if not _is_replaced(row, one)]
    return found, sorted([*kept, *found], key=lambda row: (row.judge, row.method)), former


def _is_of(row: Judgement, one: RunToJudge) -> bool:
    """Whether a judgement is by the same judge in the same way."""
    return (row.judge, row.method) == (one.wording.judge.model, one.wording.method)


def _is_replaced(row: Judgement, one: RunToJudge) -> bool:
    """Whether a judgement of the file is derived anew; those of areas that are not judged now are not."""
    if not _is_of(row, one):
        return False
    task = one.wording.suite.by_key.get((row.id, row.length))
    is_elsewhere = task is not None and bool(one.options.areas) and task.area not in one.options.areas
    return not is_elsewhere


def _refuse_imported(one: RunToJudge, former: Sequence[Judgement]) -> None:
    """Raises ChecklistError where judgements would be replaced that do not follow from replies."""
    if any(_is_of(row, one) and row.prompt_sha256 is None for row in former):
        raise ChecklistError(
            f"{one.run.judgements_path}: holds imported judgements of {one.wording.judge.model}, which judging would "
            "replace; expected the answers in a folder of their own"
        )


def kept_by_others(judging: Judging) -> list[str]:
    """A sentence for each file of replies that holds none to these requests, because others were asked."""
    found = []
    for one in judging.runs:
        model = one.wording.judge.model
        others = [name for name in one.replies.models if name != model]
        if others and model not in one.replies.models:
            found.append(f"{one.replies.path}: holds replies of {first_names(others)}, and none of {model}")
    return found
