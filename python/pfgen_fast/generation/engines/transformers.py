"""The engine `transformers`: runs a local model on batches of questions.

The random numbers of an answer depend only on the seed of its request, so other answers in the batch do not affect it.
Rules: docs/generation.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from abc import abstractmethod
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.errors import EngineError, TrialsError, optional
from ...base.file_reading import read_stored
from ...base.untrusted_text import in_one_line
from ...scoring.reply_text import MARKERS, TAG_TEXTS, Mode, first_part, opened_by
from ...suite.suite import Suite
from ..prompts import Message, Prompt, Request, Sampling
from ..protocol import Details, RawReply, Usage
from .engine import Engine

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

_MAX_TEMPLATE_BYTES = 1 << 20
_LONGEST_TAG_TOKENS = 16
_DTYPES = ("auto", "float32", "bfloat16", "float16")


class LocalEngine(Engine):
    """Draws the replies to batches of requests, in a thread."""

    def __init__(self, model: str, sampling: Sampling, n_at_once: int) -> None:
        self._name, self._sampling, self._n_at_once = model, sampling, n_at_once
        self._stopped = threading.Event()
        self._model: Any = None

    async def answers(self, requests: Sequence[Request]) -> AsyncGenerator[tuple[int, RawReply | None], None]:
        """Yields the answers batch by batch."""
        self._check(requests)
        try:
            for start in range(0, len(requests), self._n_at_once):
                drawn = await asyncio.to_thread(self._draw, requests[start : start + self._n_at_once])
                for index, reply in enumerate(drawn, start):
                    yield index, reply
        finally:
            self._stopped.set()  # a thread cannot be cancelled; it should check this after each token
            self._stopped = threading.Event()

    async def close(self) -> None:
        """Releases the model."""
        self._model = None

    def load(self) -> None:
        """Loads the model, unless it is loaded; raises EngineError if this is impossible."""
        if self._model is None:
            self._load()

    @abstractmethod
    def _load(self) -> None:
        """Loads the model."""

    def _check(self, requests: Sequence[Request]) -> None:
        """Raises EngineError if a request cannot be answered."""

    @abstractmethod
    def _draw(self, requests: Sequence[Request]) -> list[RawReply]:
        """The replies to a batch of requests."""


class TransformersEngine(LocalEngine):
    """Samples answers from a model that `AutoModelForCausalLM` loads."""

    name = "transformers"

    def __init__(
        self,
        *,
        suite: Suite | None,
        model: str,
        mode: Mode,
        sampling: Sampling,
        device: str | None = None,
        dtype: str = "auto",
        batch_size: int = 16,
        path: str | None = None,
        trust_remote_code: bool = False,
        chat_template: str | None = None,
        enable_thinking: bool | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if batch_size < 1:
            raise EngineError(f"batch_size: expected at least 1, not {batch_size}")
        if dtype not in _DTYPES:
            raise EngineError(f"dtype: expected one of {', '.join(_DTYPES)}, not {in_one_line(dtype)}")
        self._template = ChatTemplate.of(mode, chat_template, enable_thinking, chat_template_kwargs)
        self.parameters: Mapping[str, Any] = {"dtype": None if dtype == "auto" else dtype, **self._template.parameters}
        super().__init__(model, sampling, batch_size)
        self._device, self._to_load = device, (path or model, dtype, trust_remote_code)

    def _load(self) -> None:
        self._device, (weights, dtype, trust_remote_code) = checked_device(self._device), self._to_load
        self._tokenizer, self._model = loaded_model(weights, dtype, self._device, trust_remote_code)
        self._template.check(self._tokenizer, self._name)

    def _tokens(self, prompt: Prompt) -> list[int]:
        if prompt.messages is None:
            return completion_tokens(self._tokenizer, prompt.text)
        text = self._template.rendered(self._tokenizer, prompt.messages)
        tokens: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]  # the template has them
        return tokens

    def _check(self, requests: Sequence[Request]) -> None:
        room = getattr(self._model.config.get_text_config(), "max_position_embeddings", math.inf)
        for request in requests:
            n_tokens = len(self._tokens(request.prompt))
            if n_tokens + self._sampling.max_tokens > room:
                raise EngineError(
                    f"the prompt of {request.name} has {n_tokens} tokens; with an answer of up to "
                    f"{self._sampling.max_tokens} tokens, this is more than the {room} tokens of the model; show fewer "
                    "examples"
                )

    def _draw(self, requests: Sequence[Request]) -> list[RawReply]:
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        prompts = [self._tokens(request.prompt) for request in requests]
        padded = self._tokenizer.pad({"input_ids": prompts}, padding_side="left", return_tensors="pt")
        seeds = [request.seed for request in requests]
        draws = [] if self._sampling.temperature == 0 else [_Draws(seeds, self._sampling)]
        stopped = self._stopped

        def is_stopped(tokens: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
            return torch.full((len(tokens),), stopped.is_set(), device=tokens.device)

        try:
            with torch.inference_mode():
                tokens = self._model.generate(
                    **padded.to(self._device),
                    max_new_tokens=self._sampling.max_tokens,
                    logits_processor=LogitsProcessorList(draws),
                    stop_strings=list(self._sampling.stop) or None,
                    stopping_criteria=StoppingCriteriaList([is_stopped]),
                    tokenizer=self._tokenizer,
                )
        except torch.OutOfMemoryError:
            raise EngineError(
                f"{self._device}: not enough memory for {len(prompts)} answers at once; choose a smaller --batch-size"
            ) from None
        new = tokens[:, padded["input_ids"].shape[1] :].tolist()
        return [self._reply(prompt, drawn) for prompt, drawn in zip(prompts, new, strict=True)]

    def _reply(self, prompt: Sequence[int], drawn: Sequence[int]) -> RawReply:
        text = decoded(self._tokenizer, drawn)
        answer = first_part(text, self._sampling.stop)
        ends = self._model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        n_tokens = next((n for n, token in enumerate(drawn) if token in ends), len(drawn))
        is_cut = n_tokens == self._sampling.max_tokens and answer == text
        details, usage = Details("length" if is_cut else "stop"), Usage(n_reply_tokens=n_tokens)
        return RawReply(answer, details, usage, opened=opened_reasoning(self._tokenizer, prompt))


class HfEngine(TransformersEngine):
    """The engine `transformers` under its name in the published runs, because the name affects a run's folder."""

    name = "hf"


