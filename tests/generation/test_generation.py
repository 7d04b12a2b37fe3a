"""Runs of an engine that stands in for a model: rounds, failures, stops, settings; and engines by name."""

import asyncio
import contextlib
import contextvars
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
from makers.asked_engines import FakeEngine
from makers.effort import share
from makers.fault_server import Gate, answering, echo, serving
from makers.runs import answers_by_trial, files_below
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.engine import run_async
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.events import Trouble
from pfgen_fast.generation.generating import MAX_ROUNDS, Generation, Setting, generate
from pfgen_fast.generation.prompts import Context, sampling_seed
from pfgen_fast.suite.questions import INSTRUCTIONS
from pfgen_fast.suite.suite import Suite


def test_a_run_follows_the_rules(mini, tmp_path):
    engine = FakeEngine(lambda task: f" A: {task.trial} {task.question_id} \n")
    progress, setting = [], Setting("org/m", "qa")
    report = {"on_progress": lambda *there: progress.append(there)}
    generated = generate(mini, engine, setting, trials=2, output=tmp_path, **report)
    assert engine.n_closed == 1
    assert generated.n_new == 16
    assert progress == [(n, 16) for n in range(17)]
    assert generated.folder.parent == tmp_path / "org" / "m"
    assert json.loads((generated.folder / "config.json").read_text()) == {
        "engine": "fake", "instructions": "en, ja", "max_tokens": 300, "mode": "qa", "model": "org/m",
        "num_examples": 20, "stop": ["Q:"], "temperature": 1.0, "top_p": 0.98,
    }  # fmt: skip
    assert answers_by_trial(generated.folder) == {k: [f"{k} {item.question_id}" for item in mini] for k in (1, 2)}
    files = [(generated.folder / f"trial_00{k}.jsonl").read_bytes() for k in (1, 2)]
    lines = b"".join(files).splitlines(keepends=True)
    assert [list(json.loads(line)) for line in lines] == [["question", "answer", "timestamp"]] * 16
    assert lzma.decompress((generated.folder / "trials.jsonl.xz").read_bytes()) == b"".join(sorted(lines))


def test_existing_answers_are_not_requested_again(mini, tmp_path):
    generate(mini, FakeEngine(lambda task: "x"), Setting("m"), trials=2, output=tmp_path)
    engine = FakeEngine(lambda task: "y")
    generated = generate(mini, engine, Setting("m"), trials=3, output=tmp_path)
    assert {task.trial for batch in engine.batches for task in batch} == {3}
    assert generated.n_new == 8
    assert answers_by_trial(generated.folder) == {1: ["x"] * 8, 2: ["x"] * 8, 3: ["y"] * 8}
    assert len(lzma.decompress((generated.folder / "trials.jsonl.xz").read_bytes()).splitlines()) == 24
    nothing = FakeEngine(lambda task: "z")
    assert generate(mini, nothing, Setting("m"), trials=1, output=tmp_path).n_new == 0
    assert nothing.batches == []


@pytest.mark.parametrize("missing", ["", " \n", None, "A: "], ids=repr)
def test_a_missing_answer_is_asked_ten_times_and_then_its_trial_fails(mini, tmp_path, missing):
    engine = FakeEngine(lambda task: missing if (task.trial, task.question_id) == (2, "Q05") else "fine")
    generated = generate(mini, engine, Setting("m", "qa"), trials=3, output=tmp_path)
    assert generated.failed == {2: "trial 2: no usable answer to Q05 in 10 rounds"}
    assert generated.events.troubles == ({} if missing is None else {Trouble.EMPTY: MAX_ROUNDS})
    assert list(answers_by_trial(generated.folder)) == [1, 3]
    assert [len(batch) for batch in engine.batches] == [24] + [1] * (MAX_ROUNDS - 1)
    # Each round has its own seed: an engine that depends on it would repeat the empty answer.
    seeds = [batch[-1].seed for batch in engine.batches[1:]]
    assert seeds == [sampling_seed("", 2) + round_ for round_ in range(1, MAX_ROUNDS)]
    # The seven answers of trial 2 were kept.
    again = FakeEngine(lambda task: "late")
    assert not generate(mini, again, Setting("m", "qa"), trials=3, output=tmp_path).failed
    assert [[task.question_id for task in batch] for batch in again.batches] == [["Q05"]]


