"""Checks the code base itself: versions, stubs, examples, package contents."""

import ast
import doctest
import importlib
import itertools
import re
import shutil
import subprocess
import sys

import pfgen_fast
import pytest
from makers import published
from makers.documented import ROOT
from makers.runs import make_run, trial_lines
from pfgen_fast import _core

PACKAGE = ROOT / "python" / "pfgen_fast"
WITH_EXAMPLES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


def test_the_version_is_the_same_everywhere():
    (declared,) = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    assert pfgen_fast.__version__ == _core.__version__ == declared
    assert f'"version": "{declared}"' in (ROOT / "js" / "package.json").read_text()
    assert (ROOT / "CITATION.cff").read_text().startswith("# @software{")  # BibTeX, as the guide for researchers says
    others = (ROOT / "CITATION.cff").read_text() + (ROOT / "docs" / "stability.md").read_text()
    assert not re.search(r"^version:|fast\W+\d|version is \d", others, flags=re.MULTILINE)


def test_the_changelog_begins_with_unreleased_changes():
    """A release turns this heading into its own; see docs/releasing.md."""
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", section) for section in sections[1:])


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_run(name):
    try:
        module = importlib.import_module(name)
    except pfgen_fast.PfgenError as error:  # a module that subclasses what another package has
        if not (name.startswith("pfgen_fast.integrations.") and "which is not installed: pip install" in str(error)):
            raise
        pytest.skip(str(error))
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(module):
        if test.examples:  # those without take time, for each run looks whether any file has changed
            runner.run(test)
    assert runner.summarize().failed == 0


WITH_SLOW_IMPORTS = """import atexit, sys
import pfgen_fast.cli
slow = {'numpy', 'scipy', 'rich', 'backports.zstd', 'compression.zstd', 'pfgen_fast.cli.score.score'}
atexit.register(lambda: print(slow & set(sys.modules)))
pfgen_fast.cli.main()"""


def printed_by(script: str, *arguments: object) -> str:
    """What a script prints in a separate process."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_help_waits_for_no_library():
    assert printed_by(WITH_SLOW_IMPORTS, "--help").endswith("set()\n")


def test_runs_are_scored_without_numpy(mini, tmp_path):
    make_run(tmp_path, trial_lines(mini))
    printed = printed_by(WITH_SLOW_IMPORTS, "score", "--suite", "mini", tmp_path)
    assert "\u00b1" in printed  # with its interval
    assert printed.endswith("{'pfgen_fast.cli.score.score'}\n")
    assert (tmp_path / "result.json").exists()


def test_a_scorer_imports_numpy_so_that_no_thread_does_while_another_forks():
    script = "import sys, pfgen_fast; pfgen_fast.Scorer('mini'); print('numpy' in sys.modules)"
    assert printed_by(script) == "True\n"


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module has another name")
def test_a_sub_interpreter_cannot_import_the_package():
    script = """import _xxsubinterpreters as interpreters
try:
    interpreters.run_string(interpreters.create(), "import pfgen_fast")
except interpreters.RunFailedError as error:
    print(error)"""
    sentence = "ImportError'>: pfgen_fast works only in the main interpreter: use threads or processes"
    assert sentence in printed_by(script)


def test_the_stub_names_what_the_core_has():
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    declared = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert set(declared) == {name for name in vars(_core) if not name.startswith("_")}
    for name, node in declared.items():
        if isinstance(node, ast.ClassDef) and not issubclass(getattr(_core, name), Exception):
            items = [item for item in node.body if not isinstance(item, ast.Expr)]  # a class may hold `...` alone
            names = {getattr(item, "name", None) or item.target.id for item in items}
            public = {key for key in vars(getattr(_core, name)) if not key.startswith("_")} - {"name", "value"}
            assert {key for key in names if not key.startswith("_")} == public


@pytest.mark.slow
def test_the_packaged_suite_is_what_its_script_makes():
    subprocess.run([sys.executable, ROOT / "tools" / "make_mini_suite.py", "--check"], check=True)


@pytest.mark.slow
@published.needs_published_runs
def test_no_published_sentence_is_in_the_project(mini):
    assert sentences(published.suite()).isdisjoint(sentences(mini))


def sentences(suite):
    texts = [text for q in suite for text in (q.question, q.note, *itertools.chain(*q.answers.values()))]
    return {part for text in texts for part in re.split("[。.!?？！\n]", text) if len(part) > 10}


def test_a_missing_core_says_how_to_build_it(tmp_path):
    """A copy of the package without the compiled module, as in a checkout before the build."""
    built = shutil.ignore_patterns("_core*.so", "_core*.pyd", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "pfgen_fast", ignore=built)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        # Finders of editable installs are instances, whereas Python's own finders are classes.
        "sys.meta_path[:] = filter(lambda finder: isinstance(finder, type), sys.meta_path)\n"
        "import pfgen_fast"
    )
    run = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "the native core of pfgen_fast is missing or does not load" in run.stderr
    assert "pip install ." in run.stderr


def test_the_demo_prints_its_table_and_needs_no_extra():
    script = (
        "import runpy, sys\n"
        f"runpy.run_path({str(ROOT / 'examples' / 'demo.py')!r}, run_name='__main__')\n"
        "print(sorted({'jinja2', 'matplotlib', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    printed = printed_by(script)
    for line in (
        r"careful +0\.\d{4}",
        r"ngram/order-4 +0\.\d{4}",
        r"  helpfulness +notices \d+ of \d+ kinds; .*not noticed: .*negate",
        r"  a denial of every statement +costs the average 0\.\d{3}",
    ):
        assert re.search(f"^{line}", printed, flags=re.MULTILINE)
    assert pfgen_fast.__version__ in printed
    assert printed.endswith("\n[]\n")
