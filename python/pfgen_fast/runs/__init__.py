"""Runs: reading trials, scoring them, and working with results."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .comparison import compare_with_baseline as compare_with_baseline
    from .means import item_scores_of as item_scores_of
    from .run_scorer import RunScorer as RunScorer

__getattr__ = names_on_demand(__name__)
