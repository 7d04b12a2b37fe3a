"""The subcommands with their lines in `--help`. The module of a subcommand is imported when it is called."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from ..base.untrusted_text import nearest_names, terminal_text
from . import stopped
from .command_class import command

_HYPHEN, _UNBROKEN_HYPHEN = "-", "\u2011"
_EXAMPLE = re.compile(r"( *)(pfgen-fast .*(?:\n.+)*)")
_OPTION = re.compile(r" (?=-)")

_HelpFormatter: Any = typer.Context.formatter_class


class _Formatter(_HelpFormatter):  # type: ignore[misc]  # typer may contain a copy of click
    """Keeps words with hyphens whole, such as `--float-sum` and `n-gram`, at which lines would be broken."""

    def write_text(self, text: str) -> None:
        """Writes paragraphs; examples are continued on further lines as a shell reads them."""
        paragraphs = (self._folded(paragraph) for paragraph in text.split("\n\n"))
        super().write_text("\n\n".join(paragraphs).replace(_HYPHEN, _UNBROKEN_HYPHEN))

    def write_dl(self, rows: Any, *args: Any, **settings: Any) -> None:
        """Writes a list of options or commands."""
        rows = [(first, second.replace(_HYPHEN, _UNBROKEN_HYPHEN)) for first, second in rows]
        super().write_dl(rows, *args, **settings)

    def write(self, string: str) -> None:
        """Writes a part of the help."""
        super().write(string.replace(_UNBROKEN_HYPHEN, _HYPHEN))

    def _folded(self, paragraph: str) -> str:
        """Splits an example into lines; the mark \\b in its first line prevents further wrapping."""
        example = _EXAMPLE.fullmatch(paragraph)
        if example is None:
            return paragraph
        indent, command = example[1], " ".join(example[2].split())
        width = self.width - self.current_indent - len(indent) - len(" \\")
        parts: list[str] = []
        for option in _OPTION.split(command):
            parts += [option] if len(option) <= width else option.split()
        lines = [""]
        for part in parts:
            if lines[-1] and len(lines[-1]) + 1 + len(part) > width:
                lines.append(f"  {part}")
            else:
                lines[-1] += f" {part}" if lines[-1] else part
        return f"{indent}\b\n" + " \\\n".join(lines)


class Context(typer.Context):
    """The context of a command with this layout of help."""

    formatter_class = _Formatter


GROUPS = {
    "Score": {
        "score": "Scores runs, or tables of answers.",
        "evaluate": "Generates, scores, places and reports runs, also of the checkpoints of a training run.",
        "checklists": "Judges long answers by checklists: yes-or-no questions, a judge, weights fitted to human marks.",
        "annotate": "Makes pages on which people mark answers, compare answers, or check the verdicts of a judge.",
        "serve": "Serves rewards and scores over HTTP, for trainers on other machines.",
    },
    "Look": {
        "leaderboard": "Ranks runs by score, like the published table, or models of a table of scores.",
        "report": "Creates a page of runs or of a table of scores: leaderboard, plots, and answers to every question.",
        "explain": "Breaks down the score of one answer: missing keywords, prefix, n-gram orders, rare 3-grams.",
    },
    "Compare": {
        "compare": "Tells whether run A is better than run B, by how much, and which questions decide it.",
        "place": "Tells where runs stand among the 522 published runs.",
    },
    "Generate": {
        "generate": "Generates answers to every question of a suite, and scores the run.",
        "sweep": "Generates and scores a run for every combination of parameter values.",
        "prompts": "Prints the prompts of trials, one per line.",
    },
    "Test an evaluator": {
        "discern": "Tests whether an evaluator notices damage: n-gram scores, a metric, a judge, or your function.",
        "experiment": "Analyses what the scores mean: how they correlate, how stable they are.",
    },
    "Suites": {"suite": "Lists, fetches, inspects, checks, compiles and builds suites of questions."},
}

EXAMPLES = {
    "Score": "pfgen-fast score result --suite mini",
    "Look": "pfgen-fast leaderboard result",
    "Compare": "pfgen-fast compare result/first result/second --suite mini",
    "Generate": "pfgen-fast generate -e ngram --suite mini --trials 10",
    "Test an evaluator": "pfgen-fast discern run -e ngram --from-suite --suite mini",
    "Suites": "pfgen-fast suite info mini",
}
"""A command to start with, for each group."""

LINES = {name: line for lines in GROUPS.values() for name, line in lines.items()}

_CLASSES = {
    "score": ("score", "_Score"),
    "evaluate": ("evaluate", "_Evaluate"),
    "checklists import": ("checklists_files", "_Import"),
    "checklists info": ("checklists_files", "_Info"),
    "checklists generate": ("checklists_judge", "_Generate"),
    "checklists judge": ("checklists_judge", "_Judge"),
    "checklists table": ("checklists_table", "_Table"),
    "checklists report": ("checklists_table", "_Report"),
    "checklists metrics": ("checklists_metrics", "_Metrics"),
    "checklists errors": ("checklists_metrics", "_Errors"),
    "checklists fit": ("checklists_people", "_Fit"),
    "checklists agreement": ("checklists_people", "_Agreement"),
    "checklists reasonable": ("checklists_people", "_Reasonable"),
    "checklists wins": ("checklists_people", "_Wins"),
    "checklists correlate": ("checklists_people", "_Correlate"),
    "annotate": ("annotate", "_Annotate"),
    "serve": ("serve", "_Serve"),
    "leaderboard": ("leaderboard", "_Leaderboard"),
    "report": ("report", "_Report"),
    "explain": ("explain", "_Explain"),
    "compare": ("compare", "_Compare"),
    "place": ("place", "_Place"),
    "generate": ("generate", "_Generate"),
    "sweep": ("sweep", "_Sweep"),
    "prompts": ("generate", "_Prompts"),
    "discern collect": ("discern_texts", "_Collect"),
    "discern perturb": ("discern_texts", "_Perturb"),
    "discern kinds": ("discern_texts", "_Kinds"),
    "discern votes": ("discern_texts", "_Votes"),
    "discern run": ("discern", "_Run"),
    "experiment relations": ("experiment", "_Relations"),
    "experiment sets": ("experiment", "_Sets"),
    "experiment stability": ("experiment", "_Stability"),
    "experiment external": ("experiment", "_External"),
    "experiment judge": ("experiment", "_Judge"),
    "suite info": ("suite", "_Info"),
    "suite check": ("suite", "_Check"),
    "suite compile": ("suite", "_Compile"),
    "suite get": ("suite", "_Get"),
    "suite build": ("build_suite", "_Build"),
    "suite keywords": ("build_suite", "_Keywords"),
}
"""The module and class of each command, in the order of the help; imported when the command is called."""


# Typer contains a copy of click, or uses the installed one.
_UsageError: Any = typer.BadParameter.__base__


class Group(TyperGroup):
    """A command with subcommands, whose help shows the complete first line of each."""

    context_class = Context

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A subcommand by name; None if there is none."""
        return _with_our_help(super().get_command(ctx, cmd_name))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list of subcommands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines().items()))

    def lines(self) -> dict[str, str]:
        """The help line of each subcommand."""
        return {name: (command.help or "").partition("\n")[0] for name, command in self.commands.items()}


