"""`pfgen-fast generate`: answers from an engine become a run, which is scored at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.table import shortened
from ..base.untrusted_text import json_text
from . import options
from .app import Json, Quiet, counted, exit_if_partial, fail, note, print_json, print_line, shown, stdout, warn
from .asking import note_existing, watch_over
from .engine_options import EngineOptions, ReasoningOptions, chosen, print_replies
from .layout import rest
from .parser import Option, option_group
from .score import outcome_as_json, print_outcomes
from .suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ..generation.events import TokenPrices
    from ..generation.generating import Generated, Generation
    from ..runs.run_scorer import Outcome
    from ..suite.suite import Suite


@option_group
class PromptOptions:
    """Arguments of `Generation.of` that affect prompts, with the defaults of the published runs."""

    examples: options.Examples = 20
    seed: options.Seed = ""
    prefix: options.Prefix = ""
    system: options.System = ""
    instruction: options.Instruction = ""
    context: options.ContextFile = None
    sentences: options.Sentences = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as arguments."""
        if self.sentences is not None and self.context is None:
            fail(f"--sentences {self.sentences}: expected with --context FILE, from which they are drawn")
        return {**vars(self), "sentences": self.sentences or 5}


@option_group
class GenerationOptions(PromptOptions):
    """Arguments of `Generation.of`, with the defaults of the published runs."""

    temperature: options.Temperature = 1.0
    top_p: options.TopP = 0.98
    top_k: options.TopK = None
    max_tokens: options.MaxTokens = 300
    stop: options.Stop = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as arguments."""
        return {**super().arguments, "stop": self.stop or ()}


@option_group
class Prices:
    """Prices of the tokens of a hosted model."""

    prompt_price: float = Option(0.0, help="Set the price per million prompt tokens, in any currency.")
    reply_price: float = Option(0.0, help="Set the price per million reply tokens.")

    @property
    def of_tokens(self) -> TokenPrices:
        """The prices as an argument of the library."""
        from ..generation.events import TokenPrices

        return TokenPrices(self.prompt_price, self.reply_price)


@option_group
class Ending:
    """How a command that makes a run ends."""

    no_score: bool = Option(False, help="Do not score the run at the end.")
    quiet: Quiet = False
    as_json: Json = False

    @property
    def is_silent(self) -> bool:
        """Whether the command prints errors and JSON only."""
        return self.quiet or self.as_json

    def finish(self, answers: Generated, suite: Suite) -> None:
        """Reports the outcome of a run, and scores it."""
        print_answers(answers, quiet=self.is_silent)
        outcome = None if self.no_score else answers.score(suite)
        if outcome is not None:
            print_outcomes([outcome], quiet=self.is_silent)
        elif not self.is_silent:
            print_origin(suite)
        if self.as_json:
            print_json(as_json(answers, suite, outcome))
        exit_if_partial(answers.problems or (outcome is not None and outcome.status == "failed"))


def print_answers(answers: Generated, *, quiet: bool) -> None:
    """Reports which answers are new, and how their replies ended."""
    warn(*answers.problems)
    if not quiet:
        if answers.n_existing:
            note_existing(answers.n_existing, answers.oldest_answer)
        new = f"{counted(answers.n_new, 'new answer')}: "
        stdout().print(f"{new}{shortened(shown(answers.folder), rest(len(new)))}")
    print_replies(answers.replies, quiet=quiet)


def as_json(answers: Generated, suite: Suite, outcome: Outcome | None) -> dict[str, Any]:
    """The figures of a run and of its answers, for JSON."""
    row = {"run": str(answers.folder), "suite": suite.name} if outcome is None else outcome_as_json(outcome)
    return {
        **row,
        "n_existing": answers.n_existing,
        "oldest_answer": answers.oldest_answer or None,
        "replies": answers.replies and asdict(answers.replies),
        "n_new": answers.n_new,
        "problems": answers.problems,
        "events": answers.events.to_dict(),
    }


@option_group
class Generating:
    """The options of commands that generate a run."""

    engine: str = Option(
        ...,
        "-e",
        help="Choose the source of answers: ngram (needs no model), openai (any OpenAI-compatible server), anthropic, "
        "transformers, vllm (local weights), manual (you type the answers), "
        "replay (existing answers), ground-truth, reference (answers of the suite itself). hf and openai-api are "
        "transformers and openai under the names of the published runs.",
    )
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    model: str | None = Option(
        None,
        "-m",
        help="Name the model and the run's directory. Default: ngram/order-N for ngram, the published names "
        "for answers of the suite.",
    )
    trials: int | None = Option(
        None, "-n", min=1, help="Ask each question this often. Default: 10, or all stored answers."
    )
    mode: options.ModeChoice | None = Option(
        None,
        help="Use a text to continue (completion), one user message (qa), or system and user messages (chat). Default: "
        "chat for local weights with a chat template, the mode in the config.json next to the input for replay, "
        "otherwise completion.",
    )
    how: GenerationOptions
    reasoning: ReasoningOptions
    engine_options: EngineOptions
    prices: Prices
    output: options.Root = Path("result")

    @property
    def engine_settings(self) -> dict[str, Any]:
        """The given options of the engine."""
        return chosen(self.engine_options)

    def loaded_suite(self) -> Suite:
        """The suite with the chosen questions; a misspelt engine is named before the suite is looked for."""
        from ..generation.engines import engine_options

        engine_options(self.engine)
        return suite_or_here(self.suite).only(options.names_of(self.questions), limit=self.limit)

    def generation(
        self, model: str | None, engine_settings: Mapping[str, Any], *, is_silent: bool = False
    ) -> Generation:
        """Everything that determines the run of a model."""
        from ..generation.generating import Generation

        return Generation.of(
            self.engine,
            model=model,
            mode=self.mode or self.usual_mode(model, engine_settings, is_silent=is_silent),
            reasoning=self.reasoning.chosen,
            options=engine_settings,
            **self.how.arguments,
        )

    def run(
        self, suite: Suite, model: str | None, engine_settings: Mapping[str, Any], *, is_silent: bool = False
    ) -> Generated:
        """Generates the answers that the run of a model lacks."""
        from ..generation.engines import HOSTED, INTERACTIVE
        from ..generation.engines.hosted import REQUEST_FORMS

        generation = self.generation(model, engine_settings, is_silent=is_silent)
        if engine_settings.get("enable_thinking") is False and self.engine in HOSTED and not is_silent:
            note(f"--disable-thinking sends {REQUEST_FORMS[self.engine].disabled_by}")
        watch = watch_over("answers", quiet=is_silent or self.engine in INTERACTIVE)
        watch.events.prices = self.prices.of_tokens
        with watch:
            return generation.run(
                suite, trials=self.trials, output=self.output, on_progress=watch.count, events=watch.events
            )

    def usual_mode(
        self, model: str | None, engine_settings: Mapping[str, Any], *, is_silent: bool = False
    ) -> options.ModeChoice:
        """The mode if no option names one; prints why it is not the usual one."""
        from ..generation.setting import usual_mode

        mode, reason = usual_mode(self.engine, model, engine_settings)
        if reason and not is_silent:
            note(f"mode {mode}: {reason}; --mode chooses another")
        return mode


class Generate(Generating):
    """Generates answers to every question of a suite, and scores the run.

    The run's directory is named after the model and its parameters. Existing answers are not requested again: the
    command may be stopped at any moment, and running it again continues. A run of selected questions (--questions,
    --limit) has a separate directory. Its score is printed, but it is not a result of the suite.

    Examples

      pfgen-fast generate --engine ngram --order 5 --suite mini --trials 10

      pfgen-fast generate --engine openai --base-url http://localhost:8000/v1 --model org/model --suite mini --trials 10

      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite my-suite --temperature 0.7

      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite my-suite --limit 3 --trials 1

      pfgen-fast generate --engine transformers --model checkpoints/step-100 --mode qa --suite mini --trials 10

      pfgen-fast generate -e hf --model org/chat --path weights/chat --chat-template chat.jinja --mode qa --suite mini

      pfgen-fast generate -e openai-api --model Qwen/Qwen3-8B --mode qa --disable-thinking --top-p none --suite mini

      pfgen-fast generate --engine anthropic --model anthropic/claude-haiku-4-5 --mode chat --top-p none --suite mini
      --prompt-price 1 --reply-price 5

      pfgen-fast generate --engine manual --model web/some-chat --mode qa --suite mini --trials 1

      pfgen-fast generate --engine replay --input answers.jsonl --model mine/step-100 --suite mini

      pfgen-fast generate --engine ground-truth --suite mini

      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite mini --write-batch batch.jsonl

      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite mini --read-batch batch_output.jsonl
    """

    write_batch: Path | None = Option(
        None, help="openai: write the requests to an input file of OpenAI's Batch API; send nothing.", metavar="FILE"
    )
    read_batch: list[Path] | None = Option(
        None,
        help="openai: add the answers in an output or error file of the batch; send nothing. Give the other options as "
        "with --write-batch. May be repeated.",
        metavar="FILE",
    )
    ending: Ending

    def __call__(self) -> None:
        suite = self.loaded_suite()
        if self.write_batch or self.read_batch:
            self.exchange_batch(suite)
            return
        self.ending.finish(self.run(suite, self.model, self.engine_settings, is_silent=self.ending.is_silent), suite)

    def exchange_batch(self, suite: Suite) -> None:
        """Writes the input file of a batch, or reads its output files."""
        from ..generation.batch_api import read_batch, write_batch
        from ..generation.generating import NUM_TRIALS

        generation = self.generation(self.model, self.engine_settings, is_silent=self.ending.is_silent)
        if self.write_batch and self.read_batch:
            fail("--write-batch and --read-batch: expected one of them")
        if self.write_batch:
            n_requests = write_batch(generation, suite, self.write_batch, trials=self.trials or NUM_TRIALS)
            if not self.ending.is_silent:
                print_line(f"{counted(n_requests, 'request')} written to {shown(self.write_batch)}")
                print_origin(suite)
            return
        sources, prices = self.read_batch or [], self.prices.of_tokens
        imported = read_batch(generation, suite, sources, output=self.output, prices=prices)
        if imported.events.n_prompt_tokens and not self.ending.is_silent:
            note(str(imported.events))
        self.ending.finish(imported, suite)


class Prompts:
    """Prints the prompts of trials, one per line.

    'generate --write-batch' writes them for OpenAI's Batch API.

    Examples

      pfgen-fast prompts --suite mini --mode chat --trials 2

      pfgen-fast prompts --suite mini --questions Q07
    """

    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    mode: options.ModeChoice = Option(
        "completion", help="Use a text to continue (base models), one user message, or system and user messages."
    )
    trials: int = Option(1, "-n", min=1, help="Ask each question this often.")
    how: PromptOptions
    output: options.OutputFile = None
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..base.file_writing import writing_stdout, writing_whole
        from ..generation.generating import Generation

        setting = Generation.of("openai", model="", mode=self.mode, **self.how.arguments).setting
        suite = suite_or_here(self.suite).only(options.names_of(self.questions), limit=self.limit)
        with writing_stdout() if self.output is None else writing_whole(self.output) as file:
            for trial in range(1, self.trials + 1):
                for task in setting.tasks(suite, trial):
                    file.write(f"{json_text(_line(task))}\n".encode())
        if self.output and not self.quiet:
            written = f"{counted(self.trials * len(suite), 'prompt')} written: "
            stdout().print(f"{written}{shortened(shown(self.output), rest(len(written)))}")
            print_origin(suite)
        elif self.suite is None and not self.quiet:
            note(f"suite: {suite.name}")


def _line(task: Any) -> dict[str, Any]:
    prompt = {"prompt": task.prompt.text} if task.prompt.messages is None else {"messages": task.prompt.messages}
    about = {"question_id": task.question_id, "question": task.question, "trial": task.trial, "seed": task.seed}
    context = {"context": task.context} if task.context else {}
    return {**about, **context, **prompt}
