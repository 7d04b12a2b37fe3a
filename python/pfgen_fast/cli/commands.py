"""The commands and their help; the module of a command is imported when the command is called."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections import deque
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import cleandoc
from typing import Any

from .. import __version__
from ..base.untrusted_text import did_you_mean, in_one_line
from .parser import HELP_NAMES, HelpWanted, Parameter, UsageError, option_group, parameters_of, parse

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
        "report": "Creates a page of runs or of a table of scores, or a site of all that directories hold.",
        "explain": "Breaks down the score of one answer, or the loss of a run to another one by its causes.",
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
    "Suites": {"suite": "Makes suites of questions from prompts; lists, fetches, checks, builds and shares suites."},
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

COMMANDS = {
    "score": ("score.score", "Score"),
    "evaluate": ("score.evaluate", "Evaluate"),
    "checklists import": ("checklists.judge", "ChecklistsImport"),
    "checklists info": ("checklists.judge", "ChecklistsInfo"),
    "checklists draft": ("checklists.judge", "ChecklistsDraft"),
    "checklists generate": ("checklists.judge", "ChecklistsGenerate"),
    "checklists judge": ("checklists.judge", "ChecklistsJudge"),
    "checklists table": ("checklists.table", "ChecklistsTable"),
    "checklists report": ("checklists.table", "ChecklistsReport"),
    "checklists metrics": ("checklists.metrics", "ChecklistsMetrics"),
    "checklists errors": ("checklists.metrics", "ChecklistsErrors"),
    "checklists fit": ("checklists.people", "ChecklistsFit"),
    "checklists agreement": ("checklists.people", "ChecklistsAgreement"),
    "checklists reasonable": ("checklists.people", "ChecklistsReasonable"),
    "checklists wins": ("checklists.people", "ChecklistsWins"),
    "checklists correlate": ("checklists.people", "ChecklistsCorrelate"),
    "annotate": ("lab.annotate", "Annotate"),
    "serve": ("score.serve", "Serve"),
    "leaderboard": ("look.leaderboard", "Leaderboard"),
    "report": ("look.report", "Report"),
    "explain": ("look.explain", "Explain"),
    "compare": ("compare.compare", "Compare"),
    "place": ("compare.place", "Place"),
    "generate": ("generate.generate", "Generate"),
    "sweep": ("generate.sweep", "Sweep"),
    "prompts": ("generate.generate", "Prompts"),
    "discern perturb": ("discern.texts", "DiscernPerturb"),
    "discern kinds": ("discern.texts", "DiscernKinds"),
    "discern votes": ("discern.texts", "DiscernVotes"),
    "discern run": ("discern.run", "DiscernRun"),
    "experiment relations": ("lab.experiment", "ExperimentRelations"),
    "experiment sets": ("lab.experiment", "ExperimentSets"),
    "experiment stability": ("lab.experiment", "ExperimentStability"),
    "experiment agreement": ("lab.experiment", "ExperimentAgreement"),
    "experiment judge": ("lab.experiment", "ExperimentJudge"),
    "suite info": ("suite.info", "SuiteInfo"),
    "suite check": ("suite.info", "SuiteCheck"),
    "suite compile": ("suite.build", "SuiteCompile"),
    "suite add": ("suite.info", "SuiteAdd"),
    "suite pack": ("suite.info", "SuitePack"),
    "suite make": ("suite.make", "SuiteMake"),
    "suite build": ("suite.build", "SuiteBuild"),
    "suite keywords": ("suite.build", "SuiteKeywords"),
}
"""The module and class of each command, in the order of the help; imported when the command is called."""

_HELP = (", ".join(HELP_NAMES), "Print this help.")
_LAST = ("--quiet", "--verbose", "--json")
_LEAST_COLUMNS, _MOST_COLUMNS = 50, 100
_MOST_LEFT_COLUMNS = 30
_MOST_UNGROUPED = 12
"""A command with more options shows them in groups."""


def command_class(name: str) -> Any:
    """The class of a command, whose fields are its options, and which runs the command when it is called."""
    module, class_name = COMMANDS[name]
    cls = getattr(import_module(f".{module}", __package__), class_name)
    return cls if "__dataclass_fields__" in vars(cls) else option_group(cls)


def subcommands(name: str) -> list[str]:
    """The commands of a group, or of the program if the name is empty; none of a command."""
    if not name:
        return list(LINES)
    return [path.removeprefix(f"{name} ") for path in COMMANDS if path.startswith(f"{name} ")]


def help_of(name: str) -> str:
    """The help of a command, of a group of commands, or of the program if the name is empty."""
    program = f"pfgen-fast {name}".strip()
    if name in COMMANDS:
        return _help_of_command(program, command_class(name))
    if name:
        lines = {path: command_class(f"{name} {path}").__doc__.partition("\n")[0] for path in subcommands(name)}
        return _help_of_group(program, LINES[name], [_section("Commands", lines.items())])
    width = max(map(len, LINES))
    about = "Scores free-form answers with reference n-grams and keyword rules, without a judge model."
    sections = [
        _section(title, [(path.ljust(width), line) for path, line in lines.items()], f"Example: {EXAMPLES[title]}")
        for title, lines in GROUPS.items()
    ]
    return _help_of_group(program, about, sections, [("-V, --version", "Print the version.")])


def run(words: list[str]) -> None:
    """Runs a command line; raises UsageError."""
    name, rest = "", deque([*words[1:], "--help"] if words[:1] == ["help"] else words)
    while name not in COMMANDS:
        word, program = rest.popleft() if rest else "", f"pfgen-fast {name}".strip()
        if word in ("", *HELP_NAMES):
            (sys.stdout if word else sys.stderr).write(help_of(name))
            raise SystemExit(0 if word else 2)
        if not name and word in ("-V", "--version"):
            print(f"pfgen-fast {__version__}")
            return
        if word not in subcommands(name):
            kind = "option" if word.startswith("-") else "command"
            hint = did_you_mean(word, subcommands(name))
            raise UsageError(f"no such {kind}: {in_one_line(word)}{hint or f' ({program} --help)'}")
        name = f"{name} {word}".strip()
    cls = command_class(name)
    try:
        command = parse(cls, rest)
    except HelpWanted:
        sys.stdout.write(help_of(name))
        return
    except UsageError as error:
        more = "" if str(error).endswith("?") else f" (pfgen-fast {name} --help)"
        raise UsageError(f"{error}{more}") from None
    from ..suite.keywords import pattern_time_limit

    with pattern_time_limit():
        command()


def _help_of_command(program: str, cls: Any) -> str:
    parameters = parameters_of(cls)
    arguments = [parameter for parameter in parameters if not parameter.is_option]
    options = [parameter for parameter in parameters if parameter.is_option]
    options.sort(key=lambda option: option.names[0] in _LAST)
    usage = " ".join(["Usage:", program, "[OPTIONS]", *(argument.metavar for argument in arguments)])
    sections = [usage, *_paragraphs(cls.__doc__)]
    if arguments:
        sections.append(_section("Arguments", ((argument.metavar, _explained(argument)) for argument in arguments)))
    titles = dict.fromkeys(["", *(option.group for option in options)]) if len(options) > _MOST_UNGROUPED else [""]
    for title in titles:
        rows = [(_names(option), _explained(option)) for option in options if option.group == title or len(titles) == 1]
        sections.append(_section(title or "Options", rows if title else [*rows, _HELP]))
    return "\n\n".join(sections) + "\n"


def _help_of_group(program: str, about: str, sections: Iterable[str], options: Iterable[tuple[str, str]] = ()) -> str:
    """The help of the program, or of a group of commands."""
    usage = f"Usage: {program} [OPTIONS] COMMAND [ARGS]..."
    return "\n\n".join([usage, *_paragraphs(about), _section("Options", [*options, _HELP]), *sections]) + "\n"


def _names(option: Parameter) -> str:
    """The names of an option, the short one first, and its value."""
    names = "/".join([", ".join(reversed(option.names)), *option.off_names])
    return names if option.is_flag else f"{names} {option.metavar}"


def _explained(parameter: Parameter) -> str:
    text, default = parameter.help, parameter.default
    if default is ...:
        return f"{text} [required]"
    is_shown = default is not None and default is not False and default != ""
    shown = f"{default:g}" if isinstance(default, float) else default
    return f"{text} [default: {shown}]" if is_shown else text


def _section(title: str, rows: Iterable[tuple[str, str]], end: str = "") -> str:
    """A title and two columns; what is too long for the first column stands on a line of its own."""
    rows = list(rows)
    left = min(max(len(name) for name, _ in rows), _MOST_LEFT_COLUMNS)
    lines = [f"{title}:"]
    for name, text in rows:
        first, *others = _wrapped(text, _columns() - left - 4) or [""]
        if len(name) > left:
            lines.append(f"  {name}")
            name = ""
        lines += [f"  {name:{left}}  {first}", *(" " * (left + 4) + line for line in others)]
    return "\n".join([*lines, *(f"  {line}" for line in [end] if line)])


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a docstring; indented lines are commands, which are continued as a shell reads them."""
    for paragraph in cleandoc(text).split("\n\n"):
        if paragraph.startswith(" "):
            commands = re.split(r"\n(?=\s+(?:\w+=\S+ )*pfgen-fast )", paragraph)
            yield "\n".join(f"    {line}" for command in commands for line in _continued(command))
        else:
            yield "\n".join(f"  {line}" for line in _wrapped(paragraph, _columns() - 2))


def _continued(command: str) -> Iterator[str]:
    kept = re.sub(r" (--?[a-z][\w-]*) (?!-)", " \\1\u00a0", " ".join(command.split()))  # an option with its value
    *lines, last = _wrapped(kept, _columns() - 8)
    for number, line in enumerate([*lines, last]):
        text = ("  " if number else "") + line + (" \\" if number < len(lines) else "")
        yield text.replace("\u00a0", " ")


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _columns() -> int:
    return max(_LEAST_COLUMNS, min(shutil.get_terminal_size().columns, _MOST_COLUMNS))
