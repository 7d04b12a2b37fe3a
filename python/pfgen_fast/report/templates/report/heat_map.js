// The heat maps of the report page: the score of each run in each question, or in each subject, or in each question of a checklist, with the longer list of
// names down. Names stay in view beside and above the cells. Only the tiles near the view are in the page, each an SVG of
// some rows and columns. The cell that has the keyboard's focus is an element, which moves with the arrow keys and links
// to what the cell shows.

const MAX_CHAINED = 1500;  // questions in the order of similarity, which takes the square of their number
const TILE = 16;  // rows and columns
const MARGIN = 200;  // pixels around the view
const ROW = 20;  // pixels
const LEAST_CELL = 30;  // pixels, for four letters
const MOST_ON_PAPER = 200;  // questions, as in their tables
const ROWS_OF_PAPER = 50;
const BLANK = "\u00a0";  // which texts of SVG keep
const N_LEVELS = 9;
/** For each level, one whose text has the same colour, so that these texts are together. */
const TEXTS_ALIKE = { level: [0, 0, 0, 0, 0, 5, 6, 6, 6], diverging: [0, 1, 4, 4, 4, 4, 4, 1, 0] };
/** The best question score of all runs, and the lowest one or 0. A search does not change them, so that a colour keeps its meaning. */
const BEST = overview.runs.reduce((best, run) => run.questions.reduce((so, score) => Math.max(so, score ?? so), best), overview.has_answers ? 1 : 1e-9);
const LOWEST = overview.runs.reduce((lowest, run) => run.questions.reduce((so, score) => Math.min(so, score ?? so), lowest), 0);
const widestDistance = once(() => overview.runs.reduce((widest, run) => run.questions.reduce((so, score, question) =>
  score === null ? so : Math.max(so, Math.abs(score - medians()[question])), widest), 0.01));
const CELL_DIGITS = BEST - LOWEST > 20 ? [0] : [2, 1, 0];

function isByMedian() {
  return state.filters.get("colours") === "median";
}

/** The level of a share of a scale. */
function levelOf(share) {
  return Math.min(N_LEVELS - 1, Math.floor(Math.max(0, share) * N_LEVELS));
}

/** The colours from the lowest to the highest value; if some are negative, 0 is in the middle. */
function coloursOf(low, high, [digits] = CELL_DIGITS) {
  const ends = low < 0 ? [Math.min(low, -high), Math.max(high, 0)] : [low, high];
  const share = low < 0 ? (value) => 0.5 + value / Math.abs(ends[value > 0 ? 1 : 0]) / 2 : (value) => (value - low) / (high - low || 1);
  return { scale: low < 0 ? "diverging" : "level", ends: ends.map((end) => figure(end, end ? digits : 0)), levelOf: (value) => levelOf(share(value)) };
}

/** The first text of a value in some digits that is shorter than `nLetters`; "" if none is. */
function cellFigure(value, nLetters, shown = figure, allDigits = CELL_DIGITS) {
  return allDigits.map((digits) => shown(value, digits).replace(/^([+-]?)0\./, "$1.")).find(({ length }) => length < nLetters) ?? "";
}

// ---- Order

const OF_FEW = 1e9;  // more than any score

/** The mean score of a question, negative if lower is better; hardest first is the order of this. Those of few models are last. */
function easiness(question) {
  const { mean: center, n } = difficultyOf(question);
  return center === null ? Infinity : SIGN * center + (2 * n < modelRuns.length ? OF_FEW : 0);
}

const ORDERS = {
  number: (numbers) => numbers,
  discrimination: (numbers) => sortedBy(numbers, (question) => -(difficultyOf(question).discrimination ?? -2)),
  similarity: (numbers) => {
    const hardest = sortedBy(numbers, easiness);
    return [...bySimilarity(hardest.slice(0, MAX_CHAINED)), ...hardest.slice(MAX_CHAINED)];
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
    const likeness = rest.map((question) => correlation(scoresOf()[chain.at(-1)], scoresOf()[question]) ?? -2);
    chain.push(...rest.splice(likeness.indexOf(Math.max(...likeness)), 1));
  }
  return chain;
}

let orderedQuestions = { asked: null, questions: [] };

