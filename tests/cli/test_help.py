"""The help of every command: what each option means, one default at most, lines that fit and can be copied."""

import re
import shlex
from pathlib import Path
from typing import Annotated, Literal

import pytest
from makers.public_api import GROUPS, LEAVES, options_of
from pfgen_fast.cli.commands import COMMANDS, EXAMPLES, LINES, command_class, help_of
from pfgen_fast.cli.commands import GROUPS as TITLES
from pfgen_fast.cli.parser import (
    Argument,
    BadValue,
    Option,
    UsageError,
    option_group,
    parameters_of,
    parse,
    refuse_others,
)

ALL = [*GROUPS, *LEAVES]


def test_every_module_and_class_of_the_registry_is_there_and_described_alike():
    for name in LEAVES:
        assert name not in LINES or command_class(name).__doc__.partition("\n")[0] == LINES[name]
    assert list(LINES) == list(dict.fromkeys(name.split()[0] for name in COMMANDS))


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_says_what_it_means_and_one_default_at_most(name):
    for parameter in parameters_of(command_class(name)):
        text = parameter.help
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
    monkeypatch.setattr("pfgen_fast.cli.commands._MOST_COLUMNS", 10_000)
    monkeypatch.setenv("COLUMNS", "10000")
    assert max(map(len, narrow.splitlines())) <= 80
    assert [word for word in narrow.split() if word != "\\"] == help_of(name).split()


@pytest.mark.parametrize("width", ["1", "20", "35"])
def test_help_has_a_least_width(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    assert help_of("score").startswith("Usage: pfgen-fast score")
    assert help_of("").startswith("Usage: pfgen-fast")


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


def test_the_help_groups_all_commands_and_begins_each_group_with_a_command_to_try(printed):
    text = printed("--help")
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


# ---- Reading a command line: what is accepted, and how it is refused in one sentence


def _even(text: str) -> int:
    if int(text) % 2:
        raise BadValue(f"expected an even number, not {text!r}")
    return int(text)


Name = Annotated[str, Option(..., "Name it.", "--name", "-N")]


@option_group
class Sampling:
    for_input = "runs"
    temperature: float = Option(1.0, "Set the temperature.", min=0, max=2)
    stop: list[str] | None = Option(None, "End at this text.")


@option_group
class Command:
    first: str = Argument(..., "A file.")
    rest: list[Path] | None = Argument(None, "More files.")
    number: int | None = Option(None, "Set a number.", "-n", min=1)
    name: Name = "no name"
    form: Literal["text", "json"] = Option("text", "Choose the form.")
    even: list[int] | None = Option(None, "Set even numbers.", parser=_even)
    tags: list[str] | None = Option(None, "Set pairs.", parser=str.split)
    think: bool | None = Option(None, "Think.", "--think/--no-think")
    quiet: bool = Option(False, "Be quiet.", "-q", for_input="tables")
    force: bool = Option(False, "Use force.", "-f")
    sampling: Sampling


def read(*words):
    """The options that are set."""
    command, usual = parse(Command, words), parse(Command, [words[0]])
    values = {**vars(command), **vars(command.sampling)}
    unset = {**vars(usual), **vars(usual.sampling), "sampling": command.sampling, "first": command.first}
    return {name: value for name, value in values.items() if value != unset[name]}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["a"], {}),
        (["a", "-n", "3", "b", "--name", "x", "c"], {"rest": [Path("b"), Path("c")], "number": 3, "name": "x"}),
        (["a", "-n3", "--name=a=b"], {"number": 3, "name": "a=b"}),
        (["a", "-qfn", "3"], {"quiet": True, "force": True, "number": 3}),
        (["a", "--", "-n", "--x"], {"rest": [Path("-n"), Path("--x")]}),
        (["-", "-n", "1", "-n", "2"], {"number": 2}),
        (["a", "--tags", "<t> </t>", "--tags", "[ ]"], {"tags": ["<t>", "</t>", "[", "]"]}),
        (["a", "--think", "--even", "2", "--even", "4"], {"think": True, "even": [2, 4]}),
        (["a", "--temperature", "1e-3", "--form", "json"], {"temperature": 0.001, "form": "json"}),
    ],
)
def test_options_and_arguments_may_stand_in_any_order(words, values):
    assert read(*words) == values


def test_a_flag_and_its_opposite_are_one_option():
    assert parse(Command, ["a", "--think", "--no-think"]).think is False


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "missing argument FIRST: A file."),
        (["a", "--nmae", "x"], "no such option: --nmae; did you mean '--name'?"),
        (["a", "-x"], "no such option: -x"),
        (["a", "--bane"], "no such option: --bane"),
        (["a", "--\x1b[31m"], "no such option: --\\u001b[31m"),
        (["a", "--number"], "--number: expected a value, N"),
        (["a", "--name", "--quiet"], "--name: expected a value, NAME, got the option --quiet; --name=--quiet makes it"),
        (["a", "--name", "--number=3"], "--name: expected a value, NAME, got the option --number=3; --name=--number=3"),
        (["a", "--name", "--help"], "--name: expected a value, NAME, got the option --help"),
        ([""], "FIRST: expected a name, not ''"),
        (["a", ""], "REST: expected a name, not ''"),
        (["a", "-n", "x"], "--number: expected an integer, not 'x'"),
        (["a", "-n", "0"], "--number: expected an integer of at least 1, not '0'"),
        (["a", "--temperature", "nan"], "--temperature: expected a number, not 'nan'"),
        (["a", "--temperature", "3"], "--temperature: expected a number of at least 0 and at most 2, not '3'"),
        (["a", "--form", "jsn"], "--form: unknown value 'jsn'; expected one of json, text; did you mean 'json'?"),
        (["a", "--even", "3"], "--even: expected an even number, not '3'"),
        (["a", "--quiet=1"], "--quiet: expected no value, got '1'"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(words, problem):
    with pytest.raises(UsageError) as refused:
        parse(Command, words)
    assert str(refused.value).startswith(problem)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["score", "runs", "--threads", "1025"], "--threads: expected an integer of at least 1 and at most 1024")],
)
def test_numbers_that_nothing_could_hold_are_refused(call, words, expected):
    code, _, error = call(*words)
    assert code == 2
    assert expected in error


def test_options_are_refused_that_are_for_another_kind_of_input():
    refuse_others(parse(Command, ["a", "-q", "-n", "3"]), "tables")
    refuse_others(parse(Command, ["a", "--stop", "x"]), "runs")
    with pytest.raises(UsageError, match=r"^no such option for tables; it is for runs: --stop$"):
        refuse_others(parse(Command, ["a", "--stop", "x"]), "tables")
    with pytest.raises(UsageError, match=r"^no such option for runs; it is for tables: --quiet$"):
        refuse_others(parse(Command, ["a", "-q"]), "runs")


def test_help_of_a_command_has_two_spellings(call):
    assert call("help", "suite", "add") == call("suite", "add", "--help")
    assert call("help") == call("--help")
    assert call("-V") == call("--version")
    assert call()[0] == 2
