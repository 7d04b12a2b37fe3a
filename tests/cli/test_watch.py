"""`pfgen-fast watch`: each checkpoint is scored once, whatever happens on the way."""

from __future__ import annotations

import contextlib
import csv
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from makers.engines import integration
from pfgen_fast.checkpoints import watch as library

PROGRAM = Path(__file__).parents[1] / "makers" / "model_program.py"
SERVE = f"{sys.executable} {PROGRAM} {{path}} {{port}}"
NGRAM = ("-e", "ngram", "-n", "2")
SERVED = ("-e", "openai", "--mode", "chat", "-n", "2", "--serve", SERVE)


def add(training, step, weights="good", broken=False):
    checkpoint = training / f"iter_{step:07}"
    checkpoint.mkdir(parents=True, exist_ok=True)
    (checkpoint / "model.safetensors").write_text(weights)
    if broken:
        (checkpoint / "broken").touch()
    return checkpoint


@pytest.fixture
def training(tmp_path):
    for step in (5, 10):
        add(tmp_path / "training", step)
    return tmp_path / "training"


@pytest.fixture
def watch(call, training, tmp_path, undrawn):

    def run(*options):
        usual = ("-s", "mini", "-o", tmp_path / "out", "--unchanged", "0", "--once")
        return call("watch", training, *usual, *options)

    return run


def table(tmp_path):
    with (tmp_path / "out" / "training" / "watch.csv").open() as file:
        return {int(row["step"]): row for row in csv.DictReader(file)}


def test_every_checkpoint_is_scored_once(watch, training, tmp_path, monkeypatch):
    code, out, err = watch(*NGRAM)
    assert code == 0, err
    assert [line.split()[0] for line in out.splitlines()[3:] if line[:9].strip()] == ["5", "10"]
    assert list(table(tmp_path)) == [5, 10]
    results = [json.loads(path.read_text())["score"] for path in (tmp_path / "out").rglob("result.json")]
    assert [round(float(row["score"]), 4) for row in table(tmp_path).values()] == results
    monkeypatch.setattr(library, "sweep", None)  # a restart knows what is scored
    (tmp_path / "out" / "training" / "watch.csv").unlink()
    assert watch(*NGRAM)[1] == out
    assert list(table(tmp_path)) == [5, 10]
    monkeypatch.undo()
    add(training, 7)
    code, out, _ = watch(*NGRAM, "--json")
    assert (code, [json.loads(line)["step"] for line in out.splitlines()]) == (0, [7])
    assert list(table(tmp_path)) == [5, 7, 10]
    add(training, 5, "other weights")  # under the old name
    (training / "iter_0000015").mkdir()
    code, out, err = watch(*NGRAM, "--json")
    assert (code, [json.loads(line)["step"] for line in out.splitlines()]) == (0, [5])
    assert err.endswith("note: 1 of 4 checkpoints are not complete yet; see --unchanged\n")
    assert len(list((tmp_path / "out" / "training").glob("iter_0000005-*"))) == 2


def test_other_settings_are_another_table(watch, tmp_path):
    watch(*NGRAM)
    code, out, _ = watch(*NGRAM, "--temperature", "0.5", "--json")
    assert (code, len(out.splitlines())) == (0, 2)
    assert len({row["run"] for row in table(tmp_path).values()}) == 2
    assert len(list((tmp_path / "out").rglob("result.json"))) == 4


def test_a_server_is_started_for_each_checkpoint_and_ended(watch, training, tmp_path):
    code, _out, err = watch(*SERVED)
    assert code == 0, err
    for path in sorted((tmp_path / "out").rglob("trials.jsonl.xz")):
        config = json.loads(path.with_name("config.json").read_text())
        assert config["served_model"] == f"served-{config['model'].split('/')[1].rpartition('-')[0]}"
    for name in ("iter_0000005", "iter_0000010"):
        with pytest.raises(ProcessLookupError):
            os.kill(int((training / f"pid-{name}").read_text()), 0)


def test_a_checkpoint_that_fails_is_named_and_the_others_are_scored(watch, training, tmp_path):
    add(training, 7, broken=True)
    code, _out, err = watch(*SERVED)
    assert code == 3
    said = "step 7: the server ended with code 1; its last output: the weights are broken (see "
    assert said in " ".join(err.split())
    assert list(table(tmp_path)) == [5, 10]
    (training / "iter_0000007" / "broken").unlink()
    assert watch(*SERVED)[0] == 0
    assert list(table(tmp_path)) == [5, 7, 10]


