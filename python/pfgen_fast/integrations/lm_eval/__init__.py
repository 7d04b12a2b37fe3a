"""Tasks for lm-evaluation-harness: `pfgen` for base models, `pfgen_qa` and `pfgen_chat` for chat models.

`--include_path "$(python -m pfgen_fast.integrations.lm_eval)"` lets the harness find them. `score_samples` scores what
it logged for any task that asks the questions of a suite.
"""

from pathlib import Path

from ..._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .samples import score_samples as score_samples
    from .task import documents as documents
    from .task import scores as scores

TASKS = Path(__file__).parent
"""The folder that holds the tasks: the `include_path` of the harness."""

__getattr__ = names_on_demand(__name__)
