"""The README: every command of it runs, against servers that stand for the published suite, a model and a judge."""

import threading

import pytest
from makers import documented, terminal
from makers.documented import ROOT, tool
from makers.fault_server import answering, serving
from makers.runs import results_as_lines
from makers.suite_files import whole
from pfgen_fast.runs import result_tables
from pfgen_fast.suite.published import PublishedSuite

README = ROOT / "README.md"


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """The blocks of commands, by the first command of each; the working directory is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "")
    blocks = [block.code for block in documented.blocks(README) if block.language == "sh"]
    return {block.split()[1]: block for block in blocks}


@pytest.mark.slow
def test_a_model_finds_its_place(call, commands, suites_home, varied, tmp_path, monkeypatch):
    assert call("score", varied, "-s", "mini", "-o", tmp_path / "others")[0] == 0
    table = tmp_path / "table.jsonl"
    table.write_text("".join(results_as_lines(tmp_path / "others")), encoding="utf-8")
    monkeypatch.setattr(result_tables, "_TABLE", table)
    answer = answering("Ice is less dense than water.")
    with serving(whole) as files, serving(lambda request: answer) as server:
        monkeypatch.setattr(PublishedSuite, "base_url", files.base_url)
        block = commands["suite"].replace("http://localhost:8000/v1", server.base_url)
        printed = terminal.run_here(block)
    assert "--suite pfgen-bench" in printed
    assert printed.count(" of 7, between ") == 2  # by evaluate and by place


@pytest.mark.slow
def test_long_answers_are_judged_and_an_evaluator_is_tested(call, commands, monkeypatch, undrawn):
    fake = tool("fake_judge", "examples")
    with fake.serving(0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}/v1")
        assert call("checklists", "generate", "--suite", "essays-en", "-m", "fake/long", "-o", "runs")[0] == 0
        judge, discern = commands["checklists"].splitlines()
        assert "7 of 7 ratings" in terminal.run_here(judge.replace("org/judge", "fake/judge-1"))
        server.shutdown()
    assert "damage" in terminal.run_here(discern + "\n")


def test_it_is_as_long_as_a_first_page():
    assert 90 <= len(README.read_text(encoding="utf-8").splitlines()) <= 115
