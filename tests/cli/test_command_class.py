"""Commands that are classes: their options, the groups in them, and what they are called with."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from pfgen_fast.cli.command_class import command, option_group
from typer import Argument, Option
from typer.testing import CliRunner


@option_group
class Group:
    level: int = Option(3, "-l", min=1, help="Set the level.")
    is_fast: bool = Option(False, help="Be fast.")


def maker(word: str = "hi") -> str:
    return word * 2


class Greet:
    """Greets somebody."""

    name: str = Argument(help="Name.")
    group: Group
    loud: bool = Option(False, "-x", help="Be loud.")
    made: Annotated[str, maker]

    def __call__(self) -> None:
        print(self.name, self.group, self.loud, self.made)


app = typer.Typer()
app.command()(command(Greet))


def run(*arguments):
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        (("you",), "you Group(level=3, is_fast=False) False hihi\n"),
        (("you", "-l", "2", "--is-fast", "-x", "--word", "x"), "you Group(level=2, is_fast=True) True xx\n"),
        (("you", "--level", "9", "--loud"), "you Group(level=9, is_fast=False) True hihi\n"),
    ],
)
def test_fields_are_options_and_groups_are_objects(arguments, out):
    assert run(*arguments).output == out


@pytest.mark.parametrize("arguments", [(), ("you", "--level", "0"), ("you", "--no-loud"), ("you", "--group", "x")])
def test_arguments_that_no_field_allows_are_refused(arguments):
    assert run(*arguments).exit_code == 2


def test_options_have_the_order_of_the_fields_and_a_group_is_frozen():
    out = run("--help").output
    places = [out.index(word) for word in ("Greets somebody.", "--level", "--is-fast", "--loud", "--word")]
    assert places == sorted(places)
    with pytest.raises(AttributeError):
        Group(level=1).level = 2
