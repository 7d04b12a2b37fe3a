"""What the tests of judging share: a run, and the judgements that follow when nothing goes wrong."""

from __future__ import annotations

import pytest
from makers.checklists_to_judge import judged, run


@pytest.fixture
def path(tmp_path):
    return run(tmp_path / "mine").folder


@pytest.fixture
def expected(tmp_path_factory):
    """The bytes of the judgements that follow when nothing goes wrong."""
    folder = tmp_path_factory.mktemp("whole") / "mine"
    run(folder)
    judged([folder])
    return (folder / "judgements.jsonl").read_bytes()
