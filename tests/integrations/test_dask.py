"""Dask: the documented examples, with the rows of a single process, bit for bit."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.documented import documented_example
from makers.engines import engine, rows
from pfgen_fast import Scorer

dask = engine("dask")
dd = engine("dask.dataframe")
pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning"),
]


@pytest.fixture
def table():
    return pa.table({**rows(500), "note": [f"n{i}" if i % 3 else None for i in range(500)]})


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_the_documented_frame_has_the_rows_of_a_single_process(table, tmp_path, monkeypatch, scheduler):
    monkeypatch.chdir(tmp_path)
    pq.write_table(table, "answers.parquet", row_group_size=70)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        exec(documented_example("import dask.dataframe"), {})
    actual = pq.read_table("scored").sort_by("id")
    expected = Scorer("mini").score(table["question"], table["answer"])
    passing = expected.average >= 0.1
    assert 0 < passing.sum() < len(table)
    assert actual["id"].to_pylist() == np.flatnonzero(passing).tolist()
    assert actual["note"].to_pylist() == table["note"].filter(pa.array(passing)).to_pylist()
    for name in ("average", "fluency"):
        assert actual[name].to_numpy().tobytes() == expected[name][passing].tobytes()


def test_the_documented_tasks_for_files_have_the_rows_of_a_single_process(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("answers", "scored"):
        (tmp_path / folder).mkdir()
    for begin in range(0, 500, 100):
        pq.write_table(table.slice(begin, 100), f"answers/{begin:03}.parquet")
    with dask.config.set(scheduler="threads", num_workers=2):
        exec(documented_example("dask.delayed"), {})
    actual = pq.read_table("scored").sort_by("id")
    expected = Scorer("mini").score(table["question"], table["answer"])
    assert actual.select(table.column_names).equals(table)
    assert actual.column_names[len(table.column_names) :] == list(expected.columns[1:])
    assert all(actual[name].to_numpy().tobytes() == expected[name].tobytes() for name in expected.columns[1:])
