"""Scores free-form answers by reference n-grams and keyword rules: exact, fast, without a judge model.

Start with `Scorer("mini").score(question, answers)`; `Suite.load(folder)` reads a suite of your own.
"""

from importlib import import_module

from ._native import _core

TYPE_CHECKING = False  # what checkers of types take for True, as that of `typing`, which takes long to import
if TYPE_CHECKING:
    from .errors import EngineError, ExperimentError, IndexFormatError, PfgenError, SuiteError, TrialsError
    from .keywords import Rule
    from .scoring import Scorer, ScoreTable
    from .suite import Question, Suite
else:
    # Each name comes with its module when it is first asked for: NumPy alone takes longer to import than all that a
    # command needs to print its help.
    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
        return value

    def __dir__() -> list[str]:
        return __all__


__version__: str = _core.__version__

__all__ = [
    "EngineError",
    "ExperimentError",
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

_MODULES = {
    "EngineError": "errors",
    "ExperimentError": "errors",
    "IndexFormatError": "errors",
    "PfgenError": "errors",
    "Question": "suite",
    "Rule": "keywords",
    "ScoreTable": "scoring",
    "Scorer": "scoring",
    "Suite": "suite",
    "SuiteError": "errors",
    "TrialsError": "errors",
}
