"""examples/fake_judge.py, with which docs/checklists.md begins: it plays a model and a judge, always alike."""

import contextlib
import importlib.util
import re
import threading
from pathlib import Path

import pytest

PATH = Path(__file__).parents[3] / "examples" / "fake_judge.py"


def loaded():
    spec = importlib.util.spec_from_file_location("fake_judge", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fake = loaded()


@contextlib.contextmanager
def serving():
    with fake.serving(0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def commands_of_the_first_run():
    """The first commands of docs/checklists.md and the table that they print, as the page has them."""
    text = (PATH.parents[1] / "docs" / "checklists.md").read_text(encoding="utf-8")
    section = text.partition("## In five minutes, without a model\n")[2].partition("\n## ")[0]
    lines = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    commands = [line.partition(" #")[0].split()[1:] for line in lines if line.startswith("pfgen-fast")]
    return commands, [line for line in lines if line[0].isdigit()]


@pytest.mark.slow
def test_the_first_run_of_the_docs_does_what_they_say(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands, table = commands_of_the_first_run()
    assert [words[1] for words in commands] == [*["generate"] * 3, "judge", "table", "report", "table", "errors"]
    with serving() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        printed = []
        for words in commands:
            code, out, err = call(*words)
            assert code == 0, err
            printed.append(out)
    models = [line for line in printed[4].splitlines() if re.match(r" *\d+ +fake_", line)]
    assert [line.split() for line in models] == [line.split() for line in table]
    assert Path("report.html").stat().st_size > 50_000
    assert "100.0" in next(line for line in printed[-1].splitlines() if line.startswith("fake_dull"))