JAPANESE, ENGLISH = {"question": "なぜ？"}, {"question": "Why?"}
OWN = {"examples_heading": "E", "question_heading": "Q", "qa": "Answer!", "chat": "Reply!"}
our_japanese, our_english = (
    {name: text for name, text in vars(INSTRUCTIONS[language]).items() if name in OWN} for language in ("ja", "en")
)


@pytest.mark.parametrize(
    ("questions", "own", "recorded"),
    [
        ([JAPANESE], {}, None),
        ([JAPANESE], our_japanese, None),
        ([ENGLISH], {}, "en"),
        ([ENGLISH, JAPANESE], {}, "en, ja"),
        ([ENGLISH], {"qa": "Answer!"}, {**our_english, "qa": "Answer!"}),
        ([JAPANESE, ENGLISH], OWN, OWN),
        ([JAPANESE, ENGLISH], {"qa": "!"}, {"ja": {**our_japanese, "qa": "!"}, "en": {**our_english, "qa": "!"}}),
    ],
)
def test_instructions_are_recorded_unless_they_are_the_published_ones(make_suite, questions, own, recorded):
    folder = make_suite(*questions)
    (folder / "suite.json").write_text(json.dumps({"instructions": own}))
    suite, context = Suite.load(folder), Context({"": ("x",)})
    assert Setting("m").config(suite, "fake")["instructions"] == recorded
    with_heading = Setting("m", context=context).config(suite, "fake")["instructions"]
    assert ("context_heading" in str(with_heading)) == isinstance(recorded, dict)  # else it is one of ours


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1}, "temperature: expected a number from 0, not -1.0"),
        ({"temperature": float("inf")}, "temperature: expected"),
        ({"top_p": 0}, "top_p: expected a number above 0 and up to 1, not 0.0"),
        ({"top_k": 0}, "top_k: expected at least 1, not 0"),
        ({"max_tokens": 0}, "max_tokens: expected at least 1, not 0"),
        ({"examples": -1}, "examples: expected at least 0, not -1"),
        ({"prefix": "\udcff"}, "prefix: expected a text that UTF-8 can encode"),
        ({"stop": ["x", ""]}, "stop: expected texts that are not empty"),
        ({"stop": ["\udcff"]}, "and that UTF-8 can encode"),
    ],
)
def test_an_invalid_setting_is_refused(options, message):
    with pytest.raises(EngineError, match=message):
        Generation.of("ngram", **options)


