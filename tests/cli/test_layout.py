"""Every command at 80 and 140 columns, and redirected: lines that fit, nothing broken inside a number or a name."""

import json
import os
import re
import subprocess
import sys

import pytest
from makers.runs import make_varied_runs, write_small_suite
from makers.terminal import on_terminal
from pfgen_fast.base import table as layout
from rich.cells import cell_len

ANSWER = "Ice floats because it is less dense than water."


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, mini):
    """A checkout with scored runs, whose paths are longer than a narrow terminal is wide."""
    folder = tmp_path_factory.mktemp("layout") / "a-checkout-with-a-name-that-nobody-would-like-to-type"
    write_small_suite(folder / "data")
    make_varied_runs(folder / "result/an-organisation-with-a-long-name", mini, n_runs=3, n_trials=2)
    return folder


@pytest.fixture(scope="module")
def commands(checkout):
    """A command line for each command that prints results; those that generate have done so before."""
    result = checkout / "result"
    first, second, *_ = sorted(path.parent for path in result.rglob("trials.jsonl"))
    made = checkout / "made"
    generating = [
        ["generate", "-e", "ngram", "-n", 1, "-o", made],
        ["sweep", "-e", "ngram", "-n", 2, "--order", 2, "--order", 3, "--temperature", 0.5, "-o", made],
    ]
    _redirected(checkout, generating, 80)
    return [
        *generating,
        ["score", result, "--force"],
        ["score", result],  # up to date
        ["score", result, "--force", "--dry-run"],
        ["leaderboard", result],
        ["compare", first, second],
        ["compare", first, first],
        ["explain", "-q", "Q07", "-a", ANSWER],
        ["score", "--verify", result, "--sample", 2],
        ["sweep", "-e", "ngram", "-n", 2, "--order", 2, "--order", 3, "--dry-run", "-o", made],
        ["prompts", "--trials", 1, "-o", checkout / "prompts.jsonl"],
        ["suite", "info", checkout / "data"],
        ["suite", "check"],
        ["suite", "compile"],
    ]


PROGRAM = """
import json, os, sys
from pfgen_fast.cli.app import main
os.chdir(sys.argv[1])
for line in sys.argv[2:]:
    sys.argv = ["pfgen-fast", *json.loads(line)]
    print("$", sys.argv[1])
    try:
        main()
    except SystemExit as end:
        assert not end.code, (line, end.code)
"""


def _on_terminal(checkout, commands, columns):
    return on_terminal("-c", PROGRAM, *_arguments(checkout, commands), columns=columns)


def _redirected(checkout, commands, columns):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": str(columns)}
    program = [sys.executable, "-c", PROGRAM, *_arguments(checkout, commands)]
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout


def _arguments(checkout, commands):
    return [str(checkout), *(json.dumps(list(map(str, command))) for command in commands)]


@pytest.mark.slow
def test_redirected_output_does_not_depend_on_the_width(checkout, commands):
    narrow, wide = (_redirected(checkout, commands, columns) for columns in (40, 300))
    seconds = r"\(\d+\.\d+ s\)"
    assert re.sub(seconds, "", narrow) == re.sub(seconds, "", wide)
    assert "…" not in narrow


@pytest.fixture(scope="module")
def known_words(checkout, commands):
    """What all commands print on a terminal that is wide enough for anything."""
    return _words(_on_terminal(checkout, commands, 500))


def _words(lines):
    return {word for line in lines for word in re.split(r"[\s|]+", line)}


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, pytest.param(140, marks=pytest.mark.slow)])
def test_lines_fit_a_terminal_and_break_no_number_and_no_name(checkout, commands, known_words, columns):
    lines = _on_terminal(checkout, commands, columns)
    assert max(map(cell_len, lines)) <= columns
    seconds = r"\(\d+\.\d+"
    strange = {word for word in _words(lines) - known_words if "…" not in word and not re.fullmatch(seconds, word)}
    assert strange == set()


def test_a_path_is_shortened_nearer_to_its_beginning():
    path = "result/openai/gpt-4o-2024-08-06/5e1e9f4"
    assert layout.shortened(path, len(path)) == path
    assert layout.shortened(path, None) == path
    assert layout.shortened(path, 21) == "resul…4-08-06/5e1e9f4"
    assert cell_len(layout.shortened("結果" * 40, 30)) <= 30
    assert layout.shortened(path, 3) == layout.shortened(path, 12)  # what is shorter tells nothing
