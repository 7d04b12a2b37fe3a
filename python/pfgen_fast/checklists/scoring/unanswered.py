"""Why answers do not answer their task: the model refused, the server filtered, or there is no answer.

Only a run with answers knows it. A judged answer may be a refusal, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from ..judgements import AnswerKey
from ..rejections import Rejections
from ..runs import Answer
from ..tasks import TaskKey

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
    found: dict[AnswerKey, Unanswered] = {}
    for key in keys:
        one = answers.get(key)
        if one is not None and (one.finish_reason or "").casefold() in _FILTERED:
            found[key] = "filtered"
        elif one is None or not one.response.strip():
            found[key] = "failed"
        elif rejections.phrase_of(one.response) is not None:
            found[key] = "refused"
        elif len(tasks[one.response]) > 1:
            found[key] = "filtered"
    return found
