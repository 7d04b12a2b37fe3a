// The leaderboard of the report page: its columns, its order, and which two runs are ticked.

const table = document.getElementById("runs");
const N_ROWS_TOGETHER = 40;  // as in the template; more rows are text of the page until the browser has shown these
const rowOf = [...table.tBodies[0].rows];  // by the number of the run
const isHidden = overview.runs.map(() => false);  // by the search and the filters
const unread = document.getElementById("more-runs")?.textContent.split("<tr ").slice(1) ?? [];

/** Reads some of the unread rows; when there are none left, adds them to the table. */
function readRows(n = unread.length) {
  if (!unread.length) return;
  const read = make("template", { innerHTML: unread.splice(0, n).map((row) => `<tr ${row}`).join("") });
  rowOf.push(...read.content.children);
  if (unread.length) return;
  const rows = rowOf.slice(N_ROWS_TOGETHER);
  finishRows(rows);
  addColumns(rows);
  table.tBodies[0].append(...rows);
  if (layOutRows.width) layOutRows();
}

/** Reads the rows one part after the other, whenever the browser has time. */
function readRowsSoon() {
  if (unread.length) requestIdleCallback(() => { readRows(N_ROWS_TOGETHER); readRowsSoon(); }, { timeout: 1000 });
}

/** The parameters in which the runs differ, each with its different values. */
const parameters = (() => {
  const values = new Map();
  for (const run of overview.runs) for (const name of Object.keys(run.parameters)) values.set(name, new Set());
  for (const run of overview.runs) for (const [name, of] of values) of.add(run.parameters[name] ?? "");
  return [...values].filter(([, of]) => of.size > 1).map(([name, of]) => ({ name, values: [...of] }));
})();

function share(count, { samples }) {
  return samples ? 100 * count / samples : null;
}

/** The columns: how they sort, and for those that the table does not have from the start, what they show. */
const COLUMNS = [
  { key: "run", title: WORDS.Run, value: (run) => run.name },
  { key: "rank", title: "Rank", value: (run, number) => number },
  { key: "score", title: WORDS.score, value: (run) => run.score, isFigure: true },
  { key: "half", title: overview.interval_head, value: (run) => run.low === null ? null : run.high - run.low, isFigure: true },
  { key: "ranks", title: "Rank range", value: (run) => run.ranks?.[0] ?? null },
  ...(overview.has_parts ? [{ key: "trials", title: "Trials", value: (run) => run.trials }] : []),
  ...overview.columns.map(([key, title]) => ({ key, title, value: (run) => run[key], isFigure: true })),
  ...(overview.sweep?.parameters[0].name === "step" ? [{ key: "steps", title: "Step", value: (run, number) => stepOf(number)?.step ?? null, isFigure: true, isOptional: true, nodes: stepNodes }] : []),
  ...(overview.optional ?? []).map(([key, title, digits]) => ({ key, title, value: (run) => run[key] ?? null, isFigure: true, isOptional: true, text: (value) => figure(value, digits) })),
  ...(!overview.has_parts ? [] : [["missing", "Missing a keyword"], ["too_long", `Over ${overview.target}`], ["unhelpful", "Fluent, not helpful"]]).map(([key, title]) =>
    ({ key, title, value: (run) => share(run[key], run), isFigure: true, isOptional: true, text: (value) => `${value.toFixed(0)} %` })),
  ...parameters.map(({ name }) => ({ key: `parameter ${name}`, title: name, value: (run) => run.parameters[name] ?? "", isOptional: true, text: String })),
];
const columnsByKey = new Map(COLUMNS.map((column) => [column.key, column]));

/** The optional columns that the state asks for. */
function shownColumns() {
  const asked = state.filters.get("columns")?.split(",").map(decodedKey) ?? ["steps"];
  return COLUMNS.filter(({ key, isOptional }) => isOptional && asked.includes(key));
}

/** A column's key within a list of them, where a comma separates. */
function encodedKey(key) {
  return key.replaceAll("%", "%25").replaceAll(",", "%2C");
}

