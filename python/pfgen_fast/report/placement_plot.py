"""The picture of placed runs as PNG or SVG, with matplotlib (the extra `plots`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import PfgenError
from ..files.writing import write_whole
from ..item_scores.placement import Placement
from ..runs.placement import size_of
from .drawing import COLORS, QUIET, bounded, empty_figure, library, look, stored, style

MAX_MARKED = 12
_FORMATS = (".png", ".svg")


def check_picture(path: Path) -> None:
    """Raises PfgenError if a picture of this name cannot be drawn; call it before hours of work."""
    if path.suffix not in _FORMATS:
        raise PfgenError(f"{path}: expected a picture's name that ends in {' or '.join(_FORMATS)}")
    library("matplotlib")


def write_placements(placements: Sequence[Placement], path: Path) -> None:
    """Draws all runs of a table by rank, and by size as their names tell, with the placed runs marked."""
    check_picture(path)
    marked = placements[:MAX_MARKED]
    if not marked:
        raise PfgenError(f"{path}: not drawn, because no run is placed")
    with style():
        figure = empty_figure(13, 5)
        by_rank, by_size = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
        _draw_ranks(by_rank, marked)
        _draw_sizes(by_size, marked)
        figure.legend(*by_rank.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    write_whole(path, stored(figure, path.suffix[1:]))


def _draw_ranks(axes: Any, placements: Sequence[Placement]) -> None:
    others = placements[0].others
    ranks = np.arange(1, len(others) + 1)
    scores = np.array([other.score for other in others])
    low, high = (
        np.array([score if end is None else end for score, end in zip(scores, ends, strict=True)])
        for ends in zip(*((other.low, other.high) for other in others), strict=True)
    )
    axes.fill_between(ranks, low, high, color=COLORS[0], alpha=0.25, linewidth=0, label="95 % interval over questions")
    axes.plot(ranks, scores, color=COLORS[0], linewidth=1.5, label=f"score of {len(others)} other runs")
    models = Counter(placement.model for placement in placements)
    for number, placement in enumerate(placements):
        name = placement.model if models[placement.model] == 1 else placement.run
        position = 0.5 + sum(other.score > placement.score for other in others)
        between = f", rank {placement.rank} ({placement.rank_low} to {placement.rank_high})" if placement.rank else ""
        axes.errorbar(
            [position],
            [placement.score],
            yerr=[placement.interval.half_width or 0],
            label=f"{bounded(name)}: {placement.score:.4f}{between}",
            **_mark(number),
        )
    axes.set(title="score by rank", xlabel="rank", ylabel="score", xlim=(0, len(others) + 1))


def _draw_sizes(axes: Any, placements: Sequence[Placement]) -> None:
    known = [(size, other) for other in placements[0].others if (size := size_of(other.model))]
    if known:
        sizes, others = zip(*known, strict=True)
        scores = [other.score for other in others]
        axes.scatter(sizes, scores, s=9, color=QUIET, alpha=0.6, linewidths=0)
        axes.set_xscale("log")
    for number, placement in enumerate(placements):
        if size := size_of(placement.model):
            axes.errorbar([size], [placement.score], yerr=[placement.interval.half_width or 0], **_mark(number))
    axes.set(title="score by size, where the model's name tells it", xlabel="parameters (billions)")


def _mark(number: int) -> dict[str, Any]:
    return {**look(number + 1), "linestyle": "none", "markersize": 7, "capsize": 4, "zorder": 3}
