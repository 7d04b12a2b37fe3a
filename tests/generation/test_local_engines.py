"""The engine `ngram`, through the runs that `generate` creates with it."""

import json

import numpy as np
import pytest
from makers import published
from makers.asked_engines import FakeEngine, answers_to
from makers.runs import answers_by_trial
from pfgen_fast import NgramSampler, Question, Scorer, Suite, SuiteError
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.generating import Generation, Setting, generate
from pfgen_fast.generation.prompts import Sampling, make_tasks
from pfgen_fast.runs.run_result import read_result


def make_run(suite, output, *, trials=2, options=None, **setting):
    created = Generation.of("ngram", options=options, **setting).run(suite, trials=trials, output=output)
    assert created.failed == {}
    return created


def config_of(created):
    return json.loads((created.folder / "config.json").read_text(encoding="utf-8"))


def test_a_run_has_the_answers_of_the_sampler_and_says_how_they_were_drawn(mini, tmp_path):
    run = make_run(mini, tmp_path)
    sampler = NgramSampler(mini, top_p=0.98)
    assert answers_by_trial(run.folder) == {
        trial: [
            sampler.sample(task.question, [task.seed])[0].strip() for task in make_tasks(mini, trial, mode="completion")
        ]
        for trial in (1, 2)
    }
    assert config_of(run) == {
        "engine": "ngram", "max_tokens": 300, "mode": "completion", "model": "ngram/order-5", "order": 5,
        "stop": ["Q:", "\n\n"], "temperature": 1.0, "top_p": 0.98,
    }  # fmt: skip
    named = make_run(mini, tmp_path, options={"order": 3, "sets": ["B"]}, mode="qa", seed="s", top_k=50)
    changed = {"order": 3, "sets": ["B"], "top_k": 50, "mode": "qa", "seed": "s", "model": "ngram/order-3"}
    assert config_of(named).items() >= changed.items()
    # Parameters that affect only prompts make no other run.
    assert make_run(mini, tmp_path, examples=3, prefix="Hello. ").folder == run.folder


def test_an_empty_answer_is_drawn_again(tmp_path):
    suite = Suite("made", (Question("Q", "why?", {"P": ("", " \n", "a", "a")}),), "0" * 40)
    run = make_run(suite, tmp_path, trials=40)
    assert answers_by_trial(run.folder) == {trial: ["a"] for trial in range(1, 41)}


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


# ---- The engines `ground-truth` and `reference`: answers of the suite itself as ordinary runs


def generated(suite, engine, output, *, trials=None, **options):
    created = Generation.of(engine, options=options).run(suite, trials=trials, output=output)
    return list(answers_by_trial(created.folder).values())


@pytest.fixture
def suite(make_suite, tmp_path):
    """Two questions with sample answers, of which the second has one set less."""
    first, second = [f"first {number}" for number in range(20)], [f"second {number}" for number in range(20)]
    folder = make_suite({"answers": {"S": second, "P": first}}, {"answers": {"S": second}})
    samples = [{"question": f"question {number}?", "answer": f"human {number}"} for number in (2, 1, 3)]
    lines = "".join(json.dumps(sample) + "\n" for sample in samples)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    return Suite.load(tmp_path)


@pytest.mark.parametrize(
    ("engine", "model"), [("ground-truth", "system/ground-truth"), ("reference", "system/criteria")]
)
def test_one_command_makes_a_row_of_a_leaderboard(call, tmp_path, monkeypatch, engine, model):
    monkeypatch.chdir(tmp_path)
    assert call("generate", "--engine", engine, "--suite", "mini", "--trials", 1)[0] == 0
    assert call("generate", "--engine", "ngram", "--suite", "mini", "--trials", 1)[0] == 0
    (config,) = (tmp_path / "result" / model).glob("*/config.json")
    assert config.read_text() == f'{{"engine": "system", "mode": "system", "model": "{model}"}}\n'
    rows = [row for row in call("leaderboard", "result")[1].splitlines() if model in row]
    assert len(rows) == 1
    assert rows[0].lstrip().startswith("– ")


