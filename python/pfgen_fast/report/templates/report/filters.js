// The runs that are shown: the search, the filters, and the sentence for the case that no run is left.

const search = document.getElementById("search");
const filterForm = document.querySelector("#filters form");

/** The filters by name: each turns its value into a test of a run. */
const FILTERS = {
  from: (value) => (run) => run.score !== null && run.score >= Number(value),
  to: (value) => (run) => run.score !== null && run.score <= Number(value),
  fewer: () => hasFewer,
  missing: atLeast("missing"),
  too_long: atLeast("too_long"),
  unhelpful: atLeast("unhelpful"),
  organisation: (value) => (run) => run.organisation === (value === "–" ? "" : value),
  ...Object.fromEntries(parameters.map(({ name }) => [`parameter ${name}`, (value) => (run) => (run.parameters[name] ?? "") === (value === "–" ? "" : value)])),
};

function atLeast(key) {
  return (value) => (run) => share(run[key], run) >= Number(value);
}

/** The parts of the state that select runs, without `best` and without parts that only change the appearance. */
function askedFilters(filters) {
  return [...filters].filter(([name]) => Object.hasOwn(FILTERS, name));
}

const textsOfRuns = once(() => overview.runs.map(({ name, group, parameters: of }) =>
  [name, group, ...Object.entries(of).map(([key, value]) => `${key} ${value}`)].join("\n").toLowerCase()));

/** The search filters what the tab shows: questions, or else runs. */
const SEARCHED = { questions: [WORDS.question, once(() => overview.questions.map(({ id, text, subject }) => `${id} ${text} ${subject ?? ""}`.toLowerCase()))] };

/** Tests whether a question or a run, by the tab, matches the search. A search that matches none of them leaves all, and says so. */
function searchOf(tab) {
  const [noun, texts] = SEARCHED[tab] ?? [WORDS.run, textsOfRuns];
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (number) => words.every((word) => texts()[number].includes(word));
  const isVain = words.length > 0 && !texts().some((_, number) => matches(number));
  const vain = document.getElementById("vain");
  vain.hidden = !isVain;
  if (isVain) vain.replaceChildren(`No ${noun} matches “`, make("bdi", {}, shortened(state.search.trim(), 60)), "”, so all are shown. ", findButton("Find it elsewhere (Ctrl-K)"));
  return isVain ? () => true : matches;
}

function filterRuns() {
  const matches = shownTab() === "questions" ? () => true : searchOf(shownTab());
  const tests = askedFilters(state.filters).map(([name, value]) => FILTERS[name](value));
  const models = new Set();
  overview.runs.forEach((run, number) => {
    let isShown = matches(number) && tests.every((test) => test(run, number));
    if (isShown && state.filters.has("best")) {
      // The runs are sorted by score, so the first run of a model is its best run.
      const model = run.parameters.model ?? run.name.replace(/\/[^/]*$/, "");
      isShown = !models.has(model);
      models.add(model);
    }
    isHidden[number] = !isShown;
  });
  rowOf.forEach((row, number) => { row.hidden = isHidden[number]; });
  const n = visibleRuns().length;
  document.getElementById("count").textContent = `${counted(n)} of ${counted(overview.runs.length)} ${WORDS.runs}`;
  document.getElementById("none").hidden = n > 0;
  table.parentElement.hidden = n === 0;
  for (const drawn of document.querySelectorAll("#sweep, #plots, #heat-map, #questions, #subjects")) drawn.classList.toggle("empty", n === 0);
}

/** The ends of the intervals of some runs; system runs are left out unless all runs are system runs. */
function endsOf(runs) {
  const known = runs.filter(({ low }) => low !== null);
  const models = known.filter(({ rank }) => rank !== null);
  const shown = models.length ? models : known;
  const low = shown.reduce((so, run) => Math.min(so, run.low), Infinity);
  return [low, shown.reduce((so, run) => Math.max(so, run.high), low + 0.01)];
}

/** The runs without those whose scores are far from all others, by more than three interquartile ranges; of few, all. */
function withoutOutliers(runs) {
  if (runs.length < 5) return runs;
  const scores = runs.map(({ score }) => score).filter(isNumber).sort((a, b) => a - b);
  const [low, high] = [1, 3].map((quarter) => scores[Math.floor(quarter * (scores.length - 1) / 4)]);
  return runs.filter(({ score }) => score >= low - 3 * (high - low) && score <= high + 3 * (high - low));
}

const axis = endsOf(withoutOutliers(overview.runs));
const axisBox = (() => {
  const [first, last] = endsOf(overview.runs);  // the page is written with the axis of all runs
  return `${(100 * (axis[0] - first) / (last - first)).toFixed(2)} 0 ${(100 * (axis[1] - axis[0]) / (last - first)).toFixed(2)} 8`;
})();

