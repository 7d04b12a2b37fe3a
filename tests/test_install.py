"""What `make` shows while it installs the package."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys

import pytest
from makers.documented import ROOT, tool

install = tool("install")

NINJA = "print('  [1/12] Building CXX object a.o'); print('  note'); print('  [12/12] Linking')"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_many_files_are_compiled(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    install.run("compiling", [sys.executable, "-c", NINJA])
    begun, one, last, done = terminal.getvalue().split("\r")
    assert (begun, one, last) == ("compiling", "compiling: 1 of 12\033[K", "compiling: 12 of 12\033[K")
    assert re.fullmatch(r"compiling: \d+ s\033\[K\n", done)


def test_a_log_has_a_line_when_a_step_begins_and_one_when_it_ends(capsys):
    install.run("compiling", [sys.executable, "-c", NINJA])
    assert re.fullmatch(r"compiling\n  done in \d+ s\n", capsys.readouterr().out)


def test_a_failed_step_shows_its_last_lines(capsys):
    script = "[print(n, flush=True) for n in range(100)]; raise SystemExit('no compiler')"
    with pytest.raises(install.Failed) as failed:
        install.run("compiling", [sys.executable, "-c", script])
    assert str(failed.value).startswith("41\n")
    assert str(failed.value).endswith("\n99\nno compiler\n")


def test_the_build_tools_are_those_of_the_package():
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    requires = re.findall(r"^requires = \[(.*)\]$", declared, flags=re.MULTILINE)[0]
    assert set(re.findall(r'"(.+?)"', requires)) <= set(install.BUILD_TOOLS)


# --- what a machine may lack


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        ("connection broken by 'NewConnectionError('<pip>: Failed to establish a new connection')'", "not reached"),
        ("error: subprocess-exited-with-error", None),
    ],
)
def test_a_known_failure_is_one_sentence(said, sentence):
    found = install.reason(said)
    assert (found is None) if sentence is None else (sentence in found and "\n" not in found)


@pytest.mark.parametrize(
    ("compiler", "sentence"),
    [
        (None, r"a C\+\+20 compiler is needed and none was found: .*apt-get.*"),
        ("", r"the C\+\+ compiler \S+ cannot be started: .+"),
        ("echo 'error: unknown option' >&2; exit 1", r"\S+ compiles no C\+\+20 \(.*\): error: unknown option"),
    ],
)
def test_a_missing_or_old_compiler_is_named_before_anything_is_installed(monkeypatch, tmp_path, compiler, sentence):
    monkeypatch.setattr(install, "run", None)
    path = tmp_path / "c++"
    if compiler is None:
        monkeypatch.delenv("CXX", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        monkeypatch.setenv("CXX", str(path))
    if compiler:
        path.write_text(f"#!/bin/sh\n{compiler}\n", encoding="utf-8")
        path.chmod(0o755)
    with pytest.raises(SystemExit) as stop:
        install.install_checkout()
    assert re.fullmatch(sentence, stop.value.code)


def test_missing_headers_of_python_are_named_where_they_cannot_be_fetched(monkeypatch, tmp_path):
    monkeypatch.setattr(install.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(install, "HEADERS", tmp_path / "headers")
    monkeypatch.setattr(install.shutil, "which", lambda name: None if name == "apt-get" else f"/usr/bin/{name}")
    monkeypatch.setenv("CXX", "c++")
    with pytest.raises(SystemExit, match=r"^Python.h of Python 3\.\d+ is missing: .*apt-get install python3-dev'$"):
        install.install_checkout()


def test_uv_looks_for_packages_where_pip_does(monkeypatch, tmp_path):
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = https://mirror/simple\nfind-links = /a\n /b\ncert = /c.pem\n")
    expected = {"UV_DEFAULT_INDEX": "https://mirror/simple", "UV_FIND_LINKS": "/a /b", "SSL_CERT_FILE": "/c.pem"}
    for name in ("PIP_FIND_LINKS", "PIP_CERT", *expected):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    found = install._uv_settings()
    assert {name: " ".join(found[name].split()) for name in expected} == expected


def test_pip_replaces_a_uv_that_fails_and_reads_the_groups_too(monkeypatch, capsys):
    commands = []

    def run(what, command, env=None):
        commands.append(command)
        if command[0] == "uv":
            raise install.Failed("")

    monkeypatch.setattr(install, "_uv", lambda: "uv")
    monkeypatch.setattr(install, "run", run)
    install.install("packages", ["torch"], ["test", "docs"])
    asked = ["torch", "--group=test", "--group=docs"]
    assert [command[-len(asked) :] for command in commands] == [asked, [*install.PIP, "pip>=25.1"][-3:], asked]


def environment(path, code):
    script = f"import sys; {code}; sys.argv = {['environment.py', str(path)]!r}; import runpy; " + (
        f"runpy.run_path({str(ROOT / 'tools' / 'environment.py')!r}, run_name='__main__')"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("path", "code", "sentence"),
    [
        (
            "env",
            "sys.version_info = (3, 9, 2)",
            r"Python 3\.10 or newer is needed, and .* is Python 3\.9: .*PYTHON=",
        ),
        ("env", "sys.modules['ensurepip'] = None", "has no module ensurepip: .*apt-get install python3-venv"),
        ("file/env", "pass", r"the environment \S+ was not made: .+"),
    ],
)
def test_an_unfit_python_or_place_is_named_and_nothing_is_made(tmp_path, path, code, sentence):
    (tmp_path / "file").touch()
    tried = environment(tmp_path / path, code)
    assert tried.returncode == 1
    assert re.fullmatch(f".*{sentence}.*\n", tried.stderr)
    assert not (tmp_path / path).exists()


def test_files_that_check_the_python_are_read_by_old_ones():
    """No annotation, no f-string: Python 2.7 must come as far as the sentence that names its version."""
    tree = ast.parse((ROOT / "tools" / "environment.py").read_text(encoding="utf-8"))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Nonlocal, ast.Starred)
    assert not [node for node in ast.walk(tree) if isinstance(node, newer) or getattr(node, "annotation", None)]
