// The state of a page, which is stored in the fragment of its address: scripts read `state`, change it only by `go`, and
// react to changes by `whenChanged`. Links, Back and Forward therefore work for every state. The page's state.js comes
// first and defines `state`, `readState`, `addressOf` and `showTitle`.

function forAddress(text) {
  const encoded = encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
  return encoded.replace(/%(2F|3A|2C)/g, decodeURIComponent);  // what may stand as it is: "/", ":", ","
}

function addressWith(pairs) {
  const written = pairs.filter(([, text]) => text).map((pair) => pair.map(forAddress).join("="));
  return written.length ? `#/${written.join("&")}` : "#";
}

/** Sets filters by name; "" removes one. */
function goFilters(changes, options) {
  const filters = new Map([...state.filters, ...Object.entries(changes)]);
  for (const [name, value] of filters) if (!value) filters.delete(name);
  go({ filters }, options);
}

/** Changes parts of the state, such as `{ run: 3 }`. Back undoes the change, unless it replaces the last one. */
function go(changes, { replace = false } = {}) {
  const address = addressOf(changes);
  if (address === addressOf({})) return;
  try {
    history[replace ? "replaceState" : "pushState"](null, "", address);
  } catch { /* browsers limit how often an address may change; the page still changes */ }
  change({ ...state, ...changes, unknown: [] });
}

const followers = [];

/** Calls back with the previous state: null when the page is ready, then after each change of the state. */
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

/** Shows what the address asks for, now and whenever Back, Forward or a link changes it. The last script calls it.
 *
 * After each change, `show` is called with the new state.
 */
function followAddress(show = () => {}) {
  const reach = () => {
    const next = readState(location.hash);
    if (addressOf(next) === addressOf({}) && !next.unknown?.length) return;
    change(next);
    show(next);
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
  const name = link?.getAttribute("href").slice(1);  // links of SVG have no `hash`
  const target = name && !name.includes("=") && document.getElementById(name);
  if (!target) return;
  event.preventDefault();
  target.scrollIntoView();
  target.focus({ preventScroll: true });
});