class _Draws:
    """Samples the next token of each answer, and masks all other tokens, so that greedy decoding takes it."""

    def __init__(self, seeds: Sequence[int], sampling: Sampling) -> None:
        import torch

        # One generator on the CPU per answer, so that a seed has the same effect in every batch and on every device.
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._sampling = sampling

    def __call__(self, tokens: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        import torch

        sampling = self._sampling
        n_kept = min(sampling.top_k or scores.shape[-1], scores.shape[-1])
        # The sort is stable, so that the order of equally likely tokens does not depend on the batch.
        ordered, token_ids = torch.sort(scores.float(), dim=-1, descending=True, stable=True)
        probabilities = torch.softmax(ordered[:, :n_kept].double() / sampling.temperature, dim=-1)
        sums = probabilities.cumsum(dim=-1)
        # The nucleus has each token before which the total probability is below top_p, so at least the first token.
        top_p = 1.0 if sampling.top_p is None else sampling.top_p
        n_nucleus = (sums - probabilities < top_p).sum(dim=-1, keepdim=True).clamp(min=1)
        mass = sums.gather(1, n_nucleus - 1)
        uniform = torch.stack(
            [torch.rand(1, generator=generator, dtype=torch.float64) for generator in self._generators]
        )
        position = torch.searchsorted(sums, uniform.to(sums.device) * mass, right=True)
        chosen = token_ids.gather(1, torch.minimum(position, n_nucleus - 1))
        return torch.full_like(scores, -torch.inf).scatter_(1, chosen, 0.0)


def decoded(tokenizer: Any, tokens: Sequence[int]) -> str:
    """The text of tokens, without special tokens that do not separate reasoning from the answer."""
    dropped = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special} - markers(tokenizer)
    kept = [token for token in tokens if token not in dropped] if markers(tokenizer) else tokens
    text: str = tokenizer.decode(kept, skip_special_tokens=not markers(tokenizer), clean_up_tokenization_spaces=False)
    return text