/** The questions from top to bottom, or from left to right. */
function questionsInOrder() {
  const order = state.filters.get("order") ?? "";
  const asked = [order, ...QUESTION_FILTERS.map((name) => state.filters.get(name) ?? "")].join("\n");
  if (asked !== orderedQuestions.asked) {
    const numbers = ALL_QUESTIONS.filter((question) => isQuestionWanted(question, modelRuns));
    const sorted = (ORDERS[order] ?? ((all) => sortedBy(all, easiness)))(numbers);
    orderedQuestions = { asked, questions: sorted };
  }
  return orderedQuestions.questions;
}

// ---- Names and cells

/** The axis of some runs: the part of the state that its names set, the numbers in order, the names, and the lines of a tip. */
function runAxis(shown) {
  const { runs } = overview;
  const title = (run) => narrow.matches ? run.title.replace(/^[^/]*\/(?=.)/, "") : run.title;
  const [once, twice] = [new Set(), new Set()];  // the titles of several runs, which only the settings tell apart, are in both
  for (const number of shown) (once.has(title(runs[number])) ? twice : once).add(title(runs[number]));
  const name = (number) => shortened([title(runs[number]), twice.has(title(runs[number])) ? runs[number].settings : ""].filter(Boolean).join(" "), 60);
  return { part: "run", numbers: shown, name, short: (number) => shortened(name(number).replace(/^[^/ ]*\/(?=.)/, ""), 34), opens: (run) => ({ run }),
    lines: (number) => [shortened(runs[number].name, 80), `Score ${figure(runs[number].score, 4)}`] };
}

const scoreColours = coloursOf(LOWEST, BEST);
const questionMap = {
  label: `Scores of ${WORDS.questions} by ${WORDS.run}`,
  scale: () => isByMedian() ? "diverging" : scoreColours.scale,
  ends: () => isByMedian() ? [-1, 1].map((side) => signed(SIGN * side * widestDistance(), CELL_DIGITS[0])) : scoreColours.ends,
  axes: (shown) => [{
    part: "question", numbers: questionsInOrder(), name: (number) => `${overview.questions[number].id} ${overview.questions[number].text}`, short: (number) => overview.questions[number].id,
    lines: (number) => [overview.questions[number].id, shortened(overview.questions[number].text, 200)], opens: (question) => ({ question }),
  }, runAxis(shown)],
  /** The level of a cell, where blue means better, and its text. */
  look({ run, question }, nLetters) {
    const score = overview.runs[run].questions[question];
    if (score === null) return [null, ""];
    const difference = score - medians()[question];
    return isByMedian() ? [levelOf(0.5 + SIGN * difference / widestDistance() / 2), cellFigure(difference, nLetters, signed)]
      : [scoreColours.levelOf(score), cellFigure(score, nLetters)];
  },
  /** The lines that describe a cell. */
  lines({ run, question }) {
    const { id, text } = overview.questions[question];
    const score = overview.runs[run].questions[question];
    const side = score === null ? "" : `, ${figure(Math.abs(score - medians()[question]), overview.digits)} ${score < medians()[question] ? "below" : "above"} the ${WORDS.question}’s median`;
    return [shortened(overview.runs[run].name, 80), shortened(`${id} ${text}`, 80), `Score ${figure(score, overview.digits)}${side}`];
  },
  opens: ({ run, question }) => ({ run, question, sample: null, compare: null }),
};

/** Draws a heat map of some runs into an element, which keeps it as `map`. The names of an axis that `isDown` need the room of long rows. */
function drawHeatMap(element, spec, shown) {
  const axes = spec.axes(shown);
  element.map = null;
  if (!axes.every(({ numbers }) => numbers.length)) return element.replaceChildren();
  const [down, across] = axes[1].numbers.length > axes[0].numbers.length && !axes[0].isDown ? axes.toReversed() : axes;
  const longest = ({ numbers }, name) => numbers.reduce((most, number) => Math.max(most, lettersOf(name(number))), 0);
  const left = Math.round(Math.min(7 * longest(down, down.name) + 16, down.isDown ? 480 : 320, 0.36 * element.clientWidth));
  const cell = Math.max(LEAST_CELL, Math.min(56, Math.floor((element.clientWidth - left) / across.numbers.length)));
  const letters = longest(across, across.short);
  const isTurned = 7.5 * letters > cell;
  const top = isTurned ? 7.5 * letters + 12 : ROW + 4;
  const [width, height] = [cell * across.numbers.length, ROW * down.numbers.length];
  const part = (className, across, down) => sized(make("div", { className }), { width: across, height: down });
  const corner = part("heat-corner", left, top), above = part("heat-above", width, top), beside = part("heat-beside", left, height), field = part("heat-field", width, height);
  const map = { element, spec, down, across, letter: letterWidth(element), left, top, cell, isTurned, above, beside, field, tiles: new Map(), rows: down.numbers.length, columns: across.numbers.length };
  element.map = map;
  element.style.gridTemplateColumns = `${left}px ${width}px`;
  element.style.scrollPadding = `${top}px 0 0 ${left}px`;
  element.replaceChildren(corner, above, beside, field);
  field.append(keyboardGrid(map));
  showTiles(map);
  for (const place of [above, beside, field]) followHeat(map, place);
}

