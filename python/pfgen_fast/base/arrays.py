"""The types of NumPy arrays that annotations name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Counts = NDArray[np.int32]
"""How often each item (column) is in each draw (row)."""
