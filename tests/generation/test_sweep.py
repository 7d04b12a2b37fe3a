"""Sweeps: grids, runs shared with `generate`, early stopping, failures, tables, the command."""

import csv
import io
import json
import os
import re
import shutil
import sys

import pytest
from makers.runs import files_below
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.checkpoints import Checkpoint, find_checkpoints
from pfgen_fast.generation.engines.engine import Engine
from pfgen_fast.generation.engines.engine_registry import ENGINES
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.protocol import RawReply
from pfgen_fast.generation.sweep import grid, sweep, sweep_table
from pfgen_fast.suite.rules import SCORES

GRID = {"temperature": [0.5, 1.0], "order": [3, 5]}


@pytest.fixture
def fixed_time(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


@pytest.mark.parametrize(
    ("engine", "parameters", "names"),
    [
        ("openai", {"model": "org/m", "seed": "s", "examples": 3}, ["org/m"]),
        ("ngram", {"sets": ["A", "B"]}, ["ngram/order-5"]),  # one value
        ("ngram", {"sets": ["A", ["A", "B"]]}, ["sets A", "sets A+B"]),
        ("ngram", {"top_p": ["none", 0.5]}, ["top_p none", "top_p 0.5"]),
        (
            "openai",
            {"model": "m", "enable_thinking": [True, False], "stop": ["<a>", "<b>"]},
            ["enable_thinking true", "enable_thinking false"],
        ),
    ],
)
def test_a_point_is_named_by_the_swept_parameters(engine, parameters, names):
    assert [point.name for point in grid(engine, parameters)] == names


def test_a_grid_holds_every_combination_the_first_parameter_varying_slowest():
    points = grid("ngram", {"order": [3, 5], "mode": ["qa", "completion"], "temperature": [1, 0.5], "top_k": 50})
    assert [point.values for point in points] == [
        {"mode": mode, "temperature": temperature, "order": order}
        for mode in ("qa", "completion")
        for temperature in (1.0, 0.5)
        for order in (3, 5)
    ]
    assert points[0].name == "mode qa, temperature 1, order 3"
    assert {point.setting.sampling.top_k for point in points} == {50}
    assert points[1].setting.model == "ngram/order-5"
    assert points[0].setting.sampling.stop == ("Q:",)
    assert points[4].setting.sampling.stop == ("Q:", "\n\n")


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"base_url": "x"}, "--base-url is an option of anthropic, openai, openai-api, not of ngram"),
        ({"zzz": 1}, "--zzz is an option of no engine, not of ngram"),
        ({"temperature": [1, 0.5, 1.0]}, "temperature: 1 occurs twice; expected each value once"),
        ({"mode": "poem"}, "unknown mode 'poem'; expected one of completion, qa, chat, turns"),
        ({"examples": -1}, "examples: expected at least 0, not -1"),
    ],
    ids=str,
)
def test_a_bad_grid_is_refused_in_one_sentence(parameters, problem):
    with pytest.raises(EngineError) as raised:
        grid("ngram", parameters)
    assert str(raised.value) == problem


def test_points_are_the_runs_of_generate(mini, tmp_path, fixed_time):
    told = []
    options = {"trials": 3, "output": tmp_path / "swept", "on_progress": lambda *there: told.append(there)}
    measured = list(sweep(mini, grid("ngram", GRID)[::-1], **options))
    assert (told[0], told[-1], told) == ((0, 96), (96, 96), sorted(told))  # of all points
    for point in reversed(measured):
        generate(mini, point.point.open(mini), point.point.setting, trials=3, output=tmp_path / "generated")
        assert point.folder == point.point.folder(mini, tmp_path / "swept")
    swept = files_below(tmp_path / "swept")
    generated = files_below(tmp_path / "generated")
    assert {name: content for name, content in swept.items() if not name.endswith("result.json")} == generated
    assert sum(name.endswith("result.json") for name in swept) == 4
    assert [point.n_new for point in measured] == [24] * 4
    assert all(point.n_trials == 3 and not point.problems for point in measured)


def test_a_resumed_sweep_has_the_same_table_and_counts_new_answers(tmp_path, call):
    def swept(trials, name, *options):
        points = ["--order", 3, "--order", 5, "--trials", trials, "--output", tmp_path / name]
        code, out, err = call("sweep", "-e", "ngram", "-s", "mini", *points, "--table", tmp_path / "t.json", *options)
        assert code == 0
        return (tmp_path / "t.json").read_text(encoding="utf-8").replace(f"/{name}/", "/result/"), out, err

    whole, *_ = swept(3, "whole")
    swept(1, "resumed")
    for n_new in (16, 0):
        table, out, _ = swept(3, "resumed", "--json")
        assert table == whole
        assert [row["n_new"] for row in json.loads(out)] == [n_new, n_new]
    note = " ".join(swept(3, "resumed")[2].split())
    assert re.search(r"note: 48 answers existed already, the oldest from 20\d\d-\d\d-\d\d \d\d:\d\d; if the m", note)


