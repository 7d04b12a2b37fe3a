"""Every interval and verdict in simulations with known truth: a small form of `make simulate`."""

import pytest
from makers.documented import tool

PROGRAM = tool("simulation.__main__")
_N_DRAWS = 400
_CLAIMS = PROGRAM.claims(PROGRAM.scores.claims_of_trials((10,), (0.05, 0.5), n_answers=2_000))
_PROMISED = [claim for claim in _CLAIMS if claim.bounds is not None]
_FIRST = {claim.table: claim for claim in reversed(_PROMISED)}
_OTHERS = [pytest.param(claim, marks=pytest.mark.nightly) for claim in _PROMISED if claim is not _FIRST[claim.table]]


@pytest.mark.slow
@pytest.mark.parametrize("claim", [*_FIRST.values(), *_OTHERS], ids=lambda claim: f"{claim.table}, {claim.what}")
def test_a_claim_holds_as_often_as_promised(claim):
    share, n = claim.share(_N_DRAWS)
    assert claim.is_held(share, n), f"{share:.3f} of {n} draws"


def test_an_interval_that_does_not_hold_is_noticed():
    """With the normal distribution instead of Student's, the interval of three questions covers 0.82."""

    def too_narrow(generator):
        drawn = generator.standard_normal(3)
        return abs(drawn.mean()) <= 1.96 * drawn.std(ddof=1) / 3**0.5

    claim = PROGRAM.Claim(PROGRAM.scores.SCORE, "too narrow", (0.93, 0.97), too_narrow)
    result = claim.share(_N_DRAWS)
    assert not claim.is_held(*result)
    assert claim.share(_N_DRAWS) == result  # by the same seed
