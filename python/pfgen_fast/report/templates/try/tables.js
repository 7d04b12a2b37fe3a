// Answers in a file: reads CSV, TSV and JSON lines as `pfgen-fast score` does, scores them, and ranks their models.

const MARKS = { ",": "commas", "\t": "tabs", ";": "semicolons" };
const DELIMITERS = { csv: ",", tsv: "\t" };
const TABLE = /\.(csv|tsv|jsonl|ndjson)$/i;
const N_SCORED = 200;  // answers between two moments in which the browser can react

/** The records of a CSV file, each with the number of its first line; blank lines are left out. */
function* csvRecords(text, delimiter, name) {
  const ends = new RegExp(`[${delimiter}\r\n]`, "g");
  let line = 1;
  for (let at = 0; at < text.length;) {
    const first = at, fields = [];
    const fail = (problem) => { throw new pfgen.PfgenError(`${name}, line ${line}: not CSV: ${problem}`); };
    for (;;) {
      let value = "";
      if (text[at] === '"') {
        for (;;) {
          const end = text.indexOf('"', at + 1);
          if (end < 0) fail("unexpected end of data");
          value += text.slice(at + 1, end);
          at = end + 1;
          if (text[at] !== '"') break;
          value += '"';
        }
        if (at < text.length && ![delimiter, "\r", "\n"].includes(text[at])) fail(`'${delimiter}' expected after '"'`);
      } else {
        ends.lastIndex = at;
        const end = ends.exec(text)?.index ?? text.length;
        value = text.slice(at, end);
        at = end;
      }
      fields.push(value);
      if (text[at] !== delimiter) break;
      at++;
    }
    const isBlank = at === first;
    at += text.startsWith("\r\n", at) ? 2 : 1;
    if (!isBlank) yield [line, fields];
    line += text.slice(first, at).match(/\r\n|\r|\n/g)?.length ?? 0;
  }
}

/** The rows of a CSV file as objects, each with the number of its line; the names of the columns come first. */
function csvRows(text, delimiter, name) {
  const [[line, header] = [], ...records] = csvRecords(text, delimiter, name);
  const fail = (where, problem) => { throw new pfgen.PfgenError(`${name}${where}: ${problem}`); };
  if (!header) fail("", "empty; expected a header with the names of the columns");
  const other = header.length === 1 && Object.keys(MARKS).find((mark) => mark !== delimiter && header[0].includes(mark));
  if (other) fail(`, line ${line}`, `expected ${MARKS[delimiter]} between the columns, not ${MARKS[other]}`);
  for (const column of header) {
    const n = header.filter((own) => own === column).length;
    if (n > 1) fail(`, line ${line}`, `the column '${column}' appears ${n} times`);
  }
  const rows = records.map(([at, fields]) => {
    if (fields.length !== header.length) fail(`, line ${at}`, `${fields.length} fields; expected ${header.length}, as in the header`);
    return [at, Object.fromEntries(fields.map((value, number) => [header[number], value]))];
  });
  return { columns: header, rows };
}

function jsonRows(text, name) {
  const rows = text.split("\n").map((line, number) => [number + 1, line]).filter(([, line]) => line.trim()).map(([number, line]) => {
    let row;
    try {
      row = JSON.parse(line);
    } catch (error) {
      throw new pfgen.PfgenError(`${name}, line ${number}: not JSON: ${error.message}`);
    }
    if (typeOf(row) !== "object") throw new pfgen.PfgenError(`${name}, line ${number}: expected an object with a question and an answer, not ${typeOf(row)}`);
    return [number, row];
  });
  return { columns: [...new Set(rows.flatMap(([, row]) => Object.keys(row)))], rows };
}

function typeOf(value) {
  return value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
}

