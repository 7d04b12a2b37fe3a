"""The OpenAI protocol: how a request is worded, and where its answer is in a reply.

Engines that ask a server and files of the Batch API share it. Rules: docs/generation.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import EngineError
from ..files.untrusted_text import in_one_line
from .engines import Sampling
from .prompts import Mode, Prompt, Request
from .protocol import Details, NoAnswer, ServerForm, Usage, error_text, member_of, reported_name, tokens

MAX_TOKENS_NAMES = ("max_tokens", "max_completion_tokens")
"""The names of the length limit in requests; the first is the default, newer OpenAI models need the second."""

NO_THINK = "/no_think\n"
"""Put before the prompt, it switches off the reasoning of Qwen3 and its like; the published runs did so."""


@dataclass(frozen=True)
class RequestForm(ServerForm):
    """How requests to a server are worded."""

    model: str
    mode: Mode  # `completion` uses `/completions`, the other modes use `/chat/completions`
    sampling: Sampling  # how answers are sampled
    max_tokens_name: str = MAX_TOKENS_NAMES[0]  # server's name for the length limit, one of `MAX_TOKENS_NAMES`
    # false asks the model not to reason; None leaves it to the server. True does as well, and is recorded
    enable_thinking: bool | None = None

    batch_format: ClassVar[str] = "openai-batch"
    batch_id: ClassVar[str] = "custom_id"
    no_think: ClassVar[str] = NO_THINK

    def __post_init__(self) -> None:
        if self.max_tokens_name not in MAX_TOKENS_NAMES:
            raise EngineError(
                f"max_tokens_name: expected {' or '.join(MAX_TOKENS_NAMES)}, not {in_one_line(self.max_tokens_name)}"
            )
        if self.mode == "completion" and self.max_tokens_name != MAX_TOKENS_NAMES[0]:
            raise EngineError(f"{self.max_tokens_name} is known to chat models only; try --mode qa or --mode chat")

    @property
    def parameters(self) -> dict[str, Any]:
        """What config.json records about the form of requests: nothing for the default form."""
        is_usual = self.max_tokens_name == MAX_TOKENS_NAMES[0]
        return {
            "max_tokens_name": None if is_usual else self.max_tokens_name,
            "enable_thinking": self.enable_thinking,
        }

    @property
    def takes_last_choice(self) -> bool:
        """Whether a reply may have several choices, of which the last is the answer."""
        return False

    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def path_and_body(self, request: Request) -> tuple[str, dict[str, Any]]:
        """The path below the base URL and the body of a request."""
        prompt = _beginning_with(self.no_think, request.prompt) if self.enable_thinking is False else request.prompt
        sampling = self.sampling
        body = {
            "model": self.model,
            **_prompt_fields(prompt),
            self.max_tokens_name: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stop": list(sampling.stop) or None,  # some servers reject an empty list
            "seed": request.seed,
            "top_k": sampling.top_k,  # not part of the protocol, but most local servers accept it
        }
        path = "/completions" if prompt.messages is None else "/chat/completions"
        return path, {key: value for key, value in body.items() if value is not None}

    def answer_in(self, reply: Any) -> str:
        """The raw answer in the decoded body of a reply."""
        return answer_in(reply, last_of_several=self.takes_last_choice)

    def details_in(self, reply: Any) -> Details:
        """What the decoded body of a reply says of its answer."""
        return details_in(reply)

    def usage_in(self, reply: Any) -> Usage:
        """The tokens that the decoded body of a reply reports."""
        return usage_in(reply)

    def batch_line(self, name: str, request: Request) -> dict[str, Any]:
        """A request of a batch."""
        path, body = self.path_and_body(request)
        return {"custom_id": name, "method": "POST", "url": f"/v1{path}", "body": body}

    def batch_reply(self, row: Mapping[str, Any]) -> tuple[Any, str]:
        """The reply in a line of an output file."""
        return reply_in_line(row)

    def ends_everything(self, problem: str) -> bool:
        """Whether a refusal is for want of money."""
        return "insufficient_quota" in problem

    def concerns_one(self, problem: str) -> bool:
        """Whether a refusal is about the content of one request."""
        return "content_filter" in problem


def _prompt_fields(prompt: Prompt) -> dict[str, Any]:
    return {"prompt": prompt.text} if prompt.messages is None else {"messages": list(prompt.messages)}


def _beginning_with(text: str, prompt: Prompt) -> Prompt:
    if prompt.messages is None:
        return replace(prompt, text=text + prompt.text)
    first, *others = prompt.messages
    return replace(prompt, messages=({**first, "content": text + first["content"]}, *others))


@dataclass(frozen=True)
class GeminiForm(RequestForm):
    """How requests to Gemini are worded, which has no completions, and refuses `seed` and `top_k`."""

    multi_choice: bool | None = None  # whether a reply may have several choices, of which the last is the answer

    no_think: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode == "completion":
            raise EngineError("the engine gemini has no requests of mode completion; try --mode qa or --mode chat")
        if self.sampling.top_k is not None:
            raise EngineError(f"the engine gemini accepts no top_k; expected none, not {self.sampling.top_k}")

    @property
    def parameters(self) -> dict[str, Any]:
        """What config.json records about the form of requests."""
        return {**super().parameters, "multi_choice": self.multi_choice}

    @property
    def takes_last_choice(self) -> bool:
        """Whether a reply may have several choices, of which the last is the answer."""
        return bool(self.multi_choice)

    def path_and_body(self, request: Request) -> tuple[str, dict[str, Any]]:
        """The path below the base URL and the body of a request."""
        path, body = super().path_and_body(request)
        del body["seed"]
        body["model"] = self.model.rpartition("/")[2]
        if self.enable_thinking is False:
            body["reasoning_effort"] = "none"
        return path, body


def answer_in(reply: Any, *, last_of_several: bool = False) -> str:
    """The raw answer in the decoded body of a reply."""
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    if not isinstance(choices, list) or not choices:
        raise NoAnswer("holds no answer")
    if len(choices) > 1 and not last_of_several:
        raise NoAnswer(f"holds {len(choices):,} answers to a request for one")
    try:
        answer = choices[-1]["message"]["content"] if "message" in choices[-1] else choices[-1]["text"]
    except (LookupError, TypeError):
        answer = None
    if not isinstance(answer, str):
        raise NoAnswer("holds no answer")
    return answer


def details_in(reply: Any) -> Details:
    """What the decoded body of a reply says of its answer; nothing where it does not, or where it is no text."""
    if not isinstance(reply, Mapping):
        return Details()
    choices = reply.get("choices")
    choice = choices[-1] if isinstance(choices, list) and choices else None
    finish_reason = choice.get("finish_reason") if isinstance(choice, Mapping) else None
    return Details(*map(reported_name, (finish_reason, reply.get("model"), reply.get("system_fingerprint"))))


def usage_in(reply: Any) -> Usage:
    """The tokens that the decoded body of a reply reports; 0 where it does not."""
    usage = member_of(reply, "usage")
    of_prompt, of_reply = (tokens(member_of(usage, name)) for name in ("prompt_tokens", "completion_tokens"))
    return Usage(of_prompt, of_reply, tokens(member_of(usage, "prompt_tokens_details", "cached_tokens")))


def reply_in_line(row: Mapping[str, Any]) -> tuple[Any, str]:
    """The body of the reply in a line of an output file, or None and the reason why there is none."""
    response = row.get("response") or {}
    if row.get("error"):
        return None, f"failed: {error_text(row['error'])}"
    if not isinstance(response, dict) or response.get("status_code") != 200:
        status = response.get("status_code") if isinstance(response, dict) else None
        body = response.get("body") if isinstance(response, dict) else None
        error = body.get("error") if isinstance(body, dict) else body
        return None, f"failed with HTTP {in_one_line(status)}: {error_text(error)}"
    return response.get("body"), ""
