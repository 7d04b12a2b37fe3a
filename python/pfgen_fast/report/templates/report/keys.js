// The buttons and keys that lead to the previous and the next run or question, and the keys of the table and the search.

const stepButtons = [[document.getElementById("previous"), -1], [document.getElementById("next"), 1]];
const STEPS = { j: 1, k: -1 };

/** The part of the state that the open view is about, and its values in order; empty for a view without an order. */
function steps() {
  const view = askedView()?.name;
  if (view === "run") return [view, isHidden[state.run] ? order : runsInOrder()];
  return view === "question" ? [view, questionsInOrder()] : [];
}

/** The changes of the state that open the next subject, or the previous one; null if there is none. */
function changesBy(by) {
  const [part, values] = steps();
  const at = part ? values.indexOf(state[part]) : -1;
  const next = at < 0 ? undefined : values[at + by];
  return next === undefined ? null : { sample: null, [part]: next };
}

/** Takes a step, which Back undoes. */
function step(by) {
  const changes = changesBy(by);
  if (changes) go(changes);
}

for (const [button, by] of stepButtons) {
  button.addEventListener("click", () => { step(by); button.focus(); });
}

whenChanged(() => {
  const hasSteps = steps().length > 0;
  for (const [button, by] of stepButtons) {
    button.hidden = !hasSteps;
    button.disabled = !changesBy(by);
  }
});

addEventListener("keydown", (event) => {
  const opened = document.querySelector("dialog[open]");
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea") || (opened && opened !== dialog)) return;
  if (event.key === "/" && !dialog.open) find();
  else if (STEPS[event.key] && dialog.open) step(STEPS[event.key]);
  else if (STEPS[event.key]) moveInTable(STEPS[event.key]);
  else return;
  event.preventDefault();
});

/** Moves the focus to the name of another run in the table. */
function moveInTable(by) {
  readRows();
  const links = runsInOrder().map((number) => rowOf[number].querySelector("th a"));
  const at = links.indexOf(document.activeElement);
  (links[at + by] ?? links[at] ?? links[0])?.focus();
}

// Esc in the search empties and leaves it, so that the keys work.
search.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  search.blur();
  if (!search.value) return;
  event.preventDefault();
  if (shownTab() === "answers") leaveAnswers();
  else go({ search: "" });
});
