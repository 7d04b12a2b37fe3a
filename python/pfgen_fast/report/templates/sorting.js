// Tables that are sorted by the buttons in their heads. page.js comes first.

/** The value of a cell to sort by: a number in a column of numbers, otherwise its text; null if the cell is empty. */
function sortValue(cell, isNumber) {
  const text = cell.dataset.value ?? cell.textContent.trim();
  if (text === "" || text === "–") return null;
  if (!isNumber) return text;
  const value = Number(text.replaceAll(",", ""));
  return Number.isNaN(value) ? null : value;
}

const inOrder = new Intl.Collator("en", { numeric: true }).compare;

/** Sorts rows by a column; those without a value come last in both orders, and equal ones keep their order. */
function sortedRows(rows, column, isNumber, isAscending) {
  const sign = isAscending ? 1 : -1;
  const keyed = rows.map((row) => [sortValue(row.cells[column], isNumber), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (isNumber ? a - b : inOrder(a, b));
  });
  return keyed.map(([, row]) => row);
}

/** Puts a button into each head of a table; numbers are sorted from the highest first (places, which are `rising`, from 1), texts from A. */
function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  for (const head of heads) {
    const button = make("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", () => {
      const isNumber = head.classList.contains("number");
      const before = head.getAttribute("aria-sort");
      const isAscending = before ? before === "descending" : !isNumber || head.classList.contains("rising");
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
      const body = table.tBodies[0];
      body.append(...sortedRows([...body.rows], head.cellIndex, isNumber, isAscending));
      table.parentElement.scrollTop = 0;
    });
    head.append(button);
  }
}

for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);
