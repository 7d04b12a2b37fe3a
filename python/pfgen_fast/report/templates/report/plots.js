// The scatter plots of the report page.

const TITLES = {
  fluency: "Fluency", truthfulness: "Truthfulness", helpfulness: "Helpfulness", score: "Score",
  length: "Mean length in characters (log)",
};
/** The groups of runs, the most frequent first; a group keeps its look whatever is searched. */
const groups = (() => {
  const counts = new Map();
  for (const run of overview.runs) counts.set(run.group, (counts.get(run.group) ?? 0) + 1);
  const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  return names.length <= LOOKS.length ? names : [...names.slice(0, LOOKS.length - 1), "other"];
})();

function groupOf(run) {
  return groups.includes(run.group) ? run.group : "other";
}

document.getElementById("groups").append(...groups.map((group, index) => {
  const symbol = make("span", { ariaHidden: "true" }, LOOKS[index].character);
  symbol.style.color = LOOKS[index].color;
  return make("li", {}, symbol, " ", make("bdi", {}, group));
}));

const LENGTH_TICKS = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

function drawScatter(element, shown) {
  const { x, y } = element.dataset;
  const traces = groups.map((group, index) => {
    const members = shown.filter((number) => groupOf(overview.runs[number]) === group);
    const of = (key) => members.map((number) => overview.runs[number][key]);
    return {
      type: "scatter", mode: "markers", x: of(x), y: of(y), customdata: members,
      text: of("name").map((name) => plotText(shortened(name, narrow.matches ? 34 : 80))),
      hovertemplate: `<b>%{text}</b><br>${TITLES[y]} %{y:.4f}<br>${x === "length" ? "Length %{x:,.1f}" : `${TITLES[x]} %{x:.4f}`}<extra></extra>`,
      marker: { symbol: LOOKS[index].symbol, color: LOOKS[index].color, size: shown.length > 100 ? 7 : 10, opacity: 0.8 },
    };
  }).filter((trace) => trace.x.length);
  const xaxis = { title: { text: TITLES[x], font: { size: 14 } } };
  if (x === "length") Object.assign(xaxis, { type: "log", tickvals: LENGTH_TICKS, tickformat: ",d" });
  Plotly.react(element, traces, layout({
    margin: { l: 10, r: 16, t: 34, b: 10 }, showlegend: false, xaxis, yaxis: { title: { text: TITLES[y], font: { size: 14 } } },
  }), CONFIG);
}
