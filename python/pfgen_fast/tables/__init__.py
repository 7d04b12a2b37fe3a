"""Tables of any length: one module for each format, the streaming scorer, and directories of tables."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .folders.scoring import score_files as score_files
    from .streaming import score_table as score_table

__getattr__ = names_on_demand(__name__)
