"""Prompts: the requests for the questions of a trial, and the sentences that a prompt shows above its question.

A prompt depends only on the suite, the mode, the trial number, a seed string and the sentences. Rules:
docs/generation.md.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ..base.errors import EngineError
from ..base.file_reading import read_text
from ..base.untrusted_text import has_no_surrogates, in_one_line, json_text, shown_value
from ..scoring.reply_text import STOP, Mode, check_mode
from ..suite.questions import Question
from ..suite.suite import Suite
from ..tables.formats import is_table, table_rows

if TYPE_CHECKING:
    from ..suite.questions import Sample


N_SENTENCES = 5
_QUESTION_COLUMNS = ("question", "question_id")


@dataclass(frozen=True)
class Context:
    """Sentences for prompts, of which each prompt shows a few.

    Attributes:
        sentences: The sentences by ID or exact text of their question; those of `""` belong to all questions.
        n_drawn: The maximum number of sentences in a prompt.

    Example:
        >>> from pfgen_fast import Suite
        >>> pool = Context({"": ("Ice is lighter than water.", "Ice melts at 0 °C.", "Ice is a solid.")}, n_drawn=2)
        >>> pool.drawn(Suite.load("mini")["Q01"], trial=1)
        ('Ice melts at 0 °C.', 'Ice is a solid.')
    """

    sentences: Mapping[str, tuple[str, ...]]
    n_drawn: int = N_SENTENCES

    def __post_init__(self) -> None:
        if self.n_drawn < 1:
            raise EngineError(f"sentences: expected at least 1, not {self.n_drawn}")
        for text in (text for key, texts in self.sentences.items() for text in (key, *texts)):
            if not has_no_surrogates(text):
                raise EngineError(f"context: expected texts that UTF-8 can encode, not {shown_value(text)}")

    @classmethod
    def read(cls, path: str | Path, *, n_drawn: int = N_SENTENCES) -> Context:
        """Reads a table with the column `sentence` and optionally `question`, or a text with one sentence per line.

        Raises:
            EngineError: A row has no sentence, the file has no sentences, or it cannot be read.
            TrialsError: The table is invalid.
        """
        path, rows = Path(path), []
        if is_table(path):
            for location, row in table_rows(path):
                key = next((row[column] for column in _QUESTION_COLUMNS if row.get(column) is not None), "")
                if not isinstance(key, str) or not has_no_surrogates(key):
                    problem = f"expected the ID or text of a question as a string, not {shown_value(key)}"
                    raise EngineError(f"{location}: {problem}")
                text = row.get("sentence")
                if not isinstance(text, str) or not text.strip() or not has_no_surrogates(text):
                    problem = f"expected a text in the column 'sentence', not {shown_value(text)}"
                    raise EngineError(f"{location}: {problem}")
                rows.append((key, text))
        else:
            rows = [("", line) for line in read_text(path, error=EngineError).split("\n") if line.strip()]
        if not rows:
            raise EngineError(f"{path}: expected at least one sentence")
        sentences: dict[str, dict[str, None]] = {}
        for key, text in rows:
            sentences.setdefault(key, {})[" ".join(text.split())] = None
        return cls({key: tuple(texts) for key, texts in sentences.items()}, n_drawn)

    def config(self) -> dict[str, Any]:
        """The entry in config.json: the number of sentences, and a hash that does not depend on their order."""
        content = {key: sorted(set(texts)) for key, texts in sorted(self.sentences.items())}
        return {"sentences": self.n_drawn, "sha256": hashlib.sha256(json_text(content).encode()).hexdigest()}

    def check(self, suite: Suite) -> None:
        """Raises EngineError if sentences belong to a question that the suite lacks."""
        whole = suite.whole or suite
        for key in self.sentences:
            if key and key not in whole:
                raise EngineError(f"context: {whole.unknown_question(key)}")

    def drawn(self, question: Question, trial: int, seed: str = "") -> tuple[str, ...]:
        """The sentences in the prompt of a question, in their order; empty if the question has no sentences."""
        keys = (question.question_id, question.question, "")
        texts = dict.fromkeys(text for key in keys for text in self.sentences.get(key, ()))

        def digest(text: str) -> str:
            return sha1(f"{seed}::{trial}::{question.question}::{text}".encode()).hexdigest()

        return tuple(sorted(texts, key=digest)[: self.n_drawn])


NUM_EXAMPLES = 20

DEFAULT_INSTRUCTION = "default"
"""The instruction for mode `completion` that stands for that of mode `chat`, as in appendix A of the paper."""


class Message(TypedDict):
    """A message to a chat model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt:
    """A prompt: messages to a chat model, or a text to continue."""

    messages: tuple[Message, ...] | None = None  # None in mode `completion`
    text: str = ""  # text in mode `completion`, otherwise empty