function decodedKey(text) {
  return text.replaceAll("%2C", ",").replaceAll("%25", "%");
}

function showColumns() {
  const shown = shownColumns();
  if (shown.map(({ key }) => key).join() === showColumns.shown) return;
  showColumns.shown = shown.map(({ key }) => key).join();
  for (const cell of table.querySelectorAll("[data-optional]")) cell.remove();
  table.tHead.querySelector('[data-column="rank"]').after(...shown.map((column) => cellOf(column, make("th", { scope: "col", className: column.isFigure ? "number" : "" }, make("button", { type: "button" }, make("bdi", {}, column.title))))));
  addColumns([...table.tBodies[0].rows]);
  if (layOutRows.width) layOutRows();
}

/** Adds the optional columns to some rows. */
function addColumns(rows) {
  const shown = shownColumns();
  for (const row of shown.length ? rows : []) row.querySelector('[data-column="rank"]').after(...shown.map((column) => {
    const number = Number(row.dataset.run), value = column.value(overview.runs[number], number);
    return cellOf(column, make("td", { className: column.isFigure ? "number" : "" }, ...(column.nodes && value !== null ? column.nodes(number) : [make("bdi", {}, value === null || value === "" ? "–" : column.text(value))])));
  }));
}

/** The step of a run, and the scores of its series by step. */
function stepNodes(number) {
  const { step, place, name, scores } = stepOf(number);
  return [sparkline(scores, { digits: overview.digits, label: `Scores of ${name} by step:`, marked: place }), make("span", {}, counted(step))];
}

function cellOf({ key }, cell) {
  cell.dataset.column = key;
  cell.dataset.optional = "";
  return cell;
}

// ---- Order

/** The column that the state sorts by, and the sign of its order: "length" is ascending, "-length" descending. */
function askedOrder() {
  const sign = state.sort.startsWith("-") ? -1 : 1;
  const column = columnsByKey.get(state.sort.replace(/^-/, ""));
  return column ? { column, sign } : { column: columnsByKey.get("rank"), sign: 1 };
}

/** The numbers of all runs in the order of the table. */
let order = ALL_RUNS;

function sort() {
  const { column, sign } = askedOrder();
  const next = placesInOrder(overview.runs.map((run, number) => column.value(run, number)), sign);
  markOrder(table.tHead.rows[0].cells, table.tHead.querySelector(`[data-column="${CSS.escape(column.key)}"]`), sign);
  if (next.join() === order.join()) return;
  order = next;
  table.parentElement.scrollTop = 0;  // first, because it lays out what has changed
  const body = table.tBodies[0];
  body.remove();  // rows move fast where they are not displayed
  body.append(...order.map((number) => rowOf[number]));
  table.append(body);
}

/** Lays out each of many rows on its own, so that a browser draws only those in sight, with the widths that columns have in a table of the longest values. */
function layOutRows() {
  if (rowOf.length <= N_ROWS_TOGETHER) return;
  const shown = shownColumns();
  const widest = COLUMNS.filter((column) => !column.isOptional || shown.includes(column)).flatMap(({ value }) => {
    const sizes = overview.runs.map((run, number) => value(run, number)?.length ?? value(run, number) ?? 0);
    return [Math.max(...sizes), Math.min(...sizes)].map((size) => sizes.indexOf(size));
  });
  rowOf.forEach((row, number) => row.classList.toggle("later", !widest.includes(number)));
  const scroller = table.parentElement;
  const { scrollTop } = scroller;
  table.className = "measured";
  scroller.style.overflowY = "scroll";  // as all rows need it
  const widths = [...table.tHead.rows[0].cells].map((head) => head.getBoundingClientRect().width).filter(Boolean);
  table.style.setProperty("--columns", widths.map((width) => `${width}px`).join(" "));
  table.className = "apart";
  scroller.style.overflowY = "";
  if (scrollTop) scroller.scrollTop = scrollTop;
}
new ResizeObserver(([{ contentRect: { width } }]) => {
  if (!width || width === layOutRows.width) return;
  layOutRows.width = width;
  layOutRows();
}).observe(table.parentElement);

