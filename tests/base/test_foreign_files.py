"""Every kind of untrusted file, with seeded mutations: it is read, or refused in one sentence that names the file.

A refused file causes no output. The test counts both outcomes, so a mutator that is too mild or too coarse fails.
"""

import contextlib
import copy
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.builds import toml
from makers.runs import files_below, make_run, trial_lines
from pfgen_fast import Generation, PfgenError, Scorer, Suite
from pfgen_fast.build.answer_tables import gather
from pfgen_fast.build.build_config import read_config as read_build_config
from pfgen_fast.generation.batch_api import read_batch
from pfgen_fast.generation.prompts import Context
from pfgen_fast.generation.run_writer import config_hash
from pfgen_fast.lab.discernment.discernment_items import read_collection
from pfgen_fast.lab.discernment.votes import read_survey
from pfgen_fast.lab.discernment.weights import open_weights
from pfgen_fast.lab.evaluators.function_evaluator import KeptScores
from pfgen_fast.lab.evaluators.table_evaluator import TableScores
from pfgen_fast.lab.experiments.verdict_tables import read_verdicts
from pfgen_fast.lab.judging.judge_requests import Template
from pfgen_fast.lab.judging.reply_store import ReplyStore
from pfgen_fast.report import ReportRun, write_readme, write_report
from pfgen_fast.report.safe_runs import check_run
from pfgen_fast.rewards.reward import shape_of
from pfgen_fast.runs.aggregation import evaluate
from pfgen_fast.runs.leaderboard import Leaderboard, rank, to_published
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import RunFolder, find_runs, pack_trials
from pfgen_fast.suite.suite_reading import find_faults
from pfgen_fast.tables.formats import table_rows

VALUES = (
    *(None, True, False, 0, -1, 10**400, -(10**400), 2**70, 1e308, 5e-324, float("nan"), float("inf"), 0.5),
    *("", "0.5", "Q01", "\ud800\x1b[31m\u202e", "x" * 10_000, "a\nb", "(a"),
    *({}, [], [[]], {"": {}}, [None] * 3, {"a": None}),
    *(json.loads("[" * n + "]" * n) for n in (26, 401)),
    {"\ud800\n|" + "k" * 1000: [[[[]]]]},
)
LEVELS = {"original": "", "x/1": "word"}
HUGE = "@huge@"
"""Becomes an integer that Python refuses to read."""


def changed(value: Any, generator: random.Random) -> Any:
    """A decoded value with one part left out, repeated or replaced, or with a new part."""
    value = copy.deepcopy(value)
    holder, key = generator.choice(list(places(value)))
    change = generator.randrange(10)
    if change == 0:
        del holder[key]
    elif change == 1 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif change == 2 and isinstance(holder, dict):
        holder[generator.choice(["new", "k" * 100_000, "\ud800"])] = generator.choice(VALUES)
    elif change == 3:
        holder[key] = HUGE
    else:
        holder[key] = generator.choice(VALUES)
    return value


def places(value: Any):
    """Every part of a decoded value, as its holder and its key there."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(part, (dict, list)):
            yield from places(part)


def damaged(content: bytes, generator: random.Random) -> bytes:
    """Bytes of which some are flipped, missing, repeated or foreign."""
    at, end = sorted(generator.randrange(len(content)) for _ in range(2))
    odd = generator.choice([b"\xff", b"\x00", b"[" * 10**5, b"9" * 5000, b"\xed\xa0\x80", b"\n", b'"', b"null", b"NaN"])
    return generator.choice(
        [
            lambda: content[:at],
            lambda: content[:at] + bytes([content[at] ^ 1 << generator.randrange(8)]) + content[at + 1 :],
            lambda: content[:at] + content[end:],
            lambda: content[:end] + content[at:],
            lambda: content[:at] + odd + content[at:],
            lambda: odd,
        ]
    )()


def as_json(value: Any) -> bytes:
    return json.dumps(value).replace(f'"{HUGE}"', "9" * 5000).encode()


def as_json_lines(value: Any) -> bytes:
    return b"\n".join(map(as_json, value))


def as_csv(value: Any) -> bytes:
    rows = [",".join(map(str, row)) if isinstance(row, list) else str(row) for row in value]
    return "\n".join(rows).replace(HUGE, "9" * 5000).encode("utf-8", "backslashreplace")


def as_toml(value: Any) -> bytes:
    lines = [f"{json.dumps(key)} = {toml(part)}" for key, part in value.items()]
    text = "\n".join(lines).replace(f'"{HUGE}"', "9" * 5000).replace("null", '"null"')
    return text.replace("NaN", "nan").replace("Infinity", "inf").encode("utf-8", "backslashreplace")


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Adds the file to errors about parameters, which name no file because flags may have given them."""
    try:
        yield
    except PfgenError as error:
        raise PfgenError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


