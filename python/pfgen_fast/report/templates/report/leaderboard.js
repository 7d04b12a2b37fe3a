// The leaderboard of the report page: sorting and searching.

const table = document.getElementById("runs");
const rows = [...table.tBodies[0].rows];
const search = document.getElementById("search");

function compare(a, b, numeric) {
  if (a === "" || b === "") return 0;  // `sortBy` handles missing values
  if (!numeric) return a.localeCompare(b);
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
}

function sortBy(header) {
  const kind = header.dataset.kind;
  const first = kind === "number" ? "descending" : "ascending";
  const second = kind === "number" ? "ascending" : "descending";
  const order = header.getAttribute("aria-sort") === first ? second : first;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const column = header.cellIndex;
  const value = (row) => row.cells[column].dataset.value;
  rows.sort((a, b) =>
    // Rows without a value come last in both orders.
    (value(a) === "") - (value(b) === "") || sign * compare(value(a), value(b), kind !== "text"));
  table.tBodies[0].append(...rows);
  table.parentElement.scrollTop = 0;
}

function visibleRuns() {
  return rows.filter((row) => !row.hidden).map((row) => Number(row.dataset.run)).sort((a, b) => a - b);
}

const texts = new Map(rows.map((row) => {
  const cells = [2, 3, 4].map((column) => row.cells[column].dataset.value);
  return [row, cells.join(" ").toLowerCase()];
}));

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !words.every((word) => texts.get(row).includes(word));
  document.getElementById("count").textContent = `${visibleRuns().length} of ${rows.length} runs`;
  table.parentElement.scrollTop = 0;
  clearTimeout(filter.timer);
  filter.timer = setTimeout(drawAll, 250);
}
