"""Scores free-form answers by reference n-grams and keyword rules: exactly, fast, and without a judge model.

Start with `Scorer("mini").score(question, answers)`; `Suite.load(folder)` reads a suite of your own.
"""

from ._on_demand import modules_of_names, names_on_demand
from .native import _core

TYPE_CHECKING = False  # type checkers treat it as True, like `typing.TYPE_CHECKING`; importing typing is slow
if TYPE_CHECKING:
    from .errors import BuildError as BuildError
    from .errors import DiscernmentError as DiscernmentError
    from .errors import EngineError as EngineError
    from .errors import ExperimentError as ExperimentError
    from .errors import IndexFormatError as IndexFormatError
    from .errors import JudgingError as JudgingError
    from .errors import PatternTimeout as PatternTimeout
    from .errors import PfgenError as PfgenError
    from .errors import SuiteError as SuiteError
    from .errors import TrialsError as TrialsError
    from .item_scores.comparison import Comparison as Comparison
    from .runs.comparison import compare as compare
    from .runs.leaderboard import Leaderboard as Leaderboard
    from .runs.placement import Placement as Placement
    from .runs.placement import place as place
    from .runs.result_tables import leaderboard as leaderboard
    from .scoring.score_table import ScoreTable as ScoreTable
    from .scoring.scorer import Scorer as Scorer
    from .scoring.spec import ScorerSpec as ScorerSpec
    from .suite.keywords import Rule as Rule
    from .suite.questions import Question as Question
    from .suite.suite import Suite as Suite
    from .tables.batches import score_batches as score_batches
    from .tables.batches import score_schema as score_schema

__version__: str = _core.__version__

__getattr__ = names_on_demand(__name__)  # importing NumPy alone takes longer than printing the help
__all__ = sorted([*modules_of_names(__name__), "__version__"])


def __dir__() -> list[str]:
    return __all__
