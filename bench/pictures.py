"""The pictures of the figures: throughput against threads, and cost against work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from pfgen_fast.report.drawing import stored

_STYLE: dict[Any, Any] = {"svg.hashsalt": "pfgen-fast", "svg.fonttype": "none", "axes.grid": True, "grid.alpha": 0.3}


def draw(saved: dict[str, Any], folder: Path) -> None:
    """Draws the figures in the JSON of pytest-benchmark; the bytes are the same each time."""
    infos = [item["extra_info"] for item in saved["benchmarks"]]
    rates = {name: by for info in infos for name, by in info.get("answers_per_second_by_threads", {}).items()}
    growths = [info["growth"] for info in infos if "growth" in info]
    cores = int(saved["machine_info"]["pfgen_fast"]["cores"])
    with mpl.rc_context({**_STYLE, "font.size": 9}):
        figures = {"throughput_against_threads": _throughput(rates, cores), "cost_against_work": _cost(growths)}
        for name, figure in figures.items():
            (folder / f"{name}.svg").write_bytes(stored(figure, "svg"))


def _throughput(rates: dict[str, dict[str, float]], cores: int) -> Figure:
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.add_subplot()
    for (container, by_threads), marker in zip(rates.items(), "os", strict=False):
        axes.plot([*map(int, by_threads)], [r / 1e3 for r in by_threads.values()], marker=marker, label=container)
    threads = sorted({int(n) for by_threads in rates.values() for n in by_threads})
    item = max(by_threads["1"] for by_threads in rates.values()) / 1e3
    proportional = [min(n, cores) * item for n in (1, cores, threads[-1])]
    axes.plot([1, cores, threads[-1]], proportional, "--", color="gray", label=f"in proportion, up to {cores} cores")
    axes.set(xlabel="threads", ylabel="thousand answers a second", title="Scoring the mix", ylim=(0, None))
    axes.set_xticks(threads)
    axes.legend()
    return figure


def _cost(growths: Sequence[dict[str, Any]]) -> Figure:
    works = list(dict.fromkeys(growth["work"] for growth in growths))
    figure = Figure(figsize=(3.8 * len(works), 3.5), layout="constrained")
    for number, work in enumerate(works, start=1):
        axes, shown = figure.add_subplot(1, len(works), number), list[float]()
        for growth in growths:
            if growth["work"] == work:
                amounts, taken = [*map(int, growth["seconds"])], [*growth["seconds"].values()]
                (line,) = axes.plot(amounts, taken, "o-", label=f"{growth['of']} (exponent {growth['exponent']:.2f})")
                proportional = [taken[-1] * amount / amounts[-1] for amount in amounts]
                axes.plot(amounts, proportional, "--", color=line.get_color(), alpha=0.4)
                shown += taken
        limits = min(shown) / 2, max(shown) * 5  # room for the legend
        axes.set(xscale="log", yscale="log", xlabel=work, ylabel="seconds, one thread", ylim=limits)
        axes.legend(loc="upper left", fontsize=8)
    figure.suptitle("Cost against work (dashed: in proportion)")
    return figure
