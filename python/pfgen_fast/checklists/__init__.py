"""Checklists: long answers judged question by question, with verdicts that are stored, audited and replayed."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .generating import generate_answers as generate_answers
    from .judgements import Judgement as Judgement
    from .judging.ask_runs import Judging as Judging
    from .judging.evaluator import ChecklistJudge as ChecklistJudge
    from .judging.evaluator import open_checklists as open_checklists
    from .judging.parse_reply import parse_overall as parse_overall
    from .judging.parse_reply import parse_reply as parse_reply
    from .judging.requests import JudgeOptions as JudgeOptions
    from .runs import Answer as Answer
    from .runs import Run as Run
    from .runs import open_runs as open_runs
    from .scoring.scores import Scores as Scores
    from .scoring.scoring import score_runs as score_runs
    from .suite import ChecklistSuite as ChecklistSuite
    from .weights.regression import FittedWeights as FittedWeights
    from .weights.regression import fit_weights as fit_weights

__getattr__ = names_on_demand(__name__)
