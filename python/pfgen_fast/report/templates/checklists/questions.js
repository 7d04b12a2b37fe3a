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

const VERDICT_DIGITS = [2, 1, 0];

/** The heat map of the mean verdicts on the questions of a category. Its colours go from the lowest mean to the highest. */
function verdictMap({ category, length, means, n }) {
  const { name: ofTasks, questions, weights } = overview.checklists[category];
  const all = means.filter(Boolean).flat();
  const colours = coloursOf(all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b)), VERDICT_DIGITS);
  const lines = (item) => [shortened(questions[item], 600), `Weight ${weights[item].toFixed(1)}`];
  const filters = () => new Map([...state.filters, ["subject", ofTasks], ...overview.questions[0].length ? [["length", length ?? "main table"]] : []]);
  return {
    label: `Mean verdicts, ${nameOfMeans({ category, length })}`, unit: "mean verdict", scale: () => colours.scale, ends: () => colours.ends,
    axes: (shown) => [{ part: "item", isDown: true, numbers: [...questions.keys()], name: (item) => `${item + 1}. ${questions[item]}`, short: (item) => `${item + 1}`, lines,
      opens: () => ({ tab: "questions", filters: filters() }) }, runAxis(shown.filter((run) => means[run]))],
    look: ({ run, item }, nLetters) => [colours.levelOf(means[run][item]), cellFigure(means[run][item], nLetters, figure, VERDICT_DIGITS)],
    lines: ({ run, item }) => [shortened(overview.runs[run].name, 80), `Mean verdict ${figure(means[run][item], 4)} of ${counted(n[run])} answers`, ...lines(item)],
    opens: ({ run }) => ({ ...NOTHING_OPEN, run, filters: filters() }),
  };
}

function drawChecklist(element) {
  const part = overview.means.find((some) => nameOfMeans(some) === state.filters.get("checklist")) ?? overview.means[0];
  const { questions, weights } = overview.checklists[part.category];
  const [spec, tools] = [verdictMap(part), document.querySelector("#checklists .tools")];
  drawHeatMap(element, spec, runsInOrder());
  showLegend(tools.querySelector(".heat-legend"), spec);
  document.getElementById("checklist-questions").replaceChildren(questionList({ questions, weights }));
  const saveMeans = () => {
    const shown = runsInOrder().filter((run) => part.means[run]);
    const rows = questions.map((question, item) => [`${item + 1}. ${question}`, weights[item].toFixed(1), ...shown.map((run) => figure(part.means[run][item], 4))]);
    saveFile(fileName(spec.label, "csv"), csvOf([["Question", "Weight", ...shown.map((run) => overview.runs[run].name)], ...rows]), "text/csv");
  };
  tools.querySelector(".save")?.remove();
  tools.append(saveButtons(spec.label, { CSV: saveMeans, ...pictureForms(() => titledMap(element), spec.label) }));
}

if (categorySelect) {
  const element = document.getElementById("checklist-map");
  categorySelect.append(...overview.means.map((part, number) => make("option", { value: number ? nameOfMeans(part) : "" }, nameOfMeans(part))));
  element.addEventListener("scroll", () => { if (element.map) showTiles(element.map); });
  drawWhenSeen(element, drawChecklist);
  whenChanged((before) => { if (before && before.filters.get("checklist") !== state.filters.get("checklist")) drawAgain(element); });
}
