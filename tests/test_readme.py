"""The README: its command for the published suite, against servers that stand for the suite and a model."""

import re

import pytest
from makers import documented, published, terminal
from makers.documented import ROOT
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
    assert " of 7, between " in printed


@pytest.mark.nightly
@published.needs_published_runs
def test_the_place_of_the_ngram_engine_is_the_printed_one(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, printed, _ = call("evaluate", "--engine", "ngram", "--suite", published.FOLDER / "data")
    place = re.search(r"`(ngram/.+?)`", README.read_text(encoding="utf-8"))[1]
    assert (code, place in printed) == (0, True), printed


def test_it_is_as_short_as_a_first_page_and_its_first_command_needs_only_the_package(commands):
    assert "new    0.7895" in terminal.run_here(commands[">"])
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 90
