// The plots of models with checklists: score against size, score and words by wanted length, longer contexts beside the base.

function drawPlot(element, shown) {
  const { title, x, y, series } = overview.plots[element.dataset.x];
  const nameOf = ({ run, dash }) => run === null ? "shorter than wanted" : `${overview.runs[run].name}${dash === "dash" ? " (dashed)" : ""}`;
  const lines = series.filter(({ run }) => run === null || shown.includes(run)).map(({ points, look = 0, ...line }) => ({
    ...(line.hasBand ? { color: "var(--quiet)", character: "■" } : { character: LOOKS[look % LOOKS.length].character, ...lineLook(look), hasNames: line.dash ? false : "all" }), ...line, dash: line.dash,
    points: points.map(([across, up, low, high]) => ({
      x: across, y: up, low, high, name: nameOf(line), opens: line.hasBand ? undefined : { run: line.run, question: null, sample: null },
      text: [nameOf(line), ...(line.hasBand ? [] : [`${y.title} ${figure(up, y.digits)}`, x.names?.[across] ?? `${x.title}: ${counted(across)}`])],
    })),
  }));
  element.previousElementSibling.replaceChildren(...lines.filter(({ hasNames }) => !hasNames).map((line) => symbolItem(line, nameOf(line))));
  drawChart(element, { label: `${title}: a plot of ${counted(shown.length)} ${WORDS.runs}. The leaderboard has the same figures.`, x, y, series: lines });
}

for (const element of document.querySelectorAll('.plot[data-kind="scatter"]')) drawWhenSeen(element, () => drawPlot(element, visibleRuns()));
