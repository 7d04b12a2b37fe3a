"""Requests to a judge about an answer, and the judgements that follow from its replies.

The suite's prompts are filled in one pass; each try has a seed.

Profile `plain` shows the answer unchanged. Profile `upstream` shows, like HelloBench's code, its words joined by single
spaces, without line breaks. Both show the first 16,000 words of a longer answer. Rules: docs/checklists.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from ...base.errors import ChecklistError
from ...generation.prompts import sampling_seed
from ..evaluators.asking_evaluator import usual_temperature
from ..judging.judge_asking import Tries
from ..judging.judge_requests import Judge, JudgeRequest, RequestOptions
from ..judging.reply_store import ReplyStore
from ..words import Counter, counter_name, first_words, has_nltk, words
from .checklist_runs import Answer
from .checklist_suite import ChecklistSuite, counter_of_requests
from .judgements import Judgement
from .parse_reply import ParsedReply, parse_overall, parse_reply
from .suite_files import prompt_of
from .tasks import Checklist, ChecklistTask, Method, Profile, TaskKey

MAX_TOKENS = 4096
"""The default maximum number of tokens in a judge's reply."""

_WORDS_SHOWN = 16_000
"""HelloBench's code cuts answers of 15,001 words or more to 16,000 words, so it changes only answers above 16,000."""

_UPSTREAM_SEED = 42
_SEEDS_OF_A_RATING = 1000
"""The distance between the seeds of two ratings in profile `upstream`."""


@dataclass(frozen=True)
class JudgeOptions:
    """How answers are judged.

    Attributes:
        model: The judge's name on the server.
        profile: How an answer is shown to the judge.
        method: Whether the judge is asked about each question, or for one overall rating.
        n_tries: The maximum number of requests for a rating, while replies are unusable.
        n_ratings: The number of ratings of each answer, each with other seeds.
        temperature: The judge's temperature; by default 0 for one rating and 1 for several, and 0.8 for `upstream`.
        max_tokens: The maximum number of tokens in a reply.
        seed: Any text, which determines the sampling seeds; for profile `upstream` a whole number.
        request_options: How requests are written, such as the engine.
        structured: Whether the server is sent a JSON schema of the verdicts.
    """

    model: str
    profile: Profile = "plain"
    method: Method = "checklist"
    n_tries: int = 3
    n_ratings: int = 1
    temperature: float | None = None
    max_tokens: int = MAX_TOKENS
    seed: str = ""
    request_options: RequestOptions = field(default_factory=RequestOptions)
    structured: bool = False

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ChecklistError("the judge has no name; expected the name of a model on its server")
        if self.n_tries < 1 or self.n_ratings < 1:
            raise ChecklistError(f"tries {self.n_tries}, ratings {self.n_ratings}: expected at least 1 of each")

    @property
    def judge(self) -> Judge:
        """The judge with its sampling parameters."""
        usual = 0.8 if self.profile == "upstream" else usual_temperature(self.n_ratings)
        temperature = usual if self.temperature is None else self.temperature
        return Judge(self.model, temperature, self.max_tokens, self.request_options)


