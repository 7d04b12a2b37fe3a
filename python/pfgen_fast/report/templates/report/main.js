// What is drawn when, and what happens at a click. The last script of the report page.

function listen(element, runOf) {
  element.on("plotly_click", (event) => go({ run: runOf(event.points[0]) }));
  element.setAttribute("role", "img");
}

let shownInPlots = [];

function drawAll() {
  shownInPlots = visibleRuns();
  const scatters = [...document.querySelectorAll(".plot")];
  const heat = document.getElementById("heat");
  const ofSweep = [...document.querySelectorAll(".sweep-plot")];
  const curves = [...document.querySelectorAll(".curve-plot")];
  for (const element of ofSweep) drawSweep(element, shownInPlots);
  for (const element of curves) drawCurves(element, shownInPlots);
  for (const element of scatters) drawScatter(element, shownInPlots);
  drawHeatMap(heat, shownInPlots);
  if (heat.hasAttribute("role")) {
    Plotly.Plots.resize(heat);  // its size depends on the number of runs
    return;
  }
  for (const element of scatters) {
    element.setAttribute("aria-label", `Scatter plot: ${element.previousElementSibling.textContent}, one point for each run`);
    listen(element, (point) => point.customdata);
  }
  for (const element of [...ofSweep, ...curves]) {
    element.setAttribute("aria-label", `Line plot: ${element.previousElementSibling.textContent}`);
    listen(element, (point) => point.customdata);
  }
  heat.setAttribute("aria-label", "Heat map: the score of each run in each question");
  listen(heat, (point) => shownInPlots[point.x]);
}

table.tHead.addEventListener("click", (event) => {
  const header = event.target.closest("th");
  if (header) sortBy(header);
});
table.tBodies[0].addEventListener("click", (event) => {
  // A click anywhere in a row, unless text is being selected; the button in it is for the keyboard.
  if (event.target.closest("button") || getSelection().isCollapsed) go({ run: Number(event.target.closest("tr").dataset.run) });
});
search.addEventListener("input", filter);
const showTheme = followTheme(drawAll);
if (search.value) filter();  // the browser may restore the text after a reload
setTimeout(showTheme);  // the table first, then the plots
followAddress();
