"""Judges the answers of runs: says what it costs, asks in rounds of tries, and writes the judgements that follow.

All runs are asked about together, in the order of their requests' keys, which are hashes, so that models get on alike
wherever a budget or a kill stops the asking. What was replied is kept when it comes. Rules: docs/checklists.md.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import ChecklistError
from ...evaluators.ratings import Connect
from ...files.lock import held
from ...generation.events import Events
from ...generation.protocol import Details
from ...judging.asking import Asking, Progress
from ...judging.budget import Estimate, Prices, Spending, prompt_tokens
from ...judging.reply_store import UNKNOWN, Keep, Replies
from ...judging.requests import JudgeRequest
from ..few_names import first_names
from ..judgement_files import read_judgements, write_judgements
from ..judgements import Judgement
from ..runs import Run
from ..scoring.judged import is_stale
from ..suite import ChecklistSuite
from .runs_to_judge import JudgeOptions, Rating, RunToJudge

JUDGEMENTS_FILE = "judgements.jsonl"

_RATINGS_AT_A_TIME = 2048
"""Requests hold long texts, so not all are put together at once."""

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
        judging = cls([RunToJudge(run, wording, options, _replies(run, offline)) for run in runs])
        for one in judging.runs:
            judging._former[one.run.key] = one.run.judgements(suite)
            _refuse_imported(one, judging._former[one.run.key])
        return judging

    def estimate(self, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the replies that are missing, if each can be used: the upper bound."""
        n_tokens = n_reply_tokens = n_open = 0
        keys = set()
        for rating in self.open_ratings():
            n_open += 1
            key = rating.next_key()
            if key not in keys:
                keys.add(key)
                request = rating.next_request()
                n_tokens += prompt_tokens(request)
                n_reply_tokens += request.judge.max_tokens
        n_ratings = sum(len(one.ratings) for one in self.runs)
        cost = (prices or Prices()).cost(n_tokens, n_reply_tokens)
        return Estimate(n_ratings, n_ratings - n_open, n_open - len(keys), len(keys), n_tokens, n_reply_tokens, cost)

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
        spending, problem = spending or Spending(), None
        with contextlib.ExitStack() as stack:
            files = {id(rating.replies): rating.replies for rating in self.open_ratings()}
            keeps = {name: stack.enter_context(replies.adding()) for name, replies in files.items()}
            # After the locks were taken, because other processes may have asked before; none may ask now.
            ratings = [rating for rating in self.open_ratings() if id(rating.replies) in keeps]
            ratings.sort(key=lambda rating: rating.next_key() or "")
            count = _Count(on_progress, len(ratings))
            for start in range(0, len(ratings), _RATINGS_AT_A_TIME):
                said = self._ask(ratings[start : start + _RATINGS_AT_A_TIME], keeps, connect, spending, count, events)
                problem = said or problem
                if spending.is_used_up:
                    break
        return problem if self.n_open else None

    def _ask(
        self,
        ratings: Sequence[Rating],
        keeps: dict[int, Keep],
        connect: Connect,
        spending: Spending,
        count: _Count,
        events: Events | None,
    ) -> str | None:
        """Asks about some ratings in rounds of tries; returns why some still lack a reply."""
        problem: str | None = None
        while open_ratings := [rating for rating in ratings if rating.next_key() is not None]:
            shared = _SharedReplies(open_ratings, keeps)
            asking = Asking((rating.next_request() for rating in open_ratings), shared, keeps_empty=True)
            n_asked = asking.estimate().n_requests
            problem = asking.ask(
                connect(open_ratings[0].wording.judge), spending=spending, on_progress=count.now, events=events
            )
            if spending.is_used_up or shared.n_kept == 0:  # what still has no reply will have none now
                return problem
            count.next_round(n_asked, sum(rating.next_key() is not None for rating in ratings))
        return problem

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


def _replies(run: Run, offline: bool) -> Replies:
    return Replies(run.replies_path, must_exist=offline)


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


class _SharedReplies:
    """The replies to the open requests of several runs, where an equal request is sent once and kept for each."""

    def __init__(self, ratings: Iterable[Rating], keeps: dict[int, Keep]) -> None:
        self._keeps = keeps
        self._owners: dict[str, dict[int, Replies]] = {}
        for rating in ratings:
            key = rating.next_key()
            if key is not None:
                self._owners.setdefault(key, {})[id(rating.replies)] = rating.replies
        self.n_kept = 0

    def __contains__(self, key: str) -> bool:
        return all(key in replies for replies in self._owners[key].values())

    def get(self, key: str) -> str | None:
        return next((reply for replies in self._owners[key].values() if (reply := replies.get(key)) is not None), None)

    @contextlib.contextmanager
    def adding(self) -> Iterator[Keep]:
        yield self._keep  # the files are locked for all rounds together

    def _keep(self, request: JudgeRequest, reply: str, details: Details = UNKNOWN, /) -> None:
        for name, replies in self._owners[request.key].items():
            if request.key not in replies:
                self._keeps[name](request, reply, details)
        self.n_kept += 1


class _Count:
    """Counts finished requests over all rounds, for someone who watches."""

    def __init__(self, on_progress: Callable[[int, int], None] | None, n_ratings: int) -> None:
        self._tell = on_progress or (lambda done, total: None)
        self._n_before, self._total = 0, n_ratings

    def now(self, done: int, total: int) -> None:
        self._total = max(self._total, self._n_before + total)
        self._tell(self._n_before + done, self._total)

    def next_round(self, n_asked: int, n_again: int) -> None:
        self._n_before += n_asked
        self._total += n_again


def kept_by_others(judging: Judging) -> list[str]:
    """A sentence for each file of replies that holds none to these requests, because others were asked."""
    found = []
    for one in judging.runs:
        model = one.wording.judge.model
        others = [name for name in one.replies.models if name != model]
        if others and model not in one.replies.models:
            found.append(f"{one.replies.path}: holds replies of {first_names(others)}, and none of {model}")
    return found
