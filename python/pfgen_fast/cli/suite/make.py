"""`pfgen-fast suite make`: a suite from prompts, with answers of models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.table import Column, Table
from .. import app, options
from ..engine_options import EngineOptions, ReasoningOptions, chosen
from ..parser import Argument, Option
from ..progress import Watch

if TYPE_CHECKING:
    from ...build.making import SuiteMaker
    from ...generation.sweep import Point


class SuiteMake:
    """Makes a suite from prompts: requests answers of models, builds the suite, checks it and writes its card.

    PROMPTS has a prompt in each line, or is a table (JSONL, CSV) with question, and optionally id, category, sample,
    keywords, wrong and required. The first model answers each question once; these answers, unless the table has a
    sample, are examples in all further prompts. The config FOLDER.toml is written for you to edit; then the same
    command builds again. Existing answers in FOLDER.work are not requested again: the command may be stopped at any
    moment.

    Examples

      pfgen-fast suite make prompts.txt --engine openai --model org/model --answers 300 -o my-suite
      pfgen-fast suite make prompts.txt --engine openai --model gpt-4o --model gpt-4o-mini -o my-suite --dry-run
      pfgen-fast suite make prompts.csv --engine replay --input answers.jsonl --model org/model -o my-suite
      --accept-keywords
    """

    prompts: Path = Argument(..., "Prompts, one per line, or a table of questions.", metavar="PROMPTS")
    engine: str = Option(..., "Choose an engine; see generate.", "-e")
    model: list[str] | None = Option(None, "Name a model. May be repeated.", "-m")
    output: Path = Option(..., "Write the suite to this directory.", "-o", **options.FOLDER)
    answers: int = Option(300, "Request this many answers to each question, from all models together.", "-n", min=1)
    style: str = Option("one paragraph", "Describe the form of the answers in the first requests.", metavar="TEXT")
    mode: options.ModeChoice | None = Option(
        None, "Send a text, a message or a chat. Default: chat for servers and weights with a chat template."
    )
    temperature: list[Any] | None = Option(
        None,
        "Set the temperatures that share the answers. Default: 0.7,1.",
        parser=lambda text: list(map(options.number_or_word, options.names(text))),
        metavar="NUMBER|none,...",
    )
    max_tokens: options.MaxTokens = 300
    examples: int = Option(4, "Set the number of sample answers in a prompt, which vary.", min=0)
    reasoning: ReasoningOptions
    engine_options: EngineOptions
    accept_keywords: bool = Option(False, "Accept the suggested keyword rules that the config has as comments.")
    licence: str | None = Option(None, "State the licence of the suite in its card, such as CC-BY-4.0.", metavar="NAME")
    language: str | None = Option(None, "State the language of the suite in its card, such as fr.", metavar="CODE")
    dry_run: bool = Option(False, "Only show the number of requests and of their tokens.")
    quiet: app.Quiet = False
    as_json: app.Json = False

    def __call__(self) -> None:
        from ...build.making import SuiteMaker

        maker = SuiteMaker(self.prompts, self.points(), self.output, self.answers, self.style)
        if self.dry_run:
            self.estimate(maker)
            return
        is_silent = self.quiet or self.as_json
        with Watch("answers", quiet=is_silent) as watch:
            maker.ask(on_answer=watch.count, events=watch.events)
        with app.counting("stages", quiet=is_silent) as count:
            built = maker.build(accept_keywords=self.accept_keywords, on_step=count)
        if not self.quiet:
            app.note(*built.decisions, *built.notes, *maker.notes)
        if built.is_written:
            self.report(maker)
        app.warn(*maker.problems)
        app.exit_if_partial(maker.problems)

    def report(self, maker: SuiteMaker) -> None:
        """Checks the suite, writes its card, and prints the sizes."""
        from ...build.suite_card import write_card
        from ...build.suite_check import hold_out, suite_warnings
        from ...suite.suite import Suite

        suite = Suite.load(self.output.absolute())
        held = hold_out(suite)
        warnings = list(suite_warnings(suite, held))
        is_new = write_card(maker, suite, held, warnings, licence=self.licence, language=self.language)
        table = Table.of_records(
            [
                (Column("id"), lambda question: question.question_id),
                (Column("n_answers", "answers"), lambda question: maker.n_answers.get(question.question)),
                (Column("n_references", "references"), lambda question: sum(map(len, question.answers.values()))),
                (Column("n_rules", "rules"), lambda question: len(question.keywords)),
                (Column("suggestion"), lambda question: str(maker.rules.get(question.question, ""))),
            ],
            suite,
        )
        if self.as_json:
            paths = {"suite": str(self.output), "config": str(maker.config_path)}
            app.print_json({**paths, "questions": table.to_dicts(), "warnings": warnings, "problems": maker.problems})
        elif not self.quiet:
            app.caution(*warnings)
            app.print_table(table)
            app.print_line(f"suite: {app.shown(self.output)}{'' if is_new else ', README.md kept as it was edited'}")
            app.print_line(f"config: {app.shown(maker.config_path)}; edit it, and run the same command again")

    def estimate(self, maker: SuiteMaker) -> None:
        """Prints the numbers of requests and of their tokens."""
        from ...lab.judging.judge_asking import estimated_tokens

        totals: dict[str, tuple[int, ...]] = {}
        for generation, text, n in maker.requests():
            setting = generation.setting
            numbers = n, n * estimated_tokens(text), n * setting.sent_sampling.max_tokens
            totals[setting.model] = tuple(map(sum, zip(numbers, totals.get(setting.model, (0, 0, 0)), strict=True)))
        table = Table(
            [
                Column("model"),
                Column("n_requests", "requests"),
                Column("n_prompt_tokens", "prompt tokens"),
                Column("n_reply_tokens", "reply tokens, at most"),
            ],
            [(model, *numbers) for model, numbers in totals.items()],
        )
        if self.as_json:
            app.print_json(table.to_dicts())
        elif totals:
            app.print_table(table)
        else:
            app.print_line("no requests: all answers exist")

    def points(self) -> list[Point]:
        from ...generation.engines.engine_registry import HOSTED
        from ...generation.sweep import grid

        if self.engine in ("ngram", "reference", "ground-truth"):
            app.fail(f"--engine {self.engine}: takes answers from a suite; expected an engine for models, or replay")
        values = {name: getattr(self, name) for name in ("model", "max_tokens", "examples")}
        values["temperature"] = self.temperature or [0.7, 1.0]
        values["mode"] = self.mode or ("chat" if self.engine in HOSTED else None)
        points = grid(self.engine, {**values, **chosen(self.engine_options)}, asks_hub=not self.dry_run)
        return [replace(point, setting=replace(point.setting, reasoning=self.reasoning.chosen)) for point in points]
