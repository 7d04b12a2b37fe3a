"""Tasks for lm-evaluation-harness: `pfgen` for base models, `pfgen_qa` and `pfgen_chat` for chat models.

The harness finds them with `--include_path "$(python -m pfgen_fast.integrations.lm_eval)"`. `ReferenceMetrics` is for
tasks whose documents contain references.
"""

from pathlib import Path

from .reference_metrics import ReferenceMetrics as ReferenceMetrics

TASKS = Path(__file__).parent
"""The directory of the tasks, for the option `--include_path` of the harness."""
