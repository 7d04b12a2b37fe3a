// The order of the runs and questions that steps.js leads through.

/** The steps of the open view; see steps.js. */
function steps() {
  const asked = askedView();
  if (asked?.name === "run") return { part: "run", values: isHidden[state.run] ? order : runsInOrder(), changes: { sample: null } };
  return asked?.name === "question" ? { part: "question", values: questionsInOrder(), changes: { sample: null } } : null;
}

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
