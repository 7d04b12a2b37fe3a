"""The sensitivity profile: for each kind of damage and metric, how much damage it takes until it is noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import Floats
from ..statistics.detectability import monotonicity
from .cells import TaskCells
from .plan import Perturbation
from .result import PROFILE_COLUMNS, Cell, Columns
from .rows import number, whole
from .task_scores import TaskScores
