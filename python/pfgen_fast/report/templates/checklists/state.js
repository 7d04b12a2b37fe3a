// The state of the page of checklists: which task is open, and the filters; kept in the fragment of the page's address.
// Scripts read `state`, change it only by `go`, and follow it by `whenChanged`. page.js comes first.

const overview = JSON.parse(document.getElementById("overview").textContent);
const modelsByKey = new Map(overview.models.map(({ key }, number) => [key, number]));
const categoryKeys = overview.categories.map(({ area, name }) => `${area}/${name}`);
const categoriesByKey = new Map(categoryKeys.map((key, number) => [key, number]));
const tasksByKey = new Map(overview.tasks.id.map((id, task) => [taskKey(id, overview.tasks.length[task]), task]));

function taskKey(id, length) {
  return JSON.stringify([id, length ?? ""]);
}

/** What the page shows: the index of a task, or null; and the filters that are set, by name. */
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
  const written = [...pairs, ...filters].filter(([, text]) => text).map((pair) => pair.map(forAddress).join("="));
  return written.length ? `#/${written.join("&")}` : "#";
}

function forAddress(text) {
  const encoded = encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
  return encoded.replace(/%(2F|3A|2C)/g, decodeURIComponent);  // what may stand as it is: "/", ":", ","
}

/** Changes parts of the state. A step that Back undoes, unless it takes the place of the last. */
function go(changes, { replace = false } = {}) {
  const address = addressOf(changes);
  if (address === addressOf({})) return;
  try {
    history[replace ? "replaceState" : "pushState"](null, "", address);
  } catch { /* browsers limit how often an address may change; the page changes all the same */ }
  change({ ...state, ...changes });
}

/** Sets filters by name; "" takes one away. What is typed in one go is one step. */
function goFilters(changes, options) {
  const filters = new Map(state.filters);
  for (const [name, value] of Object.entries(changes)) {
    if (value) filters.set(name, value);
    else filters.delete(name);
  }
  go({ filters }, options);
}

const followers = [];

/** Calls back with the state before, when the page is ready (with null) and after each change of the state. */
function whenChanged(callback) {
  followers.push(callback);
}

function change(next) {
  const before = state;
  state = next;
  showTitle();
  for (const follow of followers) follow(before);
}

const PAGE_TITLE = document.title;

function showTitle() {
  document.title = state.task === null ? PAGE_TITLE : `${overview.tasks.id[state.task]} · ${PAGE_TITLE}`;
}

/** Shows what the address asks for, now and whenever Back, Forward or a link changes it. The last script calls it. */
function followAddress() {
  const reach = () => {
    const next = readState(location.hash);
    if (addressOf(next) === addressOf({})) return;
    const isFiltered = addressOf({ ...next, task: null }) !== addressOf({ task: null });
    change(next);
    if (isFiltered && next.task === null && next.filters.size) document.getElementById("answers").scrollIntoView();
  };
  addEventListener("popstate", reach);
  addEventListener("hashchange", reach);
  state = readState(location.hash);
  showTitle();
  for (const follow of followers) follow(null);
}

// Links to the sections scroll only: the fragment holds the state.
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  const target = link && !link.hash.includes("=") && document.getElementById(link.hash.slice(1));
  if (!target) return;
  event.preventDefault();
  target.scrollIntoView();
  target.focus({ preventScroll: true });
});
