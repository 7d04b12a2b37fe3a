"""Evaluators score texts: the protocol `Evaluator` and its implementations."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .command import CommandEvaluator as CommandEvaluator
    from .criteria_judge import CriteriaJudge as CriteriaJudge
    from .criteria_judge import open_judge as open_judge
    from .evaluator import Evaluator as Evaluator
    from .evaluator import Item as Item
    from .evaluator import Metric as Metric
    from .function import FunctionEvaluator as FunctionEvaluator
    from .judge import JudgeEvaluator as JudgeEvaluator
    from .metrics import MetricsEvaluator as MetricsEvaluator
    from .ngram import NgramEvaluator as NgramEvaluator
    from .opening import open_evaluator as open_evaluator
    from .table import TableScores as TableScores

__getattr__ = names_on_demand(__name__)
