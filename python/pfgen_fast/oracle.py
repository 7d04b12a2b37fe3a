"""Public import path of the oracle; see `scoring.oracle`."""

from .scoring.oracle import Oracle, ReferenceCounts, average, compensated_sum, discount, naive_sum, position_and_name

__all__ = ["Oracle", "ReferenceCounts", "average", "compensated_sum", "discount", "naive_sum", "position_and_name"]
