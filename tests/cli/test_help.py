"""The help of every command: what each option means, one default at most, lines that fit and can be copied."""

import re
import shlex

import pytest
from makers.public_api import GROUPS, LEAVES, options_of
from pfgen_fast.cli.commands import COMMANDS, EXAMPLES, LINES, command_class, help_of
from pfgen_fast.cli.commands import GROUPS as TITLES
from pfgen_fast.cli.parser import parameters_of, parse

ALL = [*GROUPS, *LEAVES]


def test_every_module_and_class_of_the_registry_is_there_and_described_alike():
    for name in LEAVES:
        assert name not in LINES or command_class(name).__doc__.partition("\n")[0] == LINES[name]
    assert list(LINES) == list(dict.fromkeys(name.split()[0] for name in COMMANDS))


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_says_what_it_means_and_one_default_at_most(name):
    for parameter in parameters_of(command_class(name)):
        text = parameter.declared.help
        meaning = re.sub(r"May be repeated\.|Default: .*|[Ss]ee generate", "", text)
        assert len(meaning.split()) >= 2, f"{parameter.label}: {text!r}"
        assert len(re.findall(r"\bdefault\b *[:f]", text, re.IGNORECASE)) <= 1, parameter.label


@pytest.mark.parametrize("name", LEAVES)
def test_no_two_options_have_one_name(name):
    names = [flag for option in options_of(name) for flag in (*option.names, *option.off_names)]
    assert len(names) == len({*names, "-h", "--help"}) - 2


@pytest.mark.parametrize("name", ALL)
def test_lines_fit_and_break_no_word(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    narrow = help_of(name)
    monkeypatch.setattr("pfgen_fast.cli.help._MOST_COLUMNS", 10_000)
    monkeypatch.setenv("COLUMNS", "10000")
    assert max(map(len, narrow.splitlines())) <= 80
    assert [word for word in narrow.split() if word != "\\"] == help_of(name).split()


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_an_example_that_a_shell_reads(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    examples = re.findall(r"^    (?:\w+=\S+ )?pfgen-fast (?:.*\\\n)*.*$", help_of(name), re.MULTILINE)
    assert examples
    for example in examples:
        words = shlex.split(example.replace("\\\n", " "))
        words = words[words.index("pfgen-fast") + 1 : words.index("<") if "<" in words else None]
        assert words[: name.count(" ") + 1] == name.split()
        parse(command_class(name), words[name.count(" ") + 1 :])


def test_the_help_groups_all_commands_and_begins_each_group_with_a_command_to_try(call):
    code, text, _ = call("--help")
    assert code == 0
    groups = re.findall(r"^(\w.*):\n((?:  .*\n?)+)", text, re.MULTILINE)[1:]
    assert [title for title, _ in groups] == list(TITLES)
    listed = [re.findall(r"^  ([a-z-]+)  ", lines, re.MULTILINE) for _, lines in groups]
    assert [name for names in listed for name in names] == list(LINES)
    for names, (title, lines) in zip(listed, groups, strict=True):
        assert f"  Example: {EXAMPLES[title]}\n" in lines + "\n"
        _, name, *words = shlex.split(EXAMPLES[title])
        assert name in names
        path = name if name in COMMANDS else f"{name} {words.pop(0)}"
        parse(command_class(path), words)
