"""Scores by item and model from any evaluation: what `compare`, `leaderboard`, gates and experiments on items read."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .columns import ColumnNames as ColumnNames
    from .reading import is_score_table as is_score_table
    from .reading import item_scores_of_table as item_scores_of_table
    from .reading import read_item_scores as read_item_scores
    from .table import ItemScores as ItemScores

__getattr__ = names_on_demand(__name__)
