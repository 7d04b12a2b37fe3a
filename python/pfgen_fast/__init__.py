"""Scores free-form answers by reference n-grams and keyword rules: exact, fast, without a judge model.

Start with `Scorer("mini").score(question, answers)`; `Suite.load(folder)` reads a suite of your own.
"""

from ._native import _core
from .errors import IndexFormatError, PfgenError, SuiteError, TrialsError
from .keywords import Rule
from .scoring import Scorer, ScoreTable
from .suite import Question, Suite

__version__: str = _core.__version__

__all__ = [
    "IndexFormatError",
    "PfgenError",
    "Question",
    "Rule",
    "ScoreTable",
    "Scorer",
    "Suite",
    "SuiteError",
    "TrialsError",
    "__version__",
]
