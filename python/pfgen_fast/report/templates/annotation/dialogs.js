// The guideline beside the item (on a narrow screen above it), the list of items, the keys, and questions to the annotator.

const wide = matchMedia("(min-width: 100rem) and (min-height: 30rem)");  // room for the guideline beside an item
const guideline = document.getElementById("guideline");
const list = document.getElementById("list"), listFilter = document.getElementById("list-filter");

for (const button of document.querySelectorAll("dialog .close")) button.addEventListener("click", () => button.closest("dialog").close());

// ---- The guideline

document.getElementById("guideline-body").innerHTML = sheet.guideline;  // made of Markdown
document.getElementById("guideline-body").lang = sheet.language;

function openGuideline() {
  if (wide.matches) guideline.show();
  else guideline.showModal();
  keep("guideline", "open");
}

function toggleGuideline() {
  if (guideline.open) guideline.close();
  else openGuideline();
}

guideline.addEventListener("close", () => { if (!isMoving) keep("guideline", "closed"); });
document.getElementById("show-guideline").addEventListener("click", toggleGuideline);

let isMoving = false;
wide.addEventListener("change", () => {
  if (!guideline.open) return;
  isMoving = true;
  guideline.close();
  isMoving = false;
  if (wide.matches) openGuideline();
});

// ---- The list of items

function buildList() {
  const shown = listFilter.value || "all";
  listFilter.replaceChildren(...["all", "open", "begun", "done", "flagged"].map((value) => make("option", { value }, say(value))));
  listFilter.value = shown;
  document.getElementById("list-items").replaceChildren(...items.map((item, number) => {
    const state = stateOf(decisions[number]);
    const states = decisions[number].isUnclear ? [state, "flagged"] : [state];
    const button = buttonTo(() => { list.close(); goTo(number); }, {},
      make("span", { className: "excerpt", lang: item.kind === "vote" ? sheet.language : sheet.content_language }, shortened(item.excerpt, 90)),
      make("span", { className: "kind" }, say(`kind_${item.kind}`)), make("span", { className: `states ${state}` }, states.map(say).join(", ")));
    if (number === current) button.setAttribute("aria-current", "true");
    return make("li", { value: number + 1, hidden: shown !== "all" && !states.includes(shown) }, button);
  }));
}

function openList() {
  buildList();
  list.showModal();
  list.querySelector("[aria-current]").scrollIntoView({ block: "center" });
}

listFilter.addEventListener("change", buildList);
document.getElementById("show-list").addEventListener("click", openList);

// ---- The keys

const KEYS = [
  ["q w e r t", "key_levels"], ["0 – 9", "key_digits"], ["x", "key_ten"], ["Backspace", "key_clear"], ["n →", "key_next"], ["p ←", "key_previous"], ["o", "key_open"],
  ["u", "key_unclear"], ["c", "key_comment"], ["z", "key_undo"], ["g", "key_guideline"], ["l", "key_items"], ["?", "key_keys"],
];

function openKeys() {
  keysDialog.querySelector("dl").replaceChildren(...KEYS.map(([keys, word]) =>
    make("div", {}, make("dt", {}, ...keys.split(" ").map((key) => (key === "–" ? " – " : make("kbd", {}, key)))), make("dd", {}, say(word)))));
  keysDialog.showModal();
}

document.getElementById("show-keys").addEventListener("click", openKeys);

// ---- Questions

/** Asks a question with some answers; promises the word of the chosen answer, or "cancel". */
function ask(text, ...answers) {
  const dialog = document.getElementById("question");
  document.getElementById("question-text").textContent = text;
  return new Promise((done) => {
    dialog.returnValue = "cancel";
    dialog.querySelector(".buttons").replaceChildren(...[...answers, "cancel"].map((word) => buttonTo(() => dialog.close(word), {}, say(word))));
    dialog.addEventListener("close", () => done(dialog.returnValue), { once: true });
    dialog.showModal();
  });
}
