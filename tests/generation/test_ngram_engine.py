"""The engine `ngram`, through the runs that `generate` creates with it."""

from __future__ import annotations

import json

import pytest
from makers.asked_engines import FakeEngine, answers_to
from makers.runs import answers_by_trial
from pfgen_fast import Question, Suite, SuiteError
from pfgen_fast.generation.engines import Sampling, open_engine
from pfgen_fast.generation.generating import Generation, Setting, generate
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.ngram import NgramSampler


def make_run(suite, output, *, trials=2, options=None, **setting):
    made = Generation.of("ngram", options=options, **setting).run(suite, trials=trials, output=output)
    assert made.failed == {}
    return made


def config_of(made):
    return json.loads((made.folder / "config.json").read_text(encoding="utf-8"))


def test_a_run_has_the_answers_of_the_sampler_and_says_how_they_were_drawn(mini, tmp_path):
    made = make_run(mini, tmp_path)
    sampler = NgramSampler(mini, top_p=0.98)
    assert answers_by_trial(made.folder) == {
        trial: [
            sampler.sample(task.question, [task.seed])[0].strip() for task in make_tasks(mini, trial, mode="completion")
        ]
        for trial in (1, 2)
    }
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
    named = make_run(mini, tmp_path, options={"order": 3, "sets": ["B"]}, mode="qa", seed="s", top_k=50)
    changed = {"order": 3, "sets": ["B"], "top_k": 50, "mode": "qa", "seed": "s", "model": "ngram/order-3"}
    assert config_of(named).items() >= changed.items()
    # Parameters that affect only prompts make no other run.
    assert make_run(mini, tmp_path, examples=3, prefix="Hello. ").folder == made.folder


def test_an_empty_answer_is_drawn_again(tmp_path):
    suite = Suite("made", (Question("Q", "why?", {"P": ("", " \n", "a", "a")}),), "0" * 40)
    made = make_run(suite, tmp_path, trials=40)
    assert answers_by_trial(made.folder) == {trial: ["a"] for trial in range(1, 41)}


def test_a_suite_needs_no_sample_answers(make_suite, tmp_path):
    """The engine reads no prompt, so none is created."""
    suite = Suite.load(make_suite({}, {}))
    assert not (suite.folder / "questions.jsonl").exists()
    assert make_run(suite, tmp_path / "result").n_new == 4
    with pytest.raises(SuiteError, match=r"questions\.jsonl"):
        generate(suite, FakeEngine(lambda task: "an answer"), Setting("m"), trials=1, output=tmp_path / "result")


def test_an_answer_ends_at_the_first_stop_string():
    suite = Suite("made", (Question("Q", "why?", {"P": ("so.\n\nQ: and?",)}),), "0" * 40)
    for stop, expected in (((), "so.\n\nQ: and?"), (("Q:",), "so.\n\n"), (("Q:", "\n\n"), "so."), (("no",), None)):
        engine = open_engine("ngram", suite=suite, model="m", mode="completion", sampling=Sampling(stop=stop))
        tasks = make_tasks(suite, 1, mode="completion", num_examples=0)
        assert answers_to(engine, tasks) == {0: expected or "so.\n\nQ: and?"}
