// The list of tasks with search and filters. state.js and answers.js come first.

const STATES = ["judged", "stale", "unjudged", "missing", null];
const N_AT_FIRST = 100;

const ORDERS = {
  "": ["as in the suite", null],
  lowest: ["lowest score first", ({ mean }) => mean],
  highest: ["highest score first", ({ mean }) => -mean],
  apart: ["models farthest apart first", ({ low, high }) => low - high],
};

const search = document.getElementById("search");
const filterElements = Object.fromEntries([...document.querySelectorAll("#filters [data-filter]")].map((element) => [element.dataset.filter, element]));
const countElement = document.getElementById("count");
const moreButton = document.getElementById("more");

function fillSelect(element, choices) {
  element.append(...choices.map(([value, text]) => make("option", { value }, text)));
  const label = element.closest("label");
  if (label.hidden) label.hidden = choices.length <= 1;
}

fillSelect(filterElements.area, [["", "all"], ...overview.areas.map((area) => [area, area])]);
fillSelect(filterElements.category, [["", "all"], ...overview.categories.map(({ name }, number) => [categoryKeys[number], overview.areas.length > 1 ? categoryKeys[number] : name])]);
const someLengths = [...new Set(overview.tasks.length)].filter((length) => length !== null);
fillSelect(filterElements.length, someLengths.length ? [["", "all"], ["none", "main table"], ...someLengths.map((length) => [`of ${length}`, length])] : []);
fillSelect(filterElements.model, [["", "all"], ...overview.models.map(({ key, name }) => [key, name])]);
fillSelect(filterElements.state, [["", "any"], ...STATES.filter(Boolean).map((name) => [name, name])]);
fillSelect(filterElements.mark, overview.marks.length ? [["", "any"], ...overview.marks.map((name) => [name, name])] : []);
fillSelect(filterElements.order, Object.entries(ORDERS).map(([value, [text]]) => [value, text]));

/** The models that the filters ask for. */
function shownModels() {
  const model = modelsByKey.get(state.filters.get("model") ?? "");
  return model === undefined ? overview.models.map((_, number) => number) : [model];
}

/** Mean, lowest and highest score of a task among some models; null if no answer is judged. */
function scoresOf(task, models) {
  const scores = models.map((model) => overview.tasks.scores[task][model]).filter((score) => score !== null);
  if (!scores.length) return { mean: null, low: null, high: null };
  return { mean: scores.reduce((sum, score) => sum + score, 0) / scores.length, low: Math.min(...scores), high: Math.max(...scores) };
}

function numberOf(text) {
  const value = Number(text);
  return text === undefined || text === "" || Number.isNaN(value) ? null : value;
}

/** Whether a model's answers to a task have the state, the mark and the score that are asked for. */
function isModelWanted(task, model) {
  const { filters } = state;
  if (filters.has("state") && STATES[overview.tasks.states[task][model]] !== filters.get("state")) return false;
  const mark = overview.marks.indexOf(filters.get("mark"));
  if (filters.has("mark") && !(overview.tasks.marked[task][model] & (1 << mark))) return false;
  const [from, to] = [numberOf(filters.get("from")), numberOf(filters.get("to"))];
  if (from === null && to === null) return true;
  const score = overview.tasks.scores[task][model];
  return score !== null && score >= (from ?? -Infinity) && score <= (to ?? Infinity);
}

function isTaskWanted(task, models) {
  const { filters } = state;
  const category = overview.tasks.category[task];
  const length = overview.tasks.length[task];
  if (filters.has("area") && overview.categories[category].area !== filters.get("area")) return false;
  if (filters.has("category") && category !== (categoriesByKey.get(filters.get("category")) ?? category)) return false;
  if (filters.has("length") && (length === null ? "none" : `of ${length}`) !== filters.get("length")) return false;
  return models.some((model) => isModelWanted(task, model));
}

/** The tasks that the search has found in texts, for the current search and model. */
let found = { text: "", model: "", tasks: new Set(), isDone: true, isWhole: false };

function matchesTitle(task, wanted) {
  const { id, title, category } = overview.tasks;
  return [id[task], title[task], categoryKeys[category[task]]].some((text) => text.toLowerCase().includes(wanted));
}

