// The decisions, which each change stores in the browser: one entry for each item, so that two tabs lose nothing.

const STORED = `pfgen-annotation/${sheet.sheet}/`;

const decisions = items.map(blank);
const earlier = [];  // for undo: the number of an item, and its decision before
const unkept = new Set();  // numbers of items that could not be stored
let isExported = true;  // whether nothing has changed since the last export

/** Stores a text, or removes it if it is empty; returns whether this was possible. */
function keep(name, text) {
  try {
    if (text) localStorage.setItem(STORED + name, text);
    else localStorage.removeItem(STORED + name);
    return true;
  } catch {
    return false;
  }
}

function kept(name) {
  try {
    return localStorage.getItem(STORED + name) ?? "";
  } catch {
    return "";
  }
}

/** Takes the stored decision of an item; texts that are not a decision are ignored. */
function takeStored(number, text) {
  try {
    decisions[number] = decisionsOf(JSON.parse(text || "[]")).get(number) ?? blank(items[number]);
  } catch { /* stored by something else */ }
}

function takeAllStored() {
  items.forEach((_, number) => takeStored(number, kept(number)));
}

/** Whether decisions would be lost with the page, because the browser does not store them. */
function isAtRisk() {
  return unkept.size > 0 || !keep("trial", "1");
}

/** Stores the decisions of items, and those that could not be stored before. */
function keepItems(numbers) {
  for (const number of new Set([...unkept, ...numbers])) {
    const rows = rowsOf(items[number], decisions[number]);
    unkept.add(number);
    if (keep(number, rows.length ? JSON.stringify(rows) : "")) unkept.delete(number);
  }
}

/** Replaces decisions by number, of this tab's making: they are stored. */
function decideAll(changed) {
  for (const [number, decision] of changed) decisions[number] = decision;
  isExported = false;
  keepItems(changed.keys());
  showDecisions();
}

/** Changes parts of the decision of an item; `undo` takes it back. */
function decide(number, changes) {
  earlier.push([number, decisions[number]]);
  decideAll(new Map([[number, { ...decisions[number], ...changes }]]));
}

/** Takes back the last decision, but not comments; returns the number of its item. */
function undo() {
  const [number, { values, isUnclear }] = earlier.pop();
  decideAll(new Map([[number, { ...decisions[number], values, isUnclear }]]));
  return number;
}

addEventListener("storage", ({ key, newValue }) => {
  const number = key?.startsWith(STORED) ? key.slice(STORED.length) : "";
  if (!/^\d+$/.test(number) || !(number in items)) return;
  takeStored(Number(number), newValue);
  showDecisions();
});

addEventListener("beforeunload", (event) => {
  if (!isExported && isAtRisk()) event.preventDefault();
});
