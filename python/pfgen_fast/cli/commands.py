"""The commands with their lines in `--help`; the module of a command is imported when the command is called."""

from __future__ import annotations

import sys
from collections import deque
from importlib import import_module
from typing import Any

from .. import __version__
from ..base.untrusted_text import did_you_mean, in_one_line
from . import help
from .parser import HELP_NAMES, HelpWanted, UsageError, option_group, parse

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


_OPTIONS = (("-V, --version", "Print the version."),)


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
        return help.of_command(program, command_class(name))
    if name:
        lines = {path: command_class(f"{name} {path}").__doc__.partition("\n")[0] for path in subcommands(name)}
        return help.of_group(program, LINES[name], [help.section("Commands", lines.items())])
    width = max(map(len, LINES))
    about = "Scores free-form answers with reference n-grams and keyword rules, without a judge model."
    sections = [
        help.section(title, [(path.ljust(width), line) for path, line in lines.items()], f"Example: {EXAMPLES[title]}")
        for title, lines in GROUPS.items()
    ]
    return help.of_group(program, about, sections, _OPTIONS)


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
