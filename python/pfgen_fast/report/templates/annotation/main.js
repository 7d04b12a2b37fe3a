// The steps between items, the progress, the keys, the language and the theme. This script starts the page.

const byId = (id) => document.getElementById(id);

/** The last message, a word with values, so that it follows the language. */
let message = null;

function showMessage(...words) {
  message = words;
  showDecisions();
}

/** A text in an element, which is announced only if it has changed. */
function showText(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}

/** Shows the decisions wherever they are: in the controls, the progress and the state of saving. */
function showDecisions() {
  showDecision();
  const n = items.length, nDone = decisions.filter((one) => stateOf(one) === "done").length;
  const nUnclear = decisions.filter(({ isUnclear }) => isUnclear).length;
  Object.assign(byId("progress"), { max: n, value: nDone });
  showText("counts", nUnclear ? say("counts_unclear", nDone, n, nUnclear) : say("counts", nDone, n));
  showText("message", message ? say(...message) : nDone === n ? say("all_done") : "");
  showText("warning", isAtRisk() ? say("not_kept") : "");
  showText("saved", isAtRisk() ? "" : say("kept"));
  byId("undo").disabled = !earlier.length;
  byId("previous").disabled = current === 0;
  byId("next").disabled = current === n - 1;
  byId("next-open").disabled = nextOpen() < 0;
  byId("next-open").classList.toggle("ready", stateOf(decisions[current]) === "done");
}

function step(number) {
  message = null;
  goTo(number);
}

function undoLast() {
  if (!earlier.length) return;
  const number = undo();
  if (number !== current) step(number);
}

// On a narrow screen, the questions are below the texts: this button leads there and back.
const isFormShown = () => form.getBoundingClientRect().top < innerHeight / 2;
byId("to-form").addEventListener("click", () => {
  if (isFormShown()) material.scrollIntoView();
  else focusPart(currentPart);
  if (!isFormShown()) form.scrollIntoView();
});
addEventListener("scroll", () => showText("to-form", say(isFormShown() ? "to_texts" : "to_form")), { passive: true });

byId("previous").addEventListener("click", () => step(current - 1));
byId("next").addEventListener("click", () => step(current + 1));
byId("next-open").addEventListener("click", () => step(nextOpen()));
byId("undo").addEventListener("click", undoLast);

/** Chooses the option of a key in the marked part, and goes to the next part, or to the choice in the last one. */
function chooseByKey(key) {
  const parts = partsOf(items[current]);
  const option = parts[currentPart].options.find((one) => one.key === key);
  if (!option) return false;
  choose(currentPart, option.value);
  const next = Math.min(currentPart + 1, parts.length - 1);
  if (next > currentPart || document.activeElement.type === "radio") focusPart(next);
  return true;
}

const ACTIONS = {
  n: () => step(current + 1), ArrowRight: () => step(current + 1), p: () => step(current - 1), ArrowLeft: () => step(current - 1),
  o: () => step(nextOpen()), u: () => unclearBox.click(), c: () => commentBox.focus(), z: undoLast, g: toggleGuideline,
  l: openList, "?": openKeys, Backspace: () => choose(currentPart, null),
};

addEventListener("keydown", (event) => {
  const { target } = event;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || document.querySelector("dialog:modal")) return;
  if (target === commentBox && key === "Escape") focusPart(currentPart);
  if (target === commentBox || (target.type === "radio" && key.startsWith("Arrow"))) return;
  if (chooseByKey(key)) event.preventDefault();
  else if (Object.hasOwn(ACTIONS, key)) {
    event.preventDefault();
    ACTIONS[key]();
  }
});

function showTheme() {
  byId("theme").textContent = say(theme.current === "dark" ? "light" : "dark");
}

byId("theme").addEventListener("click", () => { theme.choose(theme.current === "dark" ? "light" : "dark"); showTheme(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);

function showAll() {
  showWords();
  showTheme();
  buildItem();
  showDecisions();
}

byId("language").addEventListener("click", () => { language = otherLanguage(); keep("language", language); showAll(); });

if (kept("language") in WORDS) language = kept("language");
takeAllStored();
current = Math.min(Number(kept("current")) || 0, items.length - 1);
showAll();
if (kept("guideline") !== "closed" && (wide.matches || !kept("guideline"))) openGuideline();
byId("item-title").focus({ preventScroll: true });
