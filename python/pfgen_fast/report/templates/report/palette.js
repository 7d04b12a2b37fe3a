// The palette: Ctrl-K or "/" offers the runs, the questions and the answers that contain a text, and Enter opens the
// chosen one. The page below stays as it is.

const palette = document.getElementById("palette");
const paletteText = palette.querySelector("input");
const paletteList = palette.querySelector("[role=listbox]");
const MAX_OFFERED = 6;
const PAUSE = 150;  // milliseconds without a key before the answers are searched

function find() {
  if (palette.open) return;
  palette.showModal();
  paletteText.select();
  offer();
}

function findButton(text) {
  return buttonTo(() => { paletteText.value = search.value; find(); }, {}, text);
}

function optionOf(changes, ...content) {
  const link = make("a", { role: "option", href: addressOf({ ...NOTHING_OPEN, ...changes }), tabIndex: -1 }, ...content);
  link.addEventListener("click", () => palette.close());
  return link;
}

function optionGroup(title, links) {
  return links.length ? [make("div", { role: "group", ariaLabel: title }, make("p", { className: "quiet", ariaHidden: "true" }, title), ...links)] : [];
}

/** The first subjects whose text has all words. */
function optionsOf(texts, words, link) {
  const numbers = texts.flatMap((text, number) => words.every((word) => text.includes(word)) ? [number] : []);
  return numbers.slice(0, MAX_OFFERED).map(link);
}

async function offer() {
  const text = paletteText.value.trim(), words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = [
    ...optionGroup(RUNS_TITLE, optionsOf(textsOfRuns(), words, (run) => optionOf({ run }, make("bdi", {}, overview.runs[run].name), make("span", { className: "quiet" }, ` ${figure(overview.runs[run].score, overview.digits)}`)))),
    ...optionGroup(WORDS.Questions, optionsOf(SEARCHED.questions[1](), words, (question) => optionOf({ question }, make("b", {}, overview.questions[question].id), " ", make("bdi", {}, shortened(overview.questions[question].text, 80))))),
  ];
  const searched = offer.text = `${text} ${offer.n = (offer.n ?? 0) + 1}`;
  showOffered(groups, text.length > 1 && overview.has_answers ? "Searching the answers …" : "");
  if (text.length < 2 || !overview.has_answers) return;
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  const hits = [];
  if (searched !== offer.text) return;
  for await (const { hits: more } of foundIn(new Set(overview.runs.keys()), patternOf(text), [])) {
    if (searched !== offer.text || !palette.open) return;
    for (const hit of more) if (!hits.some(({ run, question }) => run === hit.run && question === hit.question)) hits.push(hit);
    if (hits.length >= MAX_OFFERED) break;
  }
  const filters = new Map(state.filters).set("answers", text);
  const answers = hits.slice(0, MAX_OFFERED).map((hit) => optionOf({ run: hit.run, question: hit.question, sample: hit.isTrial ? null : hit.number, filters }, make("b", {}, overview.questions[hit.question].id), " ", make("bdi", {}, overview.runs[hit.run].name), " ", excerptOf(hit)));
  const all = hits.length ? [optionOf({ tab: "answers", search: "", filters }, "All answers that contain “", make("bdi", {}, shortened(text, 40)), "”")] : [];
  showOffered([...all, ...groups, ...optionGroup("Answers", answers)], groups.length + answers.length ? "" : `Nothing here contains “${shortened(text, 40)}”.`);
  if (all.length && groups.length) choose(1);  // what Enter opened before the answers were searched
}

const RUNS_TITLE = `${WORDS.Run}s`;

function showOffered(groups, notice) {
  paletteList.replaceChildren(...groups);
  palette.querySelector("[role=status]").textContent = notice;
  for (const [number, option] of paletteOptions().entries()) option.id = `option-${number}`;
  choose(0);
}

function paletteOptions() {
  return [...paletteList.querySelectorAll("[role=option]")];
}

function choose(number) {
  const options = paletteOptions();
  const at = options.length ? (number + options.length) % options.length : -1;
  for (const [place, option] of options.entries()) option.ariaSelected = String(place === at);
  paletteText.setAttribute("aria-activedescendant", options[at]?.id ?? "");
  options[at]?.scrollIntoView({ block: "nearest" });
  choose.at = at;
}

const BY_ARROW = { ArrowDown: 1, ArrowUp: -1 };
paletteText.addEventListener("keydown", (event) => {
  if (BY_ARROW[event.key]) choose(choose.at + BY_ARROW[event.key]);
  else if (event.key === "Enter") paletteOptions()[choose.at]?.click();
  else return;
  event.preventDefault();
});
paletteText.addEventListener("input", offer);
paletteList.addEventListener("mousemove", ({ target }) => {
  const at = paletteOptions().indexOf(target.closest("[role=option]"));
  if (at >= 0 && at !== choose.at) choose(at);
});
palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
document.getElementById("find").addEventListener("click", find);
addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  find();
});