def markers(tokenizer: Any) -> set[int]:
    """The special tokens that separate reasoning from the answer; those of channels only for models with channels."""
    special = {number: token.content for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    known = TAG_TEXTS if "<|channel|>" not in special.values() else MARKERS
    return {number for number, text in special.items() if text in known}


def opened_reasoning(tokenizer: Any, prompt: Sequence[int]) -> str:
    """The opening tag of reasoning at the end of a prompt, which a chat template may write; otherwise empty."""
    return opened_by(tokenizer.decode(list(prompt[-_LONGEST_TAG_TOKENS:]), clean_up_tokenization_spaces=False))


def completion_tokens(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a text that the model continues, without the end token that some tokenizers append."""
    tokens: list[int] = tokenizer(text)["input_ids"]
    return tokens[:-1] if len(tokens) > 1 and tokens[-1] == tokenizer.eos_token_id else tokens


@dataclass(frozen=True)
class ChatTemplate:
    """Turns the messages of a mode into the text that a model continues."""

    mode: Mode  # mode of the prompts; `completion` needs no template
    text: str | None = None  # template; None for the template of the tokenizer
    enable_thinking: bool | None = None  # value of the template's variable with this name; None for no value
    others: Mapping[str, Any] | None = None  # values of other variables

    @classmethod
    def of(
        cls, mode: Mode, file: str | None, enable_thinking: bool | None, others: Mapping[str, Any] | None = None
    ) -> Self:
        """Reads a template from a file. Completions need no template and no variables."""
        if mode == "completion":
            return cls(mode)
        return cls(mode, None if file is None else _template_in(Path(file)), enable_thinking, others)

    @property
    def parameters(self) -> dict[str, Any]:
        """The entries in config.json."""
        return {
            "chat_template": self.text,
            "enable_thinking": self.enable_thinking,
            "chat_template_kwargs": self.others or None,
        }

    @property
    def variables(self) -> dict[str, Any]:
        """The variables of the template, besides the messages."""
        thinking = {} if self.enable_thinking is None else {"enable_thinking": self.enable_thinking}
        return {**thinking, **(self.others or {})}

    def rendered(self, tokenizer: Any, messages: Sequence[Message]) -> str:
        """The text of messages, which ends where the answer begins."""
        template = {} if self.text is None else {"chat_template": self.text}
        text: str = tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=True, **template, **self.variables
        )
        return text

    def check(self, tokenizer: Any, model: str) -> None:
        """Raises EngineError if there is no template, or if it refuses the messages of the mode."""
        if self.mode == "completion":
            return
        shown = in_one_line(model, 200)
        if self.text is None and not getattr(tokenizer, "chat_template", None):
            raise EngineError(
                f"{shown} has no chat template, which mode {self.mode} needs; try --mode completion or --chat-template"
            )
        messages: list[Message] = [{"role": "user", "content": "Q"}]
        if self.mode == "turns":
            messages += [{"role": "assistant", "content": "A"}, {"role": "user", "content": "Q"}]
        if self.mode in ("chat", "turns"):
            messages.insert(0, {"role": "system", "content": "S"})
        try:
            self.rendered(tokenizer, messages)
        except Exception as error:  # a template is a program and may raise any exception
            raise EngineError(
                f"{shown}: its chat template refuses the messages of mode {self.mode}: {in_one_line(str(error), 200)}"
            ) from None


def _template_in(file: Path) -> str:
    """The template in a file. Line breaks stay as they are, because config.json records the template."""
    try:
        return read_stored(file, limit=_MAX_TEMPLATE_BYTES).decode()
    except TrialsError as error:
        raise EngineError(f"{error}; expected a chat template") from None
    except ValueError as error:  # not UTF-8, or an invalid file name
        raise EngineError(f"{in_one_line(str(file), 200)}: expected a chat template in UTF-8: {error}") from None


def checked_device(device: str | None, needed_for: str = "the engine transformers") -> str:
    """The device for a model; by default the first GPU, or the CPU."""
    packages = {"extra": "transformers", "needed_for": needed_for}
    torch, _ = (optional(module, **packages, error=EngineError) for module in ("torch", "transformers"))
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = in_one_line(str(error).partition("\n")[0], 200)
        raise EngineError(f"device {in_one_line(device)} is not available here: {reason}") from None
    return device


def loaded_model(model: str, dtype: str, device: str, trust_remote_code: bool = False) -> tuple[Any, Any]:
    """Loads a causal model's tokenizer and the model, configured for our sampling rules."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

    shown = in_one_line(model, 200)
    if Path(model).is_absolute() and not Path(model).is_dir():
        raise EngineError(f"{shown}: there is no such folder")
    try:
        with _without_bars():
            tokenizer: Any = AutoTokenizer.from_pretrained(model, trust_remote_code=trust_remote_code)
            weights: Any = AutoModelForCausalLM.from_pretrained(model, dtype=dtype, trust_remote_code=trust_remote_code)
            weights.to(device).eval()
    except Exception as error:  # the libraries raise many types of errors for broken files and unusual names
        raise EngineError(f"the model {shown} cannot be loaded: {why_not_loaded(error)}") from None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    ends = weights.generation_config.eos_token_id
    weights.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id if ends is None else ends, pad_token_id=tokenizer.pad_token_id
    )
    return tokenizer, weights


def why_not_loaded(error: Exception) -> str:
    """The reason why a library could not load a model, as a part of a sentence."""
    if "trust_remote_code" in str(error):
        return "the model includes program code; if you trust its authors, add --trust-remote-code"
    return in_one_line(" ".join(str(error).split()), 300) or type(error).__name__


@contextlib.contextmanager
def _without_bars() -> Iterator[None]:
    """Hides the progress bars and warnings of transformers while a model is loaded."""
    from transformers.utils import logging

    level, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if had_bars:
            logging.enable_progress_bar()
