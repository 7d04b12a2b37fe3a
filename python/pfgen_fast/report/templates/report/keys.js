// The keys of the report page, and the buttons for the previous and next run or question.

const keysDialog = document.getElementById("keys");
for (const button of document.querySelectorAll(".show-keys")) button.addEventListener("click", () => keysDialog.showModal());
keysDialog.querySelector("button").addEventListener("click", () => keysDialog.close());

/** What the open view steps through: the name of a part of the state, and its values in order; null if there is nothing. */
function steps() {
  const asked = askedView();
  if (asked?.name === "run") return { part: "run", values: rowOf[state.run].hidden ? order : runsInOrder() };
  return asked?.name === "question" ? { part: "question", values: questionsInOrder() } : null;
}

/** Opens the next run or question, or the previous one; a step takes the place of the last, so that Back closes. */
function step(by) {
  const { part, values } = steps() ?? {};
  const next = part && values[values.indexOf(state[part]) + by];
  if (next !== undefined) go({ [part]: next, sample: null }, { replace: true });
}

/** Moves the focus to the name of another run in the table. */
function moveInTable(by) {
  const links = runsInOrder().map((number) => rowOf[number].querySelector("th a"));
  const at = links.indexOf(document.activeElement);
  (links[at + by] ?? links[at] ?? links[0])?.focus();
}

const stepButtons = [[document.getElementById("previous"), -1], [document.getElementById("next"), 1]];
for (const [button, by] of stepButtons) {
  button.addEventListener("click", () => { step(by); button.focus(); });
}

whenChanged(() => {
  const { part, values } = steps() ?? {};
  for (const [button, by] of stepButtons) {
    button.hidden = !part;
    if (part) button.disabled = values[values.indexOf(state[part]) + by] === undefined;
  }
});

const STEPS = { j: 1, k: -1 };

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea") || keysDialog.open) return;
  if (event.key === "?") keysDialog.showModal();
  else if (event.key === "/" && !dialog.open) search.focus();
  else if (STEPS[event.key] && dialog.open) step(STEPS[event.key]);
  else if (STEPS[event.key]) moveInTable(STEPS[event.key]);
  else return;
  event.preventDefault();
});

// Esc in the search empties it, and a second time leaves it.
search.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !search.value) return;
  event.preventDefault();
  go({ search: "" });
});
