// The heat map of the report page: the score of each run in each question. The cells are painted. The cell that has the
// keyboard's focus is an element, which moves with the arrow keys and links to the answers.

const heat = document.getElementById("heat");
const N_NAMED = 60;
const MAX_ROWS = 1500;  // browsers paint no taller canvas
const ROW = 20;  // pixels
/** The ends of the colours, so that a search does not change the meaning of a colour: 0 or less, and the best question score of all runs. */
const BEST = overview.runs.reduce((best, run) => run.questions.reduce((so, score) => Math.max(so, score ?? so), best), overview.has_parts ? 1 : 1e-9);
const LOWEST = overview.runs.reduce((lowest, run) => run.questions.reduce((so, score) => Math.min(so, score ?? so), lowest), 0);
const SCORE_COLORS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
const DIFFERENCE_COLORS = { light: ["#8c4a05", "#e08214", "#fdd9a5", "#f2f2f2", "#c3bfe0", "#8073ac", "#41237a"], dark: ["#ffb45c", "#c97416", "#6d451b", "#2b313a", "#4b4380", "#8073ac", "#c9bdf2"] };

const WIDEST = overview.runs.reduce((widest, run) => run.questions.reduce((so, score, question) =>
  score === null ? so : Math.max(so, Math.abs(score - medians[question])), widest), 0.01);

const N_SHADES = 256;

