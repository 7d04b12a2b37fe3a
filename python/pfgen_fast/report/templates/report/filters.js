// The runs that are shown: the search, the filters, and the sentence for the case that no run is left.

const search = document.getElementById("search");
const filterForm = document.querySelector("#filters form");

/** The filters by name: each turns its value into a test of a run. */
const FILTERS = {
  from: (value) => (run) => run.score !== null && run.score >= Number(value),
  to: (value) => (run) => run.score !== null && run.score <= Number(value),
  missing: atLeast("missing"),
  too_long: atLeast("too_long"),
  unhelpful: atLeast("unhelpful"),
  answers: () => (run, number) => foundInAnswers.runs?.has(number) ?? false,
  ...Object.fromEntries(parameters.map(({ name }) => [`parameter ${name}`, (value) => (run) => (run.parameters[name] ?? "") === (value === "–" ? "" : value)])),
};

function atLeast(key) {
  return (value) => (run) => share(run[key], run) >= Number(value);
}

/** The parts of the state that select runs, without `best` and without parts that only change the appearance. */
function askedFilters(filters) {
  return [...filters].filter(([name]) => Object.hasOwn(FILTERS, name));
}

const textOfRun = overview.runs.map(({ name, group, parameters: of }) =>
  [name, group, ...Object.entries(of).map(([key, value]) => `${key} ${value}`)].join("\n").toLowerCase());

function searchedWords() {
  return state.search.toLowerCase().split(/\s+/).filter(Boolean);
}

function filterRuns() {
  const words = searchedWords();
  const tests = askedFilters(state.filters).map(([name, value]) => FILTERS[name](value));
  const models = new Set();
  overview.runs.forEach((run, number) => {
    let isShown = words.every((word) => textOfRun[number].includes(word)) && tests.every((test) => test(run, number));
    if (isShown && state.filters.has("best")) {
      // The runs are sorted by score, so that the first of a model is its best.
      const model = run.parameters.model ?? run.name.replace(/\/[^/]*$/, "");
      isShown = !models.has(model);
      models.add(model);
    }
    rowOf[number].hidden = !isShown;
  });
  showRowsInTurns();
  const n = visibleRuns().length;
  document.getElementById("count").textContent = `${counted(n)} of ${counted(rowOf.length)} runs`;
  document.getElementById("none").hidden = n > 0;
  table.parentElement.hidden = n === 0;
  for (const drawn of document.querySelectorAll("#sweep, #plots, #heat-map")) drawn.classList.toggle("empty", n === 0);
}

// ---- The form

for (const { name, values } of parameters) {
  if (values.length > 200) continue;
  const select = make("select", {}, make("option", { value: "" }, "any"), ...values.map((value) => make("option", { value: value || "–" }, shortened(value, 60) || "none")));
  select.dataset.filter = `parameter ${name}`;
  document.getElementById("of-parameters").append(make("label", {}, make("bdi", {}, name), " ", select));
}
document.getElementById("of-parameters").hidden = !parameters.length;
document.getElementById("columns").append(...COLUMNS.filter(({ isOptional }) => isOptional).map(({ key, title }) => {
  const box = make("input", { type: "checkbox" });
  box.dataset.shows = key;
  return make("label", {}, box, " ", make("bdi", {}, title));
}));

document.querySelector("main").addEventListener("change", ({ target }) => {
  const { filter, shows } = target.dataset;
  if (filter) goFilters({ [filter]: target.type === "checkbox" ? (target.checked ? "yes" : "") : target.value });
  if (shows) {
    const chosen = [...filterForm.querySelectorAll("[data-shows]")].filter((box) => box.checked).map((box) => encodedKey(box.dataset.shows));
    goFilters({ columns: chosen.join(",") || "none" });
  }
});
filterForm.addEventListener("submit", (event) => event.preventDefault());
for (const button of document.querySelectorAll(".clear")) button.addEventListener("click", () => { clearFilters(); search.focus(); });

function clearFilters() {
  const kept = [...state.filters].filter(([name]) => name !== "best" && !Object.hasOwn(FILTERS, name));
  go({ search: "", filters: new Map(kept) });
}

