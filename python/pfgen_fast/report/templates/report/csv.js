// The leaderboard as a CSV file: the runs and the order that are shown, with all columns.

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
