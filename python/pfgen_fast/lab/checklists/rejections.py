"""Answers that do not answer their task: phrases of rejection by language, and answers that a server filtered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

from ...base.errors import ChecklistError
from ...base.untrusted_json import read_toml
from .checklist_runs import Answer
from .judgements import AnswerKey
from .tasks import TaskKey

PACKAGED = Path(__file__).parents[2] / "data" / "checklists" / "rejections.toml"
PUBLISHED_PHRASES = ("Given the", "Given the constraints of this platform")
"""The phrase that the published figures follow from, and the longer phrase that the paper names."""

_BEFORE = " \t\r\n\f\v\u3000\xa0*#>\"'`“”‘’«»「『【（("
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")


class Rejections:
    """Finds the phrase that an answer begins with."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self.phrases = tuple(phrases)
        # Longer phrases come first, so the most specific phrase is reported.
        longest_first = sorted(self.phrases, key=len, reverse=True)
        self._begins = {_folded(phrase): phrase for phrase in longest_first}
        # Case folding turns a character into one to three characters.
        self._n_characters = max(map(len, self._begins), default=0)

    def phrase_of(self, answer: str) -> str | None:
        """The longest phrase that the answer begins with, after white space, `*`, `#` and quotes; None without one."""
        begin = _folded(answer.lstrip(_BEFORE)[: self._n_characters])
        return next((phrase for folded, phrase in self._begins.items() if begin.startswith(folded)), None)

    def within(self, phrase: str) -> list[str]:
        """The phrases that a phrase begins with, and itself."""
        return [begin for folded, begin in self._begins.items() if _folded(phrase).startswith(folded)]


def phrases_for(language: str) -> tuple[str, ...]:
    """The packaged phrases of a language, such as `en` or `en-GB`; empty if there are none."""
    table = read_toml(PACKAGED, error=ChecklistError).get(language.partition("-")[0].casefold(), {})
    return tuple(table.get("phrases", ()))


def _folded(phrase: str) -> str:
    return phrase.translate(_APOSTROPHES).casefold()


Unanswered = Literal["refused", "filtered", "failed"]
"""The model said no, the server said no, or there is no text."""

UNANSWERED: tuple[Unanswered, ...] = get_args(Unanswered)

_FILTERED = {"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"}
"""The reasons for stopping by which servers say that they filtered an answer, in lower case."""


def unanswered(
    keys: Iterable[AnswerKey], answers: Mapping[AnswerKey, Answer], rejections: Rejections
) -> dict[AnswerKey, Unanswered]:
    """The keys of answers that do not answer their task, with the reason; empty for a run without answers.

    An answer that equals the answer to another task was filtered, unless it begins like a refusal.
    """
    if not answers:
        return {}
    tasks: dict[str, set[TaskKey]] = {}
    for answer in answers.values():
        tasks.setdefault(answer.response, set()).add((answer.id, answer.length))
    causes: dict[AnswerKey, Unanswered] = {}
    for key in keys:
        reply = answers.get(key)
        if reply is not None and (reply.finish_reason or "").casefold() in _FILTERED:
            causes[key] = "filtered"
        elif reply is None or not reply.response.strip():
            causes[key] = "failed"
        elif rejections.phrase_of(reply.response) is not None:
            causes[key] = "refused"
        elif len(tasks[reply.response]) > 1:
            causes[key] = "filtered"
    return causes
