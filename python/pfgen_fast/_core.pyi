"""Types of the native core; tests/test_codebase.py holds them against the built module."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

class BadRow(Exception): ...
class BadColumn(Exception): ...
class InvalidAnswer(Exception): ...
class UnknownQuestion(Exception): ...
class IndexFormatError(Exception): ...

class Profile:
    leaderboard: Profile
    paper: Profile

class FloatSum:
    compensated: FloatSum
    naive: FloatSum

class TextColumn:
    def __init__(self, source: Any, name: str, nulls_allowed: bool = False) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> Any: ...

__index_version__: int

class References:
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def open(self) -> None: ...
    @property
    def n_states(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def baselines(self) -> list[float]: ...

class IndexFile:
    def __init__(self, bytes: Any) -> None: ...
    @property
    def profile(self) -> Profile: ...
    @property
    def metadata_hash(self) -> bytes: ...
    @property
    def details(self) -> bytes: ...
    @property
    def questions(self) -> list[References]: ...

def index_file_head(profile: Profile, metadata_hash: str, details: bytes, questions: Sequence[References]) -> bytes: ...

class KeywordRules:
    def __init__(self, nodes: Sequence[tuple[str, int, str | None, bool, float]]) -> None: ...

class Scorer:
    def __init__(
        self,
        questions: Sequence[tuple[References, KeywordRules, list[int], list[Callable[[str], int]]]],
        codes: dict[str, int],
        n_set_columns: int,
        float_sum: FloatSum,
    ) -> None: ...
    def score(
        self, questions: Any, answers: TextColumn, n_threads: int
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.float64],
    ]: ...
    def reward(self, questions: Any, answers: Any, n_threads: int) -> NDArray[np.float64]: ...
    def details(self, code: int, answers: TextColumn, row: int) -> tuple[int, float, list[tuple[int, int]]]: ...

class NgramSampler:
    def __init__(
        self, sets: Sequence[Sequence[str]], order: int, temperature: float, top_p: float, top_k: int, stream: int
    ) -> None: ...
    def sample(self, seeds: NDArray[np.uint64], max_code_points: int, n_threads: int) -> list[str]: ...
    @property
    def n_contexts(self) -> int: ...

def aggregate(
    rows: Sequence[Sequence[int]],
    score: NDArray[np.float64],
    length: Sequence[float],
    columns: Sequence[NDArray[np.float64]],
    float_sum: FloatSum,
) -> tuple[
    int,
    tuple[float, float],
    tuple[float, float],
    list[tuple[list[int], tuple[float, float], tuple[float, float], list[float]]],
]: ...
def compile(questions: Sequence[Sequence[Sequence[str]]], profile: Profile, n_threads: int) -> list[References]: ...
def export_stream(
    code_name: str,
    codes: NDArray[np.int32],
    code_values: Sequence[str],
    names: Sequence[str],
    columns: Sequence[NDArray[np.float64]],
) -> object: ...
def sum(values: NDArray[np.float64], float_sum: FloatSum) -> float: ...