table.tHead.addEventListener("click", (event) => {
  const key = event.target.closest("button")?.closest("th").dataset.column;
  if (!key) return;
  const { column, sign } = askedOrder();
  const first = columnsByKey.get(key).isFigure ? -1 : 1;
  const next = column.key === key ? -sign : first;
  go({ sort: key === "rank" && next > 0 ? "" : `${next < 0 ? "-" : ""}${key}` });
});

whenChanged((before) => {
  if (state.sort || state.search || state.filters.size) readRows();
  else if (!before) readRowsSoon();
  showColumns();
  if (!before || before.sort !== state.sort || before.filters.get("columns") !== state.filters.get("columns")) sort();
});

// ---- Which runs are there

/** The numbers of the runs that the table shows, from the best to the worst. */
function visibleRuns() {
  return ALL_RUNS.filter((number) => !isHidden[number]);
}

/** The same, in the order of the table. */
function runsInOrder() {
  return order.filter((number) => !isHidden[number]);
}

table.tBodies[0].addEventListener("click", (event) => {
  if (event.target.closest(".tick") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  // A click anywhere in a row, unless text is being selected; the link in it is for the keyboard.
  if (!event.target.closest("a") && !getSelection().isCollapsed) return;
  event.preventDefault();
  go({ run: Number(event.target.closest("tr").dataset.run), question: null, sample: null });
});

const compareButton = document.getElementById("compare");

/** Some runs by their scores, or checkpoints by their steps, so that the earliest is A. */
function inStepOrder(runs) {
  return runs.every((run) => stepOf(run)) ? runs.sort((a, b) => stepOf(a).step - stepOf(b).step) : runs;
}

function tickedRuns() {
  return inStepOrder(rowOf.flatMap((row, number) => row.querySelector(".tick input").checked ? [number] : []));
}

table.tBodies[0].addEventListener("change", () => {
  const n = tickedRuns().length;
  compareButton.disabled = n < 2 || n > MAX_COMPARED;
  compareButton.textContent = n === 0 ? `Tick ${WORDS.runs} to compare them` : n === 1 ? "Tick one more to compare"
    : n > MAX_COMPARED ? `Tick at most ${MAX_COMPARED} ${WORDS.runs}` : `Compare ${n} ${WORDS.runs}`;
});
compareButton.addEventListener("click", () => go({ ...NOTHING_OPEN, compare: tickedRuns() }));

offerSaving(table, { place: compareButton.parentElement });
compareButton.parentElement.addEventListener("click", () => readRows(), { capture: true });  // what is saved is whole
addEventListener("beforeprint", () => readRows());

/** How many trials a run has, in words, to stand beside its name. */
function trialsText({ trials }) {
  return trials === null ? "" : `${counted(trials)} ${trials === 1 ? "trial" : "trials"}`;
}

// Says how many runs have fewer trials than most; the link shows only these, and then all again.
const allTrials = overview.runs.map(({ trials }) => trials).sort((a, b) => a - b);
const usualTrials = { trials: allTrials[allTrials.length >> 1] };
const hasFewer = ({ trials }) => trials !== null && trials < usualTrials.trials;
const nFewer = overview.runs.filter(hasFewer).length;
if (nFewer) {
  const link = make("a");
  document.getElementById("count").after(make("span", {}, link));
  whenChanged(() => {
    const filters = new Map(state.filters);
    const isOn = filters.delete("fewer");
    link.textContent = isOn ? `Show those with ${trialsText(usualTrials)}, too` : `${counted(nFewer)} with ${narrow.matches ? "few trials" : `fewer than ${trialsText(usualTrials)}`}`;
    link.href = addressOf({ filters: isOn ? filters : filters.set("fewer", "yes") });
  });
}

const filtersButton = document.getElementById("show-filters");
