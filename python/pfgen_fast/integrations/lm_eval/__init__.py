"""Tasks for lm-evaluation-harness: `pfgen` for base models, and `pfgen_qa` for chat models.

`--include_path "$(python -m pfgen_fast.integrations.lm_eval)"` lets the harness find them.
"""

from pathlib import Path

from ..._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .task import documents as documents
    from .task import scores as scores

TASKS = Path(__file__).parent
"""The folder that holds the tasks: the `include_path` of the harness."""

__getattr__ = names_on_demand(__name__, {"documents": "task", "scores": "task"})
