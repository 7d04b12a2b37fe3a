"""Statistics of columns of numbers: correlations, p-values, ranks and intervals, independent of runs, files and plots.

Definitions: docs/statistics.md.
"""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .mean_interval import MeanInterval as MeanInterval
    from .prediction_powered import PredictionPowered as PredictionPowered
    from .prediction_powered import prediction_powered_mean as prediction_powered_mean

__getattr__ = names_on_demand(__name__)