class Failing(Engine):
    """Gives no usable answer in some trials."""

    name = "failing"

    def __init__(self, *, suite, model, mode, sampling, bad=(), broken=False):
        if broken:
            raise EngineError("it is broken")
        self.parameters = {"bad": list(bad) or None}
        self.bad, self.suite = bad, suite

    async def answers(self, tasks):
        for index, task in enumerate(tasks):
            is_bad = str(task.trial) in self.bad
            yield index, None if is_bad else RawReply(self.suite[task.question].answers["A"][task.trial])


@pytest.fixture
def failing(monkeypatch):
    module = sys.modules[Failing.__module__]
    monkeypatch.setitem(sys.modules, "pfgen_fast.generation.engines.failing", module)
    monkeypatch.setattr(
        "pfgen_fast.generation.engines.engine_registry.ENGINES", {**ENGINES, "failing": (".failing", "Failing")}
    )
    annotations = {"bad": "Sequence[str]", "broken": "bool"}
    monkeypatch.setattr(Failing.__init__, "__annotations__", annotations)


def test_a_point_that_fails_has_no_scores_and_does_not_stop_the_others(mini, tmp_path, failing):
    points = grid("failing", {"model": "m", "broken": [True, False]})
    broken, good = sweep(mini, points, trials=2, output=tmp_path)
    assert broken.problems == ("broken true: it is broken",)
    assert (broken.folder, broken.intervals, broken.n_trials) == (None, {}, 0)
    assert (good.problems, good.n_trials) == ((), 2)
    (empty,) = sweep(mini, grid("failing", {"model": "m", "bad": ["1"]}), trials=1, output=tmp_path)
    assert (empty.intervals, empty.n_trials, len(empty.problems)) == ({}, 0, 1)
    assert sweep_table([empty]).to_dicts()[0]["score"] is None


def test_points_with_the_same_run_and_invalid_numbers_are_refused(mini, tmp_path):
    points = grid("ngram", {"examples": [0, 20]})
    first, second = sweep(mini, points, trials=1, output=tmp_path)
    problem = "has the same run as examples 0, because the engine ngram ignores the differences"
    assert (first.problems, second.problems) == ((), (f"examples 20: {problem}",))
    with pytest.raises(EngineError, match="expected a number"):
        next(sweep(mini, points, output=tmp_path, trials=0))


@pytest.mark.slow
def test_tables_say_the_same_in_all_forms(mini, tmp_path):
    points = grid("ngram", {**GRID, "mode": ["qa", "completion"]})
    measured = list(sweep(mini, points, trials=10, output=tmp_path))
    table = sweep_table(measured)
    json_rows, csv_rows = json.loads(table.to_json()), list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [float(row["score"]) for row in csv_rows] == [row["score"] for row in json_rows]
    assert [row["mode"] for row in csv_rows] == [row["mode"] for row in json_rows] == ["qa"] * 4 + ["completion"] * 4
    assert {row["signature"] for row in [*csv_rows, *json_rows]} == {measured[0].signature}
    head, _, first, *_ = markdown_lines = table.to_markdown().splitlines()
    names = ("mode", "temperature", "order", *SCORES, "trials", "for ±0.005", "run")
    assert head.split("|")[1:-1] == [f" {name} " for name in names]
    assert len(markdown_lines) == 10
    interval = measured[0].intervals["score"]
    assert f"| qa | 0.5 | 3 | {interval.value:.4f} ±{interval.half_width:.4f} |" in first


FLAGS = ["-e", "ngram", "-s", "mini", "-n", 3]
FLAGS += ["--order", "3,5", "--temperature", 0.5, "--temperature", 1]


