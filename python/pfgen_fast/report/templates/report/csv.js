// The leaderboard as a CSV file: the runs and the order that are shown, with all columns.

const FORMULA = /^\s*[=+\-@＝＋－＠]/;
const NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$/i;

/** A value as a cell; the rule of `files.untrusted_text.csv_value`, for texts that are harmless already. */
function csvValue(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = value.replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function csvLine(values) {
  return values.map((value) => {
    const cell = csvValue(value);
    return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  }).join(",");
}

function csvText() {
  const columns = [
    ["rank", (run) => run.rank], ["run", (run) => run.name], ["score", (run) => run.score], ["score_low", (run) => run.low], ["score_high", (run) => run.high],
    ["first_tied_rank", (run) => run.tied?.[0]], ["last_tied_rank", (run) => run.tied?.[1]],
    ...["length", "fluency", "truthfulness", "helpfulness", "trials", "samples", "missing", "too_long", "unhelpful"].map((key) => [key, (run) => run[key]]),
    ...[...new Set(overview.runs.flatMap((run) => Object.keys(run.parameters)))].map((name) => [name, (run) => run.parameters[name]]),
  ];
  const lines = runsInOrder().map((number) => columns.map(([, value]) => value(overview.runs[number])));
  return [columns.map(([name]) => name), ...lines].map((line) => `${csvLine(line)}\r\n`).join("");
}

document.getElementById("csv").addEventListener("click", () => saveFile("leaderboard.csv", csvText(), "text/csv"));
