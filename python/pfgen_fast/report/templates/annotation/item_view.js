// Shows one item: its texts, its parts as radio groups, the comment and the mark "unclear".

const material = document.getElementById("material"), form = document.getElementById("form");
const unclearBox = document.getElementById("unclear"), commentBox = document.getElementById("comment");

let current = 0;  // number of the item
let currentPart = 0;  // the part that the digits decide
const closedTexts = new Set();  // names of the texts that the annotator has folded, for all items
const places = new Map();  // how far each item was scrolled

/** The language of the texts of the item: votes are about texts of ours. */
function textLanguage() {
  return items[current].kind === "vote" ? sheet.language : sheet.content_language;
}

/** A text by its name; `content` is HTML of ours, or empty. */
function textBlock(name, content) {
  const block = make("details", { className: `text ${name}`, open: !closedTexts.has(name) },
    make("summary", {}, make("h3", {}, say(name))),
    content ? make("div", { className: "words", lang: textLanguage(), innerHTML: content }) : make("p", { className: "words quiet" }, say("empty")));
  block.addEventListener("toggle", () => closedTexts[block.open ? "delete" : "add"](name));
  return block;
}

function verdictNodes({ verdict, reason }) {
  const { text } = sheet.levels.find(({ value }) => value === verdict) ?? {};
  const shown = [String(verdict), text].filter(Boolean).join(" · ");
  return [
    make("p", { className: "verdict" }, `${say("verdict")}: `, make("b", { lang: sheet.language }, shown)),
    reason ? make("div", { className: "words reason", lang: textLanguage() }, reason) : make("p", { className: "quiet" }, say("no_reason")),
  ];
}

function optionNode(part, { value, label, detail, key }, at, lang) {
  const input = make("input", { type: "radio", name: `part-${part}`, value: at });
  input.addEventListener("change", () => choose(part, value));
  const words = make("span", { className: "label", lang }, make("b", {}, label), detail ? make("span", { className: "detail" }, detail) : "");
  return make("label", { className: "option" }, input, words, key ? make("kbd", { ariaHidden: "true" }, key) : "");
}

function partNode(part, at) {
  const title = make("p", { id: `part-${at}`, className: (part.text ?? "").length > 120 ? "question long-question" : "question" },
    part.number ? make("b", {}, `${part.number}. `) : "",
    part.text ? make("span", { lang: textLanguage() }, part.text) : part.title);
  const lang = part.form === "levels" || items[current].kind === "vote" ? sheet.language : language;
  const group = make("div", { className: `options ${part.form ?? ""}` }, ...part.options.map((option, number) => optionNode(at, option, number, lang)));
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-labelledby", title.id);
  const checklist = (part.checklist ?? []).map((text) => make("li", {}, text));
  const about = part.verdict ? verdictNodes(part.verdict) : checklist.length ? [make("ol", { lang: textLanguage() }, ...checklist)] : [];
  const node = make("div", { className: "part" }, title, ...about, group);
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
  document.getElementById("item-kind").textContent = say(item.kind === "instruction" ? "alone" : item.kind);
  document.getElementById("texts").replaceChildren(...Object.entries(item.texts).map(([name, content]) => textBlock(name, content)));
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
  const [top, formTop, pageTop] = places.get(number) ?? [0, 0, material.offsetTop];
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
