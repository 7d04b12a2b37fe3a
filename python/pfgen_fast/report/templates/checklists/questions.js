// The mean verdicts on the questions of one category at a time. state.js comes first.

const N_TINTS = 9;
const questionSelect = document.getElementById("question-category");

function nameOfMeans({ category, length }) {
  return length === null ? categoryKeys[category] : `${categoryKeys[category]} (${length})`;
}

/** The class of a verdict: the higher, the stronger. */
function tintClass(verdict) {
  const { levels } = overview;
  const [low, high] = [levels[0], levels.at(-1)];
  return `tint-${Math.round((verdict - low) / (high - low) * (N_TINTS - 1))}`;
}

function meansTable({ category, means, n }) {
  const { questions, weights } = overview.categories[category];
  const shown = overview.models.map((_, model) => model).filter((model) => means[model]);
  const head = make("tr", {}, make("th", { scope: "col" }, "Question"), make("th", { scope: "col", className: "number" }, "Weight"),
    ...shown.map((model) => make("th", { scope: "col" }, make("span", {}, make("bdi", {}, overview.models[model].name)))));
  const rows = questions.map((question, number) => make("tr", {},
    make("th", { scope: "row", className: "question-text" }, `${number + 1}. `, make("bdi", { title: question }, shortened(question, 90))),
    make("td", { className: "number" }, weights[number].toFixed(1)),
    ...shown.map((model) => make("td", { className: tintClass(means[model][number]), title: `${overview.models[model].name}: ${means[model][number].toFixed(4)}, ${counted(n[model])} tasks` }, means[model][number].toFixed(2)))));
  return make("table", { className: "heat-table" }, make("thead", {}, head), make("tbody", {}, ...rows));
}

function questionList({ questions, weights }) {
  return make("ol", { className: "questions" }, ...questions.map((question, number) =>
    make("li", {}, make("bdi", {}, question), make("span", { className: "quiet" }, ` weight ${weights[number].toFixed(1)}`))));
}

if (questionSelect) {
  questionSelect.append(...overview.means.map((one, number) => make("option", { value: number }, nameOfMeans(one))));
  const numberOfName = new Map(overview.means.map((one, number) => [nameOfMeans(one), number]));
  questionSelect.addEventListener("change", () => goFilters({ questions: nameOfMeans(overview.means[questionSelect.value]) }));
  let shown = null;
  whenChanged(() => {
    const number = numberOfName.get(state.filters.get("questions")) ?? 0;
    if (number === shown) return;
    shown = number;
    questionSelect.value = number;
    document.getElementById("question-table").replaceChildren(meansTable(overview.means[number]));
    document.getElementById("question-texts").replaceChildren(questionList(overview.categories[overview.means[number].category]));
  });
}
