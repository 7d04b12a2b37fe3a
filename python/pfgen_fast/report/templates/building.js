// The report of a suite build: one set at a time, its plots and stages. page.js comes first.

const { branches, unit, bin } = JSON.parse(document.getElementById("overview").textContent);
const choice = document.getElementById("branch");
const sets = document.getElementById("sets");
const stagesBody = document.getElementById("stages-body");

const METRICS = ["average", "fluency", "truthfulness", "helpfulness"];
const percent = (share) => `${(100 * share).toFixed(1)} %`;

const plots = {
  left(branch) {
    const names = branch.stages.map((stage) => stage.name);
    const counts = branch.stages.map((stage) => stage.n);
    const trace = {
      type: "bar", x: names, y: counts, marker: { color: LOOKS[0].color }, text: counts.map(counted), textposition: "auto",
      hovertemplate: "%{x}: %{y:,}<extra></extra>",
    };
    return [[trace], { yaxis: { type: "log", title: { text: "answers" } } }];
  },
  lengths(branch) {
    const traces = ["raw", "length", "select"].map((name, index) => {
      const stage = branch.stages.find((one) => one.name === name);
      const shares = stage.lengths.map((count) => count / stage.n);
      return {
        type: "scatter", mode: "lines", line: { shape: "hv", color: LOOKS[index].color, dash: ["dot", "dash", "solid"][index] },
        name: { raw: "raw", length: "nearest in length", select: "chosen" }[name], x: shares.map((_, index) => index * bin), y: shares,
        hovertemplate: `%{x} to ${"<"} %{x}+${bin}: %{y:.1%}<extra></extra>`,
      };
    });
    const last = Math.max(...branch.stages.map((stage) => stage.lengths.reduce((found, count, index) => count ? index : found, 0)));
    return [traces, {
      xaxis: { title: { text: `${unit}s` }, range: [0, (last + 2) * bin] }, yaxis: { title: { text: "share of the answers" }, tickformat: ".0%", rangemode: "tozero" },
    }];
  },
  error(branch) {
    const trace = {
      type: "scatter", mode: "lines", x: branch.curve.map((point) => point[0]), y: branch.curve.map((point) => point[1]),
      line: { color: LOOKS[0].color }, hovertemplate: "%{x:,} swaps: %{y:.3e}<extra></extra>",
    };
    const logarithmic = branch.curve.every((point) => point[1] > 0);
    return [[trace], {
      xaxis: { title: { text: "swaps tried" }, rangemode: "tozero" },
      yaxis: { title: { text: "mean squared error" }, type: logarithmic ? "log" : "linear", exponentformat: "power" },
    }];
  },
  coverage(branch) {
    const orders = branch.coverage.map((_, index) => index + 1);
    const bars = [
      ["of the distinct n-grams", branch.coverage.map(([all, held]) => all ? held / all : null)],
      ["of their occurrences in answers", branch.coverage.map((order) => order[2])],
    ];
    const traces = bars.map(([name, shares], index) => ({
      type: "bar", name, x: orders, y: shares, marker: { color: LOOKS[index].color },
      hovertemplate: `order %{x}: %{y:.1%} ${name}<extra></extra>`,
    }));
    return [traces, {
      barmode: "group", xaxis: { title: { text: `order (${unit}s)` }, dtick: 1 }, yaxis: { tickformat: ".0%", range: [0, 1] },
    }];
  },
  scores(branch) {
    const traces = ["scores", "removed_scores"].map((kind, index) => {
      const stages = branch.stages.filter((stage) => stage[kind]);
      return {
        type: "scatter", mode: "lines+markers", name: index ? "removed" : "left", x: stages.map((stage) => stage.name),
        y: stages.map((stage) => stage[kind].average), line: { color: LOOKS[index].color, dash: index ? "dot" : "solid" },
        marker: { symbol: LOOKS[index].symbol, size: 9 }, hovertemplate: "%{x}: %{y:.4f}<extra></extra>",
      };
    });
    return [traces, {
      xaxis: { categoryorder: "array", categoryarray: branch.stages.map((stage) => stage.name) }, yaxis: { title: { text: "mean score" } },
    }];
  },
};

function drawAll() {
  const branch = branches[Number(choice.value)];
  for (const element of document.querySelectorAll(".building-plot")) {
    const [traces, more] = plots[element.dataset.plot](branch);
    const legend = { orientation: "h", x: 0, y: 1.02, xanchor: "left", yanchor: "bottom" };
    Plotly.react(element, traces, layout({ margin: { l: 64, r: 16, t: traces.length > 1 ? 36 : 12, b: 48 }, showlegend: traces.length > 1, legend, ...more }), CONFIG);
  }
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
  const tables = [section("Scores by this suite", smallTable(["answers", "scored", ...METRICS], [scoresOf("left", stage.scores), scoresOf("removed", stage.removed_scores)]))];
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
  drawAll();
}

choice.addEventListener("change", show);
sets.tBodies[0].addEventListener("click", (event) => {
  choice.value = event.target.closest("tr").dataset.branch;
  show();
  document.getElementById("one-set").scrollIntoView();
});

const showTheme = followTheme(drawAll);
setTimeout(() => { show(); showTheme(); });
