"""Checklists: long answers judged question by question, with verdicts that are kept, audited and replayed."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .judgements import Judgement as Judgement
    from .runs import Answer as Answer
    from .runs import Run as Run
    from .runs import open_runs as open_runs
    from .scores import Scores as Scores
    from .scoring import score_runs as score_runs
    from .suite import ChecklistSuite as ChecklistSuite

__getattr__ = names_on_demand(
    __name__,
    {
        "Answer": "runs",
        "ChecklistSuite": "suite",
        "Judgement": "judgements",
        "Run": "runs",
        "Scores": "scores",
        "open_runs": "runs",
        "score_runs": "scoring",
    },
)
