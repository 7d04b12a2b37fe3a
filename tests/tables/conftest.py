import pytest
from pfgen_fast import ScorerSpec


@pytest.fixture(scope="module")
def spec() -> ScorerSpec:
    return ScorerSpec("mini", threads=1)
