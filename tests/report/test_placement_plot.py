"""The picture of placed runs: what it marks, and names that it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pfgen_fast.report.placement_plot import write_placements
from pfgen_fast.runs.placement import Field, size_of
from pfgen_fast.runs.result_tables import published


@pytest.mark.slow
def test_a_picture_marks_placed_runs(call, tmp_path):
    table = published()
    entry = next(entry for entry in table if size_of(entry.model) == 7)
    result = replace(entry.result, input_hash="other", config={**entry.config, "model": "our/model-7b"})
    placement = Field(table).place(replace(entry, name="our/model/abc", result=result))
    path = tmp_path / "place.svg"
    write_placements([placement], path)
    text = path.read_text(encoding="utf-8")
    assert f"our/model-7b: {placement.score:.4f}, rank {placement.rank} (" in text
    assert "score of 522 other runs" in text


def test_a_picture_is_refused_before_anything_is_read(call, tmp_path):
    code, _, err = call("place", tmp_path / "nowhere", "-o", tmp_path / "place.txt")
    assert (code, err.count("\n")) == (2, 1)
    assert "ends in .png or .svg" in err
