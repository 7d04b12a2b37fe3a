"""The run that tests of judging share."""

import pytest
from makers.checklists_to_judge import run


@pytest.fixture
def path(tmp_path):
    return run(tmp_path / "mine").folder
