"""The tasks for lm-evaluation-harness."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from makers.documented import DOCS, blocks, documented_example
from pfgen_fast import ReferenceScorer, TrialsError
from pfgen_fast.cli.app import main
from pfgen_fast.generation.prompts import make_tasks
from pfgen_fast.integrations.lm_eval import TASKS, ReferenceMetrics
from pfgen_fast.integrations.lm_eval import task as harness_task
from pfgen_fast.runs.items.score_columns import ColumnNames
from pfgen_fast.runs.items.score_tables import read_item_scores
from pfgen_fast.runs.trials import Trials


def test_the_folder_of_the_tasks_is_printed():
    command = [sys.executable, "-m", "pfgen_fast.integrations.lm_eval"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == f"{TASKS}\n"
    assert {"pfgen.yaml", "pfgen_qa.yaml", "pfgen_chat.yaml", "task.py"} <= {path.name for path in TASKS.iterdir()}
    assert "/lm_eval/tasks/" not in TASKS.as_posix() + "/"  # where the harness looks for tasks of its own


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_a_document_is_a_question_of_a_trial_with_its_system_message_apart(mini, monkeypatch, mode):
    created = SimpleNamespace(DatasetDict=dict, Dataset=SimpleNamespace(from_list=list))
    monkeypatch.setitem(sys.modules, "datasets", created)
    documents = harness_task.documents(trials=2, examples=3, mode=mode, model="passed over")["test"]
    tasks = [task for trial in (1, 2) for task in make_tasks(mini, trial, mode=mode, num_examples=3)]
    assert [(row["question_id"], row["trial"]) for row in documents] == [(t.question_id, t.trial) for t in tasks]
    for row, task in zip(documents, tasks, strict=True):
        messages = task.prompt.messages or [{"content": task.prompt.text}]
        expected = [message["content"] for message in messages]
        assert [row[key] for key in ("system", "prompt") if key in row] == expected


def test_an_answer_has_the_scores_of_its_cleaned_text(scorer):
    document = {"suite": "mini", "mode": "qa", "question_id": "Q07"}
    scored = scorer.score("Q07", ["Ice is less dense."])
    assert harness_task.scores(document, ["Well. A: Ice is less dense. "]) == {
        "score": scored.average[0],
        **{name: scored[name][0] for name in ("fluency", "truthfulness", "helpfulness")},
    }


def test_the_references_of_a_document_are_compared_with_its_answer():
    process_results = pickle.loads(pickle.dumps(ReferenceMetrics(["chrf", "exact_match"], references="answers")))
    listed = process_results({"q": "?", "answers": ["Yes.", "It floats."]}, ["It floats."])
    assert listed == {"chrf": 100.0, "exact_match": 1.0}
    assert process_results({"answers": "It floats."}, ["It floats."]) == listed
    with pytest.raises(
        TrialsError, match="a document of the task, key 'answers': expected a list of texts, got NoneType"
    ):
        process_results({"q": "?"}, ["x"])


@pytest.mark.models
def test_the_harness_means_the_reference_metrics_of_a_task_of_the_user(tmp_path):
    [task] = [block.code for block in blocks(DOCS / "integrations" / "lm_eval.md") if block.language == "yaml"]
    (tmp_path / "my_task.yaml").write_text(task)
    (tmp_path / "metrics.py").write_text(documented_example("process_results = ReferenceMetrics("))
    documents = [{"prompt": "Why?", "references": ["lol", "x"]}, {"prompt": "How?", "references": "lot"}]
    (tmp_path / "my_task.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    arguments = ["--model", "dummy", "--tasks", "my_task", "--include_path", ".", "--output_path", "out"]
    run = subprocess.run(
        [sys.executable, "-m", "lm_eval", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    (results,) = (tmp_path / "out").rglob("results_*.json")
    figures = json.loads(results.read_text(encoding="utf-8"))["results"]["my_task"]
    expected = ReferenceScorer(["chrf", "rouge_l"]).score(["lol"] * 2, [["lol", "x"], ["lot"]])
    assert figures["chrf,none"] == pytest.approx(expected.chrf.mean())
    assert figures["rouge_l,none"] == pytest.approx(expected.rouge_l.mean()) == 0.5


@pytest.fixture(scope="module", params=["pfgen", "pfgen_qa", "pfgen_chat"])
def harness(request, tiny_model, tmp_path_factory) -> tuple[str, dict[str, float], Path]:
    """A task of lm-evaluation-harness, its metrics, and the samples that it logged."""
    output = tmp_path_factory.mktemp("harness")
    mode = {"pfgen": "completion", "pfgen_qa": "qa", "pfgen_chat": "chat"}[request.param]
    arguments = ["--model", "hf", "--model_args", f"pretrained={tiny_model},max_length=8192", "--device", "cpu"]
    arguments += ["--tasks", request.param, "--include_path", str(TASKS), "--batch_size", "8"]
    arguments += ["--metadata", '{"trials": 3, "examples": 2}', "--gen_kwargs", "max_gen_toks=40"]
    arguments += ["--output_path", str(output), "--log_samples"]
    arguments += [] if mode == "completion" else ["--apply_chat_template"]
    run = subprocess.run([sys.executable, "-m", "lm_eval", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    (results,) = output.rglob("results_*.json")
    (samples,) = output.rglob("samples_*.jsonl")
    figures = json.loads(results.read_text(encoding="utf-8"))["results"][request.param]
    return mode, figures, samples


@pytest.mark.models
def test_the_harness_asks_what_generate_asks(mini, harness):
    mode, _, samples = harness
    asked = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    tasks = [task for trial in (1, 2, 3) for task in make_tasks(mini, trial, mode=mode, num_examples=2)]
    assert [(row["doc"]["question"], row["doc"]["trial"]) for row in asked] == [(t.question, t.trial) for t in tasks]
    for row, task in zip(asked, tasks, strict=True):
        prompt, settings = row["arguments"]["gen_args_0"]["arg_0"], row["arguments"]["gen_args_0"]["arg_1"]
        if mode == "completion":
            assert prompt == task.prompt.text
        else:
            messages = (f"<|{message['role']}|>{message['content']}<|end|>" for message in task.prompt.messages)
            assert prompt == f"{''.join(messages)}<|assistant|>"
        expected = {"temperature": 1.0, "top_p": 0.98, "do_sample": True, "max_gen_toks": 40}
        assert settings == {**expected, "until": ["Q:", "\n\n"] if mode == "completion" else ["Q:"]}


@pytest.mark.models
def test_the_figures_of_the_harness_are_those_of_score(mini, scorer, harness, tmp_path, monkeypatch, capsys):
    mode, figures, samples = harness
    command = f"generate -e replay -s mini -n 3 --mode {mode} --model tiny --output {tmp_path} --json --input {samples}"
    monkeypatch.setattr(sys, "argv", ["pfgen-fast", *command.split()])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code in (0, None)
    result = json.loads(capsys.readouterr().out)
    assert result["score"] > 0
    assert round(figures["score,none"], 4) == result["score"]

    (run,) = tmp_path.rglob("trials.jsonl.xz")
    trials = Trials.read(run)
    assert len(trials) == 24
    table = scorer.score(trials.questions, trials.answers)
    logged = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    for metric, column in (("score", "average"), ("fluency",) * 2, ("truthfulness",) * 2, ("helpfulness",) * 2):
        assert sorted(row[metric] for row in logged) == sorted(table[column].tolist())
        assert figures[f"{metric},none"] == pytest.approx(table[column].mean(), abs=1e-12)


# ---- Logs of lm-evaluation-harness, read as scores of a model on items


N_ITEMS = 8


MULTIPLE_CHOICE = """
task: quiz
dataset_path: json
dataset_kwargs: {data_files: quiz.jsonl}
test_split: train
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: ["a", "bb"]
doc_to_target: 0
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: brier_score, aggregation: brier_score, higher_is_better: false}
"""
FILTERED = """
task: said
dataset_path: json
dataset_kwargs: {data_files: quiz.jsonl}
test_split: train
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "lol"
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
filter_list:
  - name: strict
    filter: [{function: regex, regex_pattern: "(x)"}, {function: take_first}]
  - name: loose
    filter: [{function: take_first}]
