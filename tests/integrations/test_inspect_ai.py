"""The scorer, dataset and task of Inspect, with its real evaluation and its command."""

import asyncio
import gc
import os
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest
from makers.documented import documented_example
from makers.engines import integration
from pfgen_fast import PfgenError, TrialsError
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.runs.items.score_tables import read_item_scores

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.filterwarnings("default:The 'initial' parameter is deprecated:DeprecationWarning"),  # of tenacity
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),  # see _streams_of_inspect
]
inspect_ai = integration("inspect_ai")
model = integration("inspect_ai.model")
pfgen = import_module("pfgen_fast.integrations.inspect_ai")

SCORES = ("average", "fluency", "truthfulness", "helpfulness")


@pytest.fixture(autouse=True)
def _streams_of_inspect():
    """Inspect leaves streams in memory to the collector of garbage, which warns of them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def mock(answer_to):
    """A model that needs neither network nor tokenizer, and answers by the text of the last message."""

    def answer(messages, tools, tool_choice, config):
        output = model.ModelOutput.from_content("mock", answer_to(messages[-1].text))
        return output.model_copy(update={"usage": model.ModelUsage()})

    return model.get_model("mockllm/model", custom_outputs=answer)


def evaluated(task, answer_to, folder):
    (log,) = inspect_ai.eval(task, model=mock(answer_to), log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def figures(log):
    return {score.name: {name: metric.value for name, metric in score.metrics.items()} for score in log.results.scores}


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_a_dataset_has_the_prompts_of_generate(mini, mode):
    dataset = pfgen.pfgen_dataset(mini, mode, trials=2, num_examples=3)
    tasks = [task for trial in (1, 2) for task in make_tasks(mini, trial, mode=mode, num_examples=3)]
    assert [sample.id for sample in dataset] == [f"{task.question_id}-{task.trial}" for task in tasks]
    for sample, task in zip(dataset, tasks, strict=True):
        if mode == "completion":
            assert sample.input == task.prompt.text
        else:
            asked = [{"role": message.role, "content": message.text} for message in sample.input]
            assert asked == list(task.prompt.messages)
        assert sample.metadata["question_id"] == task.question_id


def test_an_evaluation_has_the_scores_of_the_scorer_bit_for_bit(mini, scorer, tmp_path):
    def answer_to(asked):
        (question,) = [item for item in mini if asked.endswith(f"Q: {item.question}")]
        return f"Well. A: {question.answers['A'][len(asked) % 7]}\nQ: And why"

    log = evaluated(pfgen.pfgen(mode="qa", trials=3), answer_to, tmp_path)
    assert len(log.samples) == 24
    for sample in log.samples:
        score = sample.scores["pfgen_score"]
        assert score.answer in mini[sample.metadata["question_id"]].answers["A"]
        table = scorer.score(sample.metadata["question_id"], [score.answer])
        assert score.value == {name: float(table[name][0]) for name in SCORES}
        details = table.details(0)
        assert score.metadata == {part: details[part] for part in ("fluency", "truthfulness")}
        asked, names = mini[sample.metadata["question_id"]], [name for name, _ in details["helpfulness_results"]]
        assert all((asked.excess_shown(name) or name) in score.explanation for name in names)
    for name in SCORES:
        values = [sample.scores["pfgen_score"].value[name] for sample in log.samples]
        assert figures(log)[name]["mean"] == pytest.approx(sum(values) / 24, abs=1e-12)
        assert figures(log)[name]["stderr"] > 0
    assert log.eval.metadata["signature"] == scorer.signature


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Inspect, which calls pandas
def test_logs_become_a_table_of_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dataset, scorer = import_module("inspect_ai.dataset"), import_module("inspect_ai.scorer")
    samples = [dataset.Sample(id=sum_, input=f"{sum_}+0?", target=str(sum_)) for sum_ in (4, 5)]
    task = inspect_ai.Task(dataset.MemoryDataset(samples), scorer=scorer.match(), epochs=2, name="sums")
    evaluated(task, lambda asked: "4", Path("logs"))
    exec(documented_example("samples_df"), {})
    scores = read_item_scores(["scores.csv"])
    assert (scores.models, scores.items, scores.subjects) == (("mockllm/model",), ("4", "5"), ("sums", "sums"))
    assert scores.values["score"].tolist() == [[1, 0]]
    assert scores.n_trials["score"].tolist() == [[2, 2]]


def test_repeats_of_a_question_are_one_cluster_of_the_standard_error(mini, tmp_path):
    """Sixteen equal copies of eight answers say no more than eight."""
    good = {question.question: question.answers["A"][0] for question in mini}

    def answer_to(asked):
        return next(answer for question, answer in good.items() if asked.endswith(f"Q: {question}"))

    once, often = (evaluated(pfgen.pfgen(mode="qa", trials=n), answer_to, tmp_path) for n in (1, 16))
    for name in SCORES:
        assert figures(often)[name] == pytest.approx(figures(once)[name], abs=1e-12)


def state(answer, **metadata):
    return SimpleNamespace(output=SimpleNamespace(completion=answer), metadata=metadata, sample_id="s1")


def test_samples_that_do_not_fit_are_one_sentence_and_without_a_mode_the_whole_output_is_the_answer(scorer):
    score = pfgen.pfgen_score("mini")
    with pytest.raises(TrialsError, match=r"^sample 's1': no 'question_id' in its metadata$"):
        asyncio.run(score(state("x"), None))
    with pytest.raises(TrialsError, match=r"^sample 's1': unknown question 'Q77'"):
        asyncio.run(score(state("x", question_id="Q77"), None))
    with pytest.raises(PfgenError, match="unknown mode 'chatty'"):
        pfgen.pfgen_score("mini", "chatty")
    label = "Ice. A: less dense. Q: why"
    outcome = asyncio.run(score(state(label, question_id="Q07"), None))
    assert (outcome.answer, outcome.value["average"]) == (label, scorer.score("Q07", [label]).average[0])


def test_the_command_of_inspect_finds_the_scorer_by_its_entry_point(tmp_path):
    if not entry_points(group="inspect_ai", name="pfgen_fast") and "PFGEN_INTEGRATIONS_REQUIRED" not in os.environ:
        pytest.skip("this package is not installed with its entry points")
    old = evaluated(pfgen.pfgen(mode="qa", trials=2), lambda asked: "A: Ice <script>", tmp_path)
    words = "--scorer pfgen_fast/pfgen_score -S suite=mini -S mode=qa --model none --action overwrite"
    options = f"{words} --output-file again.eval --display plain".split()
    command = [sys.executable, "-m", "inspect_ai", "score", old.location, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert figures(import_module("inspect_ai.log").read_eval_log(str(tmp_path / "again.eval"))) == figures(old)


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(documented_example("custom_outputs=answer"), {})
    assert "'average': 0.0" in capsys.readouterr().out
