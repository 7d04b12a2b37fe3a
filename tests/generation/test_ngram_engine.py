"""The engine `ngram`, through the runs that `generate` creates with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from makers.asked_engines import FakeEngine, answers_to
from pfgen_fast import Question, Suite, SuiteError
from pfgen_fast.generation.engines import Sampling, open_engine
from pfgen_fast.generation.generating import Generated, Setting, generate
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.ngram import NgramSampler
from pfgen_fast.runs.trials import Trials


def make_run(
    suite: Suite, output: Path, *, trials: int = 3, setting: dict[str, Any] | None = None, **options: Any
) -> Generated:
    chosen = Setting("ngram/order-5", **(setting or {}))
    engine = open_engine(
        "ngram", suite=suite, model=chosen.model, mode=chosen.mode, sampling=chosen.sampling, **options
    )
    return generate(suite, engine, chosen, trials=trials, output=output)


def answers_of(made: Generated) -> list[tuple[str, str]]:
    trials = Trials.read(made.folder / "trials.jsonl.xz")
    return sorted(zip(trials.questions, trials.answers, strict=True))


def config_of(made: Generated) -> dict[str, Any]:
    return json.loads((made.folder / "config.json").read_text(encoding="utf-8"))


def test_a_run_says_how_it_was_drawn(mini, tmp_path):
    made = make_run(mini, tmp_path)
    assert made.failed == {}
    assert config_of(made) == {
        "engine": "ngram",
        "max_tokens": 300,
        "mode": "completion",
        "model": "ngram/order-5",
        "order": 5,
        "stop": ["Q:", "\n\n"],
        "temperature": 1.0,
        "top_p": 0.98,
    }
    named = make_run(
        mini, tmp_path, order=3, sets=["B"], setting={"mode": "qa", "seed": "s", "sampling": Sampling(top_k=50)}
    )
    changed = {"order": 3, "sets": ["B"], "top_k": 50, "mode": "qa", "seed": "s"}
    assert config_of(named).items() >= changed.items()
    # What only a prompt shows makes no other run.
    assert make_run(mini, tmp_path, setting={"num_examples": 3, "prefix": "Hello. "}).folder == made.folder


def test_answers_are_those_of_the_sampler_with_the_seeds_of_the_tasks(mini, tmp_path):
    made = make_run(mini, tmp_path, trials=2)
    sampler = NgramSampler(mini, top_p=0.98)
    expected = sorted(
        (task.question, sampler.sample(task.question, [task.seed])[0].strip())
        for trial in (1, 2)
        for task in make_tasks(mini, trial, mode="completion")
    )
    assert answers_of(made) == expected


def test_an_empty_answer_is_drawn_again(tmp_path):
    suite = Suite("made", (Question("Q", "why?", {"P": ("", " \n", "a", "a")}),), "0" * 40)
    made = make_run(suite, tmp_path, trials=40)
    assert made.failed == {}
    assert answers_of(made) == [("why?", "a")] * 40


def test_a_suite_without_sample_answers_will_do(make_suite, tmp_path):
    """The engine reads no prompt, so none is created."""
    folder = make_suite({}, {})
    assert not (folder / "questions.jsonl").exists()
    made = make_run(Suite.load(folder), tmp_path / "result", trials=2)
    assert len(answers_of(made)) == 4
    with pytest.raises(SuiteError, match=r"questions\.jsonl"):
        generate(
            Suite.load(folder), FakeEngine(lambda task: "an answer"), Setting("m"), trials=1, output=tmp_path / "result"
        )


def test_an_answer_ends_at_the_first_stop_string():
    suite = Suite("made", (Question("Q", "why?", {"P": ("so.\n\nQ: and?",)}),), "0" * 40)
    for stop, expected in (((), "so.\n\nQ: and?"), (("Q:",), "so.\n\n"), (("Q:", "\n\n"), "so."), (("no",), None)):
        engine = open_engine("ngram", suite=suite, model="m", mode="completion", sampling=Sampling(stop=stop))
        tasks = make_tasks(suite, 1, mode="completion", num_examples=0)
        assert answers_to(engine, tasks) == {0: expected or "so.\n\nQ: and?"}


def test_the_command_makes_a_run_and_names_its_model_by_the_order(call, tmp_path):
    usual = ("generate", "--engine", "ngram", "--suite", "mini", "--output", tmp_path, "--order")
    assert call(*usual, 0) == (2, "", "error: the engine ngram: order: expected a whole number from 1, not 0\n")
    assert list(tmp_path.iterdir()) == []
    code, out, _ = call(*usual, 3, "--sets", "B", "--trials", 2, "--json")
    row = json.loads(out)
    config = json.loads((Path(row["run"]) / "config.json").read_text())
    assert (config["model"], config["order"], config["sets"]) == ("ngram/order-3", 3, ["B"])
    assert Path(row["run"]).parent == tmp_path / "ngram/order-3"
    assert (code, row["n_new"], row["status"]) == (0, 16, "scored")
