// The scatter plots of the report page.

const TITLES = {
  fluency: "Fluency", truthfulness: "Truthfulness", helpfulness: "Helpfulness", score: "Score",
  length: "Mean length in characters (log)",
  ...(overview.has_parts ? {} : { ...METRICS, score: WORDS.score }),
};
/** The groups of runs, the most frequent first; a group keeps its look whatever is searched. */
const groups = (() => {
  const counts = new Map();
  for (const run of overview.runs) counts.set(run.group, (counts.get(run.group) ?? 0) + 1);
  const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  return names.length <= LOOKS.length ? names : [...names.slice(0, LOOKS.length - 1), "other"];
})();

const MOST_NAMED = 40;  // points; of more, only those at the ends of the axes have room for names

function groupOf(run) {
  return groups.includes(run.group) ? run.group : "other";
}

document.getElementById("groups").append(...groups.map((group, index) => symbolItem(LOOKS[index], group)));

function drawScatter(element, shown) {
  const { x, y } = element.dataset;
  const said = (key, value) => key === "length" ? `Length ${figure(value, 1)}` : `${TITLES[key]} ${figure(value, 4)}`;
  const hasNames = shown.length > MOST_NAMED || "all";
  const series = groups.map((group, index) => ({
    symbol: LOOKS[index].symbol, color: LOOKS[index].color, size: shown.length > 100 ? 4 : 5.5, hasNames,
    points: shown.filter((number) => groupOf(overview.runs[number]) === group).map((number) => {
      const run = overview.runs[number];
      const step = stepOf(number);
      return { x: run[x], y: run[y], name: step ? `step ${counted(step.step)}` : run.title.split("/").at(-1), opens: { run: number, question: null, sample: null }, text: [shortened(run.name, 80), said(y, run[y]), said(x, run[x])] };
    }),
  }));
  drawChart(element, {
    label: `Scatter plot: ${element.previousElementSibling.textContent} of ${counted(shown.length)} ${WORDS.runs}. The leaderboard has the same figures.`,
    x: { title: TITLES[x], isLog: x === "length" }, y: { title: TITLES[y] }, series,
  });
}

for (const element of document.querySelectorAll('.plot[data-kind="scatter"]')) drawWhenSeen(element, () => drawScatter(element, visibleRuns()));