def test_reference_gives_every_answer_once_and_set_after_set(suite, tmp_path):
    trials = generated(suite, "reference", tmp_path / "runs")
    assert len(trials) == 20
    assert [answer.split()[0] for answer, _ in trials] == ["first"] * 20
    assert sorted(second for _, second in trials) == sorted(suite["Q02"].answers["S"])
    in_file_order = [list(pair) for pair in zip(suite["Q01"].answers["P"], suite["Q02"].answers["S"], strict=True)]
    assert trials != in_file_order  # sets are often sorted by text, so their first answers are alike
    assert generated(suite, "reference", tmp_path / "again", trials=3) == trials[:3]
    assert generated(suite, "reference", tmp_path / "runs", sets=["S"])[0] == [trials[0][1]] * 2


def test_missing_answers_of_a_suite_are_named(suite, make_suite, tmp_path):
    with pytest.raises(EngineError, match=r"reference answers of suite .*: 20 answers to Q02, too few for trial 21"):
        generated(suite, "reference", tmp_path / "runs", trials=21)
    with pytest.raises(EngineError, match=r"the sample answers of suite .*: 1 answer to Q01, too few for trial 2"):
        generated(suite, "ground-truth", tmp_path / "runs", trials=2)
    with pytest.raises(EngineError, match="Q02 has no reference set P; it has S"):
        generated(suite, "reference", tmp_path / "runs", sets=["P"])
    with pytest.raises(EngineError, match="--mode chat: this engine uses no prompts; omit --mode"):
        Generation.of("reference", mode="chat").run(suite, output=tmp_path / "runs")
    (tmp_path / "questions.jsonl").write_text('{"question": "question 1?", "answer": "human"}\n')
    with pytest.raises(EngineError, match="no sample answer to Q02, but the engine ground-truth needs one"):
        generated(Suite.load(tmp_path), "ground-truth", tmp_path / "runs")
    (tmp_path / "questions.jsonl").unlink()
    with pytest.raises(SuiteError, match=r"questions\.jsonl with sample answers is missing"):
        generated(Suite.load(tmp_path), "ground-truth", tmp_path / "runs")
    compiled = Scorer.from_bytes(Scorer(suite).to_bytes()).suite
    with pytest.raises(SuiteError, match="made from its compiled form, which has no reference answers"):
        generated(compiled, "reference", tmp_path / "runs")
    assert not (tmp_path / "runs/system").exists()


def test_ground_truth_is_the_sample_answers_which_score_names_for_a_suite(refused, suite, tmp_path):
    assert f"a suite, not a run; 'pfgen-fast generate --engine ground-truth --suite {tmp_path}' makes a run" in refused(
        "score", suite.folder
    )
    assert generated(suite, "ground-truth", tmp_path / "runs") == [["human 1", "human 2"]]


@pytest.mark.slow
@published.needs_published_runs
def test_the_human_row_is_the_published_one(tmp_path):
    created = Generation.of("ground-truth").run(published.suite(), output=tmp_path)
    created.score(published.suite())
    theirs = read_result(published.FOLDER / "result/system/ground-truth/result.json").summary()
    ours = read_result(created.folder / "result.json").summary()
    assert (ours.score, ours.num_trials, ours.config) == (1.0501, 1, theirs.config)
    assert (ours.scores, ours.length, ours.length_std) == (theirs.scores, theirs.length, theirs.length_std)


@pytest.mark.slow
@published.needs_published_runs
def test_the_row_of_the_reference_answers_has_the_published_score():
    """0.8494 (±0.0253/√1000); the k-th trial of a packed run has the k-th answer to each question in sorted order."""
    suite = published.suite()
    engine = open_engine("reference", suite=suite, model="system/criteria", mode="completion")
    assert engine.n_trials == 1000
    tasks = [task for trial in range(1, 1001) for task in make_tasks(suite, trial, mode="completion", num_examples=0)]
    arguments = [(tasks[index].question, answer) for index, answer in answers_to(engine, tasks).items()]
    questions, answers = zip(*sorted(arguments, key=lambda line: (line[0], line[1].encode())), strict=True)
    scores = Scorer(suite).score(list(questions), list(answers)).average.reshape(50, 1000).mean(axis=0)
    assert (round(scores.mean(), 4), round(np.std(scores), 4)) == (0.8494, 0.0253)
