// The state of the page of checklists: which task is open, and the filters. page.js comes first, address.js follows.

const overview = JSON.parse(document.getElementById("overview").textContent);
const modelsByKey = new Map(overview.models.map(({ key }, number) => [key, number]));
const categoryKeys = overview.categories.map(({ area, name }) => `${area}/${name}`);
const categoriesByKey = new Map(categoryKeys.map((key, number) => [key, number]));
const tasksByKey = new Map(overview.tasks.id.map((id, task) => [taskKey(id, overview.tasks.length[task]), task]));

function taskKey(id, length) {
  return JSON.stringify([id, length ?? ""]);
}

/** The state of the page: the index of the open task, or null; and the filters that are set, by name. */
let state = { task: null, filters: new Map() };

function readState(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#\/?/, ""));
  const task = given.has("task") ? tasksByKey.get(taskKey(given.get("task"), given.get("of"))) ?? null : null;
  return { task, filters: new Map([...given].filter(([name, value]) => !["task", "of"].includes(name) && value)) };
}

/** The address within this page of the state with some changes; "#" is the bare page. */
function addressOf(changes) {
  const { task, filters } = { ...state, ...changes };
  const pairs = task === null ? [] : [["task", overview.tasks.id[task]], ["of", overview.tasks.length[task]]];
  return addressWith([...pairs, ...filters]);
}

function showTitle() {
  document.title = state.task === null ? PAGE_TITLE : `${overview.tasks.id[state.task]} · ${PAGE_TITLE}`;
}

const NOTHING_OPEN = { task: null };

/** The view that the state asks for; null if no task is open. */
function askedView() {
  const { task, filters } = state;
  return task === null ? null : { name: "task", subject: JSON.stringify([task, filters.get("model") ?? ""]) };
}
