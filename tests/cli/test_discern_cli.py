"""`pfgen-fast discern` as users type it: evaluators, formats, models behind a server, files, and bad input."""

from __future__ import annotations

import csv
import json
import math
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from makers.fault_server import Gate, answering, refusing, serving
from makers.hostile import NAMES, acting
from makers.judges import moody_text
from makers.programs import LENGTHS, script
from makers.runs import make_run, trial_lines
from makers.tested_evaluators import some_items
from pfgen_fast.discernment.result import CELL_COLUMNS
from pfgen_fast.evaluators import criteria

KINDS = "char_delete/300,negate/1000,identity"
ISSUE_COLUMNS = """evaluator, task, level, kind, degree, permille, k, metric, n_items, n_impossible, n_missing, n_zero,
n, share_lower, share_equal, share_higher, mean_original, mean_perturbed, mean_drop, rank_biserial, r_plus, z, log_p, d,
d_low, d_high, ceiling_d, exact_d, reverse_d, n80, few, noticed, significant_bh"""

EVALUATORS = """
def score(items, texts):
    return {"same": [sum(a == b for a, b in zip(i.text, t)) / len(i.text) for i, t in zip(items, texts)]}
def length(items, texts):
    return {"length": [len(t) for t in texts]}
def two(items, texts):
    return {**score(items, texts), **length(items, texts)}
def raises(items, texts):
    raise ValueError("no \\x1b[2J idea")
def stops(items, texts):
    raise KeyboardInterrupt
state = []
def restless(items, texts):
    state.append(1)
    return {"x": [float(len(t) + len(state)) for t in texts]}
"""


