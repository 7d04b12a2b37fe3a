"""The filter for Data-Juicer: the documented recipe with its command, and the operator alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pfgen_fast
import pyarrow.parquet as pq
import pytest
from makers.documented import DOCS, blocks, documented_example
from makers.engines import engine
from makers.frames import bits
from makers.generated_answers import passing, scores_of
from pfgen_fast import PfgenError, ScorerSpec, TrialsError

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore:::(data_juicer|datasets|multiprocess|dill)\\b")]
NestedDataset = engine("data_juicer.core.data").NestedDataset
PfgenScoreFilter = import_module("pfgen_fast.integrations.data_juicer").PfgenScoreFilter

PAGE = DOCS / "engines" / "data_juicer.md"
STATS = "__dj__stats__"
ANSWER = "Ice floats because it is less dense than water."
N = 400
TIME_LIMIT = 600  # seconds, only against hanging
ENTRY_POINT = "[data_juicer.ops]\npfgen_fast = pfgen_fast.integrations.data_juicer\n"


@pytest.fixture(autouse=True)
def _nothing_is_installed(monkeypatch):
    """Data-Juicer installs by itself what it lacks when it is used; a test fails instead."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def process(tmp_path, monkeypatch):
    """Runs `dj-process` on the documented recipe, in two processes."""
    package = tmp_path / "site" / "pfgen_fast_in_tests-1.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: pfgen-fast-in-tests\nVersion: 1\n")
    (package / "entry_points.txt").write_text(ENTRY_POINT)  # as an installed pfgen-fast has it
    paths = [str(package.parent), str(Path(pfgen_fast.__file__).parent.parent)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))

    def run(rows):
        (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        [recipe] = [block.code for block in blocks(PAGE) if block.language == "yaml"]
        (tmp_path / "recipe.yaml").write_text(recipe)
        command = [Path(sys.executable).with_name("dj-process"), "--config", tmp_path / "recipe.yaml"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, cwd=tmp_path, encoding="utf-8"
        )
        if done.returncode:
            return done, []
        found = pq.read_table(tmp_path / "out" / "out.parquet").to_pylist()
        return done, sorted(found, key=lambda row: row["id"])

    return run


def test_the_documented_recipe_keeps_what_the_single_process_keeps_bit_for_bit(process, rows, scorer):
    done, found = process(rows)
    assert done.returncode == 0, done.stderr
    table, stays = passing(rows, scorer)
    assert [{key: row[key] for key in rows[0]} for row in found] == [rows[i] for i in stays]
    assert bits(row["pfgen_average"] for row in found) == table.average[stays].tobytes()


def test_a_sample_that_cannot_be_scored_stops_the_recipe_with_one_sentence(process, rows):
    done, _ = process([*rows, {"id": "bad", "question": "Q77", "text": "x"}])
    assert done.returncode != 0
    assert "column 'question': unknown question 'Q77' in suite mini" in done.stderr


def test_stats_are_computed_again_and_the_decision_is_exact_where_stats_are_not(rows, scorer):
    average = scores_of(rows, scorer).average
    limit = float(np.sort(average)[N // 2])  # a score that stats may not hold exactly
    operator = PfgenScoreFilter(ScorerSpec("mini"), minimum=limit, batch_size=50, num_proc=2)
    of_another_suite = {"pfgen_average": 1.0}
    found = operator.run(NestedDataset.from_list([{**row, STATS: of_another_suite} for row in rows]))
    assert list(found["id"]) == [rows[i]["id"] for i in np.flatnonzero(average >= limit)]
    stats = [stat["pfgen_average"] for stat in found[STATS]]
    assert stats == pytest.approx(average[average >= limit], abs=1e-9)


def test_the_fields_have_names_of_choice_and_missing_answers_are_dropped_or_kept():
    samples = [{"q": "Q07", "a": ANSWER}, {"q": "Q07", "a": None}, {"q": "Q07", "a": "Because."}]
    dataset = NestedDataset.from_list(samples)
    settings = {"question_key": "q", "text_key": "a", "nulls": "null", "num_proc": 1}
    columns = ["fluency", "average"]
    found = PfgenScoreFilter("mini", prefix="", columns=columns, **settings).run(dataset)
    assert all({*columns, "passes"} == stat.keys() for stat in found[STATS])
    good, missing, bad = (stat["average"] for stat in found[STATS])
    assert (good > 0.3, missing, bad < 0.3) == (True, None, True)
    assert list(PfgenScoreFilter("mini", 0, **settings).run(dataset)["a"]) == [ANSWER, "Because."]
    with pytest.raises(TrialsError, match=r"^sample 2 of a batch, column 'a': "):
        PfgenScoreFilter("mini", 0, **{**settings, "nulls": "error"}).run(dataset)


def test_samples_and_settings_that_do_not_fit_are_one_sentence():
    samples = {"no field 'question'": {"q": "Q07"}, "there is already": {"question": "Q07", "pfgen_average": 1}}
    for message, sample in samples.items():
        with pytest.raises(TrialsError, match=rf"^the samples: {message}"):
            PfgenScoreFilter("mini", as_fields=True, num_proc=1).run(NestedDataset.from_list([{"text": "x", **sample}]))
    with pytest.raises(PfgenError, match="pfgen_score_filter: suite: expected the directory of a suite, or mini"):
        PfgenScoreFilter()
    with pytest.raises(PfgenError, match="pfgen_score_filter: reversed_range is not supported; use minimum or where"):
        PfgenScoreFilter("mini", reversed_range=True)


def test_the_documented_example_keeps_the_good_answer():
    names = {}
    exec(documented_example("NestedDataset"), names)
    assert list(names["good"]["text"]) == [ANSWER]
