// The order of tables: one comparison, and buttons in the heads of tables whose order is no part of the address.

const collator = once(() => new Intl.Collator("en", { numeric: true }));  // comparing without one takes ten times as long

/** Compares two texts: two numbers by their values. */
function byText(a, b) {
  const [x, y] = [a, b].map((text) => text.trim() === "" ? Number.NaN : Number(text));
  return Number.isNaN(x) || Number.isNaN(y) ? collator().compare(a, b) : x - y;
}

/** The places of values in their order: those without a value come last in both orders, and equal ones keep their order. */
function placesInOrder(values, sign = 1) {
  const isMissing = values.map((value) => value === null || value === undefined || value === "");
  const compared = values.some((value) => typeof value === "string" && value) ? byText : (a, b) => a - b;
  return values.map((_, place) => place).sort((a, b) =>
    isMissing[a] - isMissing[b] || (isMissing[a] ? 0 : sign * compared(values[a], values[b])) || a - b);
}

/** Marks the column that a table is sorted by. */
function markOrder(heads, sorted, sign) {
  for (const head of heads) head.removeAttribute("aria-sort");
  sorted?.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
}

/** The value of a cell to sort by: the number that it begins with in a column of numbers, otherwise its text. */
function sortValue(cell, isNumber) {
  const text = cell.textContent.trim();
  if (!isNumber) return text === "–" ? null : text;
  const value = Number.parseFloat(text.replaceAll(",", ""));
  return Number.isNaN(value) ? null : value;
}

/** Puts a button into each head of a table; numbers are sorted from the highest first (places, which are `rising`, from 1), texts from A. */
function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) {
    head.append(buttonTo(() => {
      const isNumber = head.classList.contains("number");
      const before = head.getAttribute("aria-sort");
      const sign = (before ? before === "descending" : !isNumber || head.classList.contains("rising")) ? 1 : -1;
      markOrder(heads, head, sign);
      const body = table.tBodies[0];
      const rows = [...body.rows];
      body.append(...placesInOrder(rows.map((row) => sortValue(row.cells[head.cellIndex], isNumber)), sign).map((place) => rows[place]));
      table.parentElement.scrollTop = 0;
    }, {}, ...head.childNodes));
  }
}

const STARTS_WITH_NUMBER = /^(?:[+-]?[0-9]|–$)/;
const FEW_ROWS = 4;  // a table of so few is not sorted

/** A table of texts, with its figures to the right; the first cell of a line names it. */
function smallTable(heads, lines) {
  const isNumber = heads.map((_, place) => place > 0 && lines.every((line) => STARTS_WITH_NUMBER.test(line[place].textContent ?? line[place])));
  const cells = (tag, texts) => texts.map((text, place) => make(tag, { className: isNumber[place] ? "number" : "" }, make("bdi", {}, text)));
  const body = lines.map((line) => {
    const [, ...rest] = cells("td", line);
    return make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, line[0])), ...rest);
  });
  const head = make("tr", {}, ...cells("th", heads));
  for (const cell of head.cells) cell.scope = "col";
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
  if (lines.length > FEW_ROWS) {
    table.classList.add("sortable");
    makeSortable(table);
  }
  return make("div", { className: "scroller" }, table);
}

for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
