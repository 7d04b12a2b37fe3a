// The report of a suite build: one set at a time, its plots and stages. page.js comes first.

const { branches, unit, bin } = JSON.parse(document.getElementById("overview").textContent);
const choice = document.getElementById("branch");
const sets = document.getElementById("sets");
const stagesBody = document.getElementById("stages-body");

const METRICS = ["average", "fluency", "truthfulness", "helpfulness"];
const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** A line through points. */
function line(look, points, name) {
  const { color, symbol, character } = LOOKS[look];
  return { name, character, color, dash: "solid", symbol: points.length > 30 ? null : symbol, size: 5, points };
}

const plots = {
  lengths({ stages }) {
    const shown = { raw: "raw", length: "nearest in length", select: "chosen" };
    const last = Math.max(...stages.map((stage) => stage.lengths.findLastIndex(Boolean)));
    const series = Object.entries(shown).map(([name, title], look) => {
      const { lengths, n } = stages.find((stage) => stage.name === name);
      const points = lengths.slice(0, last + 2).map((count, at) => ({
        x: at * bin, y: count / n, text: [`${at * bin} to ${(at + 1) * bin} ${unit}s`, `${percent(count / n)} ${title}`],
      }));
      return line(look, points, title);
    });
    return { x: { title: `${unit}s` }, y: { title: "share of the answers" }, series };
  },
  error({ curve }) {
    const points = curve.map(([x, y]) => ({ x, y, text: [`${counted(x)} swaps`, `error ${y.toExponential(3)}`] }));
    return { x: { title: "swaps tried" }, y: { title: "mean squared error", isLog: curve.every(([, y]) => y > 0) }, series: [line(0, points)] };
  },
  coverage({ coverage }) {
    const shares = {
      "of the distinct n-grams": coverage.map(([all, held]) => all ? held / all : null),
      "of their occurrences in answers": coverage.map((order) => order[2]),
    };
    const series = Object.entries(shares).map(([name, found], look) => line(look, found.map((y, x) => (
      { x, y, text: [`order ${x + 1}`, `${percent(y)} ${name}`] })), name));
    return { x: { title: `order (${unit}s)`, names: coverage.map((_, at) => String(at + 1)) }, y: { title: "share" }, series };
  },
  scores({ stages }) {
    const series = ["scores", "removed_scores"].map((kind, look) => line(look, stages.flatMap((stage, x) => stage[kind] ? [
      { x, y: stage[kind].average, text: [stage.name, `score ${figure(stage[kind].average, 4)} ${look ? "removed" : "left"}`] }] : []), look ? "removed" : "left"));
    return { x: { names: stages.map((stage) => stage.name) }, y: { title: "mean score" }, series };
  },
};

for (const element of document.querySelectorAll(".plot")) {
  drawWhenSeen(element, () => {
    const { x, y, series } = plots[element.dataset.plot](branches[Number(choice.value)]);
    const title = element.parentElement.querySelector("figcaption").textContent;
    drawChart(element, { label: `Line plot: ${title}`, x: { title: "", ...x }, y, series });
    element.previousElementSibling.replaceChildren(...series.filter(({ name }) => name).map((one) => symbolItem(one, one.name)));
  });
}

function scoresOf(name, scores) {
  return [name, scores ? counted(scores.n) : "0", ...METRICS.map((metric) => figure(scores ? scores[metric] : null, 4))];
}

function stageDetails(stage, before) {
  const removed = before.n - stage.n;
  const share = before.n ? ` (${percent(removed / before.n)})` : "";
  const parts = [make("summary", {}, make("b", {}, stage.name), ` removed ${counted(removed)} of ${counted(before.n)}${share}`,
    make("span", { className: "quiet" }, ` · mean length ${figure(stage.mean, 1)} ±${figure(stage.std, 1)}`))];
  if (stage.note) parts.push(make("p", {}, make("bdi", {}, stage.note)));
  const tables = [section("Scores by this suite", smallTable(["answers", "scored", "score", ...METRICS.slice(1)], [scoresOf("left", stage.scores), scoresOf("removed", stage.removed_scores)]))];
  if (stage.reasons.length) {
    tables.push(section(stage.name === "frequency" ? "Rare n-grams that removed an answer" : "Most frequent reasons",
      smallTable(["reason", "answers"], stage.reasons.map(([reason, count]) => [reason, counted(count)]))));
  }
  parts.push(make("div", { className: "halves" }, ...tables));
  if (stage.examples.length) {
    parts.push(make("h3", {}, "Examples of what was removed"), ...stage.examples.map((example) =>
      make("div", { className: "example" }, make("div", { className: "reason" }, make("bdi", {}, `${example.reason} · raw answer ${counted(example.row)}`)), make("bdi", {}, example.answer))));
  }
  for (const table of parts) for (const scroller of table.querySelectorAll(".scroller")) scroller.tabIndex = 0;
  return make("details", { className: "stage", open: removed > 0 && stage.name !== "select" && stage.name !== "length" }, ...parts);
}

function show() {
  const number = Number(choice.value);
  const { stages } = branches[number];
  for (const row of sets.tBodies[0].rows) row.setAttribute("aria-current", String(Number(row.dataset.branch) === number));
  stagesBody.replaceChildren(...stages.slice(1).map((stage, index) => stageDetails(stage, stages[index])));
  drawSoon();
}

choice.addEventListener("change", show);
sets.tBodies[0].addEventListener("click", (event) => {
  choice.value = event.target.closest("tr").dataset.branch;
  show();
  document.getElementById("one-set").scrollIntoView();
});

const showTheme = followTheme(drawSoon);
setTimeout(() => { show(); showTheme(); });