@pytest.mark.parametrize(
    "reply",
    ["b'\\x00garbage'", "b'HTTP/1.0 200 OK\\r\\n\\r\\n' + b'[' * 200000"],
)
def test_a_server_that_never_replies_well_costs_its_checkpoint_only(watch, tmp_path, reply):
    (tmp_path / "garbage.py").write_text(
        "import socket, sys\n"
        "server = socket.create_server(('127.0.0.1', int(sys.argv[2])))\n"
        f"while True:\n    one, _ = server.accept(); one.recv(9999); one.sendall({reply}); one.close()\n"
    )
    serve = f"{sys.executable} {tmp_path / 'garbage.py'} {{path}} {{port}}"
    code, _, err = watch("-e", "openai", "--mode", "chat", "--serve", serve, "--serve-timeout", "1")
    assert code == 3
    assert "the server did not reply within 1 s" in " ".join(err.split())
    assert "step 10: " in err


@pytest.mark.skipif(os.name == "nt", reason="no process groups")
def test_a_kill_leaves_no_server_and_the_next_call_goes_on(watch, training, tmp_path):
    options = ("-s", "mini", "-o", tmp_path / "out", "--unchanged", "0", "--concurrency", "1", *SERVED, "-n", "50")
    command = [sys.executable, "-m", "pfgen_fast", "watch", training, *options]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        runs = tmp_path / "out" / "training"
        _until(lambda: sum(path.stat().st_size for path in runs.glob("iter*/*/*") if path.is_file()) > 2000)
        process.send_signal(signal.SIGKILL)
    server = int((training / "pid-iter_0000005").read_text())
    _until(lambda: not _is_alive(server))
    code, out, err = watch(*SERVED, "-n", "50", "--concurrency", "1", "--json")
    assert code == 0, err
    assert {json.loads(line)["n_trials"] for line in out.splitlines()} == {50}
    assert len(list((tmp_path / "out" / "training").glob("iter_*/*/"))) == 2  # the run that was killed was continued


def _until(is_so):
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_alive(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def test_patience_ends_the_watch(call, training, tmp_path, undrawn):
    for step in (15, 20, 25):
        add(training, step)
    options = ("-s", "mini", "-o", tmp_path / "out", "--unchanged", "0", "--every", "0.01", *NGRAM)
    code, _, err = call("watch", training, *options, "--patience", "2")
    assert code == 0
    assert "no new best score in the last 2 checkpoints (--patience)" in err
    assert list(table(tmp_path)) == [5, 10, 15]


def test_a_tracker_gets_every_score_once_even_after_an_outage(watch, tmp_path, monkeypatch):
    logged, n_outages = [], 1

    def log_run(run, **named):
        nonlocal n_outages
        if n_outages:
            n_outages -= 1
            raise ConnectionError("no server")
        logged.append((named["step"], named["into"], json.loads((run / "result.json").read_text())["score"]))

    monkeypatch.setattr("pfgen_fast.integrations.mlflow.log_run", log_run)
    code, _, err = watch(*NGRAM, "--log", "mlflow")
    assert "step 5: not logged to mlflow: no server" in err
    assert code == 0  # it was there again at the second try
    assert [entry[:2] for entry in logged] == [(5, "training"), (10, "training")]
    n_outages = 100
    assert watch(*NGRAM, "--log", "mlflow")[0] == 0  # because nothing is left to be logged
    assert len(logged) == 2
    code, _, err = watch(*NGRAM, "--temperature", "0.5", "--log", "mlflow")
    assert (code, err.count("not logged to mlflow: no server")) == (3, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--serve", "true {path} {port}", *NGRAM),
            "the engine ngram uses no server; expected an engine such as openai",
        ),
        (("--serve", "x {path}", "-e", "openai"), "expected {port} in the command"),
        (("--serve", "x '{path}", "-e", "openai"), "No closing quotation"),
        (("--serve", "no-such-program {path} {port}", "-e", "openai"), "the program no-such-program is not found"),
        ((*SERVED, "--base-url", "http://localhost:1/v1"), "--serve and --base-url: expected one of them"),
        (("-e", "ngrams"), "ngrams"),
        ((*NGRAM, "--pattern", "("), "pattern (: "),
        ((*NGRAM, "--limit", "2", "--log", "mlflow"), "--log: expected results of all questions"),
        ((*NGRAM, "--table", "x.txt"), "expected a name that ends in .md, .csv, .json"),
        ((*NGRAM, "--pattern", "other"), "holds no complete checkpoint; expected names that match other"),
        ((*NGRAM, "--unchanged", "1000"), "holds no complete checkpoint; these steps are not complete yet: 5, 10"),
    ],
)
def test_bad_input_is_one_sentence(watch, options, message):
    code, _, err = watch(*options)
    assert code == 2
    assert message in " ".join(err.split())


