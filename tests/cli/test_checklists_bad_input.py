"""Bad input of `pfgen-fast checklists`, row by row: one sentence that says what, where and what was expected.

The rows hold those of section 7.1 of the rules.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from makers.checklist_folders import write_suite_files
from pfgen_fast.lab.checklists import line_files

N_TASKS = 4
MODELS = ("heron", "stork")
TASKS = tuple(
    {"id": f"{category}-{number}", "area": area, "category": category, "instruction": f"Write {category} {number}."}
    for area, category in (("letters", "thanks"), ("stories", "fable"))
    for number in range(N_TASKS)
)
N_QUESTIONS = {"letters": 2, "stories": 3}

JUDGE = "judge-2024-08-06"
COMMANDS: dict[str, list[str]] = {
    "info": ["suite"],
    "generate": ["--suite", "suite", "--model", "m", "-o", "made", "--dry-run"],
    "judge": ["runs", "-s", "suite", "-m", JUDGE, "--dry-run"],
    "table": ["runs", "-s", "suite"],
    "report": ["runs", "-s", "suite", "-o", "page.html"],
    "metrics": ["runs", "-s", "suite", "-o", "metrics.csv"],
    "errors": ["runs", "-s", "suite"],
    "fit": ["marks.jsonl", "-s", "suite", "-o", "weights.json"],
    "agreement": ["marks.jsonl", "runs", "-s", "suite"],
    "correlate": ["runs", "-s", "suite", "--marks", "marks.jsonl"],
}
"""What is typed after `checklists` in the folder of `write_judged`."""


def response_of(model: str, id: str) -> str:
    return f"{model} wrote a text for {id}. It has two sentences."


def write_judged(folder: Path) -> Path:
    """Writes `suite`, `runs/heron`, `runs/stork` and `marks.jsonl`."""
    write_suite_files(folder / "suite", {"tasks.jsonl": json_lines(TASKS)})
    marks: list[dict[str, Any]] = []
    for shift, model in enumerate(MODELS):
        run = folder / "runs" / model
        run.mkdir(parents=True)
        (run / "config.json").write_text(json.dumps({"model": model}))
        rows = [_judgement(model, task, number + shift) for number, task in enumerate(TASKS)]
        (run / "judgements.jsonl").write_text(json_lines(rows))
        (run / "answers.jsonl").write_text(
            json_lines({"id": task["id"], "response": response_of(model, str(task["id"]))} for task in TASKS)
        )
        for number, row in enumerate(rows):
            own = {name: row[name] for name in ("id", "response_sha256")}
            marks.append({**own, "annotator": "a", "verdicts": row["scores"], "overall": 1 + number})
    (folder / "marks.jsonl").write_text(json_lines(marks))
    return folder


def _judgement(model: str, task: dict[str, Any], number: int) -> dict[str, Any]:
    verdicts = [((3 * number + 2 * question) % 5) / 4 for question in range(N_QUESTIONS[task["area"]])]
    digest = hashlib.sha256(response_of(model, task["id"]).encode()).hexdigest()
    return {
        "id": task["id"],
        "response_sha256": digest,
        "scores": verdicts,
        "judge": "judge-1",
        "reasons": ["so"] * len(verdicts),
    }


def json_lines(rows: Any) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def change_row(path: Path, number: int, **changes: Any) -> None:
    """Changes keys of one row."""
    change_rows(path, lambda rows: [{**row, **changes} if row is rows[number] else row for row in rows])


def change_rows(path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Changes the rows of a file."""
    path.write_text(
        json_lines(change([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])),
        encoding="utf-8",
    )


def change_line(path: Path, number: int, line: bytes) -> None:
    """Puts bytes in place of a line."""
    content = path.read_bytes().splitlines(keepends=True)
    content[number] = line + b"\n"
    path.write_bytes(b"".join(content))


def change_json(path: Path, **changes: Any) -> None:
    """Changes keys of an object."""
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


JUDGEMENTS = "runs/heron/judgements.jsonl"
ANSWERS = "runs/heron/answers.jsonl"
TASKS_FILE = "suite/tasks.jsonl"
OF_JUDGEMENTS = ("table", "report", "agreement", "correlate", "judge")
OF_ANSWERS = ("table", "report", "metrics", "errors", "agreement", "correlate", "judge")
OF_SCORES = ("table", "report")

WRITES = {"report": "page.html", "metrics": "metrics.csv", "fit": "weights.json", "generate": "made"}
CODES: dict[str, dict[str, int]] = {"partial": {"judge": 2}, "skipping": {"metrics": 3, "errors": 3}}
"""Exit codes of commands that take a fault otherwise than the rest: `judge` would lose a row that it cannot read."""


class Row(NamedTuple):
    """A damaged file, the commands that read it, and their message."""

    spoil: Callable[[Path], object]
    commands: tuple[str, ...]
    says: str
    code: int = 2
    others: str = ""


