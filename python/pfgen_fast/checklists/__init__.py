"""Checklists: long answers judged question by question, with verdicts that are kept, audited and replayed."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluator import ChecklistJudge as ChecklistJudge
    from .evaluator import open_checklists as open_checklists
    from .generating import generate_answers as generate_answers
    from .judgements import Judgement as Judgement
    from .judging import Judging as Judging
    from .places import JudgeOptions as JudgeOptions
    from .replies import parse_overall as parse_overall
    from .replies import parse_reply as parse_reply
    from .runs import Answer as Answer
    from .runs import Run as Run
    from .runs import open_runs as open_runs
    from .scores import Scores as Scores
    from .scoring import score_runs as score_runs
    from .suite import ChecklistSuite as ChecklistSuite
    from .weights import FittedWeights as FittedWeights
    from .weights import fit_weights as fit_weights

__getattr__ = names_on_demand(
    __name__,
    {
        "Answer": "runs",
        "ChecklistJudge": "evaluator",
        "ChecklistSuite": "suite",
        "FittedWeights": "weights",
        "JudgeOptions": "places",
        "Judgement": "judgements",
        "Judging": "judging",
        "Run": "runs",
        "Scores": "scores",
        "fit_weights": "weights",
        "generate_answers": "generating",
        "open_checklists": "evaluator",
        "open_runs": "runs",
        "parse_overall": "replies",
        "parse_reply": "replies",
        "score_runs": "scoring",
    },
)