function channels(color) {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

/** Shades from the first of some colors to the last, as red, green and blue. */
function shadesOf(colors) {
  return Array.from({ length: N_SHADES }, (_, shade) => {
    const at = shade / (N_SHADES - 1) * (colors.length - 1);
    const [low, high] = [colors[Math.floor(at)], colors[Math.ceil(at)]].map(channels);
    return low.map((value, index) => Math.round(value + (high[index] - value) * (at % 1)));
  });
}

function isByMedian() {
  return state.filters.get("colours") === "median";
}

function askedShades() {
  return shadesOf(isByMedian() ? DIFFERENCE_COLORS[theme.current] : SCORE_COLORS);
}

/** Which shade a score has. */
function shadeOf(score, question) {
  const place = isByMedian() ? 0.5 + (score - medians[question]) / WIDEST / 2 : (score - LOWEST) / (BEST - LOWEST);
  return Math.round(Math.min(1, Math.max(0, place)) * (N_SHADES - 1));
}

/** Paints shades side by side, a pixel for each; null leaves the ground. */
function painted(width, height, shadeAt) {
  const canvas = make("canvas", { width, height });
  const image = new ImageData(width, height);
  const shades = askedShades();
  for (let at = 0; at < width * height; at++) {
    const shade = shadeAt(at % width, Math.floor(at / width));
    if (shade !== null) image.data.set([...shades[shade], 255], 4 * at);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** The mean score of a question, negative if lower is better; hardest first is the order of this. */
function easiness(question) {
  const { mean: center } = difficulties[question];
  return center === null ? Infinity : SIGN * center;
}

const ORDERS = {
  number: (numbers) => numbers,
  discrimination: (numbers) => sortedBy(numbers, (question) => -(difficulties[question].discrimination ?? -2)),
  similarity: (numbers) => {
    const hardest = sortedBy(numbers, easiness);
    return [...bySimilarity(hardest.slice(0, MAX_ROWS)), ...hardest.slice(MAX_ROWS)];
  },
};

function sortedBy(numbers, value) {
  return numbers.sort((a, b) => value(a) - value(b) || a - b);
}

/** The hardest question, then always the one whose scores correlate best with those of the last. */
function bySimilarity(numbers) {
  const rest = sortedBy(numbers, easiness);
  const chain = rest.splice(0, 1);
  while (rest.length) {
    const likeness = rest.map((question) => correlation(scoresOf[chain.at(-1)], scoresOf[question]) ?? -2);
    chain.push(...rest.splice(likeness.indexOf(Math.max(...likeness)), 1));
  }
  return chain;
}

let orderedQuestions = { order: null, questions: [] };

/** The questions from top to bottom. */
function questionsInOrder() {
  const order = state.filters.get("order") ?? "";
  if (order !== orderedQuestions.order) {
    const numbers = overview.questions.map((_, number) => number);
    const sorted = (ORDERS[order] ?? ((all) => sortedBy(all, easiness)))(numbers);
    orderedQuestions = { order, questions: sorted };
  }
  return orderedQuestions.questions;
}

/** The lines that describe a cell. */
function cellText(run, question) {
  const { id, text } = overview.questions[question];
  const score = overview.runs[run].questions[question];
  const difference = score === null ? "" : score - medians[question];
  const side = difference === "" ? "" : `, ${figure(Math.abs(difference), 4)} ${difference < 0 ? "below" : "above"} the ${WORDS.question}’s median`;
  return [shortened(overview.runs[run].name, 80), shortened(`${id} ${text}`, 80), `Score ${figure(score, 4)}${side}`];
}

function drawHeatMap(element, shown) {
  const questions = questionsInOrder().slice(0, MAX_ROWS);
  const labels = make("div", { className: "heat-labels" }, ...questions.map((question) => {
    const { id, text } = overview.questions[question];
    const link = make("a", { href: addressOf({ question, run: null, sample: null, compare: null }), tabIndex: -1, title: text }, id, " ", make("bdi", {}, text));
    return make("div", {}, link);
  }));
  const field = make("div", { className: "heat-field" });
  // A strip above the columns leads to the runs.
  const strip = make("div", { className: "heat-runs", ariaHidden: "true" });
  const scroller = make("div", { className: "heat-scroller" }, strip, field);
  element.replaceChildren(labels, scroller);
  const cell = Math.max(2, Math.min(36, Math.floor((scroller.clientWidth - 2) / shown.length)));
  const size = { width: shown.length * cell, height: questions.length * ROW };
  const canvas = make("canvas", { ariaHidden: "true" });
  const map = { shown, questions, cell, size };
  field.append(canvas, keyboardGrid(map));
  field.style.width = strip.style.width = `${size.width}px`;
  followRuns(strip, map);
  paint(canvas, map);
  const isNamed = shown.length <= N_NAMED && cell >= 12;
  if (isNamed) scroller.append(make("div", { className: "heat-names", ariaHidden: "true" }, ...shown.map((run) => {
    const name = make("a", { href: addressOf({ ...NOTHING_OPEN, run }), tabIndex: -1 }, make("bdi", {}, shortened(overview.runs[run].name, 36)));
    name.style.width = `${cell}px`;
    return name;
  })));
  const isCut = questions.length < overview.questions.length;
  document.getElementById("heat-note").textContent = (isCut ? `The map shows the first ${counted(MAX_ROWS)} of ${counted(overview.questions.length)} ${WORDS.questions}. ` : "") + (isNamed ? "" : `The strip above the columns names the ${WORDS.runs}; fewer ${WORDS.runs} have their names below.`);
  showLegend();
  followCells(canvas, map);
}

function paint(canvas, { shown, questions, cell, size }) {
  const sharpness = Math.min(2, devicePixelRatio || 1);
  Object.assign(canvas, { width: size.width * sharpness, height: size.height * sharpness });
  Object.assign(canvas.style, { width: `${size.width}px`, height: `${size.height}px` });
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(painted(shown.length, questions.length, (column, row) => {
    const score = overview.runs[shown[column]].questions[questions[row]];
    return score === null ? null : shadeOf(score, questions[row]);
  }), 0, 0, canvas.width, canvas.height);
  context.scale(sharpness, sharpness);
  for (let row = 1; row <= questions.length; row++) context.clearRect(0, row * ROW - 1, size.width, 1);
  if (cell > 6) for (let column = 1; column <= shown.length; column++) context.clearRect(column * cell - 1, 0, 1, size.height);
}

/** Saves the scores of the shown runs, in the order of the map. */
function saveScores() {
  const shown = chosenRuns();
  const rows = questionsInOrder().map((question) => [overview.questions[question].id, ...shown.map((run) => figure(overview.runs[run].questions[question], 4))]);
  saveFile(fileName("scores", "csv"), csvOf([[WORDS.question, ...shown.map((run) => overview.runs[run].name)], ...rows]), "text/csv");
}

function showLegend() {
  const [low, canvas, high] = document.getElementById("heat-legend").children;
  canvas.getContext("2d").drawImage(painted(N_SHADES, 1, (column) => column), 0, 0, canvas.width, canvas.height);
  low.textContent = isByMedian() ? `-${WIDEST.toFixed(2)}` : figure(LOWEST, LOWEST ? 2 : 0);
  high.textContent = isByMedian() ? `+${WIDEST.toFixed(2)}` : BEST.toFixed(2);
}

// ---- The pointer and the keyboard

function openCell(run, question) {
  hideTip();
  go({ run, question, sample: null, compare: null });
}

function followCells(canvas, { shown, questions, cell }) {
  const cellUnder = ({ offsetX, offsetY }) => [shown[Math.floor(offsetX / cell)], questions[Math.floor(offsetY / ROW)]];
  canvas.addEventListener("pointermove", (event) => {
    const [run, question] = cellUnder(event);
    if (run === undefined || question === undefined) return hideTip();
    showTip(cellText(run, question), event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => {
    const [run, question] = cellUnder(event);
    if (run !== undefined && question !== undefined) openCell(run, question);
  });
}

function followRuns(strip, { shown, cell }) {
  const runUnder = ({ offsetX }) => shown[Math.floor(offsetX / cell)];
  strip.addEventListener("pointermove", (event) => {
    const run = overview.runs[runUnder(event)];
    if (!run) return hideTip();
    showTip([shortened(run.name, 80), `Score ${figure(run.score, 4)}`], event.clientX, event.clientY);
  });
  strip.addEventListener("pointerleave", hideTip);
  strip.addEventListener("click", (event) => {
    hideTip();
    if (runUnder(event) !== undefined) go({ ...NOTHING_OPEN, run: runUnder(event) });
  });
}

/** Where the keyboard is: a run and a question. */
const place = { run: null, question: null };

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] };

/** A grid of one cell, the only cell that can have the focus; it states its position among all cells. */
function keyboardGrid(map) {
  const grid = make("div", { role: "grid", ariaLabel: `Scores of ${WORDS.questions} by ${WORDS.run}`, ariaRowCount: map.questions.length, ariaColCount: map.shown.length });
  const column = Math.max(0, map.shown.indexOf(place.run));
  const row = Math.max(0, map.questions.indexOf(place.question));
  grid.append(gridRow(map, row, column));
  grid.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const next = [[map.shown.length, map.shown.indexOf(place.run)], [map.questions.length, map.questions.indexOf(place.question)]]
      .map(([count, at], axis) => Math.min(count - 1, Math.max(0, at + move[axis])));
    // A new element, because screen readers read what gets the focus.
    const moved = gridRow(map, next[1], next[0]);
    grid.append(moved);
    moved.querySelector("a").focus({ preventScroll: true });
    grid.firstChild.remove();
    moved.querySelector("a").scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  return grid;
}

function gridRow({ shown, questions, cell }, row, column) {
  const [run, question] = [shown[column], questions[row]];
  Object.assign(place, { run, question });
  const link = make("a", { href: addressOf({ run, question, sample: null, compare: null }), ariaLabel: cellText(run, question).join(", ") });
  Object.assign(link.style, { left: `${column * cell}px`, top: `${row * ROW}px`, width: `${cell}px`, height: `${ROW}px` });
  showTipOnFocus(link, cellText(run, question));
  return make("div", { role: "row", ariaRowIndex: row + 1 }, make("div", { role: "gridcell", ariaColIndex: column + 1 }, link));
}

drawWhenSeen(heat, () => drawHeatMap(heat, chosenRuns()));
document.querySelector("#heat-map .tools").append(saveButtons(`Scores of ${WORDS.questions} by ${WORDS.run}`, { CSV: saveScores }));
whenChanged((before) => {
  if (before && ["order", "colours", "runs"].some((name) => before.filters.get(name) !== state.filters.get(name))) drawSoon();
});