@dataclass(frozen=True)
class Sampling:
    """How answers are sampled; every engine gets these parameters."""

    max_tokens: int = 300  # maximum number of tokens in an answer
    temperature: float = 1.0  # 0 takes the most likely token
    # answers are sampled from the most likely tokens with this total probability; None for all tokens
    top_p: float | None = 0.98
    top_k: int | None = None  # answers are sampled from this number of most likely tokens; None for all tokens
    stop: tuple[str, ...] = STOP["completion"]  # an answer ends at the first of these strings

    def __post_init__(self) -> None:
        # The name of the run's folder is a hash of config.json, where 1 and 1.0 differ.
        object.__setattr__(self, "temperature", float(self.temperature))
        object.__setattr__(self, "top_p", None if self.top_p is None else float(self.top_p))
        if self.max_tokens < 1:
            raise EngineError(f"max_tokens: expected at least 1, not {self.max_tokens}")
        if not 0 <= self.temperature < math.inf:
            raise EngineError(f"temperature: expected a number from 0, not {self.temperature}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise EngineError(f"top_p: expected a number above 0 and up to 1, not {self.top_p}")
        if "" in self.stop or not all(map(has_no_surrogates, self.stop)):
            raise EngineError("stop: expected texts that are not empty and that UTF-8 can encode")
        if self.top_k is not None and self.top_k < 1:
            raise EngineError(f"top_k: expected at least 1, not {self.top_k}")

    def config(self) -> dict[str, Any]:
        """The entries in config.json."""
        return {**vars(self), "stop": list(self.stop)}


@dataclass(frozen=True)
class Request:
    """A single request to a model."""

    prompt: Prompt
    seed: int
    name: str  # name of the request in error messages
    # JSON schema with which the server constrains the reply
    schema: Mapping[str, Any] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Task(Request):
    """A request for the answer to one question in one trial; all questions of a trial share one seed."""

    name: str = field(init=False)  # derived from the question's ID and the trial number
    question: str  # exact text of the question
    question_id: str
    trial: int  # from 1
    context: tuple[str, ...] = field(default=(), kw_only=True)  # sentences above the question; see `Context`

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"{self.question_id} in trial {self.trial}")


