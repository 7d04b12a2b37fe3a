"""Runs of an engine that stands in for a model: rounds, failures, stops, settings; and engines by name."""

import asyncio
import contextvars
import json
import lzma
import signal
import sys
import threading

import pytest
from makers.asked_engines import FakeEngine
from makers.runs import answers_by_trial
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines import open_engine, run_async
from pfgen_fast.generation.events import Trouble
from pfgen_fast.generation.generating import MAX_ROUNDS, Generation, Setting, generate
from pfgen_fast.generation.prompts import Context, sampling_seed
from pfgen_fast.suite.questions import INSTRUCTIONS
from pfgen_fast.suite.suite import Suite


def test_a_run_follows_the_rules(mini, tmp_path):
    engine = FakeEngine(lambda task: f" A: {task.trial} {task.question_id} \n")
    progress = []
    generated = generate(
        mini,
        engine,
        Setting("org/m", "qa"),
        trials=2,
        output=tmp_path,
        on_progress=lambda *there: progress.append(there),
    )
    assert engine.n_closed == 1
    assert generated.n_new == 16
    assert progress == [(n, 16) for n in range(17)]
    assert generated.folder.parent == tmp_path / "org" / "m"
    assert json.loads((generated.folder / "config.json").read_text()) == {
        "engine": "fake",
        "instructions": "en, ja",
        "max_tokens": 300,
        "mode": "qa",
        "model": "org/m",
        "num_examples": 20,
        "stop": ["Q:"],
        "temperature": 1.0,
        "top_p": 0.98,
    }
    assert answers_by_trial(generated.folder) == {k: [f"{k} {one.question_id}" for one in mini] for k in (1, 2)}
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
ours_in_japanese, ours_in_english = (
    {name: text for name, text in vars(INSTRUCTIONS[language]).items() if name in OWN} for language in ("ja", "en")
)


@pytest.mark.parametrize(
    ("questions", "own", "recorded"),
    [
        ([JAPANESE], {}, None),
        ([JAPANESE], ours_in_japanese, None),
        ([ENGLISH], {}, "en"),
        ([ENGLISH, JAPANESE], {}, "en, ja"),
        ([ENGLISH], {"qa": "Answer!"}, {**ours_in_english, "qa": "Answer!"}),
        ([JAPANESE, ENGLISH], OWN, OWN),
        (
            [JAPANESE, ENGLISH],
            {"qa": "!"},
            {"ja": {**ours_in_japanese, "qa": "!"}, "en": {**ours_in_english, "qa": "!"}},
        ),
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


# Engines by name


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