SUITE = Suite.load("mini")
LINES = trial_lines(SUITE, 1)
TRIALS = [json.loads(line) for line in LINES]
BATCH = Generation.of("openai", model="gpt", mode="chat")
CONFIG = {"model": "org/model", "mode": "qa", "stop": ["Q:", "\n"], "temperature": 1.0}
QUESTION = {
    "question_id": "Q01", "question": "Why?",
    "answers": {"A": list(SUITE["Q01"].answers["A"][:3]), "B": list(SUITE["Q02"].answers["A"][:3])},
    "keywords": [{"or": [{"t": "a.*b"}, {"and": [{"t": "c"}, {"t": "d"}]}], "name": "n", "importance": 0.5}],
    "category": "c", "unit": "token", "tokenizer": "words",
}  # fmt: skip


def replies() -> list[Any]:
    response = {"status_code": 200, "body": {"choices": [{"message": {"content": "x"}}]}}
    digits = config_hash(BATCH.setting.config(SUITE, "openai"))
    ids = [f"{digits}-trial_001-{question_id}" for question_id in ("Q01", "Q02")]
    return [{"custom_id": name, "response": response, "error": None} for name in ids]


def good_result(folder: Path) -> Any:
    (run,) = find_runs([make_run(folder, LINES, CONFIG)])
    result = json.loads(evaluate(run, Scorer(SUITE)).content)
    result["questions"] = dict(list(result["questions"].items())[:3])
    for question in result["questions"].values():
        question["samples"] = question["samples"][:1]
    return result


def show_result(path: Path) -> None:
    shown = ReportRun(str(path), None, read_result(path))
    check_run(shown, SUITE)
    entries = rank([path])
    assert all(write(entries) for write in (to_published, Leaderboard.to_json, Leaderboard.to_csv))
    write_readme(shown, SUITE, path.with_name("README.md"))
    write_report([shown], SUITE, path.with_name("report.html"))


def score(path: Path) -> None:
    """Scores the run of a config.json or of trials."""
    (outcome,) = RunScorer(suite=SUITE, force=True, threads=1).score(find_runs([path.parent]))
    if outcome.error:
        raise PfgenError(outcome.error)
    read_result(path.with_name("result.json"))
    path.with_name("result.json").unlink()


def score_config(path: Path) -> None:
    path.with_name("trials.jsonl").write_text("\n".join(LINES))
    score(path)


def read_suite(path: Path) -> None:
    faults = find_faults(path.parent)
    assert all("\n" not in fault and len(fault) < 1000 for fault in faults)
    Suite.load(path.parent)
    assert not faults


def read_samples(path: Path) -> None:
    path.with_name("Q01.json").write_bytes(as_json(QUESTION))
    _ = Suite.load(path.parent).samples


def import_replies(path: Path) -> None:
    read_batch(BATCH, SUITE, [path], output=path.parent / "result")


def rows_of(path: Path) -> Any:
    return list(table_rows(path))


