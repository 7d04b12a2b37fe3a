"""examples/fake_judge.py, with which docs/checklists.md begins: it plays a model and a judge, always alike."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import threading
import urllib.request
from pathlib import Path

PATH = Path(__file__).parents[2] / "examples" / "fake_judge.py"


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


def post(url, body):
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def test_the_server_says_its_version_and_where_it_cut_an_answer():
    body = {"model": "fake/long", "messages": [{"role": "user", "content": "Write about winter."}], "seed": 1}
    with serving() as url:
        whole, cut = post(url, body), post(url, {**body, "max_tokens": 5})
    assert (whole["model"], whole["system_fingerprint"]) == ("fake/long-2026-01-01", "fake_1")
    assert whole["choices"][0]["finish_reason"] == "stop"
    assert cut["choices"][0]["finish_reason"] == "length"
    assert len(cut["choices"][0]["message"]["content"]) == 20


def commands_of_the_first_run():
    """The first commands of docs/checklists.md and the table that they print, as the page has them."""
    text = (PATH.parents[1] / "docs" / "checklists.md").read_text(encoding="utf-8")
    section = text.partition("## In five minutes, without a model\n")[2].partition("\n## ")[0]
    lines = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    commands = [line.partition(" #")[0].split()[1:] for line in lines if line.startswith("pfgen-fast")]
    return commands, [line for line in lines if line[0].isdigit()]


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
    models = [line for line in printed[4].splitlines() if re.match(r"\d+ +fake_", line)]
    assert [line.split() for line in models] == [line.split() for line in table]
    assert Path("report.html").stat().st_size > 50_000
    assert "100.0" in next(line for line in printed[-1].splitlines() if line.endswith("fake_dull"))
