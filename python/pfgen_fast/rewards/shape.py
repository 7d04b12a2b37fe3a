"""Reads the shape of a reward: parts, the name `recommended`, or a TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from ..base.errors import RewardError
from ..base.untrusted_text import shown_value, unknown_name
from ..base.untrusted_toml import read_toml
from ..suite.rules import PROFILES, Profile
from .parts import PARTS, Overlong, Part, Repetition, TooShort, Unfinished


@dataclass(frozen=True)
class Shape:
    """The parts of a shape, in their order, and the profile of a suite's scores; None is the default profile."""

    parts: tuple[Part, ...] = ()
    profile: Profile | None = None


ShapeLike = Shape | str | Path | Part | Sequence[Part | Mapping[str, Any]] | None

RECOMMENDED = Shape(
    (
        Overlong(1.5, 3.0, unit="references"),
        TooShort(0.5, 0.25, unit="references"),
        Repetition(8, 0.1, 0.5),
        Unfinished(),
    ),
    profile="normalised",
)
"""The shape `recommended`; docs/guides/reward.md has its measurements."""


def shape_of(shape: ShapeLike) -> Shape:
    """Reads a shape.

    Args:
        shape: A part, a sequence of parts, `"recommended"`, or a TOML file with a table `[[shape]]` for each part and
            optionally a key `profile`. A part in a sequence can be a mapping with the keys of such a table. None has no
            parts.

    Raises:
        RewardError: A part, a key or a value is unknown or invalid.
        TrialsError: The file cannot be read.

    Example:
        >>> shape_of([{"part": "repetition", "n": 4, "from_share": 0.3}]).parts
        (Repetition(n=4, from_share=0.3, hard=1.0),)
        >>> shape_of("recommended").profile
        'normalised'
    """
    if shape is None:
        return Shape()
    if shape == "recommended":
        return RECOMMENDED
    if isinstance(shape, Shape):
        return shape
    if isinstance(shape, Part):
        return Shape((shape,))
    if isinstance(shape, (str, Path)):
        return _of_file(Path(shape))
    if isinstance(shape, Mapping) or not isinstance(shape, Iterable):
        raise RewardError(f"shape: expected parts, 'recommended' or a TOML file, not {shown_value(shape)}")
    return Shape(tuple(_part(part, f"shape[{index}]") for index, part in enumerate(shape)))


def _of_file(path: Path) -> Shape:
    if path.suffix != ".toml":
        raise RewardError(f"shape: expected 'recommended' or a file that ends with .toml, not {shown_value(str(path))}")
    content = read_toml(path, error=RewardError)
    for key in content:
        if key not in ("shape", "profile"):
            raise RewardError(f"{path}: {unknown_name('key', key, ['shape', 'profile'])}")
    tables, profile = content.get("shape"), content.get("profile")
    if profile is not None and profile not in PROFILES:
        raise RewardError(f"{path}: {unknown_name('profile', profile, PROFILES)}")
    if not isinstance(tables, list) or not tables:
        raise RewardError(f"{path}: expected a table [[shape]] for each part")
    return Shape(tuple(_part(table, f"{path}: shape[{index}]") for index, table in enumerate(tables)), profile)


def _part(value: object, place: str) -> Part:
    if isinstance(value, Part):
        return value
    if not isinstance(value, Mapping):
        raise RewardError(f"{place}: expected a part such as Repetition(4, 0.3), not {shown_value(value)}")
    settings = dict(value)
    name = settings.pop("part", None)
    if name is None:
        raise RewardError(f"{place}: the key part is missing")
    if not isinstance(name, str) or name not in PARTS:
        raise RewardError(f"{place}: {unknown_name('part', name, PARTS)}")
    known = {field.name: field for field in fields(PARTS[name])}  # type: ignore[arg-type]
    for key in settings:
        if key not in known:
            raise RewardError(f"{place}: {name}: {unknown_name('key', key, ['part', *known])}")
    for key, field in known.items():
        if field.default is MISSING and key not in settings:
            raise RewardError(f"{place}: {name}: the key {key} is missing")
    try:
        return PARTS[name](**settings)
    except RewardError as error:
        raise RewardError(f"{place}: {error}") from None
