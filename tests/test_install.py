"""What `make` shows while it installs the package."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from makers.documented import ROOT, tool

install = tool("install")


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


def environment(path, code):
    script = f"import sys; {code}; sys.argv = {['environment.py', str(path)]!r}; import runpy; " + (
        f"runpy.run_path({str(ROOT / 'tools' / 'environment.py')!r}, run_name='__main__')"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("path", "code", "sentence"),
    [
        ("env", "sys.version_info = (3, 9, 2)", r"Python 3\.10 or newer is needed, and .* is Python 3\.9: .*PYTHON="),
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