def test_a_table_has_the_points_that_a_dry_run_lists(tmp_path, call):
    code, out, err = call("sweep", *FLAGS, "-o", tmp_path / "a", "--table", tmp_path / "a.csv")
    assert (code, err.count("\n")) == (0, 1)  # the summary
    table = (tmp_path / "a.csv").read_text()
    heads, *rows = [row.split() for row in out.splitlines()]
    assert heads == ["temperature", "order", *SCORES, "trials", "for", "±0.005", "run"]
    assert [row[:2] for row in rows[:4]] == [["0.5", "3"], ["0.5", "5"], ["1", "3"], ["1", "5"]]
    _, listed, _ = call("sweep", *FLAGS, "-o", tmp_path / "c", "--dry-run")
    assert not (tmp_path / "c").exists()
    assert listed.splitlines()[:-1] == [
        f"temperature {t}, order {order}: {row['run'].replace(f'{tmp_path}/a', f'{tmp_path}/c')}"
        for (t, order, *_), row in zip(rows, csv.DictReader(io.StringIO(table)), strict=False)
    ]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-e", "ngram"], "the working folder is not in a checkout"),
        (["-e", "nothing", "-s", "mini"], "unknown engine 'nothing'"),
        (["-e", "ngram", "-s", "mini", "--table", "x.txt"], "--table x.txt: expected a name"),
    ],
)
def test_wrong_use_is_one_line(tmp_path, monkeypatch, call, arguments, problem):
    monkeypatch.chdir(tmp_path)
    code, _, err = call("sweep", *arguments, "-o", tmp_path / "runs")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"error: {problem}")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("option", "value"), [("--temperature", "0,x"), ("--order", "3,0.5")])
def test_numbers_are_separated_by_commas(tmp_path, call, option, value):
    arguments = ("--temperature", "0,0.5, 1", "--top-p", "0.9,1")
    (*points, _) = call("sweep", "-e", "ngram", "-s", "mini", *arguments, "-o", tmp_path, "--dry-run")[1].splitlines()
    assert [point.partition(":")[0] for point in points] == [
        f"temperature {temperature}, top_p {top_p}" for temperature in ("0", "0.5", "1") for top_p in ("0.9", "1")
    ]
    code, _, err = call("sweep", "-e", "ngram", "-s", "mini", option, value, "--dry-run")
    assert (code, option in err, value.partition(",")[2] in err) == (2, True, True)


# ---- Which directories are checkpoints, in which order, and what identifies their weights


def add(folder, name, weights=b"weights", **files):
    checkpoint = folder / name
    checkpoint.mkdir(parents=True)
    for file, content in {"config.json": b"{}", "model.safetensors": weights, **files}.items():
        (checkpoint / file).write_bytes(content)
    return checkpoint


def names(result):
    return [checkpoint.folder.name for checkpoint in result]


def test_patterns_and_directories_name_checkpoints_in_the_order_of_steps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("checkpoint-9", "checkpoint-100", "checkpoint-20", "tmp-checkpoint-120", "org/model"):
        add(tmp_path / "training", name)
    (tmp_path / "training/checkpoint-30").mkdir()  # its configuration is not written yet
    (tmp_path / "training/checkpoint-40").write_text("no directory")
    run = add(tmp_path / "gpt-4o", "1c0ffee")
    (run / "trial_001.jsonl").touch()
    assert names(find_checkpoints("training/checkpoint-*"))[-2:] == ["checkpoint-30", "checkpoint-100"]
    assert names(find_checkpoints("training")) == ["checkpoint-9", "checkpoint-20", "checkpoint-100"]
    assert names(find_checkpoints("training/org/model")) == ["model"]
    assert find_checkpoints("gpt-4o") == find_checkpoints("nothing-*") == []
    assert find_checkpoints("org/model") is None


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("my-training/checkpoint-100", "my-training/checkpoint-100"),
        ("my-training/global_step_5/actor/huggingface", "my-training/global_step_5/actor/huggingface"),
        ("org/model", "org/model"),
    ],
)
def test_a_label_has_the_training_run_and_the_step(tmp_path, path, label):
    assert Checkpoint(add(tmp_path, path)).label == label


@pytest.mark.parametrize("n_bytes", [1000, 3 << 20])
def test_a_name_covers_the_files_that_affect_answers(tmp_path, n_bytes):
    folder = add(tmp_path / "training", "checkpoint-1", os.urandom(n_bytes), **{"optimizer.pt": b"1"})
    (folder / "latest").symlink_to("nothing")
    checkpoint = Checkpoint(folder)
    first = checkpoint.model()
    assert first.startswith("training/checkpoint-1-")
    (folder / "optimizer.pt").write_text("2")
    (folder / "README.md").write_text("new")
    os.utime(folder / "model.safetensors", (1, 1))
    assert checkpoint.model() == first
    (folder / "config.json").write_text('{"a": 1}')
    changed = checkpoint.model()
    shutil.copytree(folder, tmp_path / "copy/training/checkpoint-1", symlinks=True)
    assert Checkpoint(tmp_path / "copy/training/checkpoint-1").model() == changed != first
    (folder / "model.safetensors").write_bytes(os.urandom(n_bytes))
    assert checkpoint.model() not in (first, changed)
