"""Discernment: how well does an evaluator notice graded damage? Texts are damaged, scored, and compared by rank tests.

Rules: docs/discernment_rules.md. Usage: docs/discernment.md.
"""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..statistics.discernment_scores import average as average
    from ..statistics.discernment_scores import combine as combine
    from ..statistics.signed_rank import signed_rank as signed_rank
    from .choosing import chosen_plan as chosen_plan
    from .choosing import open_plan as open_plan
    from .item_files import ItemColumns as ItemColumns
    from .item_files import read_collection as read_collection
    from .items import Collection as Collection
    from .items import CollectionItem as CollectionItem
    from .originals import from_run as from_run
    from .originals import from_suite as from_suite
    from .perturbing import perturb as perturb
    from .plan import Perturbation as Perturbation
    from .plan import Plan as Plan
    from .plan import usual_plan as usual_plan
    from .result import Discernment as Discernment
    from .running import discern as discern
    from .weights import open_weights as open_weights

__getattr__ = names_on_demand(__name__)
