"""Runs: reading trials, scoring them, and working with results."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .baseline import compare_with_baseline as compare_with_baseline
    from .run_scorer import RunScorer as RunScorer

__getattr__ = names_on_demand(__name__)
