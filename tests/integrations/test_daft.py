"""Daft, as docs/engines/daft.md uses it: the scores of one process, also from processes of Daft's own."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from makers.engines import bits, engine, run_python_blocks, write_rows
from pfgen_fast import Scorer

# Daft leaves the pipes of its processes to the garbage collector.
pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")]
daft = engine("daft")

PAGE = Path(__file__).parents[2] / "docs" / "engines" / "daft.md"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    gc.collect()


def run_page(folder: Path, changes: dict[str, str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for before, after in changes.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    page = folder / PAGE.name
    page.write_text(text, encoding="utf-8")
    assert run_python_blocks(page) == 1


@pytest.mark.parametrize("process", [{}, {"unnest=True)": "unnest=True, use_process=True)"}])
def test_rows_that_pass_have_the_scores_of_one_process(folder, process):
    rows = write_rows(folder / "in.parquet", 600)
    run_page(folder, process)
    out = pq.read_table(folder / "good").sort_by("id")
    table = Scorer("mini").score(rows["question"], rows["answer"])
    passing = table.average >= 0.6
    assert 0 < passing.sum() < 600
    assert out.select(list(rows)).to_pydict() == pa.table(rows).filter(pa.array(passing)).to_pydict()
    for name in ("average", "helpfulness"):
        assert bits(out[name].to_pylist()) == table[name][passing].tobytes()
