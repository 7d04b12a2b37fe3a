// The tabs of the report page, and the sentence about what an address names in vain.

const tabLinks = [...document.querySelectorAll("nav [data-tab]")];

function shownTab() {
  return state.tab || TABS[0];
}

for (const link of tabLinks) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go({ ...NOTHING_OPEN, tab: link.dataset.tab === TABS[0] ? "" : link.dataset.tab });
    document.getElementById(link.dataset.tab).focus({ preventScroll: true });
  });
}

const NAMED = { run: "run", question: "question", sample: "answer with the number", cause: "cause", compare: "runs to compare with the names", tab: "tab" };

/** Hides all sections but some. */
function showSections(isShown) {
  for (const id of TABS) document.getElementById(id).hidden = !isShown(id);
}

const sectionDrawers = [];

/** Draws a section when it is shown and whenever the state changes then, and when it is printed. */
function whenShown(id, draw) {
  sectionDrawers.push(draw);
  whenChanged(() => { if (shownTab() === id) draw(); });
}

// A report is printed whole, each section from a new page on; an open view is printed alone.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll(".folded")) fold.open = true;
  if (dialog.open) return;
  showSections((id) => id !== "answers");
  for (const draw of sectionDrawers) draw();
  drawStale(true);
});
addEventListener("afterprint", () => showSections((id) => id === shownTab()));

whenChanged((before) => {
  showSections((id) => id === shownTab());
  for (const link of tabLinks) {
    if (link.dataset.tab === shownTab()) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    link.href = addressOf({ ...NOTHING_OPEN, tab: link.dataset.tab === TABS[0] ? "" : link.dataset.tab });
  }
  if (before && before.tab !== state.tab) scrollTo(0, 0);
  showUnknown(state.unknown);
});

/** Says on the page and in its dialog what an address names in vain. */
function showUnknown(unknown) {
  for (const notice of document.querySelectorAll(".unknown")) {
    notice.hidden = !unknown.length;
    notice.replaceChildren(...unknown.flatMap(([part, name]) =>
      [`This page has no ${NAMED[part]} “`, make("bdi", {}, shortened(name, 200)), "”. "]));
  }
}