@dataclass(frozen=True)
class Wording:
    """How a judge is asked about answers, and how its replies are read; an error if the suite lacks the prompt."""

    suite: ChecklistSuite
    options: JudgeOptions

    def __post_init__(self) -> None:
        for prompt in (self._user, self.suite.prompts.of(self.options.method)[0]):
            if prompt is not None:
                prompt_of(prompt, "", f"the suite {self.suite.name}")
        if self.options.profile == "upstream":
            _ = self._first_upstream_seed

    @cached_property
    def judge(self) -> Judge:
        """The judge with its sampling parameters."""
        return self.options.judge

    @cached_property
    def profile_name(self) -> str:
        """The profile, with the word counter if it changes all answers; in `plain`, it only cuts long answers."""
        name = self.options.profile
        return f"{name} ({counter_name(self._counter)})" if name == "upstream" else name

    @cached_property
    def unusual(self) -> str | None:
        """The unusual parts of requests, as JSON; None without unusual parts."""
        parts = {**self.judge.options.shaping, **({"structured": True} if self.options.structured else {})}
        return json.dumps(parts, sort_keys=True) if parts else None

    @cached_property
    def prompt_sha256(self) -> str:
        """The hash of the prompts, the method, the profile and the counter of words."""
        return self.suite.prompts.sha256(self.options.method, self.options.profile, self._counter)

    def shown(self, response: str) -> tuple[str, bool]:
        """An answer as the judge sees it, and whether it was cut."""
        return _shown(response, self.options.profile, self._counter)

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
            "checklists": _listed(checklist, self.options.method),
            "num_checklist": str(len(checklist.questions)),
        }
        system, _ = self.suite.prompts.of(self.options.method)
        id, length = task
        name = f"try {try_number} of rating {rating} of {id}{f' ({length})' if length else ''}"
        return self.judge.request(
            self._user.format(**values),
            seed=self._seed(task, try_number, rating),
            name=name,
            system=None if system is None else system.format(**values),
            schema=self._schema(len(checklist.questions)) if self.options.structured else None,
        )

    def parse(self, reply: str, checklist: Checklist) -> ParsedReply:
        """The verdicts in a reply, or the reason why it is unusable."""
        if self.options.method == "checklist":
            return parse_reply(reply, len(checklist.questions), self.suite.levels, profile=self.options.profile)
        return parse_overall(reply, profile=self.options.profile)

    def _schema(self, n_questions: int) -> dict[str, Any]:
        """The JSON schema of a reply. The list is inside an object, because servers require an object."""
        if self.options.method != "checklist":
            return _object(reason=_TEXT, evaluation_score={"type": "number"})
        id = {"type": "integer", "enum": list(range(n_questions))}
        score = {"type": "number", "enum": list(self.suite.levels)}
        entries = {"type": "array", "items": _object(checklist_id=id, reason=_TEXT, evaluation_score=score)}
        return _object(verdicts=entries)

    @cached_property
    def _user(self) -> str:
        _, prompt = self.suite.prompts.of(self.options.method)
        if prompt is None:
            raise ChecklistError(f"the suite {self.suite.name} has no prompt for the method {self.options.method}")
        return prompt

    @cached_property
    def _counter(self) -> Counter:
        return "nltk" if self.options.profile == "upstream" and has_nltk() else counter_of_requests(self.suite)

    @cached_property
    def _first_upstream_seed(self) -> int:
        try:
            return int(self.options.seed or _UPSTREAM_SEED)
        except ValueError:
            raise ChecklistError("--seed: expected a whole number for the profile upstream") from None

    def _seed(self, task: TaskKey, try_number: int, rating: int) -> int:
        if self.options.profile == "upstream":
            return self._first_upstream_seed + try_number - 1 + _SEEDS_OF_A_RATING * (rating - 1)
        id, length = task
        return sampling_seed(json.dumps([self.options.seed, id, length, rating]), try_number)


_TEXT = {"type": "string"}


def _object(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


@lru_cache(maxsize=1024)  # because NLTK is slow
def _shown(response: str, profile: Profile, counter: Counter) -> tuple[str, bool]:
    if profile == "upstream":
        listed = words(response, counter)
        return " ".join(listed[:_WORDS_SHOWN]), len(listed) > _WORDS_SHOWN
    beginning = first_words(response, _WORDS_SHOWN, "characters" if counter == "characters" else "regex")
    return beginning, len(beginning) < len(response)


def _listed(checklist: Checklist, method: Method) -> str:
    """The questions as JSON, with IDs if each question is judged."""
    if method == "llm-eval-c":
        return json.dumps(checklist.questions, ensure_ascii=False)
    listed = [{"checklist_id": id, "checklist_content": text} for id, text in enumerate(checklist.questions)]
    return json.dumps(listed, ensure_ascii=False)


class Rating(Tries):
    """One rating of one answer."""

    def __init__(self, answer: Answer, task: ChecklistTask, number: int, wording: Wording, replies: ReplyStore) -> None:
        super().__init__(replies, wording.options.n_tries)
        self.answer, self.task, self.number, self.wording = answer, task, number, wording
        self._checklist = wording.suite.checklist(task)
        self._parsed: ParsedReply | None = None

    def request_of_try(self, number: int) -> JudgeRequest:
        """The request of a try, from 1."""
        about = (self.task.key, self.task.instruction or "", self._checklist, self.answer.response)
        return self.wording.request(*about, try_number=number, rating=self.number)

    def is_usable(self, reply: str) -> bool:
        """Whether the reply has verdicts."""
        self._parsed = self.wording.parse(reply, self._checklist)
        return self._parsed.fault is None

    def judgement(self) -> Judgement | None:
        """The judgement that follows from the replies; None as long as a request is open."""
        if self.next_key() is not None:
            return None
        wording, checklist, n_tries, last_key = self.wording, self._checklist, self.n_replied, self.last_key()
        version = None if last_key is None else self.replies.details(last_key).version
        reply = self._parsed or ParsedReply(None)
        return Judgement(
            id=self.task.id,
            length=self.task.length,
            trial=self.answer.trial,
            response_sha256=self.answer.sha256,
            judge=wording.judge.model,
            version=version,
            method=wording.options.method,
            rating=self.number,
            verdicts=reply.verdicts,
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
        is_unjudged = self.next_key() is None and self._parsed is not None and self._parsed.fault is not None
        return is_unjudged and last_key is not None and self.replies.details(last_key).is_cut
