"""Scores free-form answers by reference n-grams and keyword rules: exactly, fast, and without a judge model.

Start with `Scorer("mini").score(question, answers)`; `Suite.load(folder)` reads a suite of your own.
"""

from importlib import import_module

from .base.errors import AnnotationError as AnnotationError
from .base.errors import BuildError as BuildError
from .base.errors import ChecklistError as ChecklistError
from .base.errors import DiscernmentError as DiscernmentError
from .base.errors import EngineError as EngineError
from .base.errors import ExperimentError as ExperimentError
from .base.errors import IndexFormatError as IndexFormatError
from .base.errors import JudgingError as JudgingError
from .base.errors import PatternTimeout as PatternTimeout
from .base.errors import PfgenError as PfgenError
from .base.errors import RewardError as RewardError
from .base.errors import ServingError as ServingError
from .base.errors import SuiteError as SuiteError
from .base.errors import TrialsError as TrialsError
from .base.native import _core

TYPE_CHECKING = False  # type checkers treat it as True, like `typing.TYPE_CHECKING`; importing typing is slow
if TYPE_CHECKING:
    from .build.pipeline import build_suite as build_suite
    from .build.selection import select_answers as select_answers
    from .generation.generating import Generation as Generation
    from .generation.ngram_sampler import NgramSampler as NgramSampler
    from .lab.statistics.prediction_powered import prediction_powered_mean as prediction_powered_mean
    from .rewards.group_parts import Diversity as Diversity
    from .rewards.group_parts import GroupRelative as GroupRelative
    from .rewards.parts import Clip as Clip
    from .rewards.parts import Copying as Copying
    from .rewards.parts import Floor as Floor
    from .rewards.parts import Overlong as Overlong
    from .rewards.parts import Repetition as Repetition
    from .rewards.parts import Scale as Scale
    from .rewards.parts import TooShort as TooShort
    from .rewards.parts import Unfinished as Unfinished
    from .rewards.references.reference_scorer import ReferenceScorer as ReferenceScorer
    from .rewards.reward import Reward as Reward
    from .rewards.server.reward_client import AsyncRewardClient as AsyncRewardClient
    from .rewards.server.reward_client import RewardClient as RewardClient
    from .runs.comparison import Comparison as Comparison
    from .runs.diagnosis import Diagnosis as Diagnosis
    from .runs.diagnosis import diagnose as diagnose
    from .runs.items.ranking import ModelRanking as ModelRanking
    from .runs.leaderboard import Leaderboard as Leaderboard
    from .runs.placement import Placement as Placement
    from .runs.result_tables import leaderboard as leaderboard
    from .runs.run_comparison import compare as compare
    from .runs.run_placement import place as place
    from .scoring.score_table import ScoreTable as ScoreTable
    from .scoring.scorer import Scorer as Scorer
    from .scoring.scorer import ScorerSpec as ScorerSpec
    from .suite.keywords import Rule as Rule
    from .suite.questions import Question as Question
    from .suite.rules import Lengths as Lengths
    from .suite.suite import Suite as Suite
    from .tables.batches import score_batches as score_batches
    from .tables.batches import score_schema as score_schema

__version__: str = _core.__version__

# Imported on first access, because importing NumPy alone takes longer than printing the help.
MODULES = {
    "AsyncRewardClient": "rewards.server.reward_client",
    "Comparison": "runs.comparison",
    "Diagnosis": "runs.diagnosis",
    "Placement": "runs.placement",
    "ModelRanking": "runs.items.ranking",
    "ReferenceScorer": "rewards.references.reference_scorer",
    "Reward": "rewards.reward",
    "compare": "runs.run_comparison",
    "diagnose": "runs.diagnosis",
    "Leaderboard": "runs.leaderboard",
    "place": "runs.run_placement",
    "leaderboard": "runs.result_tables",
    "ScoreTable": "scoring.score_table",
    "Scorer": "scoring.scorer",
    "ScorerSpec": "scoring.scorer",
    "Clip": "rewards.parts",
    "Copying": "rewards.parts",
    "Diversity": "rewards.group_parts",
    "GroupRelative": "rewards.group_parts",
    "Floor": "rewards.parts",
    "Generation": "generation.generating",
    "NgramSampler": "generation.ngram_sampler",
    "Overlong": "rewards.parts",
    "Repetition": "rewards.parts",
    "RewardClient": "rewards.server.reward_client",
    "Scale": "rewards.parts",
    "TooShort": "rewards.parts",
    "Unfinished": "rewards.parts",
    "build_suite": "build.pipeline",
    "select_answers": "build.selection",
    "prediction_powered_mean": "lab.statistics.prediction_powered",
    "Rule": "suite.keywords",
    "Question": "suite.questions",
    "Lengths": "suite.rules",
    "Suite": "suite.suite",
    "score_batches": "tables.batches",
    "score_schema": "tables.batches",
}
__all__ = sorted([*MODULES, *(name for name in globals() if name.endswith("Error")), "PatternTimeout", "__version__"])


def __getattr__(name: str) -> object:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{MODULES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
