// The plots of a sweep: the scores over each parameter, and over the number of trials.

const DASHES = ["solid", "dash", "dot", "dashdot"];

function lineLook(number) {
  const { symbol, color } = LOOKS[number % LOOKS.length];
  return { color, symbol, dash: DASHES[Math.floor(number / LOOKS.length) % DASHES.length] };
}

for (const list of document.querySelectorAll(".groups")) {
  const { lines } = overview.sweep.parameters[list.dataset.parameter];
  if (lines.length > 24 || !lines[0].name) continue;  // hovering over a line shows its name
  list.append(...lines.map((line, number) => {
    const symbol = make("span", { ariaHidden: "true" }, LOOKS[number % LOOKS.length].character);
    symbol.style.color = lineLook(number).color;
    return make("li", {}, symbol, " ", make("bdi", {}, line.name));
  }));
}

function drawSweep(element, shown) {
  const { parameter: number, metric } = element.dataset;
  const parameter = overview.sweep.parameters[number];
  const isNumeric = parameter.values.every((value) => typeof value === "number");
  const coordinates = new Map(parameter.values.map((value, index) => [value, isNumeric ? value : index]));
  const visible = new Set(shown);
  const traces = parameter.lines.map((line, index) => {
    const members = line.runs.filter((run) => visible.has(run));
    const { color, symbol, dash } = lineLook(index);
    return {
      type: "scatter", mode: "lines+markers", customdata: members,
      x: members.map((run) => coordinates.get(parameter.points[run])), y: members.map((run) => overview.runs[run][metric]),
      error_y: { type: "data", array: members.map((run) => overview.sweep.intervals[run][metric] ?? 0), color, thickness: 1.5, width: 4 },
      text: members.map((run) => {
        const half = overview.sweep.intervals[run][metric];
        const interval = half === undefined || half === null ? "" : ` ±${half.toFixed(4)}`;
        return `<b>${plotText(overview.sweep.names[run])}</b><br>${TITLES[metric]} ${figure(overview.runs[run][metric], 4)}${interval}`;
      }),
      hovertemplate: "%{text}<extra></extra>", line: { color, dash, width: 1.5 }, marker: { color, symbol, size: 7 },
    };
  }).filter((trace) => trace.x.length);
  const ticks = parameter.values.length <= 12 || !isNumeric
    ? { tickvals: [...coordinates.values()], ticktext: parameter.values.map((value) => plotText(shortened(String(value), 24))) } : {};
  Plotly.react(element, traces, layout({
    margin: { l: 10, r: 16, t: 20, b: 10 }, showlegend: false,
    xaxis: { title: { text: plotText(parameter.name), font: { size: 14 } }, ...ticks },
    yaxis: { title: { text: TITLES[metric], font: { size: 14 } } },
  }), CONFIG);
}

function drawCurves(element, shown) {
  const ofScore = element.dataset.kind === "score";
  const drawn = shown.filter((run) => overview.sweep.curves[run].length);
  // With more than a dozen runs, bands would hide one another.
  const withBands = ofScore && drawn.length <= 12;
  const traces = drawn.flatMap((run) => {
    const curve = overview.sweep.curves[run];
    const { color, dash } = lineLook(run);
    const x = curve.map(([trials]) => trials);
    const line = {
      type: "scatter", mode: "lines", x, y: curve.map(([, score, half]) => ofScore ? score : half), customdata: x.map(() => run),
      text: curve.map(([trials, score, half]) => `<b>${plotText(overview.sweep.names[run])}</b><br>${trials} trials: ${score.toFixed(4)} ±${half.toFixed(4)}`),
      hovertemplate: "%{text}<extra></extra>", line: { color, dash, width: 1.5 },
    };
    if (!withBands) return [line];
    const band = {
      type: "scatter", mode: "lines", hoverinfo: "skip", line: { width: 0 }, fill: "toself", fillcolor: `${color}33`,
      x: [...x, ...x.toReversed()],
      y: [...curve.map(([, score, half]) => score + half), ...curve.toReversed().map(([, score, half]) => score - half)],
    };
    return [band, line];
  });
  const isLog = !ofScore && drawn.some((run) => overview.sweep.curves[run].some(([, , half]) => half > 0));
  Plotly.react(element, traces, layout({
    margin: { l: 10, r: 16, t: 20, b: 10 }, showlegend: false,
    xaxis: { title: { text: "Trials (log)", font: { size: 14 } }, type: "log", tickvals: LENGTH_TICKS, tickformat: ",d" },
    yaxis: { title: { text: ofScore ? "Score" : "± (log)", font: { size: 14 } }, ...(isLog ? { type: "log", tickvals: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5] } : {}) },
  }), CONFIG);
}
