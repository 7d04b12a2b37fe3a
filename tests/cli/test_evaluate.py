"""`pfgen-fast evaluate`: one command with the files of its four steps, and its notes where a step is not possible."""

from __future__ import annotations

import json
import shlex

import pytest
from makers.fault_server import Reply, answering, serving
from makers.leaderboards import results_as_lines
from pfgen_fast import Suite
from pfgen_fast.runs import result_tables

RUN = ("evaluate", "-e", "ngram", "-s", "mini", "-n", "3")


@pytest.fixture
def field(call, varied, tmp_path, monkeypatch):
    """A folder to work in, where scored runs of the packaged suite stand for the published ones."""
    monkeypatch.chdir(tmp_path)
    assert call("score", varied, "-s", "mini", "-o", tmp_path / "others")[0] == 0
    table = tmp_path / "table.jsonl"
    table.write_text("".join(results_as_lines(tmp_path / "others")), encoding="utf-8")
    monkeypatch.setattr(result_tables, "_TABLE", table)
    return tmp_path


def test_a_run_is_made_scored_placed_and_reported(call, field):
    code, out, err = call(*RUN)
    assert (code, err.count("\n")) == (0, 1)  # the progress of the answers
    folder = next((field / "result/ngram/order-5").iterdir())
    lines = out.splitlines()
    placed = next(number for number, line in enumerate(lines) if ", rank " in line)
    assert lines[0].startswith("24 new answers: result/ngram/order-5/")
    assert " of 7, between " in lines[placed]
    assert any(line.startswith("3 trials: other answers of the model would move the score by ±0.") for line in lines)
    assert "<title>" in (folder / "report.html").read_text(encoding="utf-8")

    files = {path: path.read_bytes() for path in folder.iterdir()}
    steps = [shlex.split(line)[1:] for line in lines[-4:]]
    assert [step[0] for step in steps] == ["generate", "score", "place", "report"]
    outputs = [call(*step) for step in steps]
    assert [code for code, _, _ in outputs] == [0, 0, 0, 0]
    assert outputs[2][1].splitlines() == lines[placed : placed + len(outputs[2][1].splitlines())]
    assert {path: path.read_bytes() for path in folder.iterdir()} == files


def test_its_figures_are_those_of_json_and_it_goes_on(call, field):
    first = json.loads(call(*RUN, "--json", "--report", "page.html")[1])
    assert (first["n_new"], first["report"], first["placement"]["of"]) == (24, "page.html", 7)
    assert first["placement"]["score"] == first["score"]
    more = json.loads(call(*RUN[:-1], "4", "--json", "--report=page.html")[1])
    assert (more["n_existing"], more["n_new"]) == (24, 8)
    steps = call(*RUN[:-1], "4", "--report", "page.html")[1].splitlines()[-4:]
    assert shlex.split(steps[0])[1:] == ["generate", *RUN[1:-1], "4"]
    assert call(*RUN, "--quiet")[1] == ""


def test_a_run_of_another_suite_is_reported_but_not_placed(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*RUN)
    assert (code, ", rank " in out) == (0, False)
    note = "note: not placed: mini is not the suite of the published runs (--suite pfgen-bench)"
    assert err.splitlines()[1] == note
    assert "pfgen-fast place" not in out
    assert "report: result/ngram" in out


def test_some_questions_are_scored_only(call, field):
    code, out, err = call(*RUN, "--limit", "2")
    assert (code, "of 8 questions" in out, ", rank " in out) == (0, True, False)
    assert err.splitlines()[-1] == "note: not placed and not reported: the run has some questions of the suite only"


def test_a_page_that_cannot_be_written_is_refused_before_any_answer(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(*RUN, "--report", "page.pdf")[0] == 2
    assert not (tmp_path / "result").exists()


def test_the_published_suite_is_the_default(call, field):
    code, _, err = call("evaluate", "-e", "ngram")
    assert code == 2
    assert "pfgen-bench" in err


def test_a_run_without_a_complete_trial_is_not_placed(call, field, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    last = Suite.load("mini").questions[-1].question
    asked = ("-m", "org/model", "--mode", "qa", "--retries", "0", "-s", "mini", "-n", "1")

    def reply(request):
        return Reply(status=503) if request.question == last and is_down else answering("An answer.")

    with serving(reply) as server:
        is_down = True
        code, out, err = call("evaluate", "-e", "openai", "--base-url", server.base_url, *asked)
        assert (code, ", rank " in out, "503" in err) == (3, False, True), err
        is_down = False
        code, out, err = call("evaluate", "-e", "openai", "--base-url", server.base_url, *asked)
        assert (code, ", rank " in out) == (0, True)
