"""Judgements: what a judge said of an answer, question by question. A file of them is derived and can be deleted.

What a judge really replied is in the file of replies beside it (`judging.replies`). A judgement belongs to an answer,
an instruction, a checklist and a prompt by their hashes; when one of them has changed, it is stale. Files:
`judgement_files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Method = Literal["checklist", "llm-eval", "llm-eval-c"]
"""How a judge was asked: each question, or for one overall rating of 0 to 10, without or with the questions shown."""

METHODS: tuple[Method, ...] = get_args(Method)

Profile = Literal["plain", "upstream"]
"""How an answer is shown to a judge and how the reply is read: by our rules, or by those of HelloBench."""

PROFILES: tuple[Profile, ...] = get_args(Profile)

READING: Mapping[Profile, tuple[str, ...]] = {"plain": ("one list at the end",)}
"""The rules by which replies are read, where they have changed: verdicts by other rules are derived anew."""

AnswerKey = tuple[str, str | None, int]
"""The ID and the length of a task, and the number of the trial."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts of one judge on one answer.

    Attributes:
        id: The ID of the task.
        response_sha256: The hash of the answer.
        scores: A verdict for each question, one of the suite's levels; for the methods with an overall rating, that
            rating alone (0 to 10). None if the answer is unjudged.
        length: The length of the task.
        trial: The number of the answer, of several answers to the same task.
        judge: The model as it was asked for.
        version: What the server said the model was, with its fingerprint if it has one; None if unknown.
        method: How the judge was asked.
        rating: The number of the rating, of several ratings of the same answer.
        reasons: The judge's reason for each verdict; None where it gave none. Empty if they were not read.
        prompt_sha256: The hash of the prompts and the profile; None if unknown.
        checklist_sha256: The hash of the questions; None if unknown.
        instruction_sha256: The hash of the instruction; None if unknown.
        tries: How often the judge was asked.
        fault: Why the last reply could not be used, if the answer is unjudged.
        cut: Whether the judge saw the beginning of the answer only.
        words: The number of words of the answer, where it was published with the judgement.
        most_repeated_sentence: How often the commonest sentence stands in the answer, where it was published.
        profile: How the answer was put into the request, such as `plain`; None if unknown.
        temperature: The judge's sampling temperature; None if unknown.
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

    @property
    def key(self) -> AnswerKey:
        """The answer that was judged."""
        return self.id, self.length, self.trial
