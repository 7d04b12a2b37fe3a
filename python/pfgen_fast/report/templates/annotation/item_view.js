// Shows one item: its texts, its parts as radio groups, the comment and the mark "unclear".

const material = document.getElementById("material"), form = document.getElementById("form");
const unclearBox = document.getElementById("unclear"), commentBox = document.getElementById("comment");

let current = 0;  // number of the item
let currentPart = 0;  // the part that the digits decide
const closedTexts = new Set();  // names of the texts that the annotator has folded, for all items
const places = new Map();  // how far each item was scrolled

/** Texts of the item by name, in the order of the page. */
const TEXTS = ["instruction", "description", "reference", "response", "first", "second", "before", "after"];

/** The language of the texts of the item: votes are about texts of ours. */
function textLanguage() {
  return items[current].kind === "vote" ? sheet.language : sheet.content_language;
}

function textBlock(name, text) {
  const block = make("details", { className: `text ${name}`, open: !closedTexts.has(name) },
    make("summary", {}, make("h3", {}, say(name))),
    make("div", { className: "words", lang: textLanguage() }, text));
  block.addEventListener("toggle", () => closedTexts[block.open ? "delete" : "add"](name));
  return block;
}

function verdictNodes({ verdict, reason }) {
  const { label, detail } = partsOf({ kind: "mark", questions: [""] })[0].options.find(({ value }) => value === verdict) ?? { label: String(verdict) };
  const shown = [label, detail].filter((text, at, all) => text && all.indexOf(text) === at).join(" · ");
  return [
    make("p", { className: "verdict" }, `${say("verdict")}: `, make("b", { lang: textLanguage() }, shown)),
    reason ? make("div", { className: "words reason", lang: textLanguage() }, reason) : make("p", { className: "quiet" }, say("no_reason")),
  ];
}

function optionNode(part, option, at, isOurs) {
  const input = make("input", { type: "radio", name: `part-${part}`, value: at });
  input.addEventListener("change", () => choose(part, option.value));
  const label = option.label || option.detail;
  const words = make("span", { className: "label", lang: isOurs ? language : textLanguage() }, make("b", {}, label));
  if (option.detail && option.detail !== label) words.append(make("span", { className: "detail" }, option.detail));
  return make("label", { className: "option" }, input, words, option.key === label ? "" : make("kbd", { ariaHidden: "true" }, option.key));
}

function partNode(part, at) {
  const title = make("p", { id: `part-${at}`, className: "question" }, part.number ? `${part.number}. ` : "",
    part.text ? make("span", { lang: textLanguage() }, part.text) : part.title);
  const options = part.options.map((option, number) => optionNode(at, option, number, part.isOurs));
  const group = make("div", { className: part.isScale ? "options scale" : "options" }, ...options);
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-labelledby", title.id);
  const node = make("div", { className: "part" }, title, ...(part.verdict ? verdictNodes(part.verdict) : []), group);
  node.addEventListener("focusin", () => markPart(at));
  return node;
}

function choose(part, value) {
  decide(current, { values: decisions[current].values.with(part, value) });
}

function markPart(at) {
  currentPart = at;
  document.querySelectorAll(".part").forEach((node, number) => node.classList.toggle("current", number === at));
}

/** Focuses a part: its chosen option, or the first one. */
function focusPart(at) {
  const node = document.querySelectorAll(".part")[at];
  (node.querySelector("input:checked") ?? node.querySelector("input")).focus({ preventScroll: true });
  node.scrollIntoView({ block: "nearest" });
}

function buildItem() {
  const item = items[current];
  document.getElementById("desk").dataset.kind = item.kind;
  document.getElementById("item-title").textContent = say("item", current + 1, items.length);
  document.getElementById("item-kind").textContent = say(item.kind);
  document.getElementById("texts").replaceChildren(...TEXTS.filter((name) => item[name]).map((name) => textBlock(name, item[name])));
  document.getElementById("parts").replaceChildren(...partsOf(item).map(partNode));
  const open = decisions[current].values.indexOf(null);
  markPart(Math.max(open, 0));
  showDecision();
}

/** Shows the decision of the item in the controls. */
function showDecision() {
  const { values, comment, isUnclear } = decisions[current];
  partsOf(items[current]).forEach(({ options }, part) => {
    document.getElementsByName(`part-${part}`).forEach((input, at) => { input.checked = options[at].value === values[part]; });
  });
  unclearBox.checked = isUnclear;
  if (commentBox.value !== comment) commentBox.value = comment;
}

/** Opens an item where it was left. */
function goTo(number, { focus = true } = {}) {
  if (number < 0 || number >= items.length) return;
  places.set(current, [material.scrollTop, form.scrollTop, scrollY]);
  current = number;
  keep("current", String(number));
  buildItem();
  const [top, formTop, pageTop] = places.get(number) ?? [0, 0, 0];
  material.scrollTop = top;
  form.scrollTop = formTop;
  if (focus) document.getElementById("item-title").focus({ preventScroll: true });
  scrollTo({ top: pageTop, behavior: "instant" });
  showDecisions();
}

/** The number of the next item that is not done, from the one after the current item; -1 if all are. */
function nextOpen() {
  const order = items.map((_, by) => (current + 1 + by) % items.length);
  return order.find((number) => stateOf(decisions[number]) !== "done") ?? -1;
}

unclearBox.addEventListener("change", () => decide(current, { isUnclear: unclearBox.checked }));
commentBox.addEventListener("input", () => decideAll(new Map([[current, { ...decisions[current], comment: commentBox.value }]])));
