"""Exports: runs in the formats of other programs, from model cards to logs of evaluation programs."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .about import About as About
    from .exporting import export as export

__getattr__ = names_on_demand(__name__)