def test_another_training_of_the_same_name_is_refused(watch, call, training, tmp_path):
    watch(*NGRAM)
    add(tmp_path / "other" / "training", 5, "others")
    code, _, err = call(
        "watch", tmp_path / "other" / "training", "-s", "mini", "-o", tmp_path / "out", *NGRAM, "--once"
    )
    assert code == 2
    assert f"has the scores of the training run {training}; choose another --output" in " ".join(err.split())


def test_a_second_process_is_refused(watch, training, tmp_path):
    from pfgen_fast import Suite
    from pfgen_fast.checkpoints import Checkpoints, Watch

    watching = Watch(Checkpoints(training), Suite.load("mini"), "ngram", output=tmp_path / "out")
    with watching.alone():
        code, _, err = watch(*NGRAM)
    assert code == 2
    assert "another process is adding scores of checkpoints to it" in err


def test_damaged_lines_of_the_journal_cost_themselves_only(watch, tmp_path):
    watch(*NGRAM)
    damaged = '{\n[]\n{"model": 1}\n{"logged": {}}\n{"model": "a", "step": 1, "folder": "x"}\n'
    journal = tmp_path / "out" / "training" / "watch.jsonl"
    journal.write_text(damaged + journal.read_text())
    code, out, _ = watch(*NGRAM, "--json")
    assert (code, out) == (0, "")


def test_a_picture_of_the_scores_by_step(call, training, tmp_path):
    options = ("-s", "mini", "-o", tmp_path / "out", "--unchanged", "0", "--once", *NGRAM)
    assert call("watch", training, *options, "--plot", tmp_path / "steps.svg")[0] == 0
    assert "<path" in (tmp_path / "steps.svg").read_text()
    code, _, err = call("watch", tmp_path / "none", *options)
    assert (code, err.endswith("none: no such directory\n")) == (2, True)


@pytest.mark.models
def test_local_weights_are_loaded_from_each_checkpoint(call, tiny_model, tmp_path, undrawn):
    for step in (20, 100):
        shutil.copytree(tiny_model, tmp_path / "training" / f"checkpoint-{step}")
        (tmp_path / "training" / f"checkpoint-{step}" / "trainer_state.json").write_text("{}")
    (tmp_path / "training" / "checkpoint-100" / "model.safetensors").write_bytes(b"")
    usual = ("-s", "mini", "-o", tmp_path / "out", "-n", "1", "--once")
    code, _, err = call(
        "watch", tmp_path / "training", *usual, *["--examples", "2", "--max-tokens", "8", "--device", "cpu"]
    )
    assert code == 3
    assert "step 100: " in err
    assert "cannot be loaded" in err
    (config,) = (tmp_path / "out").rglob("config.json")
    assert json.loads(config.read_text())["mode"] == "chat"  # the tiny model has a template
    assert list(table(tmp_path)) == [20]


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tracker", ["mlflow", "wandb", "tensorboard"])
def test_checkpoints_are_logged_into_one_run_of_a_tracker(tracker, watch, tmp_path, monkeypatch):
    package = integration(tracker)
    steps = []
    module = importlib.import_module(f"pfgen_fast.integrations.{tracker}")
    log_run = module.log_run
    monkeypatch.setattr(module, "log_run", lambda *run, **named: steps.append((named["step"], log_run(*run, **named))))
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    if tracker == "mlflow":  # which keeps the store and the experiment of the test before
        package.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
        package.set_experiment("watching")
    code, _, err = watch(*NGRAM, "--log", tracker)
    assert code == 0, err
    assert [step for step, _ in steps] == [5, 10]
    assert len({run for _, run in steps}) == 1
