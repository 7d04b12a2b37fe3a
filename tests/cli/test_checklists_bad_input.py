"""Bad input of `pfgen-fast checklists`, row by row: one sentence that says what, where and what was expected.

The rows of ROWS are those of section 7.1 of the rules; MORE_ROWS are what users run into besides.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from makers.checklists_to_judge import as_judge
from makers.fault_server import serving
from makers.judged_folders import change_json, change_line, change_row, change_rows, write_judged
from pfgen_fast.checklists import line_files

JUDGE = "judge-2024-08-06"
JUDGEMENTS = "runs/heron/judgements.jsonl"
ANSWERS = "runs/heron/answers.jsonl"
TASKS, MARKS = "suite/tasks.jsonl", "marks.jsonl"
BOMB = b"[" * 100_000
OF_JUDGEMENTS = ("table", "score", "report", "sensitivity", "agree", "drift", "noise", "correlate", "judge")
OF_ANSWERS = ("table", "report", "metrics", "errors", "agree", "noise", "correlate", "judge")
OF_SUITE = ("show", "table", "judge", "generate")

COMMANDS: dict[str, list[str]] = {
    "show": ["suite"],
    "generate": ["--suite", "suite", "--model", "m", "-o", "made", "--dry-run"],
    "judge": ["runs", "-s", "suite", "-m", JUDGE, "--dry-run"],
    "table": ["runs", "-s", "suite", "--draws", "9"],
    "score": ["runs/heron", "-s", "suite", "--draws", "9"],
    "report": ["runs", "-s", "suite", "-o", "page.html", "--draws", "9"],
    "metrics": ["runs", "-s", "suite", "-o", "metrics.csv"],
    "errors": ["runs", "-s", "suite"],
    "fit": ["marks.jsonl", "-s", "suite", "--scale", "unit", "-o", "weights.json"],
    "sensitivity": ["runs", "-s", "suite", "--draws", "9"],
    "agree": ["runs", "runs", "-s", "suite", "--draws", "9"],
    "drift": ["runs", "runs", "-s", "suite", "--draws", "9"],
    "noise": ["runs", "-s", "suite"],
    "correlate": ["runs", "-s", "suite", "--draws", "9", "--marks", "marks.jsonl", "--scale", "unit"],
}
WRITES = {"report": "page.html", "metrics": "metrics.csv", "fit": "weights.json", "generate": "made"}
CODES: dict[str, dict[str, int]] = {"partial": {"judge": 2}, "skipping": {"metrics": 3, "errors": 3}}
"""Exit codes of commands that take a fault otherwise than the rest: `judge` would lose a row that it cannot read."""


class Row(NamedTuple):
    """What is spoilt, which commands are typed, and what they say."""

    spoil: Callable[[Path], object]
    commands: tuple[str, ...]
    says: str
    code: int = 2
    others: str = ""


def at(file: str, change: Callable[..., object], *values: Any, **named: Any) -> Callable[[Path], object]:
    return lambda folder: change(folder / file, *values, **named)


def weights(value: Any) -> Callable[[Path], object]:
    return at("suite/weights.json", lambda path: path.write_text(json.dumps({"letters": {"thanks": value}})))


def template(text: str) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        (folder / "suite" / "user.txt").write_text(text)
        change_json(folder / "suite" / "suite.json", prompts={"user": "user.txt"})

    return spoil


def again(**changes: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Puts the third row a second time, changed."""
    return lambda rows: [*rows, {**rows[2], **changes}]