def test_a_run_without_trials_leaves_nothing(mini, tmp_path):
    nothing = generate(mini, FakeEngine(lambda task: ""), Setting("m"), trials=2, output=tmp_path)
    assert (nothing.run, sorted(nothing.failed)) == (None, [1, 2])
    with pytest.raises(EngineError, match="trials: expected a number from 1 to 999,999, not 0"):
        generate(mini, FakeEngine(lambda task: "x"), Setting("m"), trials=0, output=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named_with_its_extra(mini, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(EngineError, match=r"needs httpx, which is not installed: pip install 'pfgen-fast\[openai\]'"):
        open_engine("openai", suite=mini, model="m", mode="qa", base_url="http://localhost/v1")


@pytest.mark.parametrize(
    ("engine", "message"),
    [("ngarm", "unknown engine 'ngarm'; expected one of ngram, "), ("openai", "--model is needed")],
)
def test_an_unknown_engine_is_reported_before_a_missing_model(call, engine, message):
    code, _, err = call("generate", "--engine", engine, "--suite", "mini")
    assert (code, err.startswith(f"error: {message}")) == (2, True)


# ---- Coroutines run to their end where an event loop is running, as in notebooks, and end with Ctrl-C there too


SETTING = contextvars.ContextVar("SETTING", default="unset")


def test_a_run_is_generated_within_a_running_loop(mini, tmp_path):
    async def cell():
        return Generation.of("ngram").run(mini, trials=2, output=tmp_path)

    assert asyncio.run(cell()).n_new == 16


def test_ctrl_c_cancels_the_work():
    ended = threading.Event()

    async def work():
        try:
            threading.Timer(0.1, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def cell():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt):
            run_async(work())

    asyncio.run(cell())
    assert ended.is_set()


def generate_arguments(server, output, *more):
    return [
        *("generate", "--engine", "openai", "--base-url", server.base_url, "--model", "org/m", "--suite", "mini"),
        *("--output", output, "--concurrency", 4, *more),
    ]


def test_the_age_of_existing_answers_is_shown(tmp_path, call, monkeypatch):
    """A server gives a model's name to new weights, or does not run any more: nothing is asked."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    with serving(echo) as server:
        arguments = generate_arguments(server, tmp_path, "--trials", 1, "--mode", "chat")
        assert "existed already" not in call(*arguments)[2]
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    told = "8 answers existed already, the oldest from 2026-09-21 14:13; if the model has changed since then, remove"
    assert told in " ".join(call(*arguments)[2].split())
    result = json.loads(call(*arguments, "--json")[1])
    assert (result["n_new"], result["n_existing"]) == (0, 8)
    assert result["oldest_answer"] == "2026-09-21T14:13:20+00:00"
    (packed,) = tmp_path.rglob("trials.jsonl.xz")
    for path in packed.parent.glob("trial_*.jsonl"):
        path.unlink()
    assert told in " ".join(call(*arguments)[2].split())


def test_one_object_of_options_makes_and_scores_the_run_of_the_command(mini, tmp_path, printed):
    printed("generate", "-e", "ngram", "-s", "mini", "-n", 2, "--order", 3, "-o", tmp_path / "command")
    generation = Generation.of("ngram", options={"order": 3, "sets": None})
    generated = generation.run(mini, trials=2, output=tmp_path / "library")
    assert (generated.n_new, generated.problems) == (16, ())
    assert generated.score(mini).status == "scored"
    assert generated.folder == generation.folder(mini, tmp_path / "library")
    names = [{path.relative_to(folder) for path in folder.rglob("*")} for folder in sorted(tmp_path.iterdir())]
    assert names[0] == names[1]
    with pytest.raises(EngineError, match="--device is an option of hf, transformers, not of ngram"):
        Generation.of("ngram", options={"device": "cpu"}).open(mini)


@contextlib.contextmanager
def start(server, output, *more, **environment):
    """The command in a separate process, which does not outlive a test that fails."""
    with subprocess.Popen(
        [sys.executable, "-m", "pfgen_fast", *map(str, generate_arguments(server, output, *more))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def moody_echo(request):
    """Deterministic; some questions get no answer in their first round."""
    answer = echo(request)
    return answering("") if request.body["seed"] % 3 == 0 and "か" in request.question else answer


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_files(tmp_path):
    n_kills, n_trials = share(10, at_least=3), 20
    gate = Gate(0)

    def behave(request):
        gate.wait()
        return moody_echo(request)

    with serving(behave) as server:
        for _ in range(n_kills):
            gate = Gate(8 * n_trials // (n_kills + 2))
            with start(server, tmp_path / "killed", "--trials", n_trials, SOURCE_DATE_EPOCH="1700000000") as process:
                assert gate.reached.wait(60)
                process.kill()
                assert process.wait() == -signal.SIGKILL
            gate.open()
        with start(server, tmp_path / "killed", "--trials", n_trials, SOURCE_DATE_EPOCH="1700000000") as process:
            assert process.wait() == 0, process.stderr.read()
        n_asked = len(server.requests)
    with serving(moody_echo) as server:
        with start(server, tmp_path / "whole", "--trials", n_trials, SOURCE_DATE_EPOCH="1700000000") as process:
            assert process.wait() == 0, process.stderr.read()
        n_needed = len(server.requests)
    killed, whole = files_below(tmp_path / "killed"), files_below(tmp_path / "whole")
    assert len(whole) == n_trials + 4  # the trials, packed trials, raw replies, config.json and result.json
    assert killed == whole
    # Only the requests in progress during a kill and those with empty answers are repeated.
    n_empty = n_needed - 8 * n_trials
    assert n_asked <= n_needed + n_kills * (4 + n_empty)


@pytest.mark.slow
def test_ctrl_c_ends_in_one_line_and_keeps_the_answers(tmp_path):
    gate = Gate(40)

    def behave(request):
        gate.wait()
        return moody_echo(request)

    with serving(behave) as server:
        with start(server, tmp_path, "--trials", 100) as process:
            assert gate.reached.wait(60)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        gate.open()
        assert (process.returncode, out) == (130, "")
        *happened, error = err.splitlines()
        stopped = r"stopped with (\d+) of 800 answers, which are kept; run the same command again to continue"
        kept = re.fullmatch(stopped, error)
        assert kept, err
        told = [re.split("[;,]", line)[0] for line in happened]
        assert told == ["note: empty answer: the answer is empty", f"{kept[1]} of 800 answers"]
        assert int(kept[1]) >= 30
    lines = [line for path in tmp_path.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(lines) >= int(kept[1])
    assert not list(tmp_path.rglob(".lock"))