@pytest.fixture(autouse=True)
def _at_work(tmp_path, monkeypatch):
    """A working folder with evaluators; without pictures, which take longer than everything else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine", None)
    Path("mine.py").write_text(EVALUATORS, encoding="utf-8")
    monkeypatch.setattr("pfgen_fast.report.discernment.writing.pictures", lambda results: ())


def rows_of(n=12, **more):
    """The items of a collection as rows of a table."""
    return [
        {
            "id": one.id,
            "text": one.text,
            "task": "summarization",
            "references": one.text.replace("cold", "deep"),
            **more,
        }
        for one in some_items(n)
    ]


def write_lines(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def texts():
    return write_lines("texts.jsonl", rows_of())


def run(call, *arguments, kinds=KINDS):
    return call("discern", "run", *arguments, "-o", "out", "--draws", 0, *(("--kinds", kinds) if kinds else ()))


def cells(table="cells"):
    """The rows of a table that a command has written."""
    with Path(f"out/discernment-{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tables(folder="out"):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.csv"))}


def one_error(result, code=2):
    """The only line on stderr, which is an error; nothing was printed, and no file of results was written."""
    assert (result[0], result[1]) == (code, "")
    (line,) = result[2].splitlines()
    assert line.startswith("error: ")
    assert not acting(line)
    assert not list(Path("out").glob("discernment*"))
    return line.removeprefix("error: ")


# Sources and formats


def test_the_columns_are_those_of_the_rules_and_no_table_has_a_nan(call, texts):
    code, _, _ = call("discern", "run", texts, "-e", "python:mine:two", "-o", "out", "--draws", 20)
    assert code == 0
    assert list(cells()[0]) == list(CELL_COLUMNS) == ISSUE_COLUMNS.replace(",", "").split()
    written = tables()
    assert {f"discernment-{name}.csv" for name in ("cells", "perturbations", "summary", "profile")} <= set(written)
    for content in written.values():
        cells_of = [cell for row in csv.reader(content.decode().splitlines()) for cell in row]
        assert not {"nan", "none", "inf", "-inf"} & {cell.lower() for cell in cells_of}
    assert Path("out/discernment.html").is_file()


@pytest.fixture
def _drawn(monkeypatch):
    from pfgen_fast.report.discernment import pictures

    monkeypatch.setattr("pfgen_fast.report.discernment.writing.pictures", pictures.pictures)


@pytest.mark.usefixtures("_drawn")
def test_all_pictures_and_tables_are_written_without_any_stub(call, texts):
    code, out, _ = run(call, texts, "-e", "python:mine:score", kinds="char_delete/300")
    assert code == 0
    assert Path("out/discernment-heat.png").read_bytes().startswith(b"\x89PNG")
    assert "out/discernment.html and " in out


@pytest.mark.slow
@pytest.mark.usefixtures("_drawn")
@pytest.mark.parametrize("largest", [1e100, 1e308])
def test_scores_as_large_as_floats_are_drawn_or_missing(call, texts, largest):
    body = LENGTHS.replace('len(each["text"])', f'{largest} * (len(each["text"]) % 3 - 1)')
    command = shlex.join(script(Path("huge.py"), body))
    code, out, err = run(call, texts, "-e", f"command:{command}", kinds="char_delete/300")
    assert (code, bool(list(Path("out").glob("*.png")))) == (0, True), err
    assert "signature: " in out


def test_from_a_run(call, mini, tmp_path):
    make_run(tmp_path / "run", trial_lines(mini, 3), {"model": "me/good"})
    code, _, err = run(call, "--from-run", "run", "--suite", "mini", "-e", "ngram")
    assert code == 0
    assert "are reference answers of suite mini" in err
    found = cells()
    assert {row["metric"] for row in found} == {"fluency", "truthfulness", "helpfulness", "average"}
    assert {int(row["n_items"]) + int(row["n_impossible"]) for row in found} == {16}
    code, _, _ = run(call, "--from-run", "run", "--suite", "mini", "-e", "ngram", "--per-question", 3, "--items", 11)
    assert {int(row["n_items"]) + int(row["n_impossible"]) for row in cells()} == {11}


def test_from_a_suite_whose_scores_count_the_originals(call):
    code, _, err = run(call, "--from-suite", "--suite", "mini", "-e", "ngram")
    assert code == 0
    assert "16 of 16 originals are reference answers of suite mini, which its n-gram scores count" in err
    with_them = cells()
    code, _, err = run(call, "--from-suite", "--suite", "mini", "-e", "ngram", "--leave-out")
    assert code == 0
    assert "originals are reference answers" not in err
    assert [row["mean_original"] for row in cells()] != [row["mean_original"] for row in with_them]


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_columns_of_other_names(call, texts):
    run(call, texts, "-e", "python:mine:score")
    expected = cells()
    write_lines("other.jsonl", [{"key": row["id"], "summary": row["text"], "worse": "Ice."} for row in rows_of()])
    options = ("--column", "id=key", "--column", "text=summary", "--column", "perturbed.own/1=worse")
    code, _, _ = run(call, "other.jsonl", "-e", "python:mine:score", *options, "--task", "summarization")
    assert (code, cells()) == (0, expected)
    assert run(call, "other.jsonl", "-e", "python:mine:score", *options, "--task", "x", kinds=None)[0] == 0
    assert ("own", "1") in {(row["kind"], row["degree"]) for row in cells()}


@pytest.mark.parametrize("given", [(), ("texts.jsonl", "--from-suite"), ("--from-suite", "--from-run", "r")])
def test_exactly_one_source(call, texts, given):
    assert "expected one of COLLECTION, --from-run RUN and --from-suite" in one_error(
        run(call, *given, "-e", "metrics")
    )


# Evaluators


def test_several_evaluators_are_compared(call, texts):
    command = shlex.join(script(Path("lengths.py"), LENGTHS))
    code, out, _ = run(call, texts, "-e", "metrics", "-e", "python:mine:score", "-e", f"command:{command}")
    assert code == 0
    assert len({row["evaluator"] for row in cells()}) == 3
    assert out.count("signature: ") == 3
    assert len({row["metric"] for row in cells()}) == 5


def test_a_table_of_texts_that_were_written_and_scored_by_hand(call, texts):
    run(call, texts, "-e", "python:mine:score")
    expected = [{**row, "evaluator": ""} for row in cells()]
    code, out, _ = call("discern", "perturb", texts, "-o", "damaged.csv", "--kinds", KINDS)
    assert (code, out) == (0, "48 texts of 12 items: damaged.csv\n")
    original = {row["id"]: row["text"] for row in rows_of()}
    with open("damaged.csv", encoding="utf-8", newline="") as file:
        scored = [
            {
                "item": row["item"],
                "perturbation": row["perturbation"],
                "metric": "same",
                "score": sum(a == b for a, b in zip(original[row["item"]], row["text"], strict=False))
                / len(original[row["item"]]),
            }
            for row in csv.DictReader(file)
        ]
    write_csv("scores.csv", scored)
    code, _, _ = run(call, texts, "-e", "table:scores.csv", kinds=None)
    assert code == 0
    assert [{**row, "evaluator": ""} for row in cells()] == expected


def test_a_table_with_a_perturbation_of_its_own(call, texts):
    rows = [
        {"item": row["id"], "perturbation": name, "metric": "x", "score": score + number / 100, "level": "sentence"}
        for number, row in enumerate(rows_of())
        for name, score in (("original", 5), ("my own/2", 3))
    ]
    write_csv("scores.csv", rows)
    assert run(call, texts, "-e", "table:scores.csv", "--lower-is-better", "x", kinds=None)[0] == 0
    (row,) = cells()
    assert (row["kind"], row["degree"], row["level"], row["share_higher"]) == ("my own", "2", "sentence", "1")


def test_the_order_of_scores_is_turned_where_lower_is_better(call, texts):
    run(call, texts, "-e", "python:mine:score", "--lower-is-better", "same")
    assert {row["share_higher"] for row in cells() if row["kind"] == "char_delete"} == {"1"}


# Weights, the paper


def test_weights_assumed_and_of_votes(call):
    write_lines("texts.jsonl", [{**row, "task": "answers", "question": "Q07"} for row in rows_of()])
    usual = ("texts.jsonl", "--suite", "mini", "-e", "ngram")
    code, _, err = run(call, *usual, "--weights", "assumed")
    assert (code, "assumed weights: no expert was asked" in err) == (0, True)
    rows = [
        f"{voter},answers,{kind},{'fluency' if voter < 4 else 'truthfulness'}"
        for voter in range(5)
        for kind in ("char_delete", "negate")
    ]
    Path("survey.csv").write_text("voter,task,perturbation,metric\n" + "\n".join(rows) + "\n", encoding="utf-8")
    code, out, err = call("discern", "votes", "survey.csv", "-o", "weights.csv")
    assert (code, err) == (0, "")
    assert out.startswith("answers: 5 voters, 2 kinds of damage, agreement (Fleiss' kappa) ")
    assert out.endswith("weights: weights.csv\n")
    code, _, err = run(call, *usual, "--weights", "weights.csv")
    assert (code, "assumed" in err) == (0, False)
    assert [bool(row["weighted_d"]) for row in cells("perturbations")] == [True, True, False]


def test_a_plan_of_the_paper_beside_published_figures(call, texts):
    Path("read.csv").write_text("dataset,model,score,value\nSummEval,GPT4-Turbo,d_average,2.5\n", encoding="utf-8")
    options = ("--plan", "SummEval", "--rules-only", "--published", "read.csv")
    code, _, err = run(call, texts, "-e", "metrics", *options, kinds=None)
    assert code == 0
    assert "No language model damages texts: term_swap stands in for fictional_entity" in err
    assert len({(row["kind"], row["degree"]) for row in cells()}) == 12
    assert "GPT4-Turbo" in "".join(content.decode() for content in tables().values())


def test_a_plan_of_the_paper_needs_a_model_or_rules_only(call, texts):
    found = one_error(run(call, texts, "-e", "metrics", "--plan", "SummEval", kinds=None))
    assert found.startswith("--maker is missing: ")
    assert "--rules-only" in found


# show, kinds, votes


def test_show_is_typed_as_in_the_documentation(call):
    code, out, err = call("discern", "show", "--kind", "char_typo", "--permille", "30", "Ice floats.")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert first.split() == ["char_typo/30", "Ice", "floats."]
    assert "[" in second
    code, out, _ = call("discern", "show", "--kind", "char_typo", "--degree", "3", "Ice floats.")
    assert (code, out.split()[0]) == (0, "char_typo/70")
    code, out, _ = call("discern", "show", "--kind", "char_delete", "--k", "2", "Ice floats.")
    assert (code, out.split()[0]) == (0, "char_delete/k2")
    code, out, _ = call("discern", "show", "Ice floats on water. It is light.")
    assert code == 0
    assert {"negate/1000", "answer_swap", "identity"} & {line.split()[0] for line in out.splitlines() if line.strip()}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--kind", "char_delet", "a b"), "unknown kind 'char_delet'; expected one of char_delete, "),
        (("--k", "1", "--degree", "2", "a b"), "--permille, --k and --degree: expected one of them"),
        (("--kind", "paraphrase", "a b"), "paraphrase: is made by a language model"),
        (("--language", "de", "a b"), "unknown language 'de'; expected 'ja' or 'en'"),
        ((" \n",), "TEXT is empty; expected one with more than white space"),
    ],
)
def test_show_says_what_is_wrong(call, given, message):
    assert one_error(call("discern", "show", *given)).startswith(message)


@pytest.mark.parametrize(
    ("option", "value"), [("--permille", 0), ("--permille", 1001), ("--k", 0), ("--degree", 6)], ids="option-{}".format
)
def test_a_degree_out_of_range(call, option, value):
    code, out, err = call("discern", "show", "--kind", "char_delete", option, value, "Ice floats.")
    assert (code, out) == (2, "")
    assert f"'{option}': {value} is not in the range" in err


def test_kinds_are_listed_with_examples(call):
    from pfgen_fast.discernment.kinds import KINDS as ALL

    for language in ("en", "ja"):
        code, out, err = call("discern", "kinds", "--language", language)
        assert (code, err) == (0, "")
        assert set(ALL) <= {line.split()[0] for line in out.splitlines()}
    assert one_error(call("discern", "kinds", "--language", "de")) == "--language de: expected ja or en"


def test_a_bad_survey_is_named(call):
    Path("survey.csv").write_text("voter,task\n1,answers\n", encoding="utf-8")
    found = one_error(call("discern", "votes", "survey.csv", "-o", "weights.csv"))
    assert "expected the columns voter, task, perturbation, metric; there are 'voter', 'task'" in found
    assert not Path("weights.csv").exists()


# A judge and a maker behind a server


def behave(request):
    return answering(moody_text(request.prompt, request.body["seed"]))


@pytest.fixture
def unasked():
    """A server that no command of the test asks."""
    with serving(behave) as server:
        yield server
        assert server.requests == []


def judged(call, server, *more, kinds=KINDS, source="texts.jsonl", output="out"):
    usual = ("-e", "judge", "-m", "org/judge", "--draws", 0, "--kinds", kinds, "-o", output)
    address = () if server is None else ("--base-url", server.base_url)
    return call("discern", "run", source, *usual, *address, *more)


def test_a_dry_run_sends_nothing_and_says_costs_and_cheaper_plans(call, texts, unasked):
    prices = ("--prompt-price", 1, "--reply-price", 2)
    code, out, err = judged(call, unasked, "--dry-run", *prices, "-e", "metrics")
    assert code == 0
    sentence, other = out.splitlines()
    # 12 items, four metrics, five ratings: originals twice, and two kinds of damage; an equal text is asked for once.
    assert sentence.startswith("1,200 ratings (240 equal to others); 960 requests of about ")
    assert ": costs up to about " in sentence
    assert other.startswith("metrics: 48 texts at most to be scored")
    assert "cheaper: one rating of each text, 1/5 of it (--ratings 1); fewer kinds or degrees (--kinds " in err
    assert not Path("out").exists()


def test_a_budget_stops_and_the_same_command_goes_on_to_the_same_files(call, texts):
    prices, usual = ("--prompt-price", 1, "--reply-price", 2), ("--ratings", 1, "--metric", "fluency")
    with serving(behave) as server:
        assert judged(call, server, *usual, output="whole")[0] == 0
        n_requests = len(server.requests)
        stopped = judged(call, server, *usual, *prices, "--budget", "0.01")
        assert stopped[0] == 3
        assert "the budget of 0.01 is used up after " in stopped[2]
        assert "run the same command again to continue" in stopped[2]
        assert os.listdir("out") == ["judge-ratings.jsonl"]
        assert judged(call, server, *usual)[0] == 0
        assert len(server.requests) == 2 * n_requests
    assert tables("out") == tables("whole")
    assert judged(call, None, *usual, "--offline", output="out")[0] == 0
    assert tables("out") == tables("whole")


def test_a_budget_needs_prices(call, texts):
    assert one_error(judged(call, None, "--budget", 1)).startswith("--budget needs prices: ")


def test_offline_says_how_many_replies_are_missing_and_partial_takes_the_complete_items(call, texts):
    options = ("--ratings", 1, "--metric", "fluency")
    code, _, err = judged(call, None, *options, "--offline", kinds="negate/1000")
    assert code == 3
    expected = "error: out/judge-ratings.jsonl: 24 of 24 ratings are missing, of 12 of 12 items; run the same command "
    assert err.startswith(expected + "without --offline")
    assert not Path("out").exists()
    write_lines("some.jsonl", rows_of(11))
    with serving(behave) as server:
        assert judged(call, server, *options, source="some.jsonl", kinds="negate/1000")[0] == 0
    for path in Path("out").glob("discern*"):
        path.unlink()
    code, _, err = judged(call, None, *options, "--offline", kinds="negate/1000")
    assert code == 3
    assert ": 2 of 24 ratings are missing, of 1 of 12 items; " in err
    assert not list(Path("out").glob("discern*"))
    code, _, err = judged(call, None, *options, "--offline", "--partial", kinds="negate/1000")
    assert code == 0
    assert "1 of 12 items lack ratings and are left out" in err
    (row,) = cells()
    assert int(row["n_items"]) == 11


def test_a_server_that_refuses_is_said_and_what_it_gave_stays(call, texts):
    def half(request):
        return behave(request) if request.number < 10 else refusing(400, "no \x1b[2J more")

    with serving(half) as server:
        code, _, err = judged(call, server, "--ratings", 1, "--concurrency", 1, kinds="negate/1000")
    assert code in (2, 3)
    assert not acting(err)
    assert not list(Path("out").glob("discernment*"))
    with serving(behave) as server:
        assert judged(call, server, "--ratings", 1, kinds="negate/1000")[0] == 0
        assert len(server.requests) == 96 - 10


def subprocess_of(*arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pfgen_fast", "discern", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_killed_command_goes_on_to_the_same_files(call, texts, how):
    gate = Gate(30)

    def held(request):
        gate.wait()
        return behave(request)

    kinds, usual = "negate/1000", ("--ratings", 1, "--concurrency", 4)
    with serving(held) as server:
        options = ("-e", "judge", "-m", "org/judge", "--draws", 0, "--kinds", kinds, "--base-url", server.base_url)
        process = subprocess_of("run", texts, *options, *usual, "-o", "out")
        assert gate.reached.wait(60)
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
        gate.open()
    assert not list(Path("out").glob("discernment*"))
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "error: stopped" in err
        assert "Traceback" not in err
    with serving(behave) as server:
        assert judged(call, server, *usual, kinds=kinds)[0] == 0
        assert len(server.requests) < 96
        assert judged(call, server, *usual, kinds=kinds, output="whole")[0] == 0
    assert tables("out") == tables("whole")


def test_a_maker_makes_texts_that_are_kept(call, texts):
    def make(request):
        text = next(row["text"] for row in rows_of() if row["text"] in request.prompt)
        return answering(text.replace("Ice", "Zorbium").replace("lake", "lagoon"))

    options = ("-e", "python:mine:score", "--maker", "org/maker")
    with serving(make) as server:
        code, out, _ = run(call, texts, *options, "--base-url", server.base_url, "--dry-run", kinds="fictional_entity")
        assert (code, server.requests) == (0, [])
        assert out.startswith("24 damaged texts; 24 requests of about ")
        code, _, err = run(call, texts, *options, "--offline", kinds="fictional_entity")
        assert code == 3
        assert "out/perturbed-texts.jsonl: 24 of 24 damaged texts are missing; " in err
        code, _, _ = run(call, texts, *options, "--base-url", server.base_url, kinds="fictional_entity")
        assert code == 0
        n_requests = len(server.requests)
    before = tables()
    assert run(call, texts, *options, "--offline", kinds="fictional_entity")[0] == 0
    assert (tables(), n_requests) == (before, 24)


def test_too_few_items_and_wrong_weights_are_said_before_a_model_is_asked(call, unasked):
    source = write_lines("few.jsonl", rows_of(9))
    assert "few.jsonl: 9 items, expected at least 10" in one_error(judged(call, unasked, source=source))
    Path("w.csv").write_text("task,perturbation,metric,weight\nsummarization,negate,fluenci,1\n", encoding="utf-8")
    found = judged(call, unasked, "--min-items", 9, "--weights", "w.csv", source=source)
    assert "w.csv, line 2: unknown metric of the task summarization 'fluenci'; expected one of " in one_error(found)
    without = write_lines("without.jsonl", [{**row, "references": None} for row in rows_of()])
    found = judged(call, unasked, "-e", "metrics", source=without)
    assert "item item 0: has no references, which the evaluator metrics needs" in one_error(found)
    found = judged(call, unasked, "--min-items", 9, "--metric", "fluenci", source=source)
    assert "unknown metric 'fluenci'; expected one of fluency" in one_error(found)


# Bad input


@pytest.mark.parametrize(
    ("command", "options"), [("perturb", ("-o", "out.csv")), ("run", ("-o", "out", "-e", "metrics"))]
)
def test_a_bad_item_is_named_with_its_line(call, command, options):
    write_lines("bad.jsonl", [*rows_of(), {"id": "1", "task": "x"}])
    found = one_error(call("discern", command, "bad.jsonl", *options))
    assert found.startswith("bad.jsonl, line 13: no text in column 'text'")
    assert sorted(os.listdir()) == ["bad.jsonl", "mine.py"]


BAD_OPTIONS = {
    "kind": (("--kinds", "char_delet"), "unknown kind 'char_delet'; expected one of char_delete, "),
    "degree": (("--kinds", "char_delete/x"), "char_delete"),
    "level": (("--level", "sentences"), "unknown level 'sentences'; expected one of sentence, "),
    "plan": (("--plan", "SumEval"), "SummEval"),
    "nine-items": (("--items", 9), "texts.jsonl: 9 items, expected at least 10; --min-items lowers this, not below 5"),
    "evaluator": (("-e", "ngrams"), "unknown evaluator 'ngrams'; expected one of ngram, "),
    "weights-file": (("--weights", "none.csv"), "none.csv: "),
    "published": (("--published", "none.csv"), "none.csv: "),
    "donors": (("--donors", "none.jsonl"), "none.jsonl: "),
    "column": (("--column", "text=nothing"), "nothing"),
    "key": (("--column", "texts=text"), "unknown key of an item 'texts'; expected one of text, "),
    "no-model": (("-e", "judge"), "--model is missing: "),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_a_bad_option_is_one_sentence(call, texts, name):
    options, message = BAD_OPTIONS[name]
    assert message in one_error(run(call, texts, "-e", "python:mine:score", *options, kinds=None))
    assert not Path("out").exists()


def test_a_task_that_a_file_of_criteria_lacks_is_named(call, texts):
    packaged = Path(criteria.__file__).with_name("criteria.toml").read_text(encoding="utf-8")
    before, name, rest = packaged.partition("[tasks.default]")
    assert name
    Path("criteria.toml").write_text(before + rest[rest.index("# ---") :], encoding="utf-8")
    assert judged(call, None, "--dry-run", "--criteria", "criteria.toml")[0] == 0
    write_lines("odd.jsonl", [{**row, "task": "summarisation of news"} for row in rows_of()])
    found = one_error(judged(call, None, "--dry-run", "--criteria", "criteria.toml", source="odd.jsonl"))
    assert found.startswith("the criteria: unknown task 'summarisation of news'; expected one of summarization, ")


def test_a_kind_that_is_impossible_everywhere_is_listed_with_its_reason(call, texts):
    code, _, err = run(call, texts, "-e", "python:mine:score", kinds="term_swap,negate/1000,width,newline")
    assert code == 0
    assert "term_swap is impossible for all items: nothing to damage." in err
    assert "width is impossible for all items: nothing to damage." in err
    page = Path("out/discernment.md").read_text(encoding="utf-8")
    assert "Not noticed: newline" in page
    assert "width" not in page.partition("Not noticed: ")[2].partition("\n")[0]
    reasons = {row["kind"]: row["reason"] for row in cells("perturbations")}
    assert reasons["term_swap"] == reasons["width"] == "nothing to damage"


def test_where_nothing_at_all_is_possible_that_is_what_is_said(call, texts):
    kinds = "wrong_ending"
    code, out, err = run(call, texts, "-e", "python:mine:score", kinds=kinds)
    assert code == 0
    assert f"{kinds} is impossible for all items: nothing to " in err
    assert "notices 0 of " in out
    assert {row["d"] for row in cells()} == {""}


BAD_EVALUATORS = {
    "raises": (
        "python:mine:raises",
        "evaluator mine:raises, row 0 (item item 0): raised ValueError: no \\u001b[2J idea",
    ),
    "exits": (
        f"command:{sys.executable} -c 'import sys; sys.exit(4)'",
        "exited with 4, but 12 of 12 texts have no scores",
    ),
    "no-table": ("table:none.csv", "none.csv: cannot be read: No such file or directory"),
}


@pytest.mark.parametrize("name", BAD_EVALUATORS)
def test_an_evaluator_that_fails_is_named_with_the_row(call, texts, name):
    evaluator, message = BAD_EVALUATORS[name]
    assert message in one_error(run(call, texts, "-e", evaluator, kinds="negate/1000"))


def test_a_text_among_its_references(call):
    write_lines("self.jsonl", [{**row, "references": [row["text"]]} for row in rows_of()])
    found = one_error(run(call, "self.jsonl", "-e", "metrics"))
    assert "item item 0: its text is one of its references, so every damage would be noticed trivially" in found
    code, _, err = run(call, "self.jsonl", "-e", "metrics", "--allow-self-reference")
    assert code == 0
    assert "12 of 12 texts are among their own references" in err


# Hostile names and texts, long ones, and the machine


def test_hostile_texts_and_ids_are_harmless_wherever_they_are_shown(call):
    rows = [{"id": name, "text": f"Ice floats{name} in lake {n}.", "task": name} for n, name in enumerate(NAMES[:14])]
    for row in rows:
        row["task"] = "a\x1b[2J\u202e\nb"
    write_lines("hostile.jsonl", rows)
    code, out, err = run(call, "hostile.jsonl", "-e", "python:mine:restless", "-e", "python:mine:score")
    assert code == 0
    assert not acting(out + err)
    code, out, _ = call("discern", "show", "--kind", "char_delete", "--degree", 3, "\x1b[2Jabc def \u202e\udcff")
    assert (code, acting(out)) == (0, set())
    write_lines("twice.jsonl", [rows[11], rows[11]])
    code, out, err = call("discern", "run", "twice.jsonl", "-e", "metrics", "-o", "other")
    assert (code, acting(out + err)) == (2, set())
    code, out, err = call("discern", "perturb", "hostile.jsonl", "-o", "p.jsonl", "--kinds", "char_delete/30")
    assert (code, acting(out + err)) == (0, set())
    assert {json.loads(line)["item"] for line in Path("p.jsonl").read_bytes().splitlines()} == {
        row["id"] for row in rows
    }


@pytest.mark.parametrize(
    "piece", ["、", *(pytest.param(piece, marks=pytest.mark.slow) for piece in ("a.", "」", "a\u0301"))]
)
def test_long_texts_are_damaged_all_the_same(call, piece):
    Path("long.jsonl").write_text(
        json.dumps({"id": "1", "text": "氷 a " + piece * (1_000_000 // len(piece)), "task": "x"}), encoding="utf-8"
    )
    code, _, _ = call(
        "discern", "perturb", "long.jsonl", "-o", "p.jsonl", "--kinds", "char_delete/30,negate,sentence_delete"
    )
    assert code == 0
    assert Path("p.jsonl").stat().st_size > 1_000_000


@pytest.mark.parametrize(
    ("module", "evaluator", "message"),
    [
        ("matplotlib", "python:mine:stops", "pfgen-fast[experiments]"),
        ("sacrebleu", "metrics", "the evaluator metrics needs sacrebleu, which is not installed"),
    ],
)
def test_a_missing_package_is_said_before_any_work(call, texts, unasked, monkeypatch, module, evaluator, message):
    monkeypatch.setitem(sys.modules, module, None)
    assert message in one_error(judged(call, unasked, "-e", evaluator))


def test_a_missing_pyarrow_is_said_before_any_work(call, texts, unasked, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    options = ("--plan", "SummEval", "--maker", "m", "--base-url", unasked.base_url)
    found = one_error(call("discern", "perturb", texts, "-o", "p.parquet", *options))
    assert "Parquet needs pyarrow" in found
    assert "pfgen-fast[tables]" in found


@pytest.mark.parametrize("name", ["nowhere/p.csv", "p.json", "p.xlsx", "-"])
def test_texts_that_cannot_be_written_are_said_before_any_work(call, texts, unasked, name):
    options = ("--plan", "SummEval", "--maker", "m", "--base-url", unasked.base_url)
    assert one_error(call("discern", "perturb", texts, "-o", name, *options)).startswith(f"{name}: ")
    assert sorted(os.listdir()) == ["mine.py", "texts.jsonl"]


def test_a_folder_that_cannot_be_written_to_is_said_before_any_work(call, texts, monkeypatch):
    Path("file").touch()
    code, _, err = call("discern", "run", texts, "-e", "python:mine:stops", "-o", "file/out")
    assert (code, err) == (2, f"error: file/out: expected a folder, but {Path('file').absolute()} is a file\n")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "does not allow it" in one_error(run(call, texts, "-e", "python:mine:stops"))


def test_ctrl_c_is_one_line(texts):
    process = subprocess_of("run", texts, "-e", "python:mine:stops", "-o", "out", "--kinds", "negate")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "error: stopped\n")
    assert not list(Path("out").glob("discernment*"))


def test_a_stopped_program_goes_on_where_it_was(call, texts):
    """What is scored stays: the second call scores only the texts that have no scores."""
    Path("program.py").write_text(
        "import json, os, sys\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    one = json.loads(line)\n"
        "    open('asked', 'a').write(one['text'] + '\\n')\n"
        "    if number == 20 and not os.path.exists('again'):\n"
        "        sys.exit(3)\n"
        "    print(json.dumps({'row': one['row'], 'scores': {'n': len(one['text'])}}), flush=True)\n",
        encoding="utf-8",
    )
    command = f"command:{sys.executable} program.py"
    found = one_error(run(call, texts, "-e", command, kinds="char_delete/30,word_drop/200"))
    assert "exited with 3" in found
    Path("again").touch()
    assert run(call, texts, "-e", command, kinds="char_delete/30,word_drop/200")[0] == 0
    asked = Path("asked").read_text(encoding="utf-8").splitlines()
    assert len(set(asked)) == 36
    assert len(asked) < 2 * 36
    before = cells()
    Path("asked").unlink()
    Path("out/scores.jsonl").unlink()
    assert run(call, texts, "-e", command, kinds="char_delete/30,word_drop/200")[0] == 0
    assert cells() == before


def test_metrics_say_beforehand_how_long_they_take(call, texts, monkeypatch):
    from pfgen_fast.evaluators.metrics import MetricsEvaluator

    monkeypatch.setattr(MetricsEvaluator, "expected_seconds", lambda self, items, n_texts: n_texts * 2.5)
    _, _, err = run(call, texts, "-e", "metrics", "--dry-run")
    assert err == "note: metrics takes about 2 min 0 s for 48 texts\n"
    assert run(call, texts, "-e", "metrics", "--quiet")[1:] == ("", "")
    monkeypatch.setattr(MetricsEvaluator, "expected_seconds", lambda self, items, n_texts: 1.0)
    assert "takes about" not in run(call, texts, "-e", "metrics")[2]


def test_quiet_is_quiet(call, texts):
    assert run(call, texts, "-e", "python:mine:score", "--quiet") == (0, "", "")
    assert math.isfinite(float(cells()[0]["d"]))
