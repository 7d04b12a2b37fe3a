// Curves over the parameters of a sweep or the steps of checkpoints, for all questions and for each; two points are compared.

const DASH_NAMES = Object.keys(DASHES);
const N_MULTIPLES = 24;

function lineLook(number) {
  const { symbol, color } = LOOKS[number % LOOKS.length];
  return { color, symbol, size: 4, dash: DASH_NAMES[Math.floor(number / LOOKS.length) % DASH_NAMES.length] };
}

function bandOf(run, metric, more) {
  const value = overview.runs[run][metric];
  const key = metric === "score" ? "average" : metric;
  const half = overview.sweep.intervals[run]?.[metric];
  const ends = value === null ? null : overview.sweep.over === "trials" ? isNumber(half) && [value - half, value + half] : ownInterval(run, key, more[key]).ends;
  return ends ? { low: ends[0], high: ends[1] } : {};
}

/** The values of a parameter on its axis: numbers as they are, others in order. */
function coordinatesOf({ values, points }) {
  const isNumeric = values.every(isNumber);
  return { names: isNumeric ? undefined : values.map(String), at: (run) => isNumeric ? points[run] : values.indexOf(points[run]) };
}

/** The lines of a parameter with the runs that are shown. */
function shownLines({ lines }, shown) {
  const visible = new Set(shown);
  return lines.map(({ name, runs }, number) => ({ name, number, runs: runs.filter((run) => visible.has(run)) })).filter(({ runs }) => runs.length);
}

function drawCurves(element, shown, more) {
  const { parameter: number, metric } = element.dataset;
  const parameter = overview.sweep.parameters[number];
  const { names, at } = coordinatesOf(parameter);
  const title = metric === "score" ? WORDS.score : METRICS[metric];
  const drawn = shownLines(parameter, shown);
  const series = drawn.map((line) => {
    const points = line.runs.map((run) => {
      const y = overview.runs[run][metric];
      const band = bandOf(run, metric, more);
      const text = [overview.sweep.names[run], `${title} ${figure(y, digitsOf(metric))}`];
      if (band.low !== undefined) text.push(`95 % interval over ${overview.sweep.over === "trials" ? "trials" : WORDS.questions} ${rangeText([band.low, band.high], digitsOf(metric))}`);
      return { x: at(run), y, ...band, opens: { run, question: null, sample: null }, text };
    });
    return { ...lineLook(line.number), ...(names && { dash: undefined }), hasBand: !names && drawn.length <= LOOKS.length && points.every(({ low }) => low !== undefined), points };
  });
  drawChart(element, {
    label: `Line plot: ${title} by ${parameter.name}. The leaderboard has the same figures.`,
    x: { title: parameter.name, names }, y: { title }, series, onBrush: (range) => range && comparePoints(drawn, at, metric, range),
  });
}

/** Opens the comparison of the first and the last point of the line that the range has most of, or of its only point with the one before. */
function comparePoints(drawn, at, metric, { x: [left, right], y: [low, high] }) {
  const within = (run) => at(run) >= left && at(run) <= right;
  const n = ({ runs }) => runs.filter((run) => within(run) && overview.runs[run][metric] >= low && overview.runs[run][metric] <= high).length;
  const [line] = drawn.filter(({ runs }) => runs.length > 1 && runs.some(within)).sort((a, b) => n(b) - n(a));
  if (!line) return;
  const places = line.runs.flatMap((run, place) => within(run) ? [place] : []);
  const last = Math.max(1, places.at(-1));
  go(compareChanges(line.runs[Math.min(places[0], last - 1)], line.runs[last]));
}

/** The changes of the state that compare two points and show the questions that differ most, or those of a brush. */
function compareChanges(from, to, brush = "") {
  return { ...NOTHING_OPEN, compare: [from, to], brush };
}

/** Two lists of points and the button that compares them. */
function pointChoice({ name, points, lines }) {
  const lists = [2, 1].map((back) => {
    const list = make("select", {}, ...lines.flatMap((line) => line.runs.map((run) => make("option", { value: run }, [line.name, name, valueText(points[run])].filter(Boolean).join(" ")))));
    list.value = lines[0].runs.at(-back) ?? lines[0].runs[0];
    return list;
  });
  const button = buttonTo(() => {
    const [from, to] = lists.map((list) => Number(list.value));
    if (from !== to) go(compareChanges(from, to));
  }, {}, "Compare");
  return [make("label", {}, "From ", lists[0]), make("label", {}, "to ", lists[1]), button];
}

