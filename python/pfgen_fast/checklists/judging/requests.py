"""Requests to a judge about an answer: the suite's prompts, filled in one pass, and a seed for each try.

Profile `plain` shows the answer unchanged. Profile `upstream` shows, like HelloBench's code, its words joined by single
spaces, without line breaks. Both show the first 16,000 words of a longer answer. Rules: docs/checklists.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ...errors import ChecklistError
from ...generation.prompts import sampling_seed
from ...judging.requests import Judge, JudgeRequest
from ...judging.template import Template
from ..judgements import Method, Profile
from ..prompt_files import prompt_of
from ..suite import ChecklistSuite, counter_of_requests
from ..tasks import Checklist, TaskKey
from ..words import Counter, counter_name, first_words, has_nltk, words
from .parse_reply import ParsedReply, parse_overall, parse_reply

MAX_TOKENS = 4096
"""The default maximum number of tokens in a judge's reply."""

_WORDS_SHOWN = 16_000
"""HelloBench's code cuts answers of 15,001 words or more to 16,000 words, so it changes only answers above 16,000."""

_UPSTREAM_SEED = 42
_SEEDS_OF_A_RATING = 1000
"""The distance between the seeds of two ratings in profile `upstream`."""

_ANSWERS_AT_HAND = 1024
"""The number of answers that are cached as the judge sees them, because NLTK is slow."""


@dataclass(frozen=True)
class Wording:
    """How a judge is asked about answers, and how its replies are read."""

    suite: ChecklistSuite
    judge: Judge
    profile: Profile = "plain"
    method: Method = "checklist"
    seed: str = ""
    structured: bool = False  # whether a request holds a JSON schema of the verdicts

    def __post_init__(self) -> None:
        for template in (self._user, self._system):
            if template is not None:
                prompt_of(template.text, "", f"the suite {self.suite.name}")
        if self.profile == "upstream":
            _ = self._first_upstream_seed

    @cached_property
    def profile_name(self) -> str:
        """The profile, with the word counter if it changes all answers; in `plain`, it only cuts long answers."""
        return f"{self.profile} ({counter_name(self._counter)})" if self.profile == "upstream" else self.profile

    @cached_property
    def unusual(self) -> str | None:
        """The unusual parts of requests, as JSON; None without unusual parts."""
        parts = {**self.judge.options.shaping, **({"structured": True} if self.structured else {})}
        return json.dumps(parts, sort_keys=True) if parts else None

    @cached_property
    def prompt_sha256(self) -> str:
        """The hash of the prompts, the method, the profile and the counter of words."""
        return self.suite.prompts.sha256(self.method, self.profile, self._counter)

    def shown(self, response: str) -> tuple[str, bool]:
        """An answer as the judge sees it, and whether it was cut."""
        return _shown(response, self.profile, self._counter)

    def request(
        self,
        task: TaskKey,
        instruction: str,
        checklist: Checklist,
        response: str,
        *,
        try_number: int = 1,
        rating: int = 1,
    ) -> JudgeRequest:
        """The request about an answer."""
        values = {
            "instruction": instruction,
            "response": self.shown(response)[0],
            "checklists": _listed(checklist, self.method),
            "num_checklist": str(len(checklist.questions)),
        }
        system = None if self._system is None else self._system.text.format(**values)
        id, length = task
        name = f"try {try_number} of rating {rating} of {id}{f' ({length})' if length else ''}"
        return self.judge.request(
            self._user.text.format(**values),
            seed=self._seed(task, try_number, rating),
            name=name,
            system=system,
            schema=self._schema(len(checklist.questions)) if self.structured else None,
        )

    def parse(self, reply: str, checklist: Checklist) -> ParsedReply:
        """The verdicts in a reply, or the reason why it is unusable."""
        if self.method == "checklist":
            return parse_reply(reply, len(checklist.questions), self.suite.levels, profile=self.profile)
        return parse_overall(reply, profile=self.profile)

    def zeros(self, checklist: Checklist) -> tuple[float, ...]:
        """The verdicts of an empty answer."""
        return (0.0,) * (len(checklist.questions) if self.method == "checklist" else 1)

    def _schema(self, n_questions: int) -> dict[str, Any]:
        """The JSON schema of a reply. The list is inside an object, because servers require an object."""
        if self.method != "checklist":
            return _object(reason=_TEXT, evaluation_score={"type": "number"})
        id = {"type": "integer", "enum": list(range(n_questions))}
        score = {"type": "number", "enum": list(self.suite.levels)}
        entries = {"type": "array", "items": _object(checklist_id=id, reason=_TEXT, evaluation_score=score)}
        return _object(verdicts=entries)

    @cached_property
    def _user(self) -> Template:
        _, found = self.suite.prompts.of(self.method)
        if found is None:
            raise ChecklistError(f"the suite {self.suite.name} has no prompt for the method {self.method}")
        return found

    @property
    def _system(self) -> Template | None:
        return self.suite.prompts.of(self.method)[0]

    @cached_property
    def _counter(self) -> Counter:
        return "nltk" if self.profile == "upstream" and has_nltk() else counter_of_requests(self.suite)

    @cached_property
    def _first_upstream_seed(self) -> int:
        try:
            return int(self.seed or _UPSTREAM_SEED)
        except ValueError:
            raise ChecklistError("--seed: expected a whole number for the profile upstream") from None

    def _seed(self, task: TaskKey, try_number: int, rating: int) -> int:
        if self.profile == "upstream":
            return self._first_upstream_seed + try_number - 1 + _SEEDS_OF_A_RATING * (rating - 1)
        id, length = task
        return sampling_seed(json.dumps([self.seed, id, length, rating]), try_number)


_TEXT = {"type": "string"}


def _object(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


@lru_cache(maxsize=_ANSWERS_AT_HAND)
def _shown(response: str, profile: Profile, counter: Counter) -> tuple[str, bool]:
    if profile == "upstream":
        found = words(response, counter)
        return " ".join(found[:_WORDS_SHOWN]), len(found) > _WORDS_SHOWN
    beginning = first_words(response, _WORDS_SHOWN, "characters" if counter == "characters" else "regex")
    return beginning, len(beginning) < len(response)


def _listed(checklist: Checklist, method: Method) -> str:
    """The questions as JSON, with IDs if each question is judged."""
    if method == "llm-eval-c":
        return json.dumps(checklist.questions, ensure_ascii=False)
    listed = [{"checklist_id": id, "checklist_content": text} for id, text in enumerate(checklist.questions)]
    return json.dumps(listed, ensure_ascii=False)