def at(file: str, change: Callable[..., object], *values: Any, **named: Any) -> Callable[[Path], object]:
    return lambda folder: change(folder / file, *values, **named)


def judgement(**changes: Any) -> Callable[[Path], object]:
    """Changes keys of the third judgement."""
    return at(JUDGEMENTS, change_row, 2, **changes)


def again(**changes: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Puts the third row a second time, changed."""
    return lambda rows: [*rows, {**rows[2], **changes}]


def every(**changes: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return lambda rows: [{**row, **changes} for row in rows]


def bad_lines(file: str, commands: tuple[str, ...], others: str = "") -> dict[str, Row]:
    """Third lines of a file that cannot be read."""
    lines = {
        "invalid UTF-8": (b'"\xff"', "not UTF-8"),
        "a nesting bomb": (b"[" * 100_000, "JSON nested too deeply"),
        "a line that is too long": (b'"' + b"x" * 200_001 + b'"', "longer than "),
        "a lone surrogate": (b'{"id": "\\ud800", "response_sha256": "", "scores": []}', "id: a lone surrogate"),
    }
    return {
        f"{name} in {file}": Row(at(file, change_line, 2, line), commands, f"{file}, line 3: {says}", 3, others)
        for name, (line, says) in lines.items()
    }


ALL_OF_RUNS = tuple(dict.fromkeys((*OF_JUDGEMENTS, *OF_ANSWERS)))
ALL_JUDGEMENTS = tuple(f"runs/{model}/judgements.jsonl" for model in ("heron", "stork"))
ALL_ANSWERS = tuple(f"runs/{model}/answers.jsonl" for model in ("heron", "stork"))


def all_judgements(change: Callable[..., object]) -> Callable[[Path], object]:
    return lambda folder: [change_rows(folder / name, change) for name in ALL_JUDGEMENTS]


def without(*names: str) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        for name in names:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return spoil


def empty_run(folder: Path) -> None:
    shutil.rmtree(folder / "runs")
    (folder / "runs" / "heron").mkdir(parents=True)


def one_answer(folder: Path) -> None:
    shutil.rmtree(folder / "runs" / "stork")
    for name in (ANSWERS, JUDGEMENTS):
        change_rows(folder / name, lambda rows: rows[:1])


half_judged = all_judgements(lambda rows: rows[:4])
unjudged = all_judgements(every(scores=None, fault="form", reasons=[]))
another_suite = at(TASKS_FILE, change_rows, lambda rows: [{**row, "id": f"other-{row['id']}"} for row in rows])
CHANGED = "the answer, its instruction, the checklist or the prompt has changed"
STALE = f"stale judgements ({CHANGED} since): "

ROWS: dict[str, Row] = {
    **bad_lines(JUDGEMENTS, OF_JUDGEMENTS, "partial"),
    **bad_lines(ANSWERS, OF_ANSWERS),
    "unknown id": Row(judgement(id="nobody"), OF_JUDGEMENTS, f"{JUDGEMENTS}, line 3: unknown task 'nobody'; expected"),
    "a duplicate with equal verdicts": Row(at(JUDGEMENTS, change_rows, again()), OF_JUDGEMENTS, "", 0),
    "two answers for one id": Row(
        at(ANSWERS, change_rows, again(response="another")),
        OF_ANSWERS,
        f"{ANSWERS}, line 9: another answer to thanks-2 came before; expected one",
        others="skipping",
    ),
    "a judgement of another answer": Row(
        judgement(response_sha256="0" * 64), OF_SCORES, f"1 answer left out: {CHANGED}", 0
    ),
    "a judgement of another answer beside people": Row(
        judgement(response_sha256="0" * 64), ("agreement",), f"{STALE}thanks-2", 0
    ),
    "a task without instruction": Row(
        at(TASKS_FILE, change_rows, every(instruction=None)),
        ("judge",),
        "runs/heron: the suite lacks the whole instruction of 8 tasks, such as thanks-0, thanks-1, thanks-2; expected",
    ),
    "no folder": Row(without("runs"), ALL_OF_RUNS, ": no such file"),
    "an empty run": Row(empty_run, ALL_OF_RUNS, ": holds no run; expected a folder with answers.jsonl or"),
    "another suite": Row(another_suite, ALL_OF_RUNS, ", line 1: unknown task 'thanks-0'; expected one of"),
    "no suite": Row(without("suite"), (*ALL_OF_RUNS, "info", "generate", "fit"), "suite: no such folder"),
    "no judgements": Row(
        without(*ALL_JUDGEMENTS),
        ("table", "report", "correlate"),
        "no run has judgements by the method checklist; ask a judge first",
    ),
    "no judgements of a judge beside people": Row(
        without(*ALL_JUDGEMENTS),
        ("agreement",),
        "runs: no judgements by checklists of these answers; ask a judge first",
    ),
    "judging without answers": Row(without(*ALL_ANSWERS), ("judge",), "runs/heron: holds no answers; expected"),
    "tables without answers": Row(
        without(*ALL_ANSWERS), ("table", "report", "agreement", "errors", "correlate"), "", 0
    ),
    "one model": Row(without("runs/stork"), ("table", "report", "agreement", "errors", "metrics"), "", 0),
    "one answer": Row(one_answer, ("table", "report", "agreement", "correlate"), "", 0),
    "an area without judgements": Row(half_judged, ("table", "report", "agreement"), "", 0),
    "nothing but unjudged": Row(unjudged, ("table", "report"), "16 answers left out: the judge gave no usable", 3),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands are typed."""
    monkeypatch.setattr(line_files, "MAX_LINE_BYTES", 200_000)
    monkeypatch.chdir(tmp_path)
    return write_judged(tmp_path)


def cases(rows: dict[str, Row]) -> list[Any]:
    """Each row with each of its commands; slow, except two commands for each row and those with codes of their own."""
    listed = []
    for number, (key, row) in enumerate(rows.items()):
        n = len(row.commands)
        quick = {row.commands[number % n], row.commands[(number + n // 2) % n], *CODES.get(row.others, ())}
        for name in row.commands:
            listed.append(pytest.param(row, name, id=f"{key}-{name}", marks=() if name in quick else pytest.mark.slow))
    return listed


@pytest.mark.parametrize(("row", "command"), cases(ROWS))
def test_bad_input_is_one_sentence(folder: Path, call, row: Row, command: str) -> None:
    row.spoil(folder)

    code, out, err = call("checklists", command, *COMMANDS[command])

    assert code == CODES.get(row.others, {}).get(command, row.code), err
    message = [line for line in err.splitlines() if row.says in line]
    if row.code and row.says:
        assert message, err
        assert code == 3 or out == ""
        assert code == 3 or message == err.splitlines()[: len(message)]
    elif row.says:
        assert message or row.says in out, err
    assert not re.search(r"\b(nan|NaN|inf|Infinity)\b", out + err)
    if code == 2:
        assert not (folder / WRITES.get(command, "none")).exists()
    assert not list(folder.rglob(".*.part"))


HOSTILE = "\x1b]0;owned\x07\x1b[31m\u202e</script><script>alert(1)</script>"


def test_hostile_answers_and_reasons_reach_neither_page_nor_terminal(folder: Path, call) -> None:
    change_row(folder / ANSWERS, 2, response=HOSTILE)
    change_row(folder / JUDGEMENTS, 3, reasons=[HOSTILE, HOSTILE])
    change_json(folder / "runs" / "heron" / "config.json", name=HOSTILE)
    for command in ("table", "report", "errors", "metrics", "agreement"):
        code, out, err = call("checklists", command, *COMMANDS[command])
        assert code == 0, err
        assert not {"\x1b", "\x07", "\u202e"} & {*out, *err}
    assert "<script>alert(1)" not in (folder / "page.html").read_text()


OPTIONS: dict[str, tuple[list[str], str]] = {
    "a budget that is no number": (
        ["--budget", "nan", "--prompt-price", "1"],
        "--budget: expected a number, not 'nan'",
    ),
    "no replies offline": (["--offline"], "runs/heron/judge-replies.jsonl: no such file; expected the replies of an"),
    "no server": (["-q"], "the variable OPENAI_API_KEY is empty or not set; put the key into it"),
}


@pytest.mark.parametrize(("options", "says"), OPTIONS.values(), ids=OPTIONS)
def test_judging_that_is_impossible_is_refused(folder: Path, refused, options: list[str], says: str) -> None:
    assert says in refused("checklists", "judge", "runs", "-s", "suite", "-m", JUDGE, *options)
    assert not list(folder.glob("runs/*/judge-replies.jsonl"))


def test_outputs_that_cannot_be_written_are_refused_and_leave_nothing_behind(folder: Path, call, refused) -> None:
    (folder / "file").write_text("mine")
    for command in ("report", "fit"):
        message = call("checklists", command, *COMMANDS[command], "-o", "file")
        assert message == (2, "", "error: file: expected a directory, but file is a file\n"), command
    assert (folder / "file").read_text() == "mine"
    assert (
        refused("checklists", "table", *COMMANDS["table"], "--csv", "runs")
        == "error: runs: cannot be written: Is a directory\n"
    )
    assert not list(folder.rglob(".*.part"))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("agreement none -s suite", "none: no such file"),
        ("import runs -o made", "runs: no data of HelloBench in data/main_data/open_ended_qa.jsonl"),
        ("import runs -s suite -o made", "runs: no answers or judgements of HelloBench; expected"),
        ("fit marks.jsonl -s suite -o runs", "runs: is not the folder of a suite"),
    ],
)
def test_a_failed_command_leaves_no_files(folder: Path, refused, command: str, says: str) -> None:
    before = sorted(folder.rglob("*"))
    assert refused("checklists", *command.split()).startswith(f"error: {says}")
    assert sorted(folder.rglob("*")) == before