/** The columns of questions, answers and, if there is one, models by their usual names; the rule of `tables.usual_columns`. */
function usualColumns(columns, usual, name) {
  const plain = (column) => column.trim().toLowerCase().replace(/[\s\-.]+/g, "_");
  return Object.fromEntries(Object.entries(usual).map(([kind, names]) => {
    const column = names.map((own) => columns.find((other) => plain(other) === own)).find((own) => own !== undefined);
    if (column === undefined && kind !== "model") {
      const there = columns.slice(0, 20).map((own) => `'${own}'`).join(", ") || "no columns";
      throw new pfgen.PfgenError(`${name}: expected a column of ${kind}s, such as '${names[0]}'; there are ${there}`);
    }
    return [kind, column];
  }));
}

/** The scores of a file with answers: its rows, and its models, best first; null if `onProgress` returns false. */
async function scoredTable(content, name, { scorer, head }, onProgress) {
  const mark = String(new Uint8Array(content.slice(0, 2)));
  const encoding = { "255,254": "utf-16le", "254,255": "utf-16be" }[mark] ?? "utf-8";
  let text;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(content);
  } catch {
    const [before] = new TextDecoder(encoding).decode(content).split("\ufffd", 1);
    throw new pfgen.PfgenError(`${name}, line ${before.split("\n").length}: not ${encoding.toUpperCase()}; save the file as UTF-8`);
  }
  const delimiter = DELIMITERS[name.match(TABLE)[1].toLowerCase()];
  const { columns, rows } = delimiter ? csvRows(text, delimiter, name) : jsonRows(text, name);
  const used = usualColumns(columns, head.names, name);
  const taken = SCORES.find((own) => columns.includes(own));
  if (taken) throw new pfgen.PfgenError(`${name}: there is already a column '${taken}', the name of a score; rename or drop it`);
  const scored = [];
  for (const [line, row] of rows) {
    const [question, answer] = [row[used.question], row[used.answer]];
    for (const column of [used.question, used.answer]) {
      if (typeof row[column] !== "string") throw new pfgen.PfgenError(`${name}, line ${line}: '${column}': expected a string, not ${typeOf(row[column] ?? null)}`);
    }
    try {
      scored.push({ row, question, model: String(row[used.model] ?? name), scores: scorer.score(question, answer) });
    } catch (error) {
      throw new pfgen.PfgenError(`${name}, line ${line}: ${error.message}`);
    }
    if (scored.length % N_SCORED === 0) {
      await turn();
      if (!onProgress(scored.length, rows.length)) return null;
    }
  }
  if (!scored.length) throw new pfgen.PfgenError(`${name}: no answer has a score`);
  const models = rankedModels(scored);
  return { columns, scored, models, isCommon: models.every(({ asked }) => asked === models[0].asked) };
}

const SCORES = ["average", "fluency", "truthfulness", "helpfulness"];

/** The means of each model over its questions, from the means over the answers to each question; the best model first. */
function rankedModels(scored) {
  const mean = (values) => values.includes(null) ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  const grouped = (rows, key) => {
    const groups = new Map();
    for (const row of rows) groups.get(row[key])?.push(row) ?? groups.set(row[key], [row]);
    return [...groups];
  };
  const models = grouped(scored, "model").map(([model, rows]) => {
    const questions = grouped(rows, "question");
    const means = SCORES.map((name) => mean(questions.map(([, own]) => mean(own.map(({ scores }) => scores[name])))));
    return { model, n: rows.length, means, asked: questions.map(([question]) => question).sort().join("\n") };
  }).sort((a, b) => (b.means[0] ?? -1) - (a.means[0] ?? -1));
  models.forEach((own, at) => { own.rank = own.means[0] === null ? null : at && own.means[0] === models[at - 1].means[0] ? models[at - 1].rank : at + 1; });
  return models;
}

/** The file with a row for each answer, with its scores; texts are unchanged, as `pfgen-fast score` writes them. */
function scoredCsv({ columns, scored }) {
  const stored = (value) => typeof value === "string" ? value : value === null || value === undefined ? "" : JSON.stringify(value);
  const lines = scored.map(({ row, scores }) => [...columns.map((column) => row[column]), ...SCORES.map((name) => scores[name])]);
  return [[...columns, ...SCORES], ...lines].map((line) => `${csvLine(line, stored)}\r\n`).join("");
}