/** Completes rows of the page: of several runs of one name, those after the first have other addresses; intervals have one axis, at whose ends runs far from all others are dots. */
function finishRows(rows) {
  for (const row of rows) {
    const number = Number(row.dataset.run), run = overview.runs[number], drawing = row.querySelector(".whisker");
    if (runKeys[number] !== run.name) row.querySelector("th a").href = addressOf({ run: number });
    row.hidden = isHidden[number];
    if (!drawing) continue;
    drawing.setAttribute("viewBox", axisBox);
    drawing.classList.toggle("below", run.high < axis[0]);
    drawing.classList.toggle("above", run.low > axis[1]);
  }
}

finishRows(rowOf);

// ---- The form

const offeredParameters = parameters.filter(({ values }) => values.length <= 200);
for (const { name, values } of offeredParameters) {
  const select = make("select", {}, make("option", { value: "" }, "any"));
  select.dataset.filter = `parameter ${name}`;
  // A parameter that some runs name and others do not, with one value, says less than the others.
  const isVaried = values.filter(Boolean).length > 1;
  document.getElementById(isVaried ? "of-parameters" : "of-others").append(make("label", {}, make("bdi", {}, name), " ", select));
}
for (const part of ["of-parameters", "of-others"]) document.getElementById(part).hidden = !document.querySelector(`#${part} label`);
const organisations = [...new Set(overview.runs.map(({ organisation }) => organisation))];
document.querySelector('[data-filter="organisation"]').parentElement.hidden = organisations.length < 2;

document.getElementById("filters").addEventListener("beforetoggle", () => {  // the lists are long
  const lists = new Map([["organisation", organisations], ...offeredParameters.map(({ name, values }) => [`parameter ${name}`, values])]);
  for (const select of filterForm.querySelectorAll("select")) {
    select.append(...lists.get(select.dataset.filter).toSorted(byText).map((value) => make("option", { value: value || "–" }, shortened(value, 60) || "none")));
  }
  showForm();
}, { once: true });
document.getElementById("columns").append(...COLUMNS.filter(({ isOptional }) => isOptional).map(({ key, title }) => {
  const box = make("input", { type: "checkbox" });
  box.dataset.shows = key;
  return make("label", {}, box, " ", make("bdi", {}, title));
}));

document.addEventListener("change", ({ target }) => {
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
  const searched = shownTab() === "answers" ? state.filters.get("answers") ?? "" : state.search;
  if (search.value !== searched) search.value = searched;
  const [label, words] = { questions: [`Filter ${WORDS.questions}`, "words"], answers: ["Search answers", "words"] }[shownTab()] ?? [`Filter ${WORDS.runs}`, "name or parameter"];
  [search.previousSibling.data, search.placeholder] = [`${label} `, narrow.matches ? label : words];
  for (const control of document.querySelectorAll("main [data-filter]")) {
    const value = state.filters.get(control.dataset.filter) ?? "";
    if (control.type === "checkbox") control.checked = Boolean(value);
    else if (control.value !== value) control.value = value;
  }
  const shown = shownColumns().map(({ key }) => key);
  for (const box of filterForm.querySelectorAll("[data-shows]")) box.checked = shown.includes(box.dataset.shows);
  const n = askedFilters(state.filters).length + state.filters.has("best");
  filtersButton.textContent = `Filters${narrow.matches ? "" : " and columns"}${n ? ` (${n} ${n === 1 ? "filter" : "filters"} set)` : ""}`;
}

// ---- The search: it filters what the tab shows during typing; palette.js finds the rest

search.addEventListener("input", () => {
  // Text that is typed without a pause is one step, which Back undoes.
  if (shownTab() !== "answers") go({ search: search.value }, { replace: state.search !== "" && search.value !== "" });
  else if (!search.value) leaveAnswers();
});

search.addEventListener("keydown", (event) => {
  const text = search.value.trim();
  if (event.key === "Enter" && text && overview.has_answers) go({ ...NOTHING_OPEN, tab: "answers", search: "", filters: new Map(state.filters).set("answers", text) });
});

function leaveAnswers() {
  const filters = new Map(state.filters);
  filters.delete("answers");
  go({ tab: "", filters });
}

let applied = "";

whenChanged(() => {
  showForm();
  const asked = JSON.stringify([state.search, state.filters.get("best"), askedFilters(state.filters), shownTab() === "questions"]);
  if (asked === applied) return;
  applied = asked;
  filterRuns();
  drawSoon();
});
