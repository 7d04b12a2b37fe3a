"""`pfgen-fast suite make`: a suite from prompts, with answers of models."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.table import Column, Table
from ...base.untrusted_text import counted
from .. import options
from ..app import (
    Json,
    Quiet,
    caution,
    counting,
    exit_if_partial,
    fail,
    note,
    print_json,
    print_line,
    print_table,
    shown,
    warn,
)
from ..engine_options import EngineOptions, ReasoningOptions, chosen
from ..parser import Argument, Option
from ..progress import Watch

if TYPE_CHECKING:
    from ...build.making import SuiteMaker
    from ...generation.sweep import Point


def _temperatures(text: str) -> list[Any]:
    return list(map(options.number_or_word, options.names(text)))


class SuiteMake:
    """Makes a suite from prompts: requests answers of models, builds the suite, checks it and writes its card.

    PROMPTS has a prompt in each line, or is a table (JSONL, CSV) with question, and optionally id, category, sample,
    keywords, wrong and required. The first model answers each question once; these answers, unless the table has a
    sample, are examples in all further prompts. The config OUTPUT.toml is written for you to edit; then the same
    command builds again. Existing answers in OUTPUT.work are not requested again: the command may be stopped at any
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
    output: Path = Option(..., "Write the suite to this directory.", "-o", metavar="OUTPUT")
    answers: int = Option(300, "Request this many answers to each question, from all models together.", "-n", min=1)
    style: str = Option("one paragraph", "Describe the form of the answers in the first requests.", metavar="TEXT")
    mode: options.ModeChoice | None = Option(
        None, "Send a text, a message or a chat. Default: chat for servers and weights with a chat template."
    )
    temperature: list[Any] | None = Option(
        None,
        "Set the temperatures that share the answers. Default: 0.7,1.",
        parser=_temperatures,
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
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ...build.making import SuiteMaker

        maker = SuiteMaker(self.prompts, self.points(), self.output, self.answers, self.style)
        if self.dry_run:
            self.estimate(maker)
            return
        is_silent = self.quiet or self.as_json
        watch = Watch("answers", quiet=is_silent)
        with watch:
            maker.ask(on_answer=watch.count, events=watch.events)
        with counting("stages", quiet=is_silent) as count:
            built = maker.build(accept_keywords=self.accept_keywords, on_step=count)
        if not self.quiet:
            note(*built.decisions, *built.notes, *maker.notes)
            if maker.n_cut:
                caution(f"{counted(maker.n_cut, 'answer')} ended at the limit of tokens; raise --max-tokens")
        if built.is_written:
            self.report(maker)
        warn(*maker.problems)
        exit_if_partial(maker.problems)

    def report(self, maker: SuiteMaker) -> None:
        """Checks the suite, writes its card, and prints the sizes."""
        from ...build.suite_card import write_card
        from ...build.suite_check import hold_out, suite_warnings
        from ...suite.suite import Suite

        suite = Suite.load(self.output.absolute())
        held = hold_out(suite)
        warnings = list(suite_warnings(suite, held))
        is_new = write_card(maker, suite, held, warnings, licence=self.licence, language=self.language)
        if not self.quiet:
            caution(*warnings)
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
            print_json({**paths, "questions": table.to_dicts(), "warnings": warnings, "problems": maker.problems})
        elif not self.quiet:
            print_table(table)
            print_line(f"suite: {shown(self.output)}")
            print_line(f"card: {shown(self.output / 'README.md')}{'' if is_new else ', kept as it was edited'}")
            print_line(f"config: {shown(maker.config_path)}; edit it, and run the same command again")

    def estimate(self, maker: SuiteMaker) -> None:
        """Prints the numbers of requests and of their tokens."""
        from ...lab.judging.judge_asking import estimated_tokens

        totals: dict[str, Counter[str]] = {}
        for generation, text, n in maker.requests():
            n_prompt, n_reply = estimated_tokens(text), generation.setting.sent_sampling.max_tokens
            total = totals.setdefault(generation.setting.model, Counter())
            total.update(n_requests=n, n_prompt_tokens=n * n_prompt, n_reply_tokens=n * n_reply)
        names = {
            "n_requests": "requests",
            "n_prompt_tokens": "prompt tokens",
            "n_reply_tokens": "reply tokens, at most",
        }
        rows = [(model, *map(total.get, names)) for model, total in totals.items()]
        table = Table([Column("model"), *(Column(name, head) for name, head in names.items())], rows)
        if self.as_json:
            print_json(table.to_dicts())
        elif rows:
            print_table(table)
        else:
            print_line("no requests: all answers exist")

    def points(self) -> list[Point]:
        """The models with their settings."""
        from ...generation.engines.engine_registry import HOSTED
        from ...generation.sweep import grid

        if self.engine in ("ngram", "reference", "ground-truth"):
            fail(f"--engine {self.engine}: takes answers from a suite; expected an engine for models, or replay")
        values = {name: getattr(self, name) for name in ("model", "max_tokens", "examples")}
        values["temperature"] = self.temperature or [0.7, 1.0]
        values["mode"] = self.mode or ("chat" if self.engine in HOSTED else None)
        points = grid(self.engine, {**values, **chosen(self.engine_options)}, asks_hub=not self.dry_run)
        return [replace(point, setting=replace(point.setting, reasoning=self.reasoning.chosen)) for point in points]