function sized(element, sizes) {
  for (const [name, value] of Object.entries(sizes)) element.style[name] = `${value}px`;
  return element;
}

/** What a row and a column are about; undefined where there is none. */
function cellAt({ down, across }, row, column) {
  return { [down.part]: down.numbers[row], [across.part]: across.numbers[column] };
}

/** Adds the tiles near the view, and removes the others. */
function showTiles(map) {
  const { scrollLeft, scrollTop, clientWidth, clientHeight } = map.element;
  const near = (scroll, size, step, n) => {
    const first = Math.max(0, Math.floor((scroll - MARGIN) / step / TILE));
    const last = Math.min(Math.ceil(n / TILE), Math.ceil((scroll + size + MARGIN) / step / TILE));
    return Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  };
  const rows = near(scrollTop, clientHeight, ROW, map.rows), columns = near(scrollLeft, clientWidth, map.cell, map.columns);
  const wanted = new Map([
    ...rows.map((row) => [`row ${row}`, () => map.beside.appendChild(nameTile(map, map.down, row))]),
    ...columns.map((column) => [`column ${column}`, () => map.above.appendChild(nameTile(map, map.across, column))]),
    ...rows.flatMap((row) => columns.map((column) => [`${row} ${column}`, () => map.field.appendChild(cellTile(map, row, column))])),
  ]);
  for (const [key, tile] of map.tiles) if (!wanted.has(key)) { tile.remove(); map.tiles.delete(key); }
  map.element.classList.toggle("beyond", scrollLeft + clientWidth < map.element.scrollWidth - 1);
  for (const [key, add] of wanted) if (!map.tiles.has(key)) map.tiles.set(key, add());
}

function nameTile(map, axis, tile) {
  const isDown = axis === map.down;
  return make("div", {}, ...axis.numbers.slice(tile * TILE, (tile + 1) * TILE).map((number, index) => {
    const link = make("a", { href: addressOf({ ...NOTHING_OPEN, ...axis.opens(number) }), tabIndex: -1 }, make("bdi", {}, isDown ? axis.name(number) : axis.short(number)));
    const place = (tile * TILE + index) * (isDown ? ROW : map.cell);
    link.classList.toggle("turned", !isDown && map.isTurned);
    return sized(link, isDown ? { top: place, width: map.left, height: ROW } : { left: place, width: map.cell, height: map.top });
  }));
}

function cellTile(map, tileRow, tileColumn) {
  const [top, left] = [tileRow * TILE, tileColumn * TILE];
  const [rows, columns] = [Math.min(TILE, map.rows - top), Math.min(TILE, map.columns - left)];
  const drawing = cells(map, top, left, rows, columns);
  return sized(drawing, { top: top * ROW, left: left * map.cell });
}

/** Some cells as an SVG: a path for each level, and the figures of a row and a colour as one text of equally wide letters. */
function cells(map, top, left, rows, columns) {
  const { cell, spec } = map;
  const scale = spec.scale(), alike = TEXTS_ALIKE[scale];
  const [nLetters, usual] = [Math.floor(cell / 6), scale === "level" ? 3 : 4];
  const paths = Array(N_LEVELS).fill("");
  const texts = new Map([...alike, "few"].map((level) => [level, []]));
  for (let row = 0; row < rows; row++) {
    const lines = new Map([...texts.keys()].map((level) => [level, ""]));
    for (let column = 0; column < columns; column++) {
      const [level, text] = spec.look(cellAt(map, top + row, left + column), nLetters);
      if (level !== null) paths[level] += `M${column * cell} ${row * ROW}h${cell - 1}v${ROW - 1}h${1 - cell}z`;
      const shown = text.padStart(Math.floor((nLetters + text.length) / 2), BLANK).padEnd(nLetters, BLANK);
      for (const [tone, line] of lines) lines.set(tone, line + (tone === (alike[level] ?? "few") ? shown : BLANK.repeat(nLetters)));
    }
    for (const [tone, line] of lines) {
      const start = line.search(/\S/);
      if (start >= 0) texts.get(tone).push(svg("text", { x: (start + (nLetters - usual) % 2 / 2) * cell / nLetters, y: row * ROW + 14 }, line.trim()));
    }
  }
  const letters = { "font-family": "monospace", "letter-spacing": cell / nLetters - map.letter };
  const levelClass = (level) => `on-${scale}-${level}`;
  return svg("svg", { class: "heat-cells", width: columns * cell, height: rows * ROW, "aria-hidden": true },
    ...paths.flatMap((path, level) => path ? [svg("path", { class: levelClass(level), d: path })] : []),
    ...[...texts].map(([level, lines]) => svg("g", { class: level === "few" ? "few" : levelClass(level), ...letters }, ...lines)));
}