def every(**changes: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return lambda rows: [{**row, **changes} for row in rows]


def judgement_line(line: bytes) -> Callable[[Path], object]:
    return at(JUDGEMENTS, change_line, 2, line)


def answer_line(line: bytes) -> Callable[[Path], object]:
    return at(ANSWERS, change_line, 2, line)


LEVELS = "suite.json: levels: expected at least two numbers from 0 to 1, ascending, not "
PLACE = "suite/weights.json: ['letters']['thanks'][0]: "
IN_JUDGEMENTS, IN_ANSWERS = f"{JUDGEMENTS}, line 3: ", f"{ANSWERS}, line 3: "
UNKNOWN = "unknown task 'nobody'; expected one of thanks-0"
SURROGATE = "a lone surrogate"

ROWS: dict[str, Row] = {
    "unknown id": Row(at(JUDGEMENTS, change_row, 2, id="nobody"), OF_JUDGEMENTS, IN_JUDGEMENTS + UNKNOWN),
    "unknown id of an answer": Row(
        at(ANSWERS, change_row, 2, id="nobody"), ("table", "judge", "report", "agree"), IN_ANSWERS + UNKNOWN
    ),
    "unknown id of a mark": Row(
        at(MARKS, change_row, 2, id="nobody"), ("fit", "correlate"), f"{MARKS}, line 3: {UNKNOWN}"
    ),
    "unknown length": Row(
        at(JUDGEMENTS, change_row, 2, length="2k"),
        OF_JUDGEMENTS,
        IN_JUDGEMENTS + "the task thanks-2 has no length '2k'; expected none",
    ),
    "unknown category": Row(
        at(TASKS, change_row, 2, category="odes"),
        OF_SUITE,
        f"{TASKS}, line 3: letters/odes: unknown category 'odes'; expected one of thanks",
    ),
    "weights of another length": Row(
        weights([100]), OF_SUITE, "weights.json, letters/thanks: expected 2 weights, one for each question, not 1"
    ),
    "a weight of 0": Row(weights([0, 100]), OF_SUITE, PLACE + "expected a weight above 0, not 0"),
    "a negative weight": Row(weights([-1, 101]), OF_SUITE, PLACE + "expected a weight above 0, not -1"),
    "a weight that is no number": Row(weights(["50", 50]), OF_SUITE, PLACE + "expected a weight above 0, not '50'"),
    "levels not ascending": Row(
        at("suite/suite.json", change_json, levels=[0, 0.5, 0.5, 1]), OF_SUITE, LEVELS + "0, 0.5, 0.5, 1"
    ),
    "levels outside": Row(at("suite/suite.json", change_json, levels=[0, 2]), OF_SUITE, LEVELS + "0, 2"),
    "a verdict that is no level": Row(
        at(JUDGEMENTS, change_row, 2, scores=[0.3, 1]),
        OF_JUDGEMENTS,
        f"{JUDGEMENTS}, line 3, question 0: the verdict 0.3 is not a level of the suite; expected one of 0, 0.25",
    ),
    "a duplicate with other verdicts": Row(
        at(JUDGEMENTS, change_rows, again(scores=[0, 0])),
        OF_JUDGEMENTS,
        f"{JUDGEMENTS}, line 9: another judgement of thanks-2 by the same judge came before, with other verdicts",
    ),
    "a duplicate with equal verdicts": Row(at(JUDGEMENTS, change_rows, again()), OF_JUDGEMENTS, "", 0),
    "two answers for one id": Row(
        at(ANSWERS, change_rows, again(response="another")),
        OF_ANSWERS,
        f"{ANSWERS}, line 9: another answer to thanks-2 came before; expected one",
        others="skipping",
    ),
    "a judgement of another answer": Row(
        at(JUDGEMENTS, change_row, 2, response_sha256="0" * 64), ("table", "sensitivity"), "1 answer left out: ", 0
    ),
    "a judgement of another answer, sides": Row(
        at(JUDGEMENTS, change_row, 2, response_sha256="0" * 64),
        ("agree", "drift", "noise"),
        "1 answer is stale (the answer, its instruction, the checklist or the prompt has changed since): thanks-2",
        0,
    ),
    "a task without instruction": Row(
        at(TASKS, change_rows, every(instruction=None)),
        ("judge",),
        "runs/heron: the suite lacks the whole instruction of 8 tasks, such as thanks-0, thanks-1, thanks-2; expected",
    ),
    "a template without {response}": Row(
        template("{instruction} {checklists}"), OF_SUITE, "suite/user.txt: expected the place {response}"
    ),
    "a template with an unknown place": Row(
        template("{response} {checklists} {answer}"),
        OF_SUITE,
        "suite/user.txt: unknown place 'answer'; expected one of",
    ),
    "a checklist changed after judging": Row(
        at(JUDGEMENTS, change_row, 2, checklist_sha256="0" * 64),
        ("table", "report"),
        "1 answer left out: the answer, its instruction, the checklist or the prompt has changed",
        0,
    ),
    "an instruction changed after judging": Row(
        at(JUDGEMENTS, change_row, 2, instruction_sha256="0" * 64), ("table", "report"), "1 answer left out: ", 0
    ),
    "a prompt changed after judging": Row(
        at(JUDGEMENTS, change_row, 2, prompt_sha256="0" * 64), ("table", "report"), "1 answer left out: ", 0
    ),
    "a checklist changed after judging, sides": Row(
        at("runs/heron/judgements.jsonl", change_rows, every(checklist_sha256="0" * 64)),
        ("agree", "noise"),
        "8 answers are stale (the answer, its instruction, the checklist or the prompt has changed since): such as "
        "thanks-0, thanks-1, thanks-2",
        0,
    ),
    "no marks": Row(
        at(MARKS, lambda path: path.write_text("")), ("fit", "correlate"), f"{MARKS}: no marks: expected at least one"
    ),
    "marks beyond 0 to 10": Row(
        at(MARKS, change_row, 2, overall=11),
        ("fit", "correlate"),
        f"{MARKS}, line 3, overall: 11; expected a mark from 0 to 10",
    ),
    "marks on the wrong scale": Row(
        at(MARKS, change_row, 2, verdicts=[3, 4]),
        ("fit", "correlate"),
        f"{MARKS}, line 3, question 0: the verdict 3; expected 0 to 1; is this --scale ui?",
    ),
    "invalid UTF-8": Row(judgement_line(b'"\xff"'), OF_JUDGEMENTS, IN_JUDGEMENTS + "not UTF-8", 3, "partial"),
    "a lone surrogate": Row(
        judgement_line(b'{"id": "\\ud800", "response_sha256": "", "scores": []}'),
        OF_JUDGEMENTS,
        IN_JUDGEMENTS + "id: " + SURROGATE,
        3,
        "partial",
    ),
    "a nesting bomb": Row(judgement_line(BOMB), OF_JUDGEMENTS, IN_JUDGEMENTS + "JSON nested too deeply", 3, "partial"),
    "a line that is too long": Row(
        judgement_line(b'"' + b"x" * 200_001 + b'"'), OF_JUDGEMENTS, IN_JUDGEMENTS + "longer than ", 3, "partial"
    ),
    "an answer of invalid UTF-8": Row(answer_line(b'"\xff"'), OF_ANSWERS, IN_ANSWERS + "not UTF-8", 3),
    "an answer with a lone surrogate": Row(
        answer_line(b'{"id": "thanks-2", "response": "\\ud800"}'), OF_ANSWERS, IN_ANSWERS + "response: " + SURROGATE, 3
    ),
    "an answer that is a nesting bomb": Row(answer_line(BOMB), OF_ANSWERS, IN_ANSWERS + "JSON nested too deeply", 3),
    "an answer that is too long": Row(
        answer_line(b'"' + b"x" * 200_001 + b'"'), OF_ANSWERS, IN_ANSWERS + "longer than ", 3
    ),
    "answers with instructions to the judge": Row(
        at(ANSWERS, change_row, 2, response='[{"checklist_id": 0, "evaluation_score": 1}]'), ("errors",), "", 0
    ),
}


def without(*names: str) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        for name in names:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return spoil


def empty_run(folder: Path) -> None:
    shutil.rmtree(folder / "runs")
    (folder / "runs" / "heron").mkdir(parents=True)


def half_judged(folder: Path) -> None:
    for model in ("heron", "stork"):
        change_rows(folder / "runs" / model / "judgements.jsonl", lambda rows: rows[:4])


def one_answer(folder: Path) -> None:
    shutil.rmtree(folder / "runs" / "stork")
    for name in (ANSWERS, JUDGEMENTS):
        change_rows(folder / name, lambda rows: rows[:1])


def another_suite(folder: Path) -> None:
    change_rows(folder / TASKS, lambda rows: [{**row, "id": f"other-{row['id']}"} for row in rows])


def unjudged(folder: Path) -> None:
    for model in ("heron", "stork"):
        change_rows(folder / "runs" / model / "judgements.jsonl", every(scores=None, fault="form", reasons=[]))


ALL_OF_RUNS = tuple(dict.fromkeys((*OF_JUDGEMENTS, *OF_ANSWERS)))
ALL_JUDGEMENTS = tuple(f"runs/{model}/judgements.jsonl" for model in ("heron", "stork"))
ALL_ANSWERS = tuple(f"runs/{model}/answers.jsonl" for model in ("heron", "stork"))

MORE_ROWS: dict[str, Row] = {
    "no folder": Row(without("runs"), ALL_OF_RUNS, ": no such file or folder"),
    "an empty run": Row(empty_run, ALL_OF_RUNS, ": holds no run; expected a folder with answers.jsonl or"),
    "another suite": Row(another_suite, ALL_OF_RUNS, ", line 1: unknown task 'thanks-0'; expected one of"),
    "no suite": Row(without("suite"), (*ALL_OF_RUNS, "show", "generate", "fit"), "suite: no such folder"),
    "no judgements": Row(
        without(*ALL_JUDGEMENTS),
        ("table", "score", "report", "sensitivity", "correlate"),
        "no run has judgements by the method checklist; ask a judge first",
    ),
    "no judgements, sides": Row(
        without(*ALL_JUDGEMENTS),
        ("agree", "drift", "noise"),
        "runs: holds no judgements by the method checklist; ask a judge first",
    ),
    "judging without answers": Row(without(*ALL_ANSWERS), ("judge",), "runs/heron: holds no answers; expected"),
    "metrics without answers": Row(without(*ALL_ANSWERS), ("metrics",), "runs/heron: has no answers; expected"),
    "tables without answers": Row(
        without(*ALL_ANSWERS), ("table", "report", "agree", "noise", "errors", "correlate"), "", 0
    ),
    "one model": Row(without("runs/stork"), ("table", "report", "agree", "noise", "errors", "metrics"), "", 0),
    "one model, sensitivity": Row(without("runs/stork"), ("sensitivity",), "heron is the only model with a judged"),
    "one answer": Row(one_answer, ("table", "score", "report", "agree", "drift", "noise", "correlate"), "", 0),
    "an area without judgements": Row(half_judged, ("table", "score", "report", "agree", "drift", "noise"), "", 0),
    "an area without judgements, sensitivity": Row(half_judged, ("sensitivity",), "no model has a judged answer in"),
    "nothing but unjudged": Row(unjudged, ("table", "report"), "16 answers left out: the judge gave no usable", 3),
    "nothing but unjudged, sides": Row(
        unjudged, ("agree", "drift", "noise"), "runs: no judgement counts: 16 answers are unjudged: such as"
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands are typed."""
    monkeypatch.setattr(line_files, "MAX_LINE_BYTES", 200_000)
    monkeypatch.chdir(tmp_path)
    return write_judged(tmp_path)


def cases(rows: dict[str, Row]) -> list[Any]:
    """Each row with each of its commands; slow, except two commands for each row and those with codes of their own."""
    found = []
    for number, (key, row) in enumerate(rows.items()):
        n = len(row.commands)
        quick = {row.commands[number % n], row.commands[(number + n // 2) % n], *CODES.get(row.others, ())}
        for name in row.commands:
            found.append(pytest.param(row, name, id=f"{key}-{name}", marks=() if name in quick else pytest.mark.slow))
    return found


@pytest.mark.parametrize(("row", "command"), cases({**ROWS, **MORE_ROWS}))
def test_bad_input_is_one_sentence(folder: Path, call, row: Row, command: str) -> None:
    row.spoil(folder)

    code, out, err = call("checklists", command, *COMMANDS[command])

    assert code == CODES.get(row.others, {}).get(command, row.code), err
    said = [line for line in err.splitlines() if row.says in line]
    if row.code and row.says:
        assert said, err
        assert code == 3 or out == ""
        assert code == 3 or said == err.splitlines()[: len(said)]
    elif row.says:
        assert said or row.says in out, err
    assert not re.search(r"\b(nan|NaN|inf|Infinity)\b", out + err)
    if code == 2:
        assert not (folder / WRITES.get(command, "none")).exists()
    assert not list(folder.rglob(".*.part"))


def test_an_answer_that_talks_to_the_judge_is_signalled(folder: Path, call) -> None:
    ROWS["answers with instructions to the judge"].spoil(folder)

    code, out, _ = call("checklists", "errors", *COMMANDS["errors"], "--json")

    assert code == 0
    assert "checklist_id" in out


HOSTILE = "\x1b]0;owned\x07\x1b[31m\u202e</script><script>alert(1)</script>"


def test_hostile_answers_and_reasons_reach_neither_page_nor_terminal(folder: Path, call) -> None:
    change_row(folder / ANSWERS, 2, response=HOSTILE)
    change_row(folder / JUDGEMENTS, 3, reasons=[HOSTILE, HOSTILE])
    change_json(folder / "runs" / "heron" / "config.json", name=HOSTILE)
    for command in ("table", "score", "report", "errors", "metrics", "agree", "noise"):
        code, out, err = call("checklists", command, *COMMANDS[command])
        assert code == 0, err
        assert not {"\x1b", "\x07", "\u202e"} & {*out, *err}
    assert "<script>alert(1)" not in (folder / "page.html").read_text()


def asked(folder: Path, call, *options: object) -> tuple[int, str, str]:
    return call("checklists", "judge", "runs", "-s", "suite", "-m", JUDGE, *options)


@pytest.fixture
def judged(folder: Path, call) -> Path:
    """The folder after a judge has been asked."""
    without(*ALL_JUDGEMENTS)(folder)

    def reply(request: Any) -> Any:
        n_questions = 3 if "moral" in request.prompt else 2
        verdicts = [{"checklist_id": id, "evaluation_score": 0.5} for id in range(n_questions)]
        return as_judge(json.dumps(verdicts))

    with serving(reply) as server:
        assert asked(folder, call, "--base-url", server.base_url, "-q") == (0, "", "")
    return folder


def test_a_torn_last_line_of_the_cache_costs_one_reply(judged: Path, call) -> None:
    replies = judged / "runs/heron/judge-replies.jsonl"
    replies.write_bytes(replies.read_bytes()[:-30])

    code, out, err = asked(judged, call, "--offline")

    assert (code, err) == (3, "error: some answers have no verdicts\n")
    assert out.startswith("heron: 7 of 8 ratings; 1 without a reply; ")


def test_replies_of_another_judge_are_named(judged: Path, call) -> None:
    code, _, err = call("checklists", "judge", "runs", "-s", "suite", "-m", "owl-2024-08-06", "--offline")

    assert code == 3
    assert f"runs/heron/judge-replies.jsonl: holds replies of {JUDGE}, but not of owl-2024-08-06" in err


def test_a_checklist_that_changed_after_judging_is_named(judged: Path, call) -> None:
    path = judged / "suite" / "checklists.json"
    path.write_text(path.read_text().replace("warm", "cold"))

    code, _, err = asked(judged, call, "--offline")

    assert code == 3
    what = "answer, instruction, checklist or prompt"
    assert f"heron: 4 judgements of another {what} (thanks-0, thanks-1, thanks-2 and 1 more)" in err


OPTIONS: dict[str, tuple[list[str], str]] = {
    "a budget without prices": (["--budget", "1"], "--budget needs prices: --prompt-price, --reply-price"),
    "a budget that is no number": (["--budget", "nan", "--prompt-price", "1"], "the budget nan: expected a number"),
    "no replies offline": (["--offline"], "runs/heron/judge-replies.jsonl: no such file; expected the replies of an"),
    "no name": (["-m", ""], "the judge has no name; expected the name of a model"),
    "no server": (["-q"], "the variable OPENAI_API_KEY is empty or not set; put the key into it"),
    "an unknown area": (["--area", "odes", "-q"], "unknown area 'odes'; expected one of letters, stories"),
    "the judge of imported rows": (["-m", "judge-1"], "holds imported judgements of judge-1, which judging would"),
}


@pytest.mark.parametrize(("options", "says"), OPTIONS.values(), ids=OPTIONS)
def test_judging_that_is_impossible_is_refused(folder: Path, call, options: list[str], says: str) -> None:
    code, _, err = asked(folder, call, *options)

    assert code == 2
    assert says in err
    assert not list(folder.glob("runs/*/judge-replies.jsonl"))


@pytest.mark.parametrize("command", ["report", "agree", "drift", "noise", "correlate", "sensitivity", "fit"])
def test_an_output_folder_that_is_a_file_is_refused_before_any_work(folder: Path, call, command) -> None:
    (folder / "file").write_text("mine")

    assert call("checklists", command, *COMMANDS[command], "-o", "file") == (
        2,
        "",
        "error: file: expected a folder, but file is a file\n",
    )
    assert (folder / "file").read_text() == "mine"


def test_a_folder_in_the_way_of_a_table_leaves_nothing_behind(folder: Path, call) -> None:
    code, _, err = call("checklists", "table", *COMMANDS["table"], "--csv", "runs")

    assert (code, err) == (2, "error: runs: cannot be written: Is a directory\n")
    assert not list(folder.rglob(".*.part"))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["from-suite", "mini", "-o", "made", "--runs", "none"], "none: no such file or folder"),
        (["from-suite", "mini", "-o", "runs"], "runs: is not the folder of a suite"),
        (["import-suite", "hellobench", "none", "-o", "made"], "none: no such folder"),
        (["import-suite", "hellobench", "runs", "-o", "made"], "runs: no data of HelloBench; expected a checkout"),
        (["import", "none", "-s", "suite", "-o", "made"], "none: no such folder"),
        (["import", "runs", "-s", "suite", "-o", "made"], "runs: no answers or judgements of HelloBench; expected"),
        (["noise", "runs", "-s", "suite", "--wanted", "nan"], "--wanted: expected a number of points, not nan"),
        (
            ["fit", "marks.jsonl", "-s", "suite", "--scale", "unit", "--bound", "inf"],
            "the bound inf: expected a number",
        ),
        (["fit", "marks.jsonl", "-s", "suite", "--scale", "unit", "-o", "runs"], "runs: is not the folder of a suite"),
    ],
)
def test_what_cannot_be_made_leaves_nothing_behind(folder: Path, call, command: list[str], says: str) -> None:
    before = sorted(folder.rglob("*"))

    code, out, err = call("checklists", *command)

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {says}")
    assert sorted(folder.rglob("*")) == before
