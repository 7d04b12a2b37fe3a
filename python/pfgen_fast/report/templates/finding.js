// The page of an experiment: draws its charts, and marks a run wherever it is shown.

const SMALL = 4;  // panels; more of them are small
const shortText = (value) => value === null ? "–" : valueText(Number(Math.abs(value) < 100 ? value.toPrecision(3) : value.toFixed(0)));

/** A figure with the plot of a panel. */
function plotOf(title, draw) {
  const plot = make("div", { className: "plot" });
  drawWhenSeen(plot, () => draw(plot));
  return make("figure", {}, make("figcaption", {}, title), plot);
}

function manyPlots(figures) {
  return make("div", { className: `plots ${figures.length > SMALL ? "small" : ""}` }, ...figures);
}

const MOST_NAMED = 24;  // points; more have no room for all names

function points({ x, y, x_label, y_label, labels, runs }) {
  const names = labels.length ? labels : runs;
  const modelOf = (label = "") => shortened(label.replace(/^result\//, "").split("/")[1] ?? label, 28);  // of a run such as `result/org/model/5e1e9f4`, or of a name such as `org/model`
  return x.map((value, place) => ({
    x: value, y: y[place], run: runs[place], name: modelOf(labels[place]),
    text: [...(names.length ? [shortened(names[place], 80)] : []), `${x_label} ${shortText(value)}`, `${y_label} ${shortText(y[place])}`],
  }));
}

const KINDS = {
  Scatter: ({ panels }, title) => [
    manyPlots(panels.map((panel) => plotOf(panel.title || title, (plot) => drawChart(plot, {
      label: `Scatter plot: ${panel.title || title}`, x: { title: panel.x_label }, y: { title: panel.y_label }, hasDiagonal: panel.has_diagonal,
      series: [{ points: points(panel), symbol: "circle", color: LOOKS[0].color, size: 5, hasNames: panel.x.length > MOST_NAMED || "all" }],
    })))),
    ...(panels.some(({ labels }) => labels.length) ? [make("p", { className: "quiet" }, `Where there is room, the lowest and the highest point of each axis have their names beside them, and with at most ${MOST_NAMED} points the others, too. Hover over a point to see its name.`)] : []),
  ],
  Density: ({ panels, unit }, title) => [manyPlots(panels.map((panel) => plotOf(panel.title || title, (plot) => {
    const most = Math.log(Math.max(...panel.counts) + 1);
    const all = points(panel).map((point, place) => ({ ...point, text: [`${counted(panel.counts[place])} ${unit}`, ...point.text] }));
    const level = (place) => Math.min(8, Math.floor(Math.log(panel.counts[place] + 1) / most * 9));
    drawChart(plot, {
      label: `Density of ${unit}: ${panel.title || title}`, x: { title: panel.x_label }, y: { title: panel.y_label }, hasDiagonal: panel.has_diagonal,
      series: Array.from({ length: 9 }, (_, number) => ({ points: all.filter((_, place) => level(place) === number), color: `var(--level-${number})`, boxes: panel.sizes })),
    });
  }))), make("p", { className: "quiet" }, `A deeper blue stands for more ${unit}, on a logarithmic scale.`)],
  Matrix({ rows, columns, values, label, lowest, highest, n_digits }) {
    const table = smallTable([label, ...columns], rows.map((row, number) => [row, ...values[number].map((value) => figure(value, n_digits))]));
    table.tabIndex = 0;
    table.firstChild.classList.add("picture", "matrix");
    const cells = [...table.querySelectorAll("td")];
    values.flat().forEach((value, place) => {
      if (value !== null) cells[place].classList.add(`on-level-${Math.min(8, Math.max(0, Math.floor((value - lowest) / (highest - lowest) * 9)))}`);
    });
    return [table];
  },
  Ranges({ names, values, low, high, x_label, runs, n_all }) {
    const all = [...values, ...low ?? [], ...high ?? []].filter(Number.isFinite);
    const decimals = all.map((value) => (shortText(value).split(".")[1] ?? "").length);
    // All have the same number of decimals: three digits of the largest, unless fewer show all values.
    const digits = Math.min(Math.max(...decimals), Math.max(0, 2 - Math.floor(Math.log10(Math.max(...all.map(Math.abs))))));
    const rows = names.map((name, place) => {
      const ends = low && low[place] !== null && low[place] < high[place] ? ` (${figure(low[place], digits)} to ${figure(high[place], digits)})` : "";
      return { name, value: values[place], low: low?.[place], high: high?.[place], run: runs[place], text: `${figure(values[place], digits)}${ends}` };
    });
    const part = n_all > names.length ? `${x_label}: the first ${counted(names.length)} of ${counted(n_all)}` : x_label;
    return [make("figure", {}, make("figcaption", {}, part), dots(rows, { label: x_label }))];
  },
  LinePanels({ panels, x_label, y_label, level_label }) {
    const legend = make("ul", { className: "groups" }, ...panels[0].lines.map((line, number) => symbolItem(LOOKS[number % LOOKS.length], line.name)));
    if (level_label) legend.append(make("li", {}, "- - ", level_label));
    const heights = panels.flatMap(({ lines, levels }) => [...lines.flatMap(({ y, low, high }) => [...y, ...low ?? [], ...high ?? []]), ...levels]).filter((value) => value !== null);
    const ofLine = ({ name, x, y, low, high }, number, ticks) => ({
      color: LOOKS[number % LOOKS.length].color, symbol: LOOKS[number % LOOKS.length].symbol, dash: "solid", size: 3, hasBand: Boolean(low) && panels[0].lines.length < 3,
      points: x.map((value, place) => ({ x: value, y: y[place], ...(low ? { low: low[place], high: high[place] } : {}), text: [name, `${ticks[place] ?? shortText(value)}: ${shortText(y[place])}`] })).filter((point) => point.y !== null),
    });
    return [legend, manyPlots(panels.map(({ title, lines, levels, ticks }) => plotOf(title, (plot) => drawChart(plot, {
      label: `Line plot: ${title}`, x: { title: x_label, names: ticks.length ? ticks : undefined }, y: { title: y_label, also: heights },
      series: [...lines.map((line, number) => ofLine(line, number, ticks)), ...levels.flatMap((level, number) => level === null ? [] : [{
        color: LOOKS[number % LOOKS.length].color, dash: "dash",
        points: [lines[number].x[0], lines[number].x.at(-1)].map((x) => ({ x, y: level, text: [level_label, shortText(level)] })) }])],
    }))))];
  },
};

const charts = JSON.parse(document.getElementById("charts").textContent);
for (const element of document.querySelectorAll("[data-picture]")) {
  const chart = charts[element.dataset.picture];
  element.append(...KINDS[chart.kind](chart, element.dataset.title));
}

/** Marks a run in all charts and tables. */
function markRun({ target }) {
  const { run } = target.closest?.("[data-run]")?.dataset ?? {};
  for (const element of document.querySelectorAll(".same")) element.classList.remove("same");
  if (run !== undefined) for (const element of document.querySelectorAll(`[data-run="${CSS.escape(run)}"]`)) element.classList.add("same");
}
document.addEventListener("pointerover", markRun);
document.addEventListener("focusin", markRun);

// ---- The address, whose fragment has the IDs of what a link shows and of opened folds

const named = () => location.hash.slice(1).split(",").map((id) => document.getElementById(id)).filter(Boolean);

/** Shows the first named element, and opens all named folds and those around named elements. */
function reveal() {
  const elements = named();
  for (let fold of elements.map((element) => element.closest("details"))) {
    for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }
  elements[0]?.scrollIntoView({ block: elements[0].matches("details") ? "start" : "center" });
  elements[0]?.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const fold = event.target.closest("summary")?.parentElement;
  const link = event.target.closest("main a[href^='#']") ?? event.target.closest(".thresholds td")?.parentElement.querySelector("a");
  if (fold?.id) {  // which the click has yet to open or close
    const others = named().filter((element) => !fold.contains(element));
    history.replaceState(null, "", `#${[...fold.open ? [] : [fold], ...others].map(({ id }) => id)}`);
  } else if (link && getSelection().isCollapsed) {
    event.preventDefault();
    const folds = named().filter((element) => element.matches("details"));
    history.pushState(null, "", `#${[link.hash.slice(1), ...folds.map(({ id }) => id)]}`);
    reveal();
  }
});
addEventListener("hashchange", reveal);

// Pictures are printed; tables only if they are open.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll(".fold:has([data-picture], .cell-map), #in-words")) fold.open = true;
  drawStale(true);
});

followTheme(drawSoon)();
reveal();
