"""Whole runs: rounds, failures, kills, and the command."""

from __future__ import annotations

import contextlib
import json
import lzma
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.asked_engines import FakeEngine
from makers.effort import examples
from makers.fault_server import Gate, answering, echo, refusing, serving
from pfgen_fast.errors import EngineError
from pfgen_fast.generation.engines import ENGINES, HOSTED, Sampling, open_engine
from pfgen_fast.generation.generating import MAX_ROUNDS, Generation, Setting, generate
from pfgen_fast.generation.prompts import sampling_seed
from pfgen_fast.suite.questions import INSTRUCTIONS
from pfgen_fast.suite.suite import Suite


def trial_files(folder):
    return {
        path.name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(folder.glob("trial_*.jsonl"))
    }


def files_of(folder):
    """All files by path, including hidden ones."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def without_timestamps(files):
    """Files without timestamps; packed files are unpacked first."""
    contents = {name: lzma.decompress(content) if name.endswith(".xz") else content for name, content in files.items()}
    pattern = re.compile(rb'"timestamp": "[^"]+"')
    return {
        name: sorted(pattern.sub(b"", content).splitlines())
        for name, content in contents.items()
        if not name.endswith("result.json")
    }


def test_a_run_holds_what_the_rules_say(mini, tmp_path):
    engine = FakeEngine(lambda task: f" A: {task.trial} {task.question_id} \n", order=reversed)
    progress = []
    generated = generate(
        mini,
        engine,
        Setting("org/m", "qa"),
        trials=2,
        output=tmp_path,
        on_progress=lambda *there: progress.append(there),
    )
    assert engine.is_closed
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
    trials = trial_files(generated.folder)
    assert list(trials) == ["trial_001.jsonl", "trial_002.jsonl"]
    assert [list(line) for line in trials["trial_001.jsonl"]] == [["question", "answer", "timestamp"]] * 8
    assert [line["answer"] for line in trials["trial_002.jsonl"]] == [f"2 {question.question_id}" for question in mini]
    lines = b"".join((generated.folder / name).read_bytes() for name in trials).splitlines(keepends=True)
    assert lzma.decompress((generated.folder / "trials.jsonl.xz").read_bytes()) == b"".join(sorted(lines))


def test_what_is_there_is_not_asked_again(mini, tmp_path):
    generate(mini, FakeEngine(lambda task: "x"), Setting("m"), trials=2, output=tmp_path)
    engine = FakeEngine(lambda task: "y")
    generated = generate(mini, engine, Setting("m"), trials=3, output=tmp_path)
    assert {task.trial for batch in engine.batches for task in batch} == {3}
    assert generated.n_new == 8
    answers = {name: {line["answer"] for line in lines} for name, lines in trial_files(generated.folder).items()}
    assert answers == {"trial_001.jsonl": {"x"}, "trial_002.jsonl": {"x"}, "trial_003.jsonl": {"y"}}
    assert len(lzma.decompress((generated.folder / "trials.jsonl.xz").read_bytes()).splitlines()) == 24
    nothing = FakeEngine(lambda task: "z")
    assert generate(mini, nothing, Setting("m"), trials=1, output=tmp_path).n_new == 0
    assert nothing.batches == []


@pytest.mark.parametrize("missing", ["", " \n", None, "A: "], ids=repr)
def test_a_missing_answer_is_asked_ten_times_and_then_its_trial_fails(mini, tmp_path, missing):
    engine = FakeEngine(lambda task: missing if (task.trial, task.question_id) == (2, "Q05") else "fine")
    generated = generate(mini, engine, Setting("m", "qa"), trials=3, output=tmp_path)
    assert generated.failed == {2: "trial 2: no usable answer to Q05 in 10 rounds"}
    assert list(trial_files(generated.folder)) == ["trial_001.jsonl", "trial_003.jsonl"]
    assert [len(batch) for batch in engine.batches] == [24] + [1] * (MAX_ROUNDS - 1)
    # Each round has its own seed: an engine that depends on it would repeat the empty answer.
    seeds = [batch[-1].seed for batch in engine.batches[1:]]
    assert seeds == [sampling_seed("", 2) + round_ for round_ in range(1, MAX_ROUNDS)]
    # The seven answers of trial 2 were kept.
    again = FakeEngine(lambda task: "late")
    assert not generate(mini, again, Setting("m", "qa"), trials=3, output=tmp_path).failed
    assert [[task.question_id for task in batch] for batch in again.batches] == [["Q05"]]


def test_no_trial_at_all_leaves_no_run(mini, tmp_path):
    generated = generate(mini, FakeEngine(lambda task: ""), Setting("m"), trials=2, output=tmp_path)
    assert generated.run is None
    assert sorted(generated.failed) == [1, 2]
    assert not list(tmp_path.iterdir())


@examples(30)
@given(
    stops=st.lists(st.integers(0, 30), max_size=4),
    empty=st.sets(st.tuples(st.integers(1, 3), st.integers(0, 7))),
    order=st.randoms(use_true_random=False),
)
def test_stopping_anywhere_changes_nothing_in_the_end(tmp_path_factory, mini, stops, empty, order):
    """Also if answers come in any order, and some only in the second round."""
    tmp_path = tmp_path_factory.mktemp("stop")
    nothing_at_first = {(trial, mini.questions[index].question) for trial, index in empty}

    def answer(task):
        is_first = task.seed == sampling_seed("", task.trial)
        return "" if is_first and (task.trial, task.question) in nothing_at_first else f"{task.seed} {task.question_id}"

    def run(output, n_answers):
        left = n_answers

        def limited(task):
            nonlocal left
            left -= 1
            if left < 0:
                raise EngineError("stopped")
            return answer(task)

        engine = FakeEngine(limited, lambda indices: order.sample(list(indices), len(indices)))
        return generate(mini, engine, Setting("m"), trials=3, output=tmp_path / output)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        for n_answers in stops:
            with contextlib.suppress(EngineError):
                run("stopped", n_answers)
        run("stopped", 1000)
        run("whole", 1000)
    assert files_of(tmp_path / "stopped") == files_of(tmp_path / "whole")


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ({"seed": "s"}, "seed", "s"),
        ({"prefix": "p"}, "prefix", "p"),
        ({"num_examples": 3}, "num_examples", 3),
        ({"sampling": Sampling(top_k=5, temperature=0)}, "top_k", 5),
    ],
)
def test_whatever_changes_the_answers_changes_the_folder(mini, change, key, value):
    usual, other = Setting("m").config(mini, "fake"), Setting("m", **change).config(mini, "fake")
    assert other[key] == value
    assert usual != other


JAPANESE, ENGLISH = {"question": "なぜ？"}, {"question": "Why?"}
OWN = {"examples_heading": "E", "question_heading": "Q", "qa": "Answer!", "chat": "Reply!"}
ours_in_japanese, ours_in_english = (vars(INSTRUCTIONS[language]) for language in ("ja", "en"))


@pytest.mark.parametrize(
    ("questions", "own", "recorded"),
    [
        ([JAPANESE], {}, None),
        ([JAPANESE], ours_in_japanese, None),
        ([ENGLISH], {}, "en"),
        ([ENGLISH, JAPANESE], {}, "en, ja"),
        ([JAPANESE], {"qa": "Answer!"}, {**ours_in_japanese, "qa": "Answer!"}),
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
    assert Setting("m").config(Suite.load(folder), "fake")["instructions"] == recorded


def test_the_parameters_of_an_engine_win(mini):
    config = Setting("m").config(mini, "fake", {"order": 5, "stop": None})
    assert config["order"] == 5
    assert config["stop"] is None


@pytest.mark.parametrize(
    ("sampling", "message"),
    [
        ({"temperature": -1}, "temperature: expected a number from 0, not -1.0"),
        ({"temperature": float("nan")}, "temperature: expected"),
        ({"temperature": float("inf")}, "temperature: expected"),
        ({"top_p": 0}, "top_p: expected a number above 0 and up to 1, not 0.0"),
        ({"top_p": 1.1}, "top_p: expected"),
        ({"top_k": 0}, "top_k: expected at least 1, not 0"),
        ({"max_tokens": 0}, "max_tokens: expected at least 1, not 0"),
    ],
)
def test_sampling_that_cannot_be_is_refused(sampling, message):
    with pytest.raises(EngineError, match=message):
        Sampling(**sampling)


def test_settings_that_cannot_be_are_refused(mini, tmp_path):
    with pytest.raises(EngineError, match="trials: expected a number from 1 to 999,999, not 0"):
        generate(mini, FakeEngine(lambda task: "x"), Setting("m"), trials=0, output=tmp_path)
    with pytest.raises(EngineError, match="prefix: expected a text that UTF-8 can hold"):
        Setting("m", prefix="\udcff")
    with pytest.raises(EngineError, match="stop: expected texts that are not empty"):
        Generation.of("ngram", stop=["x", ""])
    with pytest.raises(EngineError, match="and that UTF-8 can hold"):
        Generation.of("ngram", stop=["\udcff"])
    assert not list(tmp_path.iterdir())


# Engines by name


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_opens_or_says_what_it_needs(mini, name, tmp_path):
    """Every error is a single sentence, and a missing package is named with its extra."""
    server = {"base_url": "http://localhost/v1"}
    options = {"replay": {"input": tmp_path / "in.jsonl"}, **dict.fromkeys(HOSTED, server)}
    extra = {"hf": "transformers"}.get(name, name)
    mode = "qa" if name in ("anthropic", "gemini", "gemini-native") else "completion"
    lines = [json.dumps({"question": question.question_id, "answer": "x"}) for question in mini]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    try:
        engine = open_engine(name, suite=mini, model=str(tmp_path), mode=mode, **options.get(name, {}))
    except EngineError as error:
        assert re.search(rf"pip install 'pfgen-fast\[{extra}\]'|{re.escape(str(tmp_path))}", str(error))  # noqa: PT017
        return
    assert engine.name == name
    assert "SECRET" not in json.dumps(dict(engine.parameters))


def test_a_missing_package_is_named_with_its_extra(mini, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(EngineError, match=r"needs httpx, which is not installed: pip install 'pfgen-fast\[openai\]'"):
        open_engine("openai", suite=mini, model="m", mode="qa", base_url="http://localhost/v1")


def test_an_option_of_another_engine_is_refused_with_its_owner(mini):
    with pytest.raises(
        EngineError,
        match="--base-url is an option of anthropic, gemini, gemini-native, openai, openai-api, not of replay",
    ):
        open_engine("replay", suite=mini, model="m", mode="qa", base_url="http://x/v1")
    with pytest.raises(EngineError, match="--colour is an option of no engine, not of replay"):
        open_engine("replay", suite=mini, model="m", mode="qa", colour="red")
    with pytest.raises(EngineError, match="unknown engine 'oracle'; expected one of "):
        open_engine("oracle", suite=mini, model="m", mode="qa")


@pytest.mark.parametrize(
    ("engine", "message"),
    [("ngarm", "unknown engine 'ngarm'; expected one of anthropic, gemini, "), ("openai", "--model is needed")],
)
def test_an_unknown_engine_is_told_before_a_missing_model(call, engine, message):
    code, _, err = call("generate", "--engine", engine, "--suite", "mini")
    assert (code, err.startswith(f"error: {message}")) == (2, True)


# The command


def generate_arguments(server, output, *more):
    return [
        *("generate", "--engine", "openai", "--base-url", server.base_url, "--model", "org/m", "--suite", "mini"),
        *("--output", output, "--concurrency", 4, *more),
    ]


def test_the_command_generates_and_scores(tmp_path, call):
    with serving(echo) as server:
        _, out, _ = call(*generate_arguments(server, tmp_path, "--trials", 2, "--mode", "chat", "--json"))
    result = json.loads(out)
    assert (result["n_new"], result["status"], result["problems"]) == (16, "scored", [])
    assert json.loads((Path(result["run"]) / "result.json").read_text())["score"] == result["score"]


def test_answers_of_former_weights_are_told_by_their_age(tmp_path, call, monkeypatch):
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


def test_the_command_says_which_trials_failed(tmp_path, call, mini):
    def behave(request):
        return answering("") if request.question == mini["Q01"].question else echo(request)

    with serving(behave) as server:
        code, out, err = call(*generate_arguments(server, tmp_path, "--trials", 1, "--no-score"))
    assert (code, "7 new answers" in out) == (3, True)
    assert "error: trial 1: no usable answer to Q01 in 10 rounds" in err


def test_the_command_ends_in_one_line_without_a_trace(tmp_path, call, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-SECRET")
    with serving(lambda request: refusing(401, "wrong: sk-SECRET")) as server:
        found = call(*generate_arguments(server, tmp_path))
    refusal = "the key in OPENAI_API_KEY was refused: HTTP 401: wrong: [key]"
    assert found == (2, "", f"error: {server.base_url}, model org/m: {refusal}\n")
    assert not list(tmp_path.iterdir())


def test_one_object_of_options_makes_and_scores_the_run_of_the_command(mini, tmp_path, call):
    code, _, _ = call("generate", "-e", "ngram", "-s", "mini", "-n", 2, "--order", 3, "-o", tmp_path / "command")
    assert code == 0
    generation = Generation.of("ngram", options={"order": 3, "sets": None})
    made = generation.run(mini, trials=2, output=tmp_path / "library")
    assert (made.n_new, made.problems) == (16, ())
    assert made.score(mini).status == "scored"
    assert made.folder == generation.folder(mini, tmp_path / "library")
    names = [{path.relative_to(folder) for path in folder.rglob("*")} for folder in sorted(tmp_path.iterdir())]
    assert names[0] == names[1]
    with pytest.raises(EngineError, match="examples: expected at least 0, not -1"):
        Generation.of("ngram", examples=-1)
    with pytest.raises(EngineError, match="--device is an option of hf, transformers, not of ngram"):
        Generation.of("ngram", options={"device": "cpu"}).open(mini)


@contextlib.contextmanager
def start(server, output, *more, **environment):
    """The command in a process of its own, which does not outlive a test that fails."""
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


@pytest.mark.parametrize(
    ("n_kills", "epoch"),
    [
        pytest.param(2, "1700000000", id="same bytes"),
        pytest.param(10, "1700000000", id="same bytes, often", marks=pytest.mark.slow),
        pytest.param(2, "", id="but for timestamps", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_files(tmp_path, n_kills, epoch):
    n_trials = 20
    gate = Gate(0)

    def behave(request):
        gate.wait()
        return moody_echo(request)

    with serving(behave) as server:
        for _ in range(n_kills):
            gate = Gate(8 * n_trials // (n_kills + 2))
            with start(server, tmp_path / "killed", "--trials", n_trials, SOURCE_DATE_EPOCH=epoch) as process:
                assert gate.reached.wait(60)
                process.kill()
                assert process.wait() == -signal.SIGKILL
            gate.open()
        with start(server, tmp_path / "killed", "--trials", n_trials, SOURCE_DATE_EPOCH=epoch) as process:
            assert process.wait() == 0, process.stderr.read()
        n_asked = len(server.requests)
    with serving(moody_echo) as server:
        with start(server, tmp_path / "whole", "--trials", n_trials, SOURCE_DATE_EPOCH=epoch) as process:
            assert process.wait() == 0, process.stderr.read()
        n_needed = len(server.requests)
    killed, whole = files_of(tmp_path / "killed"), files_of(tmp_path / "whole")
    assert len(whole) == n_trials + 4  # the trials, packed trials, raw replies, config.json and result.json
    assert killed.keys() == whole.keys()
    if epoch:
        assert killed == whole
    assert without_timestamps(killed) == without_timestamps(whole)
    # Only the requests in progress during a kill and those with empty answers are repeated.
    n_empty = n_needed - 8 * n_trials
    assert n_asked <= n_needed + n_kills * (4 + n_empty)


def test_ctrl_c_ends_in_one_line_and_keeps_what_came(tmp_path):
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
        kept = re.fullmatch(
            r"error: stopped with (\d+) of 800 answers, which are kept; run the same command again to continue", error
        )
        assert kept, err
        assert [line.split(";")[0].split(",")[0] for line in happened] == [
            "note: empty answer: the answer is empty",
            f"{kept[1]} of 800 answers",
        ]
        assert int(kept[1]) >= 30
    lines = [line for path in tmp_path.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert len(lines) >= int(kept[1])
    assert not list(tmp_path.rglob(".lock"))


def test_a_second_process_on_the_same_run_is_refused(tmp_path):
    gate = Gate(0)

    def behave(request):
        gate.wait()
        return echo(request)

    with serving(behave) as server:
        with start(server, tmp_path, "--trials", 1) as first:
            assert gate.reached.wait(60)
            with start(server, tmp_path, "--trials", 1) as second:
                _, err = second.communicate(timeout=20)
            assert second.returncode == 2
            assert re.fullmatch(
                r"error: .*: another process is generating into this folder; wait for it, or stop it\n", err
            )
            gate.open()
            assert first.wait() == 0
        assert len(server.requests) == 8
