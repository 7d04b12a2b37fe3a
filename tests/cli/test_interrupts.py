"""Ctrl-C and a lack of memory end a command with one line, whatever the command is doing."""

import os
import subprocess
import sys

import pytest

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
        ("dataclasses", "", "KeyboardInterrupt", 130, "error: stopped\n"),
        ("pfgen_fast.runs.trials", "", "KeyboardInterrupt", 130, "error: stopped\n"),
        ("dataclasses", "", "MemoryError", 2, LACKS.format("MemoryError")),
        ("pfgen_fast.cli.score", LIMIT, "ImportError('failed to map segment')", 2, LACKS.format("ImportError")),
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
