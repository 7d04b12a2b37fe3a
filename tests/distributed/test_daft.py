"""Daft, as docs/engines/daft.md uses it: the scores of one process, also from processes of Daft's own."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from makers.engines import engine
from makers.frames import bits, expected_bits, run_python_blocks, write_rows

# Daft leaves the pipes of its processes to the garbage collector.
pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")]
daft = engine("daft")

PAGE = Path(__file__).parents[2] / "docs" / "engines" / "daft.md"
EVERY_ROW = {'frame.where(frame["average"] >= 0.6)': "frame"}
FAULTY = {'frame["answer"]))': "daft.lit(None)))"}


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
def test_every_row_has_the_scores_of_one_process(folder, process):
    made = write_rows(folder / "in.parquet", 600)
    run_page(folder, EVERY_ROW | process)
    out = pq.read_table(folder / "good").sort_by("id")
    assert out.to_pydict().items() >= made.items()
    columns = ["average", "helpfulness"]
    expected = expected_bits(made["question"], made["answer"], columns)
    assert {name: bits(out[name].to_pylist()) for name in columns} == expected


def test_rows_are_chosen_by_their_score(folder):
    write_rows(folder / "in.parquet", 300)
    run_page(folder, {})
    out = pq.read_table(folder / "good")
    assert 0 < len(out) < 300
    assert min(out["average"].to_pylist()) >= 0.6


def test_a_row_that_cannot_be_scored_is_one_sentence(folder):
    write_rows(folder / "in.parquet", 30)
    with pytest.raises(Exception, match=r"row 1, column 'answer': a null; expected a text"):
        run_page(folder, FAULTY)
