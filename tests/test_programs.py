"""Programs beside the package: the installer, the bench, and those of examples/ and of docs/reward_hacking.md."""

import importlib
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pfgen_fast
import pytest
from makers.documented import ROOT, tool
from pfgen_fast import Reward

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
    ("message", "sentence"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        ("connection broken by 'NewConnectionError('<pip>: Failed to establish a new connection')'", "not reached"),
        ("error: subprocess-exited-with-error", None),
    ],
)
def test_a_known_failure_is_one_sentence(message, sentence):
    result = install.reason(message)
    assert (result is None) if sentence is None else (sentence in result and "\n" not in result)


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


# ---- The bench: its table, its comparison of revisions, and its measurements without a checkout


PACKAGE = Path(pfgen_fast.__file__).parent


@pytest.fixture(scope="module")
def table():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("bench.table")


def bench(folder, *arguments):
    """Runs measures quickly, without a checkout; returns what was said, and the table or None."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**own, "PFGEN_BENCH": str(folder / "nowhere"), "PYTHONPATH": str(PACKAGE.parent)}
    created = folder / "bench.json"
    options = ["--quick", "--benchmark-only", "--benchmark-quiet", f"--benchmark-json={created}"]
    command = [sys.executable, "-m", "pytest", *options, f"--basetemp={folder / 'scratch'}", *arguments]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return run, json.loads(created.read_text(encoding="utf-8")) if created.exists() and created.stat().st_size else None


@pytest.mark.slow
def test_without_a_checkout_the_packaged_suite_is_measured(table, tmp_path):
    run, measured = bench(tmp_path, "bench/bench_scoring.py", "-k", "reward")
    assert run.returncode == 0, run.stdout
    assert "Measured on the packaged suite mini" in run.stdout
    whats = [row.what for row in table.rows_of(measured)]
    assert "reward of one answer, the mix in its order" in whats
    assert "the packaged suite mini and 4 runs of the n-gram engine" in table.table(measured)[2]
    assert all(item["stats"]["rounds"] == 1 for item in measured["benchmarks"])


# ---- The programs in examples/, each against its training library, with a tiny random model


@pytest.mark.models
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("mode", ["completion", "qa"])
def test_the_program_trains_a_model_and_logs_both_rewards(tiny_model, tmp_path, mode):
    from safetensors.torch import load_file

    grpo = tool("grpo_reward", "examples")
    options = "--steps 2 --generations 4 --prompts 2 --max-tokens 24 --examples 2 --trials 2 --learning-rate 1e-3"
    arguments = [str(tiny_model), "--mode", mode, "--output", str(tmp_path / "out"), *options.split()]
    log = grpo.train(grpo.parser().parse_args([*arguments, "--held-out", "mini"]))

    assert sum("reward" in entry for entry in log) == 2
    assert all(0 < float(entry["rewards/held_out_chrf/mean"]) < 100 for entry in log if "reward" in entry)
    before, after = load_file(tiny_model / "model.safetensors"), load_file(tmp_path / "out" / "model.safetensors")
    assert any((before[name] != after[name]).any() for name in before)


def test_a_missing_package_is_named_in_one_line(monkeypatch):
    grpo = tool("grpo_reward", "examples")
    monkeypatch.setattr(sys, "argv", ["grpo_reward.py", "m"])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match=r"error: torch is not installed: pip install 'pfgen-fast\[trl\]'"):
        grpo.main()


# ---- The experiments of docs/reward_hacking.md, and its tables and picture


@pytest.fixture(scope="module")
def program():
    return tool("reward_hacking")


@pytest.fixture(scope="module")
def search(program):
    return program.reward_search


def test_the_page_and_its_picture_are_what_the_program_makes_of_the_files(program, search):
    result, training = program.read(search.FILE), program.read(program.reward_training.FILE)
    page = program.PAGE.read_text(encoding="utf-8")
    assert program.filled(page, result, training) == page
    assert page.count(program.BEGIN) == 2
    assert program.PICTURE.read_text(encoding="utf-8") == program.draw(training["runs"])


@pytest.mark.parametrize("metric", ["score", "truthfulness"])
def test_a_search_raises_the_reward_and_finds_the_same_again(search, metric):
    reward = Reward("mini", metric=metric)
    for question, (answer, known) in zip(("Q07", "Q08"), list(search.starts("good"))[6:], strict=True):
        start = "Because of " + answer[:20]
        result = search.search(reward, question, start, known, seed="1", rounds=30)
        assert result == search.search(reward, question, start, known, seed="1", rounds=30)
        assert reward(question, [result])[0] > reward(question, [start])[0]


@pytest.mark.nightly
def test_the_search_finds_what_the_file_has(program, search):
    assert search.measure() == program.read(search.FILE)


@pytest.mark.models
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def test_a_model_is_made_and_trained_with_each_reward(program, tmp_path):
    training, measures = program.reward_training, tool("reward_measures")
    suites = measures.write_suites(tmp_path)
    training.write_model(tmp_path / "model", 2)
    for shape in training.SHAPES.values():
        run = training.train(tmp_path / "model", suites, shape, 2, window=1, seed=1)
        assert [row["step"] for row in run["rows"]] == [1, 2]
        assert all(math.isfinite(value) for row in run["rows"] for value in row.values())