function showForm() {
  if (search.value !== state.search) search.value = state.search;
  for (const control of document.querySelectorAll("main [data-filter]")) {
    const value = state.filters.get(control.dataset.filter) ?? "";
    if (control.type === "checkbox") control.checked = Boolean(value);
    else if (control.value !== value) control.value = value;
  }
  const shown = shownColumns().map(({ key }) => key);
  for (const box of filterForm.querySelectorAll("[data-shows]")) box.checked = shown.includes(box.dataset.shows);
  const n = askedFilters(state.filters).length + state.filters.has("best");
  document.querySelector("#filters > summary").textContent = `Filters and columns${n ? ` (${n} ${n === 1 ? "filter" : "filters"} set)` : ""}`;
}

// ---- The search

// Text that is typed without a pause is one step, which Back undoes.
search.addEventListener("input", () => go({ search: search.value }, { replace: state.search !== "" && search.value !== "" }));

const MAX_OFFERED = 5;

/** Offers the questions that match the search, and a search in the answers. */
function showOffers() {
  const offers = document.getElementById("offers");
  const words = searchedWords();
  const questions = words.length ? overview.questions.flatMap(({ id, text }, number) =>
    words.every((word) => `${id} ${text}`.toLowerCase().includes(word)) ? [number] : []) : [];
  const links = questions.slice(0, MAX_OFFERED).flatMap((number) => {
    const { id, text } = overview.questions[number];
    return [" ", make("a", { href: addressOf({ question: number, run: null, sample: null, compare: null, search: "" }) }, make("b", {}, id), " ", make("bdi", {}, shortened(text, 40)))];
  });
  if (questions.length > MAX_OFFERED) links.push(` and ${questions.length - MAX_OFFERED} more`);
  const inAnswers = make("button", { type: "button" }, "Search the answers for “", make("bdi", {}, shortened(state.search.trim(), 30)), "”");
  inAnswers.addEventListener("click", () => {
    const filters = new Map(state.filters).set("answers", state.search.trim());
    go({ search: "", filters });
  });
  document.getElementById("none").firstElementChild.textContent = questions.length
    ? "No run matches the search and the filters, but questions do: see above." : "No run matches the search and the filters.";
  offers.replaceChildren(...(links.length ? [links.length === 2 ? "Question:" : "Questions:", ...links, " "] : []), ...(words.length ? [inAnswers] : []));
  offers.hidden = !words.length;
}

/** The last search in the answers: its text, and its hits when it is done. */
const foundInAnswers = { text: "", runs: null };

/** Promises that the answers have been searched for what the state asks for. */
let answersSearched = Promise.resolve();

async function searchAnswers(text) {
  Object.assign(foundInAnswers, { text, runs: null });
  showFound();
  if (!text) return;
  const runs = await findInAnswers(text, () => foundInAnswers.text === text);
  if (foundInAnswers.text !== text) return;
  foundInAnswers.runs = runs;
  showFound();
  applyFilters();
}

const MAX_FOUND = 50;

function showFound() {
  const { text, runs } = foundInAnswers;
  const element = document.getElementById("found");
  element.hidden = !text;
  if (!text) return;
  const end = make("button", { type: "button" }, "End this search");
  end.addEventListener("click", () => goFilters({ answers: "" }));
  const name = ["“", make("bdi", {}, shortened(text, 60)), "”"];
  if (!runs) {
    element.replaceChildren(make("p", {}, "Searching the answers for ", ...name, " … ", end));
    return;
  }
  const lines = [...runs].sort(([a], [b]) => a - b).slice(0, MAX_FOUND).map(([run, questions]) => make("li", {},
    make("bdi", {}, overview.runs[run].name), ":",
    ...questions.flatMap((question) => [" ", make("a", { href: addressOf({ run, question, sample: null, compare: null }) }, overview.questions[question].id)])));
  const more = runs.size > MAX_FOUND ? [make("p", { className: "quiet" }, `Only the first ${MAX_FOUND} runs are listed here.`)] : [];
  element.replaceChildren(
    make("p", {}, `${counted(runs.size)} ${runs.size === 1 ? "run has" : "runs have"} sample answers with `, ...name, ". ", end),
    ...(lines.length ? [make("details", {}, make("summary", {}, "In which answers"), make("ul", {}, ...lines), ...more)] : []));
}

/** Filters the runs, and draws what depends on them. */
function applyFilters() {
  filterRuns();
  drawSoon();
}

whenChanged((before) => {
  showForm();
  if (before && before.search === state.search && before.filters === state.filters) return;
  const text = state.filters.get("answers") ?? "";
  if (text !== foundInAnswers.text) answersSearched = searchAnswers(text);
  showOffers();
  applyFilters();
});
