"""Exit codes: the table of docs/reference/commands.md holds for every command."""

import json
import os
import re
import subprocess
import sys

import pytest
from makers.documented import ROOT
from makers.public_api import LEAVES, options_of
from makers.runs import make_run, trial_lines

WITHOUT_INPUT = {"discern kinds", "suite info", "serve"}
"""Commands that read no file that is named by an argument."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAVES)
def test_help_succeeds_and_an_unknown_option_is_code_2(call, refused, name):
    assert call(*name.split(), "--help")[0] == 0
    assert "--no-such-option" in refused(*name.split(), "--no-such-option")


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in WITHOUT_INPUT])
def test_an_input_that_is_not_there_is_code_2(call, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, _, err = call(*name.split(), "not-there")
    assert code == 2, err
    assert err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("epoch", "code"), [("", 0), ("soon", 2), ("9" * 20, 2)])
def test_a_time_that_cannot_be_read_is_code_2(call, tmp_path, monkeypatch, epoch, code):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    (tmp_path / "scores.csv").write_text("item,a,b\n1,2,2\n", encoding="utf-8")
    line = ("compare", tmp_path / "scores.csv", "--fail-if-worse", "--junit", tmp_path / "checks.xml")
    assert call(*line)[0] == code


@pytest.fixture
def runs(call, tmp_path, mini):
    make_run(tmp_path / "runs/good", trial_lines(mini, 3), {"model": "me/good"})
    worse = [json.dumps({**json.loads(line), "answer": "Well."}) for line in trial_lines(mini, 3)]
    make_run(tmp_path / "runs/worse", worse, {"model": "me/worse"})
    assert call("score", "--suite", "mini", tmp_path / "runs")[0] == 0
    return tmp_path / "runs"


def test_each_command_with_a_check_is_documented():
    section = (
        (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8").split("## Exit codes")[1].split("\n## ")[0]
    )
    rows = section.split("| command |")[1].splitlines()[2:]
    documented = {name for row in rows if row for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    checks = {"--fail-under", "--fail-if-worse", "--verify"}
    options = {name: {flag for option in options_of(name) for flag in option.names} for name in LEAVES}
    with_check = {f"{name} {option}" for name in LEAVES for option in checks & options[name]}
    assert documented == {*with_check, "suite check"}


@pytest.mark.parametrize(
    "name", ["score", "leaderboard", "place", "report", pytest.param("score --verify", marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("undrawn")
def test_a_failed_input_among_others_is_code_3_and_named(call, runs, tmp_path, name):
    make_run(runs / "bad", ["{"], {"model": "me/bad"})
    (runs / "bad/result.json").write_text("{")
    options = {
        "score": ("--suite", "mini"),
        "score --verify": ("--suite", "mini", "--sample", "2"),
        "report": ("--suite", "mini", "-o", tmp_path / "page.html"),
        "place": ("--against", runs / "good"),
    }  # fmt: skip
    code, out, err = call(*name.split(), runs, *options.get(name, ()))
    assert code == 3, err
    assert out
    assert str(runs / "bad") in err


# ---- Ctrl-C and a lack of memory end a command with one line, whatever the command is doing


INTERRUPTED = """import sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {name!r}:
            raise {error}
sys.meta_path.insert(0, Finder)
"""


LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 40, resource.RLIM_INFINITY))\n"
LACKS = "error: not enough memory ({}); raise the limit of this process (ulimit -v)\n"


@pytest.mark.parametrize(
    ("module", "before", "error", "code", "line"),
    [
        ("dataclasses", "", "KeyboardInterrupt", 130, "stopped\n"),
        ("pfgen_fast.runs.trials", "", "KeyboardInterrupt", 130, "stopped\n"),
        ("dataclasses", "", "MemoryError", 2, LACKS.format("MemoryError")),
        ("pfgen_fast.cli.score.score", LIMIT, "ImportError('failed to map segment')", 2, LACKS.format("ImportError")),
        ("pfgen_fast.runs.trials", LIMIT, "RuntimeError('no new thread')", 2, LACKS.format("RuntimeError")),
    ],
)
def test_an_interrupt_or_a_lack_of_memory_during_imports_is_one_line(tmp_path, module, before, error, code, line):
    """Python runs sitecustomize before anything else; there, the import of one module becomes an error."""
    (tmp_path / "sitecustomize.py").write_text(before + INTERRUPTED.format(name=module, error=error))
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-m", "pfgen_fast", "score", "--suite", "mini", str(tmp_path)]
    run = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (code, "", line)
