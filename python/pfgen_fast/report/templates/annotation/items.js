// Items as parts to decide, and decisions as rows of an export, in both directions.
//
// A decision has `values`, one for each part of the item (null while undecided), `comment` and `isUnclear`.

const LEVEL_KEYS = "qwertasdf";  // letters, because a digit would contradict the number of a level

const items = sheet.items.map((item) => ({ ...item, row: JSON.parse(item.row), names: JSON.parse(item.names) }));

/** The parts of an item: a title, or a text of the suite, and options, each with a value, a label and its key. */
function partsOf(item) {
  const keyed = (options) => options.map((option, at) => ({ key: at < 9 ? String(at + 1) : "", ...option }));
  if (item.kind === "mark") {
    const levels = sheet.levels.map(({ value, text }, at) => ({ value, label: String(value), detail: text, key: LEVEL_KEYS[at] ?? "" }));
    const overall = Array.from({ length: 11 }, (_, mark) => ({ value: mark, label: String(mark), key: mark < 10 ? String(mark) : "x" }));
    const parts = item.questions.map((text, at) => ({ number: at + 1, text, options: levels, form: "levels" }));
    return [...parts, { title: say("overall"), options: overall, form: "scale" }];
  }
  if (item.kind === "instruction") {
    const options = keyed([{ value: true, label: say("yes") }, { value: false, label: say("no") }]);
    return [{ text: item.row.question, options, form: "judged" }];
  }
  if (item.kind === "judgement") {
    const options = keyed([{ value: true, label: say("reasonable") }, { value: false, label: say("not_reasonable") }]);
    return item.verdicts.map((verdict) => ({ number: verdict.question, text: verdict.text, verdict, options, form: "judged" }));
  }
  if (item.kind === "pair") {
    const options = ["first", "second", "tie"].map((value) => ({ value, label: say(`choice_${value}`) }));
    return [{ title: say("choice"), checklist: item.questions, options: keyed(options) }];
  }
  const metrics = item.metrics.map(({ name, title, text }, at) => ({ value: item.names[at], label: title || name, detail: text }));
  return [{ title: say("metric"), options: keyed(metrics) }];
}

function blank(item) {
  return { values: partsOf(item).map(() => null), comment: "", isUnclear: false };
}

/** Whether a decision is `open`, `begun` or `done`. */
function stateOf({ values, comment, isUnclear }) {
  if (!values.includes(null)) return "done";
  return comment || isUnclear || values.some((value) => value !== null) ? "begun" : "open";
}

const DECIDED = { instruction: "is_yes", pair: "choice", judgement: "is_reasonable", vote: "metric" };

/** The rows of a decision in an export; none if nothing has been decided. */
function rowsOf(item, decision) {
  return stateOf(decision) === "open" ? [] : allRowsOf(item, decision);
}

function allRowsOf(item, { values, comment, isUnclear }) {
  const more = { ...(comment && { comment }), ...(isUnclear && { unclear: true }) };
  if (item.kind === "mark") {
    return [{ ...item.row, verdicts: values.slice(0, -1), overall: values.at(-1), ...more }];
  }
  const questions = item.kind === "judgement" ? item.verdicts.map(({ question }) => ({ question })) : [{}];
  return questions.map((question, at) => ({ ...item.row, ...question, [DECIDED[item.kind]]: values[at], ...more }));
}

/** What a row is about, as a text. */
function subjectOf({ verdicts, overall, choice, is_reasonable, is_yes, metric, comment, unclear, ...about }) {
  return JSON.stringify(Object.entries(about).sort());
}

/** The number of the item, and of its row, by the subject of the row. */
const PLACES = new Map(items.flatMap((item, number) => allRowsOf(item, blank(item)).map((row, at) => [subjectOf(row), [number, at]])));

/** The decisions in rows by the numbers of their items; throws an error with the number of the first wrong row. */
function decisionsOf(rows) {
  const found = new Map();
  for (const [at, row] of rows.entries()) {
    try {
      addRow(found, row);
    } catch (error) {
      throw Object.assign(error, { row: at });
    }
  }
  return found;
}

function addRow(found, row) {
  const [number, at] = PLACES.get(subjectOf(row)) ?? [];
  const item = items[number];
  if (!item) throw new Error("unknown item");
  const decision = found.get(number) ?? blank(item);
  const values = item.kind === "mark" ? [...row.verdicts, row.overall] : decision.values.with(at, row[DECIDED[item.kind]]);
  const isKnown = ({ options }, part) => values[part] === null || options.some(({ value }) => value === values[part]);
  if (values.length !== decision.values.length || !partsOf(item).every(isKnown)) throw new Error("unknown value");
  found.set(number, { values, comment: String(row.comment ?? ""), isUnclear: row.unclear === true });
}

/** JSON as Python writes it, so that exports of the page and of Python have the same bytes. */
function jsonOf(value) {
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, of]) => `${JSON.stringify(name)}: ${jsonOf(of)}`).join(", ")}}`;
}