/** The width of a letter in the cells, in pixels. */
function letterWidth(element) {
  const drawing = element.appendChild(svg("svg", { class: "heat-cells" }, svg("text", { "font-family": "monospace" }, "0".repeat(100))));
  const width = drawing.firstChild.getComputedTextLength() / 100;
  drawing.remove();
  return width;
}

function showLegend(place, { scale, ends }) {
  const [from, to] = ends();
  place.replaceChildren(from, " ", ...Array.from({ length: N_LEVELS }, (_, level) => make("i", { className: `on-${scale()}-${level}` }, scale() === "diverging" && level === 4 ? "0" : "")), " ", to);
}

// ---- Files and paper

/** Saves the scores of the shown runs, in the order of the map. */
function saveScores() {
  const shown = chosenRuns();
  const rows = questionsInOrder().map((question) => [overview.questions[question].id, ...shown.map((run) => figure(overview.runs[run].questions[question], 4))]);
  saveFile(fileName("scores", "csv"), csvOf([[WORDS.question, ...shown.map((run) => overview.runs[run].name)], ...rows]), "text/csv");
}

/** The rows of a map from one to another as one SVG, with their names. */
function namedRows(map, first = 0, end = map.rows) {
  const { down, across, left, top, cell, columns, isTurned } = map;
  const [width, height] = [left + columns * cell, top + (end - first) * ROW];
  const field = cells(map, first, 0, end - first, columns);
  field.setAttribute("x", left);
  field.setAttribute("y", top);
  const name = (text, x, y, turn = "") => svg("text", { transform: `translate(${x} ${y})${turn}` }, text);
  return svg("svg", { class: "heat-cells", "font-size": 12, width, height, viewBox: `0 0 ${width} ${height}` },
    ...down.numbers.slice(first, end).map((number, row) => name(shortened(down.name(number), Math.floor(left / 6.5)), 0, top + row * ROW + 14)),
    ...across.numbers.map((number, column) => name(across.short(number), left + (column + (isTurned ? 0.5 : 0)) * cell + (isTurned ? 4 : 2), top - 5, isTurned ? " rotate(-90)" : "")),
    field);
}

/** The whole map with the whole names of runs, below its title and the scale of its colours, which the lists in its section choose. */
function titledMap({ map }) {
  const whole = (axis) => axis.part === "run" ? { ...axis, short: axis.name } : axis;
  const [down, across] = [whole(map.down), whole(map.across)];
  const room = (axis, usual) => axis.part === "run" ? Math.max(usual, ...axis.numbers.map((number) => 7 * lettersOf(axis.name(number)) + 12)) : usual;
  const rows = namedRows({ ...map, down, across, left: room(down, map.left), top: map.isTurned ? room(across, map.top) : map.top });
  const chosen = (name) => map.element.closest("section").querySelector(`[data-filter='${name}']`)?.selectedOptions[0].text;
  const [from, to] = map.spec.ends();
  const [width, height] = [Math.max(480, rows.width.baseVal.value), rows.height.baseVal.value + 3 * ROW];
  rows.setAttribute("y", 3 * ROW);
  return svg("svg", { class: "heat-cells", "font-size": 12, width, height, viewBox: `0 0 ${width} ${height}` },
    svg("text", { x: 4, y: 17, "font-size": 15, "font-weight": 600 }, [map.spec.label, chosen("order")].filter(Boolean).join(", ")),
    ...Array.from({ length: N_LEVELS }, (_, level) => svg("path", { class: `on-${map.spec.scale()}-${level}`, d: `M${4 + 17 * level} 27h16v14h-16z` })),
    svg("text", { x: 12 + 17 * N_LEVELS, y: 38 }, `${chosen("colours") ?? map.spec.unit ?? "score"}: ${from}${map.spec.scale() === "diverging" ? " through 0" : ""} to ${to}`), rows);
}

