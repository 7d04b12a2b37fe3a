"""The setting of a run: everything that affects its answers besides the engine, and the entries in config.json."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base.errors import EngineError, PfgenError
from ..base.untrusted_json import read_json
from ..base.untrusted_text import has_no_surrogates, in_one_line, shown_value
from ..scoring.reply_text import MODES, STOP, DividedReply, Mode, answer_text, check_tags
from ..suite.questions import INSTRUCTIONS, Instructions, language_of
from ..suite.suite import Suite
from .prompts import NUM_EXAMPLES, Context, Sampling, Task, make_tasks, unescaped, with_system
from .protocol import RawReply, member_of


@dataclass(frozen=True)
class Reasoning:
    """How a run treats reasoning."""

    keep: bool = False  # whether reasoning counts as a part of the answer, as in the published runs
    tags: tuple[tuple[str, str], ...] = ()  # pairs of opening and closing tags in addition to `TAGS`
    tokens: int = 0  # maximum number of tokens for reasoning, in addition to those of the answer

    def __post_init__(self) -> None:
        check_tags(self.tags)
        if self.tokens < 0:
            raise EngineError(f"--reasoning-tokens: expected at least 0, got {self.tokens}")

    def config(self) -> dict[str, Any]:
        """The entries in config.json, which are None for defaults."""
        return {
            "reasoning": "keep" if self.keep else None,
            "reasoning_tags": [list(pair) for pair in self.tags] or None,
            "reasoning_tokens": self.tokens or None,
        }

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Reasoning:
        """Creates it from values of options. In the list of tags, each closing tag follows its opening tag."""
        choice, tags = values.get("reasoning") or "strip", values.get("reasoning_tags") or []
        if choice not in ("strip", "keep"):
            raise EngineError(f"reasoning: expected strip or keep, got {shown_value(choice)}")
        if len(tags) % 2:
            raise EngineError(f"reasoning_tags: expected pairs of texts, got {len(tags)} texts")
        pairs = tuple(zip(tags[::2], tags[1::2], strict=True))
        return cls(choice == "keep", pairs, values.get("reasoning_tokens") or 0)

    def sent(self, sampling: Sampling, mode: Mode) -> Sampling:
        """The sampling for an engine: with tokens for reasoning, and without stop strings that could end it."""
        stop = sampling.stop if mode == "completion" or self.keep else ()
        return replace(sampling, max_tokens=sampling.max_tokens + self.tokens, stop=stop)

    def divided(self, reply: RawReply, mode: Mode, stop: Sequence[str]) -> DividedReply:
        """Divides a reply, which may have reasoning in a separate field."""
        text = reply.text if self.keep else reply.opened + reply.text
        divided = answer_text(text, mode=mode, stop=stop, keep=self.keep, tags=self.tags)
        if self.keep or not reply.has_reasoning:
            return divided
        is_unfinished = divided.state == "unfinished" or reply.is_unfinished
        reasoning = (reply.reasoning or "") + divided.reasoning
        return DividedReply(divided.answer, "unfinished" if is_unfinished else "closed", reasoning)


_LOCAL = ("transformers", "hf", "vllm")
_HUB_SECONDS = 10


@dataclass(frozen=True)
class Setting:
    """The parameters of a run that do not depend on the engine."""

    model: str  # name of the model, and of its folder
    mode: Mode = "completion"
    sampling: Sampling | None = None  # how answers are sampled; the default depends on the mode
    num_examples: int = NUM_EXAMPLES  # maximum number of sample answers in a prompt
    seed: str = ""  # any text; determines the choice of sample answers and the sampling seed
    prefix: str = ""  # text that begins every prompt, with escapes such as `\n`; see `unescaped`
    reasoning: Reasoning = field(default_factory=Reasoning)
    # text above the examples in mode `completion`; `"default"` for the instruction of mode `chat`
    instruction: str = ""
    context: Context | None = None  # sentences above the question; see `Context`
    system: str = ""  # system message, or the beginning of the mode's system message

    def __post_init__(self) -> None:
        if self.system and self.mode == "completion":
            raise EngineError("--system: mode completion sends no messages; try --mode qa or --mode chat")
        if self.instruction and self.mode != "completion":
            raise EngineError(f"--instruction: mode {self.mode} has its own instruction; omit the option or the mode")
        for name in ("model", "seed", "prefix", "instruction", "system"):
            if not has_no_surrogates(getattr(self, name)):
                raise EngineError(f"{name}: expected a text that UTF-8 can encode, not {getattr(self, name)!r}")
        unescaped(self.prefix)  # reports an error before the first request

    def config(self, suite: Suite, engine: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The entries in config.json. The engine's `parameters` take precedence."""
        return {
            "engine": engine,
            **self._sampling.config(),
            **self.reasoning.config(),
            "context": None if self.context is None else self.context.config(),
            "instruction": self.instruction or None,
            "instructions": _recorded_instructions(suite, with_context=self.context is not None),
            "mode": self.mode,
            "model": self.model,
            "num_examples": self.num_examples,
            "prefix": self.prefix or None,
            "questions": None if suite.whole is None else [question.question_id for question in suite],
            "seed": self.seed or None,
            "system": self.system or None,
            **(parameters or {}),
        }

    @property
    def _sampling(self) -> Sampling:
        return self.sampling or Sampling(stop=STOP[self.mode])

    @property
    def sent_sampling(self) -> Sampling:
        """The sampling parameters for the engine; see `Reasoning.sent`."""
        return self.reasoning.sent(self._sampling, self.mode)

    def tasks(self, suite: Suite, trial: int) -> list[Task]:
        """The tasks of one trial."""
        tasks = make_tasks(
            suite,
            trial,
            mode=self.mode,
            num_examples=self.num_examples,
            seed=self.seed,
            prefix=unescaped(self.prefix),
            instruction=self.instruction,
            context=self.context,
        )
        return [replace(task, prompt=with_system(task.prompt, self.system)) for task in tasks] if self.system else tasks


