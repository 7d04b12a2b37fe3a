"""What `make` shows while it installs the package."""

from __future__ import annotations

import importlib.util
import io
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

NINJA = "print('  [1/12] Building CXX object a.o'); print('  note'); print('  [12/12] Linking')"


@pytest.fixture(scope="module")
def install():
    spec = importlib.util.spec_from_file_location("install", ROOT / "tools" / "install.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_many_files_are_compiled(install, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    install.run("compiling", [sys.executable, "-c", NINJA])
    begun, one, last, done = terminal.getvalue().split("\r")
    assert (begun, one, last) == ("compiling", "compiling: 1 of 12\033[K", "compiling: 12 of 12\033[K")
    assert re.fullmatch(r"compiling: \d+ s\033\[K\n", done)


def test_a_log_has_a_line_when_a_step_begins_and_one_when_it_ends(install, capsys):
    install.run("compiling", [sys.executable, "-c", NINJA])
    assert re.fullmatch(r"compiling\n  done in \d+ s\n", capsys.readouterr().out)


def test_a_step_that_fails_shows_what_it_said_last(install, capsys):
    script = "[print(n) for n in range(100)]; raise SystemExit('no compiler')"
    with pytest.raises(SystemExit, match="1"):
        install.run("compiling", [sys.executable, "-c", script])
    said = capsys.readouterr().err
    assert "\n99\nno compiler\n" in said
    assert "\n30\n" not in said
    assert re.search(r"\ncompiling: failed after \d+ s\n$", said)


def test_the_build_tools_are_those_of_the_package(install):
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    requires = re.findall(r"^requires = \[(.*)\]$", declared, flags=re.MULTILINE)[0]
    assert set(re.findall(r'"(.+?)"', requires)) <= set(install.BUILD_TOOLS)


def test_nothing_compiles_the_package_twice():
    """`make test` after `make demo` installs what the tests need beside the package that is there."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert not re.search(r"\$\(PIP\) \"?\.", makefile)
    assert makefile.count("python tools/install.py") == 1
