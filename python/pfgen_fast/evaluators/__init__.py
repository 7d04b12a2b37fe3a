"""Evaluators score texts: the protocol `Evaluator` and its implementations."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .criteria_judge import CriteriaJudge as CriteriaJudge
    from .criteria_judge import open_judge as open_judge
    from .evaluator import Evaluator as Evaluator
    from .evaluator import Item as Item
    from .evaluator import Metric as Metric
    from .judge import JudgeEvaluator as JudgeEvaluator
    from .ngram import NgramEvaluator as NgramEvaluator

__getattr__ = names_on_demand(
    __name__,
    {
        "CriteriaJudge": "criteria_judge",
        "Evaluator": "evaluator",
        "Item": "evaluator",
        "JudgeEvaluator": "judge",
        "Metric": "evaluator",
        "NgramEvaluator": "ngram",
        "open_judge": "criteria_judge",
    },
)
