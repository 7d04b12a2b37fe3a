// The buttons and keys that lead to the previous and the next subject of the dialog. The script before defines `steps`,
// which returns the part of the state that they change, its values in order and other changes of each step, or null if the
// dialog has no steps; `moveInTable`, which is called for the keys when the dialog is closed; and `find`, for "/".

const stepButtons = [[document.getElementById("previous"), -1], [document.getElementById("next"), 1]];
const STEPS = { j: 1, k: -1 };

/** The changes of the state that open the next subject, or the previous one; null if there is none. */
function changesBy(by) {
  const { part, values, changes } = steps() ?? {};
  const at = part ? values.indexOf(state[part]) : -1;
  const next = at < 0 ? undefined : values[at + by];
  return next === undefined ? null : { ...changes, [part]: next };
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
  const hasSteps = steps() !== null;
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
