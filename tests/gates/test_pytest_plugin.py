"""The pytest plugin: gates as assertions, in a session of pytest of their own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from xml.etree import ElementTree

import pytest
from makers.documented import documented_example, tool

pytest_plugins = ["pytester"]

PLUGIN = "pfgen_fast.integrations.pytest_plugin"


@pytest.fixture
def run(pytester, varied):
    """Runs test functions with the plugin; `RUNS` is a list of runs from good to bad."""

    def call(body: str, *arguments: str):
        runs = [str(varied / f"org/model-{number}/abc") for number in range(6)]
        code = f"import numpy as np\nimport pytest\nfrom pfgen_fast import PfgenError, Scorer\nRUNS = {runs}\n"
        pytester.makepyfile(code + textwrap.dedent(body))
        return pytester.runpytest_inprocess("-p", PLUGIN, "-p", "no:pfgen", "-W", "default", *arguments)

    return call


def test_runs_are_checked(run):
    found = run(
        """
        MINI = Scorer("mini")

        def test_better(pfgen):
            assert pfgen.assert_not_worse(RUNS[0], RUNS[5], scorer=MINI).outcome == "passed"

        def test_worse(pfgen):
            pfgen.assert_not_worse(RUNS[5], RUNS[0], scorer=MINI, metric="score")

        def test_margin(pfgen):
            pfgen.assert_non_inferior(RUNS[5], RUNS[0], margin=0.9, scorer=MINI, metric="fluency")

        def test_same(pfgen):
            pfgen.assert_non_inferior(RUNS[2], RUNS[2], margin=0.01, scorer=MINI)

        def test_high(pfgen):
            pfgen.assert_at_least(RUNS[0], 0.2, scorer=MINI)
            pfgen.assert_at_least(RUNS[0], 0.1, figure="score_low", scorer=MINI)

        def test_low(pfgen):
            pfgen.assert_at_least(RUNS[0], 0.99, figure="helpfulness", scorer=MINI)
        """,
        "--junitxml=out.xml",
    )
    found.assert_outcomes(passed=4, failed=2)
    found.stdout.fnmatch_lines(["*AssertionError: failed: score: *model-5/abc is worse than *model-0/abc: *"])
    assert "_said" not in found.stdout.str()
    properties = ElementTree.parse("out.xml").getroot().iter("property")
    assert any(each.get("name").startswith("pfgen: score not worse") for each in properties)


def test_tables_are_checked(run, tmp_path):
    lines = [
        f"i{item},{model},{(item % 7) / 10 + (model == 'new') * 0.2}" for item in range(9) for model in ("new", "b")
    ]
    path = tmp_path / "scores.csv"
    path.write_text("item,model,score\n" + "\n".join(lines) + "\n", encoding="utf-8")
    found = run(
        f"""
        TABLE = {str(path)!r}
        ROWS = [{{"item": str(n), "model": "x", "score": n % 3 / 3}} for n in range(8)]

        def test_models_of_a_file(pfgen):
            pfgen.assert_not_worse("new", "b", scores=TABLE, undecided="fail")
            pfgen.assert_at_least("new", 0.2, scores=TABLE)

        def test_two_tables_in_memory(pfgen):
            other = [{{**row, "score": row["score"] + 0.1}} for row in ROWS[:7]]
            pfgen.assert_not_worse(other, ROWS)
            with pytest.raises(AssertionError, match="x .new. is worse than x .old."):
                pfgen.assert_not_worse(ROWS, other)

        def test_what_is_refused(pfgen):
            for arguments, message in (
                ((TABLE, ROWS), "2 models in a table"),
                ((RUNS[0], ROWS), "a run and a table of scores"),
                ((ROWS, [{{"item": "z", "model": "x", "score": 1}}]), "no item in common"),
                ((ROWS, [{{"item": "1", "model": "x", "accuracy": 1}}]), "no metric in common"),
            ):
                with pytest.raises(ValueError, match=message):
                    pfgen.assert_not_worse(*arguments)
            with pytest.raises(ValueError, match="expected a number above 0"):
                pfgen.assert_non_inferior(ROWS, ROWS, margin=0)
            with pytest.raises(PfgenError, match="unknown figure 'scor'; .*did you mean 'score'"):
                pfgen.assert_at_least(ROWS, 0, figure="scor")
        """
    )
    found.assert_outcomes(passed=3)


UNDECIDED = """
    def test_it(pfgen):
        rows = [{"item": str(n), "model": "x", "score": n % 3} for n in range(8)]
        other = [{**row, "score": row["score"] + n % 2 - 0.5} for n, row in enumerate(rows)]
        pfgen.assert_not_worse(rows, other MORE)
"""


def test_an_undecided_gate_warns_or_fails(run):
    found = run(UNDECIDED.replace("MORE", ""))
    found.assert_outcomes(passed=1, warnings=1)
    found.stdout.fnmatch_lines(["*score: the data cannot tell whether *; counts as passed"])
    run(UNDECIDED.replace("MORE", ", undecided='fail'")).assert_outcomes(failed=1)


def test_the_example_of_the_guide_runs(run, varied):
    code = documented_example("def test_the_new_checkpoint(pfgen)")
    code = code.replace('"new"', "RUNS[0]").replace('"baseline"', "RUNS[1]")
    found = run(code)
    found.assert_outcomes(passed=code.count("def test_"))


def test_the_plugin_imports_little(pytester):
    """pytest loads it at the start of each session of each project on the machine."""
    heavy = "{'numpy', 'rich', 'typer', 'orjson'}"
    code = f"import pytest, sys; import {PLUGIN}; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_pytest_finds_the_plugin_by_its_entry_point():
    declared = tool("package").tomllib.loads((tool("package").ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert declared["project"]["entry-points"]["pytest11"] == {"pfgen": PLUGIN}
