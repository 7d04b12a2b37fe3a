"""`pfgen-fast generate`: answers from an engine become a run, which is scored at the end; `pfgen-fast prompts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.untrusted_text import counted, json_text
from .. import options
from ..app import Json, Quiet, caution, exit_if_partial, fail, fitted, note, print_json, print_line, shown, warn
from ..engine_options import EngineOptions, ReasoningOptions, chosen
from ..parser import Option, option_group
from ..progress import Watch, note_existing
from ..score.score import outcome_as_json, print_outcomes
from ..suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ...generation.generating import Generated, Generation
    from ...runs.run_scorer import Outcome
    from ...suite.suite import Suite


_TEXT: Any = {"parser": options.text_or_file, "metavar": "TEXT|@FILE"}


@option_group
class PromptOptions:
    """Arguments of `Generation.of` that affect prompts, with the defaults of the published runs."""

    help_group = "Prompts"
    examples: int = Option(20, "Set the number of sample answers in a prompt.", min=0)
    seed: options.Seed = ""
    prefix: str = Option("", "Begin every prompt with this text; \\n is a line break.", metavar="TEXT")
    system: str = Option("", "Send this system message before that of mode chat.", **_TEXT)
    instruction: str = Option("", "Begin mode completion with this line; 'default' is that of mode chat.", **_TEXT)
    context: Path | None = Option(
        None, "Show sentences of this file above each question: a text, or a table with question and sentence."
    )
    sentences: int | None = Option(None, "Draw this many sentences of --context for each prompt. Default: 5.", min=1)

    @property
    def arguments(self) -> dict[str, Any]:
        """The options that are set, as arguments."""
        if self.sentences is not None and self.context is None:
            fail(f"--sentences {self.sentences}: expected with --context FILE, from which they are drawn")
        usual = (("sentences", None), ("stop", None))  # the library's defaults are not None
        return {name: value for name, value in vars(self).items() if (name, value) not in usual}


@option_group
class GenerationOptions(PromptOptions):
    """Arguments of `Generation.of`, with the defaults of the published runs."""

    help_group = "Sampling"
    temperature: options.Temperature = 1.0
    top_p: options.TopP = 0.98
    top_k: options.TopK = None
    max_tokens: options.MaxTokens = 300
    stop: options.Stop = None


@option_group
class Generating:
    """The options of commands that generate a run."""

    engine: str = Option(
        ...,
        "Choose ngram (needs no model), openai (any OpenAI-compatible server), anthropic, transformers (or hf) or "
        "vllm (local weights), replay (existing answers), ground-truth or "
        "reference (answers of the suite itself).",
        "-e",
    )
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    model: str | None = Option(None, "Name the model and the run's directory. Default: by engine.", "-m")
    trials: int | None = Option(None, "Ask each question this often. Default: 10, or all stored answers.", "-n", min=1)
    mode: options.ModeChoice | None = Option(
        None, "Send a text, a message or a chat. Default: chat for weights with a chat template, or else completion."
    )
    generation_options: GenerationOptions
    reasoning: ReasoningOptions
    engine_options: EngineOptions
    output: options.Root = Path("result")
    quiet: Quiet = False
    as_json: Json = False

    @property
    def is_silent(self) -> bool:
        """Whether the command prints errors and JSON only."""
        return self.quiet or self.as_json

    @property
    def engine_settings(self) -> dict[str, Any]:
        return chosen(self.engine_options)

    def loaded_suite(self) -> Suite:
        """The suite with the chosen questions; a misspelt engine is named before the suite is looked for."""
        from ...generation.engines.engine_registry import engine_options

        engine_options(self.engine)
        return suite_or_here(self.suite).only(self.questions or (), limit=self.limit)

    def generation(self, model: str | None, engine_settings: Mapping[str, Any]) -> Generation:
        """Everything that determines the run of a model; a note says why its mode is not the usual one."""
        from ...generation.generating import Generation
        from ...generation.setting import usual_mode

        mode, reason = (self.mode, "") if self.mode else usual_mode(self.engine, model, engine_settings)
        if reason and not self.is_silent:
            note(f"mode {mode}: {reason}; --mode chooses another")
        return Generation.of(
            self.engine,
            model=model,
            mode=mode,
            reasoning=self.reasoning.chosen,
            options=engine_settings,
            **self.generation_options.arguments,
        )

    def run(self, suite: Suite, model: str | None, engine_settings: Mapping[str, Any]) -> Generated:
        """Generates the answers that the run of a model lacks."""
        generation = self.generation(model, engine_settings)
        with Watch("answers", quiet=self.is_silent) as watch:
            return generation.run(
                suite, trials=self.trials, output=self.output, on_progress=watch.count, events=watch.events
            )


def print_answers(answers: Generated, *, quiet: bool) -> None:
    """Reports which answers are new, and how their replies ended."""
    warn(*answers.problems)
    if not quiet:
        if answers.n_existing:
            note_existing(answers.n_existing, answers.oldest_answer)
        new = f"{counted(answers.n_new, 'new answer')}: "
        print_line(fitted(new, answers.folder))
        if answers.replies is not None and (answers.replies.n_reasoning or answers.replies.n_cut):
            print_line(answers.replies.sentence)
    if answers.replies is not None:
        caution(*answers.replies.problems)


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


class Generate(Generating):
    """Generates answers to every question of a suite, and scores the run.

    The run's directory is named after the model and its parameters. Existing answers are not requested again: the
    command may be stopped at any moment, and running it again continues. A run of selected questions (--questions,
    --limit) has a separate directory. Its score is printed, but it is not a result of the suite.

    Examples

      pfgen-fast generate --engine ngram --order 5 --suite mini --trials 10
      pfgen-fast generate --engine openai --base-url http://localhost:8000/v1 --model org/model --suite mini --trials 10
      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite my-suite --limit 3 --trials 1
      pfgen-fast generate -e hf --model org/chat --path weights/chat --chat-template chat.jinja --mode qa --suite mini
      pfgen-fast generate --engine anthropic --model anthropic/claude-haiku-4-5 --mode chat --top-p none --suite mini
      pfgen-fast generate --engine replay --input answers.jsonl --model mine/step-100 --suite mini
      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite mini --write-batch batch.jsonl
      pfgen-fast generate --engine openai --model gpt-4o --mode chat --suite mini --read-batch batch_output.jsonl
    """

    no_score: bool = Option(False, "Do not score the run at the end.")
    write_batch: Path | None = Option(
        None, "openai: write the requests to a file for OpenAI's Batch API, and send nothing.", group="Batches"
    )
    read_batch: list[Path] | None = Option(
        None,
        "openai: add the answers in an output file of a batch with the same options. May be repeated.",
        group="Batches",
    )

    def __call__(self) -> None:
        suite = self.loaded_suite()
        if self.write_batch and self.read_batch:
            fail("--write-batch and --read-batch: expected one of them")
        if self.write_batch:
            self.write_requests(suite, self.write_batch)
            return
        answers = self.imported(suite) if self.read_batch else self.run(suite, self.model, self.engine_settings)
        print_answers(answers, quiet=self.is_silent)
        outcome = None if self.no_score else answers.score(suite)
        if outcome is not None:
            print_outcomes([outcome], quiet=self.is_silent)
        elif not self.is_silent:
            print_origin(suite)
        if self.as_json:
            print_json(as_json(answers, suite, outcome))
        exit_if_partial(answers.problems or (outcome is not None and outcome.status == "failed"))

    def write_requests(self, suite: Suite, path: Path) -> None:
        from ...generation.batch_api import write_batch
        from ...generation.generating import NUM_TRIALS

        generation = self.generation(self.model, self.engine_settings)
        n_requests = write_batch(generation, suite, path, trials=self.trials or NUM_TRIALS)
        if not self.is_silent:
            print_line(f"{counted(n_requests, 'request')} written to {shown(path)}")
            print_origin(suite)

    def imported(self, suite: Suite) -> Generated:
        from ...generation.batch_api import read_batch

        generation = self.generation(self.model, self.engine_settings)
        return read_batch(generation, suite, self.read_batch or [], output=self.output)


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
    mode: options.ModeChoice = Option("completion", "Print texts to continue, one user message, or a chat.")
    trials: int = Option(1, "Ask each question this often.", "-n", min=1)
    prompt_options: PromptOptions

    def __call__(self) -> None:
        from ...base.file_writing import writing_stdout
        from ...generation.generating import Generation

        setting = Generation.of("openai", model="", mode=self.mode, **self.prompt_options.arguments).setting
        suite = suite_or_here(self.suite).only(self.questions or (), limit=self.limit)
        with writing_stdout() as file:
            for trial in range(1, self.trials + 1):
                for task in setting.tasks(suite, trial):
                    record = {name: getattr(task, name) for name in ("question_id", "question", "trial", "seed")}
                    record |= {"context": task.context} if task.context else {}
                    messages = task.prompt.messages
                    record |= {"prompt": task.prompt.text} if messages is None else {"messages": messages}
                    file.write(f"{json_text(record)}\n".encode())
        if self.suite is None:
            note(f"suite: {suite.name}")
