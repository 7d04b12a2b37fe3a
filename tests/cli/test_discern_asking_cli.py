"""`pfgen-fast discern` with a judge and a model that makes texts: costs, budgets, stored replies, faults and kills."""

import os
import sys
from pathlib import Path

import pytest
from cli.discern_commands import KINDS, begin_work, cells, one_error, rows_of, run, tables, write_lines
from makers.asked_engines import moody_text
from makers.fault_server import answering, serving

ONCE = ("--ratings", 1)
PRICES = ("--prompt-price", 1, "--reply-price", 2)


@pytest.fixture(autouse=True)
def _at_work(tmp_path, monkeypatch):
    begin_work(tmp_path, monkeypatch)


def behave(request):
    return answering(moody_text(request.prompt, request.body["seed"]))


@pytest.fixture
def unasked():
    """A server that no command of the test asks."""
    with serving(behave) as server:
        yield server
        assert server.requests == []


def judged(call, server, *more, kinds=KINDS, source="texts.jsonl", output="out"):
    usual = ("-e", "judge", "-m", "org/judge", "--kinds", kinds, "-o", output)
    address = () if server is None else ("--base-url", server.base_url)
    return call("discern", "run", source, *usual, *address, *more)


def test_a_dry_run_sends_nothing_and_says_costs(call, unasked):
    code, out, _ = judged(call, unasked, "--dry-run", *PRICES, "-e", "metrics")
    assert code == 0
    (sentence,) = out.splitlines()
    # 12 items, four metrics, five ratings: originals twice, and two kinds of damage; an equal text is asked for once.
    assert sentence.startswith("1,200 ratings (240 equal to others); 960 requests of about ")
    assert ": costs up to about " in sentence
    assert not Path("out").exists()


@pytest.mark.slow
def test_a_budget_stops_and_the_same_command_goes_on_to_the_same_files(call):
    with serving(behave) as server:
        assert judged(call, server, *ONCE, output="whole")[0] == 0
        n_requests = len(server.requests)
        stopped = judged(call, server, *ONCE, *PRICES, "--budget", "0.01")
        assert stopped[0] == 3
        assert "the budget of 0.01 is used up after " in stopped[2]
        assert "run the same command again to continue" in stopped[2]
        assert os.listdir("out") == ["judge-ratings.jsonl"]
        assert judged(call, server, *ONCE)[0] == 0
        assert len(server.requests) == 2 * n_requests
    assert tables("out") == tables("whole")
    assert judged(call, None, *ONCE, "--offline")[0] == 0
    assert tables("out") == tables("whole")


def test_offline_says_how_many_replies_are_missing_and_partial_takes_the_complete_items(call):
    offline = (call, None, *ONCE, "--offline")
    message = one_error(judged(*offline, kinds="negate/1000"))
    assert message.startswith("out/judge-ratings.jsonl: no such file; expected the replies of an earlier call")
    write_lines("some.jsonl", rows_of(11))
    with serving(behave) as server:
        assert judged(call, server, *ONCE, source="some.jsonl", kinds="negate/1000")[0] == 0
    code, _, err = judged(*offline, kinds="negate/1000")
    expected = "error: out/judge-ratings.jsonl: 1 of 12 items lack ratings; run the same command again without"
    assert (code, err.startswith(expected)) == (3, True)
    code, _, err = judged(*offline, "--partial", kinds="negate/1000")
    assert (code, "1 of 12 items lack ratings and are left out" in err) == (0, True)
    assert {int(row["n_items"]) for row in cells()} == {11}


def test_replies_without_a_rating_are_counted_and_the_first_is_shown(call):
    with serving(lambda request: answering("I cannot rate this. " * 20)) as server:
        message = one_error(judged(call, server, *ONCE, "--quiet", kinds="negate/1000"))
    assert "96 replies have no rating of the form [[1]] to [[5]] and are left out; the first: 'I can" in message
    assert len(message) < 250


def test_a_maker_makes_texts_that_are_kept(call):
    def make(request):
        text = next(row["text"] for row in rows_of() if row["text"] in request.prompt)
        return answering(text.replace("Ice", "Zorbium").replace("lake", "lagoon"))

    def make_texts(*more):
        usual = ("texts.jsonl", "-e", "python:mine:score", "--maker", "org/maker")
        return run(call, *usual, *more, kinds="fictional_entity")

    with serving(make) as server:
        code, out, _ = make_texts("--base-url", server.base_url, "--dry-run")
        assert (code, server.requests) == (0, [])
        assert out.startswith("24 damaged texts; 24 requests of about ")
        assert "out/perturbed-texts.jsonl: no such file" in one_error(make_texts("--offline"))
        assert make_texts("--base-url", server.base_url)[0] == 0
        assert len(server.requests) == 24
    before = tables()
    assert make_texts("--offline")[0] == 0
    assert tables() == before


def test_bad_input_is_said_before_a_model_is_asked(call, unasked):
    few = write_lines("few.jsonl", rows_of(9))
    assert "few.jsonl: 9 items, expected at least 10" in one_error(judged(call, unasked, source=few))
    Path("w.csv").write_text("task,perturbation,metric,weight\nsummarization,negate,fluenci,1\n", encoding="utf-8")
    without = write_lines("without.jsonl", rows_of(references=None))
    for source, options, message in (
        ("texts.jsonl", ("--weights", "w.csv"), "the weights (w.csv) are for fluenci; expected at least one metric"),
        (without, ("-e", "metrics"), "item item 0: has no references, which the evaluator metrics needs"),
        ("texts.jsonl", ("--budget", 1), "--budget needs prices: "),
        ("texts.jsonl", ("--criteria", "none.toml"), "none.toml: "),
    ):
        assert message in one_error(judged(call, unasked, *options, source=source))


def test_a_missing_package_is_said_before_any_work(call, unasked, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pfgen-fast[plots]" in one_error(judged(call, unasked, "-e", "python:mine:stops"))


def test_texts_that_cannot_be_written_are_said_before_any_work(call, unasked):
    options = ("--plan", "SummEval", "--maker", "m", "--base-url", unasked.base_url)
    assert "p.xlsx: " in one_error(call("discern", "perturb", "texts.jsonl", "-o", "p.xlsx", *options))
    assert sorted(os.listdir()) == ["mine.py", "texts.jsonl"]
