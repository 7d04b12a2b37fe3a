// Values and lines of CSV files.

const FORMULA = /^\s*[=+\-@＝＋－＠]/;
const NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$/i;

/** A value as a cell; the rule of `base.untrusted_text.csv_value`, for texts that are harmless already. */
function csvValue(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = value.replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function csvLine(values, cellOf = csvValue) {
  return values.map((value) => {
    const cell = cellOf(value);
    return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  }).join(",");
}
