"""Judgements: a judge's verdicts on an answer, question by question. Files: `judgement_files`.

Judgements are derived from stored replies (`judging.reply_store`), so a file of judgements can be deleted. A judgement
contains the hashes of its answer, instruction, checklist and prompt. If one of them has changed, it is stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Method = Literal["checklist", "llm-eval", "llm-eval-c"]
"""A verdict on each question, or one overall rating of 0 to 10, without or with the questions in the prompt."""

METHODS: tuple[Method, ...] = get_args(Method)

Profile = Literal["plain", "upstream"]
"""How an answer is shown to a judge and how the reply is parsed: by our rules, or as in HelloBench's code."""

PROFILES: tuple[Profile, ...] = get_args(Profile)

READING: Mapping[Profile, tuple[str, ...]] = {"plain": ("one list at the end",)}
"""The rules for parsing replies, where they have changed: verdicts by other rules are stale."""

AnswerKey = tuple[str, str | None, int]
"""The ID and the length of a task, and the number of the trial."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts of one judge on one answer.

    Attributes:
        scores: A verdict for each question, one of the suite's levels; or only the overall rating, 0 to 10. None if the
            answer is unjudged.
        trial: The number of the answer among several to the same task.
        judge: The model's name in requests.
        version: The model's name in replies, with the server's fingerprint; None if unknown.
        rating: The number of the rating among several of the same answer.
        reasons: The judge's reason for each verdict; None where there is no reason. Empty if they were not read.
        prompt_sha256: The hash of the prompts and the profile; None if unknown, like the other hashes.
        checklist_sha256: The hash of the questions.
        tries: The number of requests.
        fault: Why the last reply was unusable, if the answer is unjudged.
        cut: Whether the judge only saw the beginning of the answer.
        words: The number of words of the answer, if it was published with the judgement.
        most_repeated_sentence: The count of the most frequent sentence in the answer, if it was published.
        profile: How the answer was shown in the request, such as `plain`; None if unknown.
        request: The unusual parts of the request, such as its engine, as JSON; None without unusual parts.
    """

    id: str
    response_sha256: str
    scores: tuple[float, ...] | None
    length: str | None = None
    trial: int = 1
    judge: str = ""
    version: str | None = None
    method: Method = "checklist"
    rating: int = 1
    reasons: tuple[str | None, ...] = ()
    prompt_sha256: str | None = None
    checklist_sha256: str | None = None
    instruction_sha256: str | None = None
    tries: int = 1
    fault: str | None = None
    cut: bool = False
    words: int | None = None
    most_repeated_sentence: int | None = None
    profile: str | None = None
    temperature: float | None = None
    request: str | None = None

    @property
    def key(self) -> AnswerKey:
        """The answer that was judged."""
        return self.id, self.length, self.trial
