// The heat map of the report page: the score of each run in each question.

const N_LABELLED = 60;
/** The best question score of all runs; a colour keeps its meaning whatever is searched. */
const BEST = overview.runs.reduce((best, run) => Math.max(best, ...run.questions), 1);

function drawHeatMap(element, shown) {
  const many = shown.length > N_LABELLED;
  const names = shown.map((number) => overview.runs[number].name);
  const indices = shown.map((_, index) => index);
  const questions = overview.questions;
  const rowHeight = 18;
  const label = narrow.matches ? 24 : 36;
  document.getElementById("heat-note").textContent = many
    ? `With more than ${N_LABELLED} runs their names are left out; search above to see them.` : "";
  element.style.height = `${questions.length * rowHeight + (many ? 90 : 350)}px`;
  element.style.minWidth = `${shown.length * (many ? 2 : 20) + 160}px`;
  Plotly.react(element, [{
    type: "heatmap", x: indices, y: questions.map((_, index) => index),
    z: questions.map((_, question) => shown.map((number) => overview.runs[number].questions[question])),
    text: questions.map((question) => names.map((name) =>
      `<b>${plotText(shortened(name, 60))}</b><br>${plotText(shortened(`${question.id} ${question.text}`, narrow.matches ? 24 : 60))}`)),
    hovertemplate: "%{text}<br>Score %{z:.4f}<extra></extra>", hoverongaps: false,
    colorscale: "Cividis", zmin: 0, zmax: BEST, xgap: many ? 0 : 1, ygap: 1,
    colorbar: { thickness: 12, title: { text: "Score", font: { size: 14 } }, outlinewidth: 0 },
  }], layout({
    margin: { l: 10, r: 10, t: 20, b: 10 }, dragmode: false,
    xaxis: { showticklabels: !many, ticks: many ? "" : "outside", tickangle: -90, tickvals: indices, ticktext: names.map((name) => plotText(shortened(name, label))), showgrid: false, zeroline: false, fixedrange: !many },
    yaxis: { autorange: "reversed", tickvals: questions.map((_, index) => index), ticktext: questions.map((question) => plotText(shortened(question.id, 12))), showgrid: false, zeroline: false, fixedrange: true },
  }), CONFIG);
}
