// What models lose on, and the mean verdicts on the questions of one category at a time. checklists/answers.js comes first.

/** The errors of answers: the name of their bar, and what a model does in some answers. */
const ERRORS = {
  repetition: ["Repeats itself", "repeats itself"], rejection: ["Refuses", "refuses"], cut_off: ["Cut off", "is cut off"],
  filtered: ["Answers another task", "answers another task"], empty: ["Empty", "is empty"], missing: ["Missing", "is missing"],
};
const N_ERRORS = 3;

/** How many answers of a model have its most frequent errors, in a sentence; "" without errors. */
function errorsSentence(errors) {
  const share = ([, parts]) => Math.max(...parts.map(([n, all]) => all ? n / all : 0));
  const shown = errors.filter((error) => share(error) >= 0.01).sort((p, q) => share(q) - share(p)).slice(0, N_ERRORS);
  const part = ([n, all], place) => n ? `${counted(n)} of ${counted(all)} answers${place ? " of a wanted length" : ""}` : "";
  const text = shown.map(([name, parts]) => `${ERRORS[name][1]} in ${parts.map(part).filter(Boolean).join(" and ")}`).join(", ");
  return text && `${text[0].toUpperCase()}${text.slice(1)}. `;
}

/** What a model loses to the median of the models, by errors of its answers and, of the other answers, by area; and the questions that cost most. */
function ownLosses(number) {
  const { losses, errors, gaps, score, name: model } = overview.runs[number];
  const missing = gaps.map(([place, gap, ids, n]) => make("p", { className: "missing" }, `${counted(n)} ${gap} in `, make("bdi", {}, place), ": ",
    ...listed(ids.map((id) => make("bdi", {}, id))), n > ids.length ? ` and ${n - ids.length} more` : ""));
  if (!losses) return missing;
  const total = (name, value) => ({ name, total: value, text: figure(value, 1) });
  const isShown = (points) => figure(Math.abs(points), 1) !== "0.0";
  const bars = losses.causes.filter(([, loss]) => isShown(loss)).map(([cause, loss]) => {
    const filter = cause === "missing" ? ["state", cause] : ERRORS[cause] ? ["mark", cause] : ["area", overview.columns[cause][1]];
    return { name: ERRORS[cause]?.[0] ?? filter[1], value: -loss, text: signed(-loss, 1), isFault: loss > 0 && Boolean(ERRORS[cause]), href: addressOf({ question: null, filters: new Map([...state.filters, filter]) }) };
  });
  const chart = make("div", {}, ...bars.length ? [waterfall([total("Median verdicts", score + losses.total), ...bars, total(model, score)], { label: "From the median verdicts of the models to this model, in points of the score" }), waterfallLegend(bars, "lost by an error of answers")] : []);
  chart.addEventListener("click", ({ target }) => {
    if (target.closest("a")) setTimeout(() => dialogBody.querySelector(".of-questions")?.scrollIntoView({ block: "center" }));
  });
  const worst = losses.categories.filter(([, loss]) => loss > 0).slice(0, N_NAMED_QUESTIONS).map(([category]) => overview.checklists[category].name);
  const sides = !isShown(losses.total) ? ["", "Loses"] : losses.total > 0 ? ["Loses", ", weakest"] : ["Gains", ", but loses"];
  const distance = isShown(losses.total) ? `${sides[0]} ${figure(Math.abs(losses.total), 1)} points against the median verdicts of the models` : "";
  const sentence = errorsSentence(errors) + (distance || worst.length ? `${distance}${worst.length ? `${sides[1]} in ${worst.join(", ")}` : ""}.` : "");
  return [...sentence ? [make("p", {}, make("b", {}, sentence))] : [], ...missing, chart,
    ...bars.length ? [make("p", { className: "quiet" }, "An answer counts for its first error, or else for its area. A bar leads to its tasks.")] : [], ...dearestQuestions(losses.questions)];
}

/** The words that name a task: its first ones, unless they are few. */
function wordsOfTask({ id, text }) {
  return text.length < 20 ? id : shortened(text, 60);
}

/** A table of the questions that cost a model most, each with the answer that has the lowest verdict of those that no row above names. */
function dearestQuestions(questions) {
  const widest = Math.max(1e-9, ...questions.map(([, , , , loss]) => Math.abs(loss)));
  const rows = questions.filter(([, , , , loss]) => loss > 0).map(([category, question, own, reference, loss, task]) => make("tr", {},
    make("th", { scope: "row" }, ...shortQuestion(overview.checklists[category].questions[question])),
    make("td", { className: "extra" }, make("bdi", {}, overview.checklists[category].name)),
    ...[own, reference].map((value) => make("td", { className: "number extra" }, figure(value, 2))),
    make("td", { className: "number" }, ...differenceBar(-loss, widest)),
    make("td", {}, make("a", { href: addressOf({ question: task, sample: null }) }, make("bdi", {}, wordsOfTask(overview.questions[task]))))));
  if (!rows.length) return [];
  const heads = [["Question of the checklist", ""], ["Category", "extra"], ["Verdict", "number extra"], ["Median", "number extra"], ["Points", "number"], ["Example", ""]];
  const table = make("table", { className: "losses" }, make("caption", { className: "unseen" }, "Loses most on"),
    make("thead", {}, make("tr", {}, ...heads.map(([name, className]) => make("th", { scope: "col", className }, name)))), make("tbody", {}, ...rows));
  return [make("h3", {}, "Loses most on"), make("div", { className: "scroller", role: "region", ariaLabel: "Loses most on", tabIndex: 0 }, table)];
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
  for (const [number, row] of rows.entries()) {  // an open question is whole below its row, as wide as the table
    const whole = make("tr", { className: "opened" }, make("td", { colSpan: row.cells.length }, make("bdi", {}, questions[number])));
    row.querySelector("details")?.addEventListener("toggle", ({ target }) => { if (target.open) row.after(whole); else whole.remove(); });
  }
  const caption = make("caption", { className: "unseen" }, `Mean verdicts, ${nameOfMeans({ category, length: null })}`);
  document.getElementById("checklist-table").replaceChildren(make("table", { className: "tinted" }, caption, make("thead", {}, make("tr", {}, ...heads, ...names)), make("tbody", {}, ...rows)));
}

categorySelect?.append(...overview.means.map((part, number) => make("option", { value: number ? nameOfMeans(part) : "" }, nameOfMeans(part))));
if (categorySelect) whenShown("checklists", drawChecklist);
