"""Metrics that compare each answer with its own references: BLEU, chrF, ROUGE, token F1, exact match.

docs/references.md lists the metrics and their rules.
"""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .metrics import METRICS as METRICS
    from .metrics import TOKENIZERS as TOKENIZERS
    from .reference_scorer import ReferenceScorer as ReferenceScorer
    from .reference_scores import ReferenceScores as ReferenceScores

__getattr__ = names_on_demand(__name__)