def _recorded_instructions(suite: Suite, *, with_context: bool) -> dict[str, Any] | str | None:
    """The entry for instructions in config.json: languages of our texts, texts of a suite, or None if published."""

    def recorded(texts: Instructions) -> dict[str, str]:
        return {name: text for name, text in vars(texts).items() if with_context or name != "context_heading"}

    used: dict[str, Any] = {
        language_of(question.question): recorded(suite.instructions_for(question)) for question in suite
    }
    if not suite.instructions:
        return None if set(used) == {"ja"} else ", ".join(sorted(used))
    texts, *others = used.values()
    if any(other != texts for other in others):
        return used
    return None if texts == recorded(INSTRUCTIONS["ja"]) else texts


def usual_mode(
    engine: str, model: str | None, options: Mapping[str, Any], *, asks_hub: bool = True
) -> tuple[Mode, str]:
    """The default mode of a run, and the reason for a mode other than `completion`, or for doubt."""
    if engine in _LOCAL and model is not None:
        if options.get("chat_template") is not None:
            return "chat", "--chat-template is given"
        weights = str(options.get("path") or model)
        has_template = _has_template(weights, bool(options.get("trust_remote_code")), asks_hub)
        if has_template is None:
            return "completion", f"without the files of {in_one_line(weights, 200)}, its chat template is unknown"
        if has_template:
            return "chat", "the tokenizer has a chat template"
    if engine == "replay" and options.get("input") is not None:
        return _recorded(Path(options["input"]))
    return "completion", ""


def _has_template(weights: str, trust_remote_code: bool, asks_hub: bool) -> bool | None:
    """Whether a tokenizer has a chat template, by local files or else by the hub; None if it cannot be loaded."""
    for is_local in (True, False) if asks_hub and not os.path.isdir(weights) else (True,):
        with contextlib.suppress(Exception):  # a package is missing, or one raises one of many types of errors
            if not is_local:  # transformers would try six times to reach a hub
                from huggingface_hub import get_hf_file_metadata, hf_hub_url

                get_hf_file_metadata(hf_hub_url(weights, "tokenizer_config.json"), timeout=_HUB_SECONDS)
            from transformers import AutoTokenizer

            how: Any = {"trust_remote_code": trust_remote_code, "local_files_only": is_local}
            return bool(getattr(AutoTokenizer.from_pretrained(weights, **how), "chat_template", None))
    return None


def _recorded(source: Path) -> tuple[Mode, str]:
    path = (source if source.is_dir() else source.parent) / "config.json"
    with contextlib.suppress(PfgenError):
        mode = member_of(read_json(path), "mode")
        if mode in MODES:
            return mode, f"{path} has this mode"
    return "completion", ""
