// The plots of a sweep: the scores over each parameter.

const DASH_NAMES = Object.keys(DASHES);

function lineLook(number) {
  const { symbol, color } = LOOKS[number % LOOKS.length];
  return { color, symbol, size: 4, dash: DASH_NAMES[Math.floor(number / LOOKS.length) % DASH_NAMES.length] };
}

for (const list of document.querySelectorAll(".groups[data-parameter]")) {
  const { lines } = overview.sweep.parameters[list.dataset.parameter];
  list.hidden = lines.length > 24 || !lines[0].name;  // hovering over a line shows its name
  if (!list.hidden) list.append(...lines.map((line, number) => symbolItem(LOOKS[number % LOOKS.length], line.name)));
}

function intervalOf(value, half) {
  return half === undefined || half === null ? {} : { low: value - half, high: value + half };
}

function drawSweep(element, shown) {
  const { parameter: number, metric } = element.dataset;
  const parameter = overview.sweep.parameters[number];
  const isNumeric = parameter.values.every((value) => typeof value === "number");
  const coordinates = new Map(parameter.values.map((value, index) => [value, isNumeric ? value : index]));
  const visible = new Set(shown);
  const series = parameter.lines.map((line, index) => ({
    ...lineLook(index),
    points: line.runs.filter((run) => visible.has(run)).map((run) => {
      const y = overview.runs[run][metric];
      const interval = y === null ? {} : intervalOf(y, overview.sweep.intervals[run][metric]);
      const text = [overview.sweep.names[run], `${TITLES[metric]} ${figure(y, 4)}`];
      if (interval.low !== undefined) text.push(`95 % interval over trials ${figure(interval.low, 4)} to ${figure(interval.high, 4)}`);
      return { x: coordinates.get(parameter.points[run]), y, ...interval, opens: { run, question: null, sample: null }, text };
    }),
  }));
  drawChart(element, {
    label: `Line plot: ${element.previousElementSibling.textContent} by ${parameter.name}. The leaderboard has the same figures.`,
    x: { title: parameter.name, names: isNumeric ? undefined : parameter.values.map(String) }, y: { title: TITLES[metric] }, series,
  });
}

for (const element of document.querySelectorAll('.plot[data-kind="sweep"]')) drawWhenSeen(element, () => drawSweep(element, visibleRuns()));