/** The tasks that are shown, in order. */
function tasksInOrder() {
  const models = shownModels();
  const text = (state.filters.get("search") ?? "").trim().toLowerCase();
  const tasks = overview.tasks.id.map((_, task) => task).filter((task) =>
    isTaskWanted(task, models) && (!text || matchesTitle(task, text) || found.tasks.has(task)));
  const [, value] = ORDERS[state.filters.get("order") ?? ""] ?? ORDERS[""];
  if (!value) return tasks;
  const keyed = tasks.map((task) => [scoresOf(task, models), task]);
  keyed.sort(([a], [b]) => (a.mean === null) - (b.mean === null) || value(a) - value(b));
  return keyed.map(([, task]) => task);
}

function remarks(task, models) {
  const counts = new Map();
  for (const model of models) {
    const name = STATES[overview.tasks.states[task][model]];
    if (name && name !== "judged") counts.set(name, (counts.get(name) ?? 0) + 1);
    overview.marks.forEach((mark, number) => {
      if (overview.tasks.marked[task][model] & (1 << number)) counts.set(mark, (counts.get(mark) ?? 0) + 1);
    });
  }
  return [...counts].map(([name, n]) => models.length > 1 ? `${n} ${name}` : name).join(", ");
}

function taskRow(task, models) {
  const { id, length, category, title } = overview.tasks;
  const { mean, low, high } = scoresOf(task, models);
  const link = make("a", { href: addressOf({ task }) }, make("bdi", {}, id[task]));
  return make("tr", {},
    make("th", { scope: "row" }, link, length[task] === null ? "" : make("span", { className: "quiet" }, " ", make("bdi", {}, length[task]))),
    make("td", {}, make("bdi", {}, overview.categories[category[task]].name)),
    make("td", { className: "title" }, make("bdi", {}, title[task])),
    ...[mean, low, high].map((value) => make("td", { className: "number" }, figure(value, 1))),
    make("td", {}, remarks(task, models)));
}

let nShown = N_AT_FIRST;

function showTasks() {
  const models = shownModels();
  const tasks = tasksInOrder();
  const body = document.getElementById("tasks").tBodies[0];
  body.replaceChildren(...tasks.slice(0, nShown).map((task) => taskRow(task, models)));
  moreButton.hidden = tasks.length <= nShown;
  document.getElementById("none").hidden = tasks.length > 0 || !found.isDone;
  document.getElementById("tasks").hidden = !tasks.length;
  const searched = found.isDone ? "" : " · searching in answers and reasons …";
  countElement.textContent = `${counted(tasks.length)} of ${counted(overview.tasks.id.length)} tasks${searched}`;
}

moreButton.addEventListener("click", () => { nShown += 5 * N_AT_FIRST; showTasks(); });

// ---- The search in texts

let searchTimer = null;

function searchTexts() {
  const text = (state.filters.get("search") ?? "").trim();
  const model = state.filters.get("model") ?? "";
  if (text === found.text && model === found.model) return;
  // A longer text can only be where the shorter text was found.
  const isNarrower = found.isWhole && text.includes(found.text) && model === found.model;
  const places = isNarrower ? [...found.tasks] : overview.tasks.id.map((_, task) => task);
  found = { text, model, tasks: new Set(), isDone: text.length < 2, isWhole: false };
  clearTimeout(searchTimer);
  if (found.isDone) return;
  const mine = found;
  const models = new Set(shownModels());
  let last = performance.now();
  const show = () => { if (performance.now() - last > 300) { showTasks(); last = performance.now(); } };
  searchTimer = setTimeout(async () => {
    try {
      await findInTasks(places, text, (model) => models.has(model), {
        onFound: (task) => mine.tasks.add(task), onDone: show, isWanted: () => found === mine,
      });
      mine.isWhole = found === mine;
    } catch (error) {
      if (found === mine) document.getElementById("none").textContent = `The texts cannot be searched: ${error.message}`;
    }
    if (found !== mine) return;
    mine.isDone = true;
    showTasks();
  }, 300);
}

// ---- The form

let isTyping = false;

search.addEventListener("input", () => {
  goFilters({ search: search.value }, { replace: isTyping });
  isTyping = true;
});
search.addEventListener("change", () => { isTyping = false; });
for (const [name, element] of Object.entries(filterElements)) {
  element.addEventListener("change", () => goFilters({ [name]: element.value }));
}
document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
document.querySelector("#filters .clear").addEventListener("click", () => {
  go({ filters: new Map([...state.filters].filter(([name]) => name === "questions")) });
});

whenChanged((before) => {
  if (before && before.filters === state.filters) return;
  nShown = N_AT_FIRST;
  if (document.activeElement !== search) search.value = state.filters.get("search") ?? "";
  for (const [name, element] of Object.entries(filterElements)) element.value = state.filters.get(name) ?? "";
  searchTexts();
  showTasks();
});
