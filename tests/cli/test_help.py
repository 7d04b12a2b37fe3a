"""The help of every command: what each option means, one default at most, lines that fit and can be copied."""

from __future__ import annotations

import re
import shlex

import pytest
import typer
from makers.public_api import COMMANDS, LEAVES
from pfgen_fast.cli.app import app
from pfgen_fast.cli.commands import _CLASSES


def test_the_walk_finds_all_commands():
    assert {"score", "suite build", "experiment judge", "suite", ""} <= set(COMMANDS)
    assert sorted(LEAVES) == sorted(_CLASSES)


def helps_of(name):
    """The parameters of a command, each with the right column of its help."""
    command, context = COMMANDS[name]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield parameter.name, record[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_means_and_one_default_at_most(name):
    for parameter, text in helps_of(name):
        meaning = re.sub(r"\[[^]]*\]|May be repeated\.|Default: .*|[Ss]ee generate", "", text)
        assert len(meaning.split()) >= 2, f"--{parameter}: {text!r}"
        assert len(re.findall(r"\bdefault\b *[:f]", text, re.IGNORECASE)) <= 1, parameter


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit_and_break_no_word(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    command, context = COMMANDS[name]
    narrow = command.get_help(context)
    context.max_content_width = context.terminal_width = 10_000
    try:
        wide = command.get_help(context)
    finally:
        context.max_content_width = context.terminal_width = None
    assert max(map(len, narrow.splitlines())) <= 80
    assert [word for word in narrow.split() if word != "\\"] == wide.split()


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_an_example_that_a_shell_reads(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    command, context = COMMANDS[name]
    text = command.get_help(context)
    examples = re.findall(r"^    pfgen-fast (?:.*\\\n)*.*$", text, re.MULTILINE)
    assert examples
    for example in examples:
        words = shlex.split(example)
        assert " ".join(words[1:]).startswith(name)
        options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert options <= {
            flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)
        }


def test_the_help_groups_all_commands_and_begins_each_group_with_a_command_to_try(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    command, context = COMMANDS[""]
    text = command.get_help(context)
    groups = re.findall(r"^(\w.*):\n((?:  .*\n?)+)", text, re.MULTILINE)[1:]
    assert [title for title, _ in groups] == ["Score", "Look", "Compare", "Generate", "Test an evaluator", "Suites"]
    listed = [re.findall(r"^  ([a-z-]+)  ", lines, re.MULTILINE) for _, lines in groups]
    assert sorted(name for names in listed for name in names) == sorted(command.commands)
    for names, (_, lines) in zip(listed, groups, strict=True):
        [example] = re.findall(r"^  Example: pfgen-fast (.*)$", lines, re.MULTILINE)
        name, *words = shlex.split(example)
        assert name in names
        typer.main.get_command(app).make_context("pfgen-fast", [name, *words])