TABLE = [["item", "perturbation", "metric", "score", "level"]]
TABLE += [[item, name, metric, 1, level] for item in "ab" for name, level in LEVELS.items() for metric in "fg"]
TEXTS = {"text": "Ice floats.", "task": "qa", "language": "en", "question": "Why?", "references": ["It is light."]}
ITEMS = [{"id": f"i{number}", **TEXTS, "perturbed": {"char_typo/minor": "Ice flaots."}} for number in range(3)]
BUILD = {
    "suite": "made", "seed": "s", "sets": {"N": "raw.jsonl"}, "length": {"target": 80, "keep": 150},
    "select": {"size": 40, "proposals": 3000, "max_order": 4}, "frequency": {"order": 5},
    "normalise": {"nfkc": True, "replace": [["a", "b"]]},
    "question": [{"id": "Q01", "question": "Why?", "keywords": [{"t": "a"}], "wrong": ["x"], "sample": "s"}],
}  # fmt: skip
RATINGS = [{"key": f"k{i}", "request": {"model": "m"}, "reply": "[[3]]"} for i in range(5)]
KEPT = [{"key": "0" * 64, "item": "a", "scores": {"f": 0.5, "g": None}}]
WEIGHTS = [["task", "perturbation", "metric", "votes"], ["qa", "negate", "a", 4], ["qa", "negate", "b", 6]]
VOTES = [["voter", "task", "perturbation", "metric"], ["v", "qa", "negate", "a"], ["w", "qa", "negate", "b"]]
SHAPE = {
    "shape": [{"part": "overlong", "soft": 204.25, "hard": 4096.5}, {"part": "clip", "low": -12.5, "high": 2718.5}]
}
CONTEXT = [["question", "sentence"], ["Q01", "Ice floats."], ["Why?", "Snow is ice."], ["", "Rain falls."]]
VERDICTS = [["model", "x", "y"], ["org/a", 0.5, 1], ["org/b", 1.5, ""]]
KINDS: dict[str, tuple[Any, Callable[[Path], Any]]] = {  # a good value, or what makes one, and the reader
    "result.json": (good_result, show_result), "config.json": (CONFIG, score_config),
    "trials.jsonl": (TRIALS, score), "Q01.json": (QUESTION, read_suite), "questions.jsonl": (TRIALS, read_samples),
    "build.toml": (BUILD, read_build_config),
    "ratings.jsonl": (RATINGS, lambda path: ReplyStore(path, must_exist=True)),
    "models.csv": (VERDICTS, lambda path: read_verdicts([str(path)])),
    "rows.jsonl": (TRIALS, rows_of), "rows.json": (TRIALS, rows_of),
    "raw.jsonl": (TRIALS, lambda path: gather([path], {}, {}, {"Why?": 0})),
    "batch.jsonl": (replies(), import_replies), "scores.csv": (TABLE, TableScores),
    "scores.jsonl": ([dict(zip(TABLE[0], row, strict=True)) for row in TABLE[1:]], TableScores),
    "kept.jsonl": (KEPT, KeptScores), "items.jsonl": (ITEMS, read_collection),
    "items.json": (ITEMS, read_collection), "shape.toml": (SHAPE, shape_of),
    "context.csv": (CONTEXT, Context.read),
    "context.jsonl": ([dict(zip(CONTEXT[0], row, strict=True)) for row in CONTEXT[1:]], Context.read),
    "weights.csv": (WEIGHTS, open_weights), "votes.csv": (VOTES, read_survey),
}  # fmt: skip
MORE_READERS = {
    "trials.jsonl.xz": score,
    "trial_001.jsonl": lambda path: pack_trials(RunFolder(path.parent, None)),
    "template.txt": lambda path: Template.read(path, placeholders=()),
    "context.txt": Context.read,
    "raw.parquet": lambda path: gather([path], {}, {}, {}),
    **{f"rows.{kind}": rows_of for kind in ("jsonl.gz", "csv", "tsv", "parquet")},
}
ENCODERS = {".json": as_json, ".jsonl": as_json_lines, ".csv": as_csv, ".toml": as_toml}
JOURNALS = ("ratings.jsonl", "kept.jsonl")
"""Their lines that cannot be read are passed over."""


@pytest.mark.parametrize("n_mutations", [30, pytest.param(400, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", KINDS)
def test_any_file_is_read_or_refused_in_one_line(tmp_path, name, n_mutations):
    (value, read), encode = KINDS[name], ENCODERS[Path(name).suffix]
    value = value(tmp_path / "good") if callable(value) else value
    generator = random.Random(f"16 {name}")
    good = encode(value)
    n_passed = 0
    for number in range(n_mutations + 1):
        folder = tmp_path / f"{number:04}"
        folder.mkdir()
        (folder / "raw.jsonl").write_bytes(b"")
        path = folder / name
        is_value = number % 3 != 0
        content = encode(changed(value, generator)) if is_value else damaged(good, generator)
        path.write_bytes(content if number else good)
        there = files_below(folder)
        problem = problem_with(read, path)
        n_passed += problem is None
        if problem is not None:
            assert number, problem
            assert re.fullmatch("[^\n\x1b\u202e\ud800]{1,1000}", problem.replace(str(tmp_path), ""))
            assert str(folder) in problem
            assert is_unchanged(there, files_below(folder))
        shutil.rmtree(folder)
    n_refused = n_mutations + 1 - n_passed
    assert min(n_passed, n_refused) >= n_mutations // (130 if name in JOURNALS else 25)


@pytest.mark.skipif(not (hasattr(os, "mkfifo") and os.path.exists("/dev/zero")), reason="no FIFOs or devices here")
@pytest.mark.parametrize("kind", ["FIFO", "device"])  # a reader that waits for the FIFO hangs
@pytest.mark.parametrize("name", [*KINDS, *MORE_READERS])
def test_a_fifo_and_a_device_are_refused_at_once(tmp_path, name, kind):
    path = tmp_path / name
    os.mkfifo(path) if kind == "FIFO" else path.symlink_to("/dev/zero")
    problem = problem_with(KINDS[name][1] if name in KINDS else MORE_READERS[name], path)
    assert re.search(f"{re.escape(str(path))}: .*expected a regular file, not a {kind}", problem)


def problem_with(read: Callable[[Path], Any], path: Path) -> str | None:
    """Why a file is refused; None if it is not."""
    try:
        read(path)
    except PfgenError as error:
        return str(error)
    return None


def is_unchanged(before: dict[str, bytes], after: dict[str, bytes]) -> bool:
    """Whether nothing was written but what the readers above write beside the file."""
    return {key: after[key] for key in before} == before and set(after) - set(before) <= {"trials.jsonl", "Q01.json"}