// ---- The pointer and the keyboard

/** The names or the cell under the pointer. */
function underPointer(map, event, element) {
  const box = map.field.getBoundingClientRect();
  const row = element === map.above ? -1 : Math.floor((event.clientY - box.top) / ROW);
  const column = element === map.beside ? -1 : Math.floor((event.clientX - box.left) / map.cell);
  return cellAt(map, row, column);
}

function followHeat(map, element) {
  const named = element === map.above ? map.across : element === map.beside ? map.down : null;
  const under = (event) => {
    const cell = underPointer(map, event, element);
    return (named ? [named] : [map.down, map.across]).every(({ part }) => cell[part] !== undefined) ? cell : null;
  };
  element.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (!cell) return hideTip();
    showTip(named ? named.lines(cell[named.part]) : map.spec.lines(cell), event.clientX, event.clientY);
  });
  element.addEventListener("pointerleave", hideTip);
  if (named) return;
  element.addEventListener("click", (event) => {
    const cell = under(event);
    if (!cell) return;
    hideTip();
    go(map.spec.opens(cell));
  });
}

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-Infinity, 0], End: [Infinity, 0] };

/** A grid of one cell, the only cell that can have the focus; it states its position among all cells. */
function keyboardGrid(map) {
  const grid = make("div", { role: "grid", ariaLabel: map.spec.label, ariaRowCount: map.rows, ariaColCount: map.columns });
  const place = map.spec.place ??= {};  // where the keyboard was last
  let [row, column] = [map.down, map.across].map(({ numbers, part }) => Math.max(0, numbers.indexOf(place[part])));
  grid.append(gridRow(map, row, column));
  grid.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    column = Math.min(map.columns - 1, Math.max(0, column + move[0]));
    row = Math.min(map.rows - 1, Math.max(0, row + move[1]));
    // A new element, because screen readers read what gets the focus.
    const moved = gridRow(map, row, column);
    grid.append(moved);
    moved.querySelector("a").focus({ preventScroll: true });
    grid.firstChild.remove();
    moved.querySelector("a").scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  return grid;
}

function gridRow(map, row, column) {
  const cell = Object.assign(map.spec.place, cellAt(map, row, column)), lines = map.spec.lines(cell);
  const link = make("a", { href: addressOf(map.spec.opens(cell)), ariaLabel: lines.join(", ") });
  sized(link, { left: column * map.cell, top: row * ROW, width: map.cell, height: ROW });
  showTipOnFocus(link, lines);
  return make("div", { role: "row", ariaRowIndex: row + 1 }, make("div", { role: "gridcell", ariaColIndex: column + 1 }, link));
}

// ---- The map of all questions

const heat = document.getElementById("heat");
heat.addEventListener("scroll", () => { if (heat.map) showTiles(heat.map); });
drawWhenSeen(heat, () => {
  drawHeatMap(heat, questionMap, chosenRuns());
  showLegend(document.getElementById("heat-legend"), questionMap);
});
document.querySelector("#heat-map .tools").append(saveButtons(questionMap.label, { CSV: saveScores, ...pictureForms(() => titledMap(heat), "scores") }));
whenChanged((before) => {
  if (before && ["order", "colours", "runs", ...QUESTION_FILTERS].some((name) => before.filters.get(name) !== state.filters.get(name))) drawSoon();
});

// Paper has the first rows, some on each page.
const mapsOnPage = () => [...document.querySelectorAll(".heat")].filter(({ map, clientWidth }) => map && clientWidth);
addEventListener("beforeprint", () => mapsOnPage().forEach((element) => {
  const { map } = element;
  const n = map.down.part === "question" ? Math.min(map.rows, MOST_ON_PAPER) : map.rows;
  const starts = Array.from({ length: Math.ceil(n / ROWS_OF_PAPER) }, (_, page) => page * ROWS_OF_PAPER);
  element.replaceChildren(...starts.map((start) => namedRows(map, start, Math.min(n, start + ROWS_OF_PAPER))));
  element.classList.toggle("continued", n < map.rows);
}));
addEventListener("afterprint", () => mapsOnPage().forEach(drawAgain));
