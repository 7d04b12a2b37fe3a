"""Discernment: how well does an evaluator notice graded damage? Texts are damaged, scored, and compared by rank tests.

Rules and figures: docs/discernment.md.
"""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..statistics.discernment_scores import average as average
    from ..statistics.discernment_scores import combine as combine
    from ..statistics.signed_rank import signed_rank as signed_rank
    from .items import Collection as Collection
    from .items import CollectionItem as CollectionItem
    from .perturbing import perturb as perturb
    from .plan import Perturbation as Perturbation
    from .plan import Plan as Plan
    from .result import Discernment as Discernment
    from .running import discern as discern

__getattr__ = names_on_demand(
    __name__,
    {
        "Collection": "items",
        "CollectionItem": "items",
        "Discernment": "result",
        "Perturbation": "plan",
        "Plan": "plan",
        "average": ".statistics.discernment_scores",
        "combine": ".statistics.discernment_scores",
        "discern": "running",
        "perturb": "perturbing",
        "signed_rank": ".statistics.signed_rank",
    },
)
