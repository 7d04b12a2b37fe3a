"""A run with a judge's replies about its answers: which requests are open, and which judgements follow.

Judgements are derived from stored replies alone, so interruptions of asking do not change them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ....base.errors import ChecklistError
from ...judging.judge_requests import MAX_REQUEST_BYTES, JudgeRequest, is_too_long
from ...judging.reply_store import Replies
from ...judging.tries import Tries
from ..checklist_runs import Answer, Run
from ..checklist_suite import ChecklistSuite
from ..judgements import Judgement
from ..tasks import Checklist, Task, check_instructions
from .checklist_requests import Wording
from .parse_reply import ParsedReply

_LONGEST_ESCAPE = 24
"""The maximum number of bytes for a character of an answer in a request: a word between spaces, escaped in JSON."""


class Rating(Tries):
    """One rating of one answer."""

    def __init__(self, answer: Answer, task: Task, number: int, wording: Wording, replies: Replies) -> None:
        super().__init__(replies, wording.options.n_tries)
        self.answer, self.task, self.number, self.wording = answer, task, number, wording
        self._said: ParsedReply | None = None

    def request_of_try(self, number: int) -> JudgeRequest:
        """The request of a try, from 1."""
        return self.wording.request(
            self.task.key,
            self.task.instruction or "",
            self._checklist,
            self.answer.response,
            try_number=number,
            rating=self.number,
        )

    def is_usable(self, reply: str) -> bool:
        """Whether the reply has verdicts."""
        self._said = self.wording.parse(reply, self._checklist)
        return self._said.fault is None

    @property
    def _checklist(self) -> Checklist:
        return self.wording.suite.checklist(self.task)

    def judgement(self) -> Judgement | None:
        """The judgement that follows from the replies; None as long as a request is open."""
        if self.next_key() is not None:
            return None
        wording, checklist, n_tries, last_key = self.wording, self._checklist, self.n_replied, self.last_key()
        version = None if last_key is None else self.replies.details(last_key).version
        reply = self._said or ParsedReply(None)
        return Judgement(
            id=self.task.id,
            length=self.task.length,
            trial=self.answer.trial,
            response_sha256=self.answer.sha256,
            judge=wording.judge.model,
            version=version,
            method=wording.options.method,
            rating=self.number,
            scores=reply.verdicts,
            reasons=reply.reasons,
            prompt_sha256=wording.prompt_sha256,
            checklist_sha256=checklist.sha256,
            instruction_sha256=self.task.instruction_sha256,
            tries=n_tries,
            fault=reply.fault,
            cut=wording.shown(self.answer.response)[1],
            profile=wording.profile_name,
            temperature=wording.judge.sent_temperature,
            request=wording.unusual,
        )

    @property
    def is_out_of_tokens(self) -> bool:
        """Whether all tries are used up, and the last reply ended at the limit of tokens."""
        last_key = self.last_key()
        is_unjudged = self.next_key() is None and self._said is not None and self._said.fault is not None
        return is_unjudged and last_key is not None and self.replies.details(last_key).is_cut

    @property
    def is_too_long(self) -> bool:
        """Whether the requests are too long to be sent; a request is only built and measured if the text is long."""
        n_characters = len(self.answer.response) + len(self.task.instruction or "")
        return _LONGEST_ESCAPE * n_characters > MAX_REQUEST_BYTES and is_too_long(self.request_of_try(1))


def ratings_of(answer: Answer, task: Task, wording: Wording, replies: Replies) -> list[Rating]:
    """The ratings of an answer; empty if its requests are too long to be sent."""
    ratings = [Rating(answer, task, number, wording, replies) for number in range(1, wording.options.n_ratings + 1)]
    return [] if ratings[0].is_too_long else ratings


@dataclass(frozen=True)
class Standing:
    """The progress of judging a run."""

    n_ratings: int
    n_judged: int
    unjudged: tuple[tuple[str, str], ...]
    n_out_of_tokens: int  # of the unjudged, those whose last reply ended at the limit of tokens
    n_open: int
    n_cut: int
    versions: tuple[tuple[str | None, int], ...]


@dataclass(eq=False)
class RunToJudge:
    """A run and a judge's replies about its answers."""

    run: Run
    wording: Wording
    replies: Replies
    ratings: list[Rating] = field(init=False)
    too_long: tuple[str, ...] = field(init=False)
    faults: list[str] = field(init=False)

    def __post_init__(self) -> None:
        suite = self.wording.suite
        self.faults = []
        answers = self.run.answers(suite, on_fault=self.faults.append)
        if not answers:
            missing = f"{self.run.folder}: holds no answers; expected answers.jsonl to judge"
            raise ChecklistError(self.faults[0] if self.faults else missing)
        chosen = self._chosen(suite, answers.values())
        check_instructions([task for _, task in chosen], str(self.run.folder))
        by_answer = [(answer.id, ratings_of(answer, task, self.wording, self.replies)) for answer, task in chosen]
        self.too_long = tuple(id for id, ratings in by_answer if not ratings)
        self.ratings = [rating for _, ratings in by_answer for rating in ratings]

    def open_ratings(self) -> list[Rating]:
        """The ratings that need another reply."""
        return [rating for rating in self.ratings if rating.next_key() is not None]

    def judgements(self) -> list[Judgement]:
        """The judgements that follow from the replies, in the order of the answers."""
        return [judgement for rating in self.ratings if (judgement := rating.judgement()) is not None]

    def standing(self) -> Standing:
        """The progress of the judging."""
        judgements = self.judgements()
        judged = [judgement for judgement in judgements if judgement.scores is not None]
        versions = Counter(judgement.version for judgement in judged)
        return Standing(
            n_ratings=len(self.ratings),
            n_judged=len(judged),
            unjudged=tuple((row.id, row.fault or "") for row in judgements if row.scores is None),
            n_out_of_tokens=sum(rating.is_out_of_tokens for rating in self.ratings),
            n_open=len(self.ratings) - len(judgements),
            n_cut=sum(judgement.cut for judgement in judged),
            versions=tuple(sorted(versions.items(), key=lambda pair: (-pair[1], pair[0] or ""))),
        )

    def _chosen(self, suite: ChecklistSuite, answers: Iterable[Answer]) -> list[tuple[Answer, Task]]:
        pairs = ((answer, suite.by_key[answer.id, answer.length]) for answer in answers)
        areas = self.wording.options.areas
        return [(answer, task) for answer, task in pairs if not areas or task.area in areas]
