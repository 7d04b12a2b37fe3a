"""The pages of the papers: each command in them runs, on data of our own in the form of the paper's."""

import re
import shutil
import sys

import pytest
from makers import documented, published
from makers.builds import write_config, write_raw
from makers.checklist_folders import write_checkout
from makers.documented import DOCS, ROOT
from makers.fault_server import answering, serving
from makers.runs import make_varied_runs
from makers.terminal import run_here, run_in_bash


@pytest.mark.usefixtures("undrawn")
def test_the_commands_of_hellobench_run(tmp_path, monkeypatch):
    results = write_checkout(tmp_path / "HelloBench") / "results"
    for kind in ("generations", "judgements"):
        shutil.copytree(results / kind / "main_exp/heron", results / kind / "main_exp/gpt4o_0806")
    monkeypatch.chdir(tmp_path)
    page = DOCS / "papers" / "hellobench.md"
    [first] = documented.blocks(page)
    run_here(first.code)
    for people in ("people", "verdicts", "pairs", "alone"):
        run_in_bash(f"{sys.executable} {ROOT / 'examples/fake_annotators.py'} {people} runs")
    commands = [command for command in dict.fromkeys(documented.commands(page)) if command not in first.code]
    assert len(commands) >= 10
    printed = {command: run_here(command) for command in commands}
    [means] = [text for command, text in printed.items() if " correlate " in command]
    assert "Means by model and method" in means


@pytest.mark.usefixtures("undrawn")
def test_the_commands_of_pfgen_bench_run(tmp_path, monkeypatch, mini):
    make_varied_runs(tmp_path / "runs", mini, n_trials=1)
    write_raw(tmp_path / "raw.jsonl", mini, n_answers=60)
    tables = "[select]\nsize = 5\nproposals = 9\n[frequency]\nbelow = 1\namong = 'question'"
    write_config(tmp_path, mini, tables=tables).rename(tmp_path / "my-suite.toml")
    (tmp_path / "sentences.csv").write_text("sentence\nIce floats.\nIce is light.\n")
    models = ("openai/gpt-4", "openai/gpt-4o", "Qwen/Qwen-72B-Chat", "mistralai/Mixtral-8x22B-v0.1")
    (tmp_path / "nejumi.csv").write_text("model,score\n" + "".join(f"{m},{9 - n}\n" for n, m in enumerate(models)))
    monkeypatch.chdir(tmp_path)
    commands = dict.fromkeys(documented.commands(DOCS / "papers" / "pfgen_bench.md"))
    assert len(commands) >= 14
    printed = {}
    with serving(lambda request: answering(f"氷は水に浮く。[[{1 + len(request.prompt) % 9}]]")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)  # of "experiment judge"
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        for command in commands:
            if "suite add" in command or ("--by-subject" in command and not published.FOUND):
                continue
            suite = str(published.FOLDER / "data") if "--by-subject" in command else "mini"
            fewer = re.sub(r"--trials \d+", "--trials 1", command).replace("Q01,Q10,Q30", "Q01,Q02")
            fewer = fewer.replace("http://localhost:8000/v1", server.base_url)
            program, run = ("pfgen-fast", run_here)
            if " prompts " in command:  # which writes bytes
                program, run = f"{sys.executable} -m pfgen_fast", run_in_bash
            printed[command] = run(fewer.replace("pfgen-bench", suite).replace("pfgen-fast", program))

    def output(part):
        return next(text for command, text in printed.items() if part in command)

    assert "at least 0.99900" in output("experiment sets")
    assert "over 4 models;" in output("experiment agreement")
    sentence = "ユーザの質問に1行で答えてください。"
    assert [output(mode).count(sentence) for mode in ("--mode completion", "--mode chat")] == [6, 6]
    assert {request.body.get("top_k") for request in server.requests} == {None, 1000}
    assert (tmp_path / "made" / "Q01.json").is_file()
