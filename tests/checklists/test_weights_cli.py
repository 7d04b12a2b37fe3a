from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from makers.own_checklists import own_suite_in
from makers.people import people, row_of, write_rows
from pfgen_fast.checklists.judgements import Judgement
from pfgen_fast.checklists.runs import Answer, write_run
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.tasks import sha256_of

THANKS, REQUESTS, WEATHER = ("letters", "thanks"), ("letters", "requests"), ("reports", "weather")
RULE = {THANKS: (3.0, 2.0, 5.0), REQUESTS: (6.0, 3.0)}


@pytest.fixture
def suite(tmp_path: Path) -> ChecklistSuite:
    return own_suite_in(tmp_path / "suite")


@pytest.fixture
def marks(tmp_path: Path, suite: ChecklistSuite) -> Path:
    return write_rows(tmp_path / "marks.jsonl", list(map(row_of, people(suite, RULE, noise=0.5).listed)))


@pytest.fixture
def runs(tmp_path: Path, suite: ChecklistSuite) -> Path:
    for name, verdict in (("best", 1.0), ("middle", 0.75), ("last", 0.5)):
        answers = [Answer(task.id, f"{name} {task.id}") for task in suite.tasks if task.length is None]
        judgements = []
        for answer in answers:
            n = len(suite.checklist(suite.by_key[answer.id, None]).questions)
            judgements.append(Judgement(answer.id, answer.sha256, (verdict,) * (n - 1) + (0.5,), judge="m"))
        write_run(tmp_path / "runs" / name, answers, judgements, {"model": name})
    return tmp_path / "runs"


def test_fit_prints_and_writes_the_weights(call: Any, tmp_path: Path, marks: Path) -> None:
    common = ("checklists", "fit", marks, "--suite", tmp_path / "suite")
    code, out, err = call(*common, "--scale", "unit", "--bootstrap", 20, "--page", tmp_path / "page")
    assert code == 0
    assert "48 marks of 2 annotators define the weights of 2 of 2 categories" in out
    assert "1 of 3 categories have no marks" in err
    assert "Does it thank somebody?" in (tmp_path / "page/checklist-weights.html").read_text()
    code, out, _ = call(*common, "--scale", "unit", "--json", "--output", tmp_path / "fitted")
    found = json.loads(out)["categories"]["letters"]
    before, fitted = (ChecklistSuite.load(tmp_path / name) for name in ("suite", "fitted"))
    assert (fitted.checklists[WEATHER], fitted.hash == before.hash) == (before.checklists[WEATHER], False)
    assert list(fitted.checklists[THANKS].weights) == found["thanks"]["weights"]
    assert call(*common, "--scale", "unit", "--output", tmp_path / "weights.json")[0] == 0
    assert json.loads((tmp_path / "weights.json").read_text())["letters"]["requests"] == found["requests"]["weights"]
    assert "--scale" in call(*common)[2]


def test_fit_writes_no_weights_that_marks_leave_open(call: Any, tmp_path: Path, suite: ChecklistSuite) -> None:
    few = people(suite, {THANKS: (3.0, 2.0, 5.0)}, n_answers=1).listed
    path = write_rows(tmp_path / "marks.jsonl", list(map(row_of, few)))
    common = ("checklists", "fit", path, "--suite", tmp_path / "suite", "--scale", "unit", "-o", tmp_path / "w.json")
    code, out, err = call(*common)
    assert code == 2
    assert "not defined: rank 2 of 3" in out
    assert "letters/thanks: 2 marks define only 2 of 3 weights" in err
    assert not (tmp_path / "w.json").exists()
    code, _, err = call(*common, "--allow-unidentified")
    assert code == 0
    assert "nearest to equal" in err
    assert sum(json.loads((tmp_path / "w.json").read_text())["letters"]["thanks"]) == pytest.approx(100)


def test_fit_tells_how_sure_a_table_is(call: Any, tmp_path: Path, marks: Path, runs: Path) -> None:
    common = ("checklists", "fit", marks, "--suite", tmp_path / "suite", "--scale", "unit", "--table", runs)
    code, out, _ = call(*common, "--bootstrap", 50, "--json")
    assert code == 0
    table = json.loads(out)["table"]
    assert [row["model"] for row in table["models"]] == ["best", "middle", "last"]
    assert table["models"][0]["above_next"] == 1
    assert "--bootstrap" in call(*common)[2]


def test_fit_leaves_out_marks_of_other_answers(call: Any, tmp_path: Path, suite: ChecklistSuite, runs: Path) -> None:
    mark, *others = people(suite, RULE).listed
    rows = [row_of(one, response_sha256=sha256_of(f"best {one.id}")) for one in (mark, others[-1])]
    path = write_rows(tmp_path / "marks.jsonl", [*rows, row_of(others[0])])
    common = ("checklists", "fit", path, "--suite", tmp_path / "suite", "--scale", "unit")
    assert "1 marks are not used, because no run has their answers: letter_" in call(*common, "--run", runs / "best")[2]
    assert "no marks are left: the runs have none of the 3 answers" in call(*common, "--run", runs / "last")[2]


def test_sensitivity_compares_tables(call: Any, tmp_path: Path, runs: Path) -> None:
    common = ("checklists", "sensitivity", runs, "--suite", tmp_path / "suite")
    code, out, _ = call(*common, "--draws", 50)
    assert code == 0
    assert "In 3 of 3 variations the 3 models keep their order" in out
    assert "missing answers as zero" in out
    found = json.loads(call(*common, "--json", "--output", tmp_path / "page")[1])
    assert [row["model"] for row in found["usual"]] == ["best", "middle", "last"]
    assert found["draws"]["n_draws"] == 1000
    assert (tmp_path / "page/checklist-sensitivity.html").exists()
