"""The filter for NeMo Curator: the documented pipeline in its executors, and the stage alone."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pfgen_fast
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.documented import documented_example
from makers.engines import engine
from makers.frames import bits
from makers.generated_answers import passing, scores_of, write_parts
from pfgen_fast import ScorerSpec, TrialsError

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore:::(nemo_curator|ray|torch|cosmos_xenna)\\b")]
DocumentBatch = engine("nemo_curator.tasks").DocumentBatch
PfgenScoreFilter = import_module("pfgen_fast.integrations.nemo_curator").PfgenScoreFilter

ANSWER = "Ice floats because it is less dense than water."
N = 400
TIME_LIMIT = 600  # seconds, only against hanging

# A Ray of its own, whatever else runs on the machine; Xenna asks for more cores than tests have.
RAY = """
import os, ray
ray.init(address="local", num_cpus=6)
os.environ["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address
"""


@pytest.fixture
def run(tmp_path, rows, monkeypatch):
    """Runs the documented pipeline over four files, in a process with its own Ray."""
    write_parts(tmp_path / "in", rows)
    monkeypatch.setenv("PYTHONPATH", str(Path(pfgen_fast.__file__).parent.parent))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def go(module="ray_data", executor="RayDataExecutor"):
        example = documented_example("RayDataExecutor").replace("RayDataExecutor", executor)
        command = [sys.executable, "-c", RAY + example.replace("backends.ray_data", f"backends.{module}")]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, cwd=tmp_path, encoding="utf-8", env=os.environ
        )
        found = [row for path in tmp_path.glob("out/*.parquet") for row in pq.read_table(path).to_pylist()]
        return done, sorted(found, key=lambda row: row["id"])

    return go


@pytest.mark.parametrize("executor", [(), ("xenna", "XennaExecutor")], ids=["ray", "xenna"])
def test_the_documented_pipeline_keeps_what_the_single_process_keeps_bit_for_bit(run, rows, scorer, executor):
    done, found = run(*executor)
    assert done.returncode == 0, done.stderr
    table, stays = passing(rows, scorer)
    assert [{key: row[key] for key in rows[0]} for row in found] == [rows[i] for i in stays]
    assert bits(row["average"] for row in found) == table.average[stays].tobytes()


def test_a_document_that_cannot_be_scored_stops_the_pipeline_with_one_sentence(run, tmp_path):
    with (tmp_path / "in" / "3.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "bad", "question": "Q77", "text": "x"}\n')
    done, _ = run()
    assert done.returncode != 0
    assert "3.jsonl: row 101 of the batch, column 'question': unknown question 'Q77'" in done.stderr + done.stdout


@pytest.mark.parametrize("kind", ["arrow", "large", "object", "str"])
@pytest.mark.parametrize("least", [0.4, 9.0])
def test_a_batch_stays_what_it_is(rows, scorer, kind, least):
    arrow = pa.Table.from_pylist(rows)
    if kind == "large":
        data = arrow.cast(pa.schema([(name, pa.large_string()) for name in arrow.column_names]))
    else:
        data = arrow if kind == "arrow" else pd.DataFrame(rows, dtype=kind).set_index(np.arange(N) + 7)
    stage = PfgenScoreFilter(ScorerSpec("mini"), least, columns=["average", "fluency"])
    result = stage.process(DocumentBatch("made", data, _metadata={"of": "test"}))
    table = scores_of(rows, scorer)
    stays = np.flatnonzero(table.average >= least)
    assert isinstance(result.data, type(data))
    assert (result.dataset_name, result._metadata, result.num_items) == ("made", {"of": "test"}, len(stays))
    assert result.get_columns() == ["id", "question", "text", "average", "fluency"]
    assert np.array(result.data["id"]).tolist() == [rows[i]["id"] for i in stays]
    for name in ("average", "fluency"):
        assert np.array(result.data[name]).tobytes() == table[name][stays].tobytes()
    assert "average" not in (data.column_names if isinstance(data, pa.Table) else data)


@pytest.mark.parametrize("in_pandas", [False, True])
def test_missing_answers_are_an_error_or_dropped(in_pandas):
    table = pa.table({"q": ["Q07", "Q07"], "a": [ANSWER, None]})
    batch = DocumentBatch("made", table.to_pandas() if in_pandas else table)
    fields = {"question_field": "q", "text_field": "a"}
    with pytest.raises(TrialsError, match=r"^task '' of 'made': row 2 of the batch, column 'a': "):
        PfgenScoreFilter("mini", 0, **fields).process(batch)
    assert PfgenScoreFilter("mini", 0, nulls="null", **fields).process(batch).num_items == 1
    stage = PfgenScoreFilter("mini", nulls="null", prefix="pfgen_", **fields)
    assert stage.process(batch).to_pyarrow()["pfgen_average"].is_null(nan_is_null=True).to_pylist() == [False, True]
    assert (stage.inputs(), stage.outputs()) == ((["data"], ["q", "a"]), (["data"], ["q", "a", "pfgen_average"]))


def test_columns_that_do_not_fit_are_one_sentence():
    columns = {"no field 'question'": ["q", "text"], "there is already": ["question", "text", "average"]}
    for message, names in columns.items():
        with pytest.raises(TrialsError, match=rf"^task '' of 'made': {message}"):
            PfgenScoreFilter("mini").process(DocumentBatch("made", pa.table({name: ["Q07"] for name in names})))
