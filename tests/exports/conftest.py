from __future__ import annotations

import pytest
from makers.exported_runs import CONFIG, scored_run


@pytest.fixture
def runs(tmp_path, mini):
    return [
        scored_run(tmp_path / f"runs/org/model-{k}/abc", mini, {**CONFIG, "model": f"org/model-{k}"}, 3 + k)
        for k in range(2)
    ]