class Root(Group):
    """The command `pfgen-fast`; imports a subcommand only when it is called, not for the help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        names: Any = dict.fromkeys(LINES)  # for the suggestions after a misspelt name
        self.commands = names

    def lines(self) -> dict[str, str]:
        """The help line of each subcommand."""
        return LINES

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the subcommands in groups by their purpose, each with an example."""
        width = max(map(len, LINES))
        for title, lines in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in lines.items()])
                formatter.write_text(f"Example: {EXAMPLES[title]}")

    def invoke(self, ctx: Any) -> Any:
        """Runs a subcommand within the time limit of patterns; typer would end without a message after Ctrl-C.

        Refused arguments may be untrusted file names, which a shell expanded from `*`.
        """
        try:
            from ..suite.keywords import pattern_time_limit

            with pattern_time_limit():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            stopped()
        except _UsageError as error:
            error.message = terminal_text(error.message) + _similar_choice(error.message)
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the subcommands."""
        return list(LINES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A subcommand by name; None if there is none."""
        if cmd_name not in LINES:
            return None
        return _subcommand(cmd_name)


def _similar_choice(message: str) -> str:
    """The hint after an unknown value of an option with fixed choices, as after an unknown subcommand."""
    match = re.search(r"'(.*)' is not one of ('.*')", message)
    near = nearest_names(match[1], re.findall("'([^']*)'", match[2])) if match else []
    return f" Did you mean '{near[0]}'?" if near else ""


@cache
def _subcommand(name: str) -> Any:
    """A subcommand, made once, because typer evaluates every annotation, which takes long for a group."""
    group = typer.Typer(cls=Group, help=LINES[name], no_args_is_help=True, add_completion=False, rich_markup_mode=None)
    for path, (module, cls) in _CLASSES.items():
        if path.split()[0] == name:
            group.command(path.split()[-1])(command(getattr(import_module(f".{module}", __package__), cls)))
    return _with_our_help(typer.main.get_command(group))


def _with_our_help(command: Any) -> Any:
    if command is not None:
        command.context_class = Context
    return command