"""


@pytest.mark.models
def test_samples_of_the_harness_have_the_means_of_its_results(tmp_path):
    (tmp_path / "quiz.yaml").write_text(MULTIPLE_CHOICE)
    (tmp_path / "said.yaml").write_text(FILTERED)
    lines = (json.dumps({"q": f"q{n}", "passage": n // 2}) + "\n" for n in range(N_ITEMS))
    (tmp_path / "quiz.jsonl").write_text("".join(lines))
    words = "--model dummy --model_args pretrained=org/m --tasks quiz,said --include_path . --log_samples"
    words += " --output_path out"
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval", *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    scores = read_item_scores([tmp_path / "out"], ColumnNames(cluster="passage"))
    assert scores.models == ("org/m",)
    assert scores.items == tuple(f"{task}/{n}" for task in ("quiz", "said") for n in range(N_ITEMS))
    assert scores.clusters == tuple(f"{task}/{n // 2}" for task in ("quiz", "said") for n in range(N_ITEMS))
    assert set(scores.metrics) == {"acc", "exact_match,strict", "exact_match,loose"}
    (results,) = (tmp_path / "out").rglob("results_*.json")
    figures = json.loads(results.read_text(encoding="utf-8"))["results"]
    assert np.nanmean(scores.values["acc"]) == pytest.approx(figures["quiz"]["acc,none"])
    for kept in ("strict", "loose"):
        mean = np.nanmean(scores.values[f"exact_match,{kept}"])
        assert mean == figures["said"][f"exact_match,{kept}"] == float(kept == "loose")
    assert any("brier_score that are no numbers" in note for note in scores.notes)
