// The state of the report page: what is open, sorted, searched and filtered. page.js comes first, address.js follows.

const overview = JSON.parse(document.getElementById("overview").textContent);
// A parameter may have the name "constructor", so a run's parameters must not inherit properties.
for (const { parameters } of overview.runs) Object.setPrototypeOf(parameters, null);

/** The names of the runs in addresses: a name that several runs have is followed by a number. */
const runKeys = (() => {
  const keys = new Set();
  for (const { name } of overview.runs) {
    let key = name;
    for (let number = 2; keys.has(key); number++) key = `${name} (${number})`;
    keys.add(key);
  }
  return [...keys];
})();
const runsByKey = new Map(runKeys.map((key, number) => [key, number]));
const questionsById = new Map(overview.questions.map(({ id }, number) => [id, number]));

const ALL_RUNS = [...overview.runs.keys()], ALL_QUESTIONS = [...overview.questions.keys()];

/** What the page calls its subjects: runs of a suite's questions, or models of a table's items. */
const WORDS = overview.words;
const SIGN = overview.higher_is_better ? 1 : -1;

const TABS = [...document.querySelectorAll("main > section")].map(({ id }) => id);
const MAX_COMPARED = 6;

/** The state of the page. Runs and questions are indices in `overview`, or null; `unknown` says what an address names in vain. */
let state = { tab: "", run: null, question: null, sample: null, cause: null, compare: null, pair: "", brush: "", search: "", sort: "", filters: new Map(), unknown: [] };

/** How each part of the state but the filters is read from an address, and written into it; "" is left out. */
const PARTS = {
  tab: { read: (text) => TABS.includes(text) ? text : null, write: (tab) => tab ?? "", empty: "" },
  run: { read: (text) => runsByKey.get(text) ?? null, write: (run) => runKeys[run] ?? "" },
  question: { read: (text) => questionsById.get(text) ?? null, write: (question) => overview.questions[question]?.id ?? "" },
  sample: { read: (text) => /^[1-9]\d{0,5}$/.test(text) ? Number(text) - 1 : null, write: (sample) => sample === null ? "" : String(sample + 1) },
  cause: { read: (text) => overview.causes?.includes(text) ? text : null, write: (cause) => cause ?? "" },
  compare: { read: (text) => readRuns(text, []), write: (runs) => runs ? runs.map((run) => runKeys[run]).join("..") : "" },
  ...Object.fromEntries(["pair", "brush", "search", "sort"].map((name) => [name, { read: (text) => text, write: (text) => text, empty: "" }])),
};

/** The runs of "A..B..C", with those that are read already, or null. A name may hold two dots itself. */
function readRuns(text, known) {
  const rest = runsByKey.get(text);
  if (rest !== undefined && known.length && !known.includes(rest)) return [...known, rest];
  if (known.length === MAX_COMPARED - 1) return null;
  for (let at = text.indexOf(".."); at >= 0; at = text.indexOf("..", at + 1)) {
    const run = runsByKey.get(text.slice(0, at));
    const found = run === undefined || known.includes(run) ? null : readRuns(text.slice(at + 2), [...known, run]);
    if (found) return found;
  }
  return null;
}

function readState(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#\/?/, ""));
  const read = { filters: new Map([...given].filter(([name, value]) => !Object.hasOwn(PARTS, name) && value)), unknown: [] };
  for (const [name, part] of Object.entries(PARTS)) {
    const text = given.get(name);
    read[name] = text ? part.read(text) : part.empty ?? null;
    if (text && read[name] === null) read.unknown.push([name, text]);
  }
  read.tab ??= "";
  // A page of two runs opens on their comparison and one of a run on its diagnosis, unless it is part of a site or its address has a fragment, such as the "#" that is left when they are closed.
  if (!fragment && overview.runs.length < 3 && !location.href.includes("#") && document.querySelector(".site").hidden) Object.assign(read, overview.runs.length > 1 ? { compare: inStepOrder([0, 1]) } : overview.causes && { run: 0 });
  return read;
}

/** The address within this page of the state with some changes, such as "#/run=a/b&question=Q07"; "#" is the bare page.
 *
 * The slash tells those who look at links that it names no element.
 */
function addressOf(changes) {
  const shown = { ...state, ...changes };
  const written = [...Object.entries(PARTS).map(([name, part]) => [name, part.write(shown[name])]), ...shown.filters];
  return addressWith(written);
}

function showTitle() {
  const { run, question, compare } = state;
  const parts = [];
  if (question !== null) parts.push(overview.questions[question].id);
  if (compare) parts.push(compare.map((number) => overview.runs[number].name).join(" and "));
  else if (run !== null) parts.push(overview.runs[run].name);
  document.title = [...parts, PAGE_TITLE].join(" · ");
}

const NOTHING_OPEN = { run: null, question: null, sample: null, cause: null, compare: null, pair: "", brush: "" };

/** The name of the view that the state asks for, and what it is about; null if none is open. */
function askedView() {
  const { compare, run, question } = state;
  if (compare) return { name: "comparison", subject: `comparison ${compare} ${state.pair} ${state.filters.get("length")}` };
  if (run !== null) return { name: "run", subject: `run ${run} ${state.filters.get("against") ?? ""}` };
  // The search and the filters choose whose answers a question shows, and their order.
  return question === null ? null : { name: "question", subject: `question ${addressOf({ sample: null, tab: "", sort: "" })}` };
}
