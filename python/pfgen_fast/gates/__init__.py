"""Gates: checks with a clear answer, for continuous integration: not worse than another model, at least a score."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .checks import Check as Check
    from .checks import at_least as at_least
    from .comparisons import non_inferior as non_inferior
    from .comparisons import not_worse as not_worse

__getattr__ = names_on_demand(__name__)