def make_tasks(
    suite: Suite,
    trial: int,
    *,
    mode: Mode,
    num_examples: int = NUM_EXAMPLES,
    seed: str = "",
    prefix: str = "",
    instruction: str = "",
    context: Context | None = None,
) -> list[Task]:
    """The tasks of one trial, in the order of the suite's questions; trials count from 1.

    For the other arguments see `Setting`. Escapes in the prefix are not replaced.

    Raises:
        SuiteError: The suite has no sample answers, or they violate the rules.
        EngineError: The mode, the trial number or the number of examples is invalid, or the context has sentences of an
            unknown question.
    """
    check_mode(mode)
    if trial < 1 or num_examples < 0:
        raise EngineError(f"trials count from 1 and examples from 0; got trial {trial} with {num_examples} examples")
    for question in suite:
        if not has_no_surrogates(question.question):
            raise EngineError(f"{question.question_id}: the question has a lone surrogate, which cannot be sent")
    if context is not None:
        context.check(suite)

    def digest(sample: Sample) -> str:
        return sha1(f"{seed}::{trial}::{sample.question}".encode()).hexdigest()

    samples = sorted(suite.samples, key=digest) if num_examples else []  # in one order for all questions of the trial
    tasks = []
    for question in suite:
        texts, asked = suite.instructions_for(question), f"Q: {question.question}"
        others = [sample for sample in samples if sample.question != question.question][:num_examples]
        examples = "\n\n".join(f"Q: {sample.question}\nA: {sample.answer}" for sample in others)
        is_ours = mode != "completion" or instruction == DEFAULT_INSTRUCTION
        first = instruction if not is_ours else texts.qa if mode == "qa" else texts.chat
        begin = prefix + f"{first}\n\n{texts.examples_heading}\n{examples}".strip()
        drawn = () if context is None else context.drawn(question, trial, seed)
        shown = "\n".join([texts.context_heading, *(f"- {sentence}" for sentence in drawn), "", ""]) if drawn else ""
        if mode == "completion":
            prompt = Prompt(text=f"{begin}\n\n{shown}{asked}\nA:")
        elif mode == "qa":
            content = f"{begin}\n\n{shown}{texts.question_heading}\n{asked.strip()}"
            prompt = Prompt(messages=({"role": "user", "content": content},))
        elif mode == "chat":
            user: Message = {"role": "user", "content": shown + asked.strip()}
            prompt = Prompt(messages=({"role": "system", "content": begin}, user))
        else:
            messages: list[Message] = [{"role": "system", "content": prefix + first}]
            for sample in others:
                messages.append({"role": "user", "content": sample.question.strip()})
                messages.append({"role": "assistant", "content": sample.answer.strip()})
            last: Message = {"role": "user", "content": shown + question.question.strip()}
            prompt = Prompt(messages=(*messages, last))
        tasks.append(
            Task(
                question=question.question,
                question_id=question.question_id,
                trial=trial,
                prompt=prompt,
                seed=sampling_seed(seed, trial),
                context=drawn,
            )
        )
    return tasks


def sampling_seed(seed: str, trial: int) -> int:
    """The sampling seed of a trial."""
    return int(sha1(f"{seed}::{trial}".encode()).hexdigest(), 16) % 2**31


def unescaped(prefix: str) -> str:
    """A prefix with replaced escapes (`\\n`, `\\t`, `\\\\`, `\\xe3`), as in the published script.

    Raises:
        EngineError: An escape is incomplete, or the escaped bytes are not UTF-8.

    Example:
        >>> unescaped(r"One line.\\nAnother.").splitlines()
        ['One line.', 'Another.']
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about unknown escapes, which stay as they are
            return prefix.encode().decode("unicode_escape").encode("latin1").decode()
    except UnicodeError:
        raise EngineError(
            f"prefix: expected escapes such as \\n and \\\\ after a backslash, not {in_one_line(prefix, 200)}"
        ) from None


def with_system(prompt: Prompt, text: str) -> Prompt:
    """A prompt whose system message begins with a text; without a system message, the text becomes it."""
    messages = prompt.messages or ()
    old = [message["content"] for message in messages if message["role"] == "system"]
    system: Message = {"role": "system", "content": "\n\n".join([text, *old])}
    return replace(prompt, messages=(system, *(message for message in messages if message["role"] != "system")))


def training_tasks(suite: Suite | str | Path, mode: Mode, trials: int, num_examples: int, seed: str = "") -> list[Task]:
    """The requests of the first trials, with the prompts of `pfgen-fast generate`, for trainers and evaluations."""
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    return [
        task
        for trial in range(1, trials + 1)
        for task in make_tasks(loaded, trial, mode=mode, num_examples=num_examples, seed=seed)
    ]
