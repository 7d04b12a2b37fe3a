"""Runs in TensorBoard: what its own reader finds in the event files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from makers.documented import DOCS
from makers.engines import integration
from makers.frames import run_python_blocks
from makers.tracked_runs import scored_run
from pfgen_fast import PfgenError
from pfgen_fast.integrations.tensorboard import log_run
from pfgen_fast.integrations.tracking import tracked

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def _without_other_libraries(tmp_path, monkeypatch):
    integration("tensorboard")
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.chdir(tmp_path)


def read(folder: str | Path):
    accumulators = integration("tensorboard.backend.event_processing.event_accumulator")
    found = accumulators.EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0})
    return found.Reload()


def text(found, name: str) -> str:
    (tensor,) = found.Tensors(f"pfgen/{name}")
    assert found.SummaryMetadata(f"pfgen/{name}").plugin_data.plugin_name == "text"
    return tensor.tensor_proto.string_val[0].decode()


def test_a_run_is_logged_with_all_there_is(mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    folder = log_run(outcome, into=tmp_path / "logs")
    assert folder == str(tmp_path / "logs")
    expected, found = tracked(outcome), read(folder)
    scalars = {name: [(event.step, event.value) for event in found.Scalars(name)] for name in found.Tags()["scalars"]}
    assert scalars == {name: [(0, float(np.float32(value)))] for name, value in expected.metrics.items()}
    assert (tmp_path / "logs" / "pfgen-report.html").read_text(encoding="utf-8") == expected.page
    about = text(found, "run")
    assert outcome.signature.replace("|", "&#124;") in about
    assert "* temperature: 1.0" in about
    assert "pfgen-report.html" in about
    head, rule, *rows = text(found, "questions").splitlines()
    assert head.startswith("| question_id | question | score |")
    assert set(rule) <= set("|- ")
    assert [row.split(" | ")[0] for row in rows] == [f"| {question.question_id}" for question in mini]
    assert len(text(found, "answers").splitlines()) == 2 + len(expected.tables["answers"].rows)


def test_the_checkpoints_of_a_training_are_steps_of_one_curve(mini, tmp_path):
    outcomes = {step: scored_run(tmp_path / str(step), mini, f"m/{step}", 2, step) for step in (10, 20)}
    for step, outcome in outcomes.items():
        log_run(outcome, into="logs", step=step)
    curve = read("logs").Scalars("pfgen/score")
    assert [(event.step, event.value) for event in curve] == [
        (step, float(np.float32(outcome.summary.score))) for step, outcome in outcomes.items()
    ]
    assert sorted(path.name for path in Path("logs").glob("*.html")) == [
        "pfgen-report-10.html",
        "pfgen-report-20.html",
    ]


def test_texts_of_answers_are_no_markup(mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    written = outcome.path.read_text(encoding="utf-8")
    answer = tracked(outcome).tables["answers"].rows[0][1]
    outcome.path.write_text(written.replace(answer, "<script>a</script> | b\\n[c](d)" + "e" * 10_000), encoding="utf-8")
    log_run(outcome, into="logs", report=False)
    shown = text(read("logs"), "answers")
    assert "<script>" not in shown
    assert "&#60;script&#62;a&#60;/script&#62; &#124; b" in shown
    assert max(map(len, shown.splitlines())) < 1000


def test_a_folder_that_cannot_be_written_is_one_sentence(mini, tmp_path):
    outcome = scored_run(tmp_path / "run", mini)
    (tmp_path / "file").write_text("")
    with pytest.raises(PfgenError, match=r"expected a folder, but .*file is a file"):
        log_run(outcome, into=tmp_path / "file" / "logs")


def test_the_documented_examples_run(mini, tmp_path):
    scored_run(tmp_path / "result" / "org" / "model", mini)
    assert run_python_blocks(DOCS / "integrations" / "tensorboard.md") == 1
    assert [event.step for event in read("runs/my-training").Scalars("pfgen/score")] == [500]
