// What models lose on, and the mean verdicts on the questions of one category at a time. checklists/answers.js comes first.

const N_NAMED_LOSSES = 5;

/** What a model loses to the median of the models: the categories in a sentence, and the questions in a table. */
function ownLosses(number) {
  const { losses, gaps } = overview.runs[number];
  const sentences = gaps.map(([place, gap, ids, n]) => make("p", { className: "missing" }, `${counted(n)} ${gap} in `, make("bdi", {}, place), ": ",
    ...ids.flatMap((id, index) => [index ? ", " : "", make("bdi", {}, id)]), n > ids.length ? ` and ${n - ids.length} more` : ""));
  if (!losses) return sentences;
  const named = losses.categories.filter(([, loss]) => loss > 0).slice(0, N_NAMED_LOSSES);
  const linked = (category) => {
    const { name } = overview.checklists[category];
    const link = make("a", { href: addressOf({ question: null, filters: new Map(state.filters).set("subject", name) }) }, make("bdi", {}, name));
    link.addEventListener("click", () => setTimeout(() => dialogBody.querySelector(".of-questions").scrollIntoView({ block: "center" })));
    return link;
  };
  const total = `${losses.total > 0 ? "Loses" : "Gains"} ${figure(Math.abs(losses.total), 1)} points against the median verdicts of the models`;
  sentences.unshift(make("p", {}, make("b", {}, total), ...(named.length ? [losses.total > 0 ? "; loses most in " : "; loses in ", ...named.flatMap(([category, loss], index) => [index ? ", " : "", linked(category), ` ${figure(loss, 1)}`])] : []), "."));
  const widest = Math.max(1e-9, ...losses.questions.map(([, , , , loss]) => Math.abs(loss)));
  const rows = losses.questions.filter(([, , , , loss]) => loss > 0).map(([category, question, own, reference, loss, task]) => make("tr", {},
    make("th", { scope: "row" }, make("bdi", {}, ...shortQuestion(overview.checklists[category].questions[question] ?? "Overall rating"))),
    make("td", {}, linked(category)),
    ...[own, reference].map((value) => make("td", { className: "number" }, figure(value, 2))),
    make("td", { className: "number" }, ...differenceBar(-loss, widest)),
    make("td", {}, make("a", { href: addressOf({ question: task, sample: null }) }, make("bdi", {}, overview.questions[task].id)))));
  if (!rows.length) return sentences;
  const heads = ["Question of the checklist", "Category", "Verdict", "Median", "Points", "Worst answer"];
  const table = make("table", { className: "losses" }, make("caption", { className: "unseen" }, "Loses most on"),
    make("thead", {}, make("tr", {}, ...heads.map((head, place) => make("th", { scope: "col", className: place > 1 && place < 5 ? "number" : "" }, head)))), make("tbody", {}, ...rows));
  return [...sentences, make("h3", {}, "Loses most on"), make("div", { className: "scroller", role: "region", ariaLabel: "Loses most on", tabIndex: 0 }, table)];
}

// ---- The tab of mean verdicts

const categorySelect = document.querySelector('[data-filter="checklist"]');

function nameOfMeans({ category, length }) {
  return `${overview.checklists[category].name}${length === null ? "" : `, ${length}`}`;
}

function drawChecklist() {
  const { category, means, n } = overview.means.find((part) => nameOfMeans(part) === state.filters.get("checklist")) ?? overview.means[0];
  const { questions, weights } = overview.checklists[category];
  const shown = runsInOrder().filter((run) => means[run]);
  const heads = ["Question", "Weight"].map((name, place) => make("th", { scope: "col", className: place ? "number" : "" }, name));
  const names = shown.map((run) => make("th", { scope: "col", className: "upright" }, make("a", { href: addressOf({ ...NOTHING_OPEN, run }) }, make("bdi", {}, overview.runs[run].name))));
  const rows = questions.map((question, number) => make("tr", {},
    make("th", { scope: "row" }, make("bdi", {}, ...shortQuestion(question, `${number + 1}. `))), make("td", { className: "number" }, weights[number].toFixed(1)),
    ...shown.map((run) => make("td", { className: `number ${tintClass(means[run][number])}`, title: `${overview.runs[run].name}: ${figure(means[run][number], 4)}, ${counted(n[run])} answers` }, figure(means[run][number], 2)))));
  const caption = make("caption", { className: "unseen" }, `Mean verdicts, ${nameOfMeans({ category, length: null })}`);
  document.getElementById("checklist-table").replaceChildren(make("table", { className: "tinted" }, caption, make("thead", {}, make("tr", {}, ...heads, ...names)), make("tbody", {}, ...rows)));
}

categorySelect?.append(...overview.means.map((part, number) => make("option", { value: number ? nameOfMeans(part) : "" }, nameOfMeans(part))));
whenChanged(() => { if (shownTab() === "checklists") drawChecklist(); });