/** A small chart for each question, those that change most between two points first; each opens these points. */
function drawMultiples(element, shown, more) {
  const parameter = overview.sweep.parameters[element.dataset.parameter];
  const { names, at } = coordinatesOf(parameter);
  const drawn = shownLines(parameter, shown);
  const all = overview.questions.map((_, question) => ({ question, steps: drawn.flatMap(({ runs }) => runs.slice(1).map((to, place) => ({ from: runs[place], to, change: difference(question, runs[place], to) }))) }));
  function difference(question, from, to) {
    const [before, after] = [from, to].map((run) => more.average[question][run]);
    return isNumber(before) && isNumber(after) ? after - before : 0;
  }
  const changed = all.filter(({ steps }) => steps.length)
    .map(({ question, steps }) => ({ question, ...steps.reduce((most, step) => Math.abs(step.change) > Math.abs(most.change) ? step : most) }))
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.question - b.question);
  const lines = (question) => drawn.map(({ number, runs }) => ({ color: lineLook(number).color, points: runs.map((run) => [at(run), more.average[question][run]]) }));
  const show = (begin, end) => element.append(...changed.slice(begin, end).map(({ question, from, to, change }) => {
    const { id, text } = overview.questions[question];
    const said = `${scoreText(change, signed)} at ${valueText(parameter.points[to])}`;
    return make("li", {}, make("a", { href: addressOf(compareChanges(from, to, encodedKey(id))), title: text },
      make("span", {}, make("b", {}, id), " ", make("bdi", {}, text)), smallLines(lines(question), !names), make("span", { className: "quiet" }, said)));
  }));
  element.replaceChildren();
  show(0, N_MULTIPLES);
  element.nextElementSibling?.remove();
  if (changed.length > N_MULTIPLES) element.after(moreButton(`Show all ${counted(changed.length)} ${WORDS.questions}`, () => show(N_MULTIPLES, changed.length)));
}

/** Lines of a `color` through `points` (pairs of x and y), or only the points, as a picture without axes from the lowest to the best score of a question. */
function smallLines(lines, isOrdered) {
  const known = lines.map(({ color, points }) => ({ color, points: points.filter((point) => point.every(isNumber)) }));
  const xs = known.flatMap(({ points }) => points.map(([x]) => x));
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const at = ([x, y]) => `${(2 + 156 * (right > left ? (x - left) / (right - left) : 0.5)).toFixed(1)} ${(56 - 52 * (y - LOWEST) / (BEST - LOWEST)).toFixed(1)}`;
  return svg("svg", { "aria-hidden": "true", viewBox: "0 0 160 60" }, svg("path", { d: "M0 58H160" }), ...known.flatMap(({ color, points }) => [
    ...isOrdered ? [svg("path", { d: points.map((point, index) => `${index ? "L" : "M"}${at(point)}`).join(""), stroke: color })] : [],
    svg("path", { d: points.map((point) => `M${at(point)}h0`).join(""), class: "dots", stroke: color })]));
}

for (const list of document.querySelectorAll("#sweep .groups")) {
  const parameter = overview.sweep.parameters[list.dataset.parameter];
  list.hidden = parameter.lines.length > 24 || !parameter.lines[0].name;  // hovering over a line shows its name
  if (!list.hidden) list.append(...parameter.lines.map((line, number) => symbolItem(LOOKS[number % LOOKS.length], line.name)));
  list.previousElementSibling.append(...pointChoice(parameter));
}
for (const element of document.querySelectorAll("#sweep .plot")) drawWhenSeen(element, async () => drawCurves(element, visibleRuns(), await figures()));
for (const element of document.querySelectorAll(".multiples > ul")) drawWhenSeen(element, async () => drawMultiples(element, visibleRuns(), await figures()));

// ---- The steps in the leaderboard

/** The step of a run and the scores of its series by step; null for a run that is on no line over steps. */
function stepOf(run) {
  const { points, lines } = overview.sweep?.parameters.find(({ name }) => name === "step") ?? { lines: [] };
  const line = lines.find(({ runs }) => runs.includes(run));
  return line ? { step: points[run], place: line.runs.indexOf(run), name: line.name, scores: line.runs.map((other) => overview.runs[other].score) } : null;
}
