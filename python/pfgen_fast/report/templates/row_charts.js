// Small charts of a table or a list: lines, dots and bars that need no axes of their own. charts.js comes first.

/** Places on a scale in percent of its width, on which all of some values are; the scale begins and ends at two places. */
function percentOf(values, from = 0, to = 100) {
  const known = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return (value) => `${(from + (to - from) * (high > low ? (value - low) / (high - low) : 0.5)).toFixed(2)}%`;
}

/** A line of some values, as high as a text; null interrupts it. Its label says its first, last, lowest and highest value; one is marked. */
function sparkline(values, { digits = 3, label = "", marked } = {}) {
  const known = values.map((value, x) => [x, value]).filter(([, y]) => Number.isFinite(y));
  const [low, high] = known.reduce(([least, most], [, y]) => [Math.min(least, y), Math.max(most, y)], [Infinity, -Infinity]);
  const at = ([x, y]) => `${(3 + 74 * x / (values.length - 1 || 1)).toFixed(1)} ${(high > low ? 17 - 14 * (y - low) / (high - low) : 10).toFixed(1)}`;
  const line = known.map((point, index) => `${index && known[index - 1][0] === point[0] - 1 ? "L" : "M"}${at(point)}`).join("");
  const words = known.length ? `${figure(known[0][1], digits)} to ${figure(known.at(-1)[1], digits)}, lowest ${figure(low, digits)}, highest ${figure(high, digits)}` : "no values";
  return svg("svg", { class: "sparkline", role: "img", "aria-label": `${label} ${words}`.trim(), width: 80, height: 20 },
    svg("path", { d: line, class: "line" }), ...known.filter(([x]) => x === marked).map((point) => svg("path", { d: `M${at(point)}h0`, class: "end" })));
}

/** Rows of names, marks on common scales and figures. An axis has `at`, and perhaps `ticks`, `zero` and a `title`. Long names are above their marks. `href` makes a row a link. */
function rowChart(rows, { label, axes, marks, room = 24, isStacked = narrow.matches || rows.some(({ name }) => name.length > 24) }) {
  const isLong = rows.some(({ text }) => text.length > 14);
  const [height, top, x, width] = isStacked ? [20 + room, 20, "3%", "94%"] : [Math.max(28, room), 0, "26%", isLong ? "46%" : "56%"];
  const nameLook = isStacked ? { x: "1%" } : { x: "25%", "text-anchor": "end" };
  const end = height * rows.length;
  const field = (y, ...parts) => svg("svg", { x, width, y, height: height - top, overflow: "visible" }, ...parts);
  const line = (name, x) => svg("line", { class: name, x1: x, x2: x, y1: 0, y2: end });
  const words = (text, x, y) => svg("text", { class: "value", x, y, "text-anchor": "middle" }, text);
  const grid = axes.flatMap(({ at, ticks = [], zero, title, middle }) => [...ticks.flatMap((tick) => [line("grid", at(tick)), words(valueText(Number(tick.toPrecision(6))), at(tick), end + 16)]),
    ...(zero === undefined ? [] : [line("zero", at(zero))]), ...(title ? [words(title, middle, end + 33)] : [])]);
  const drawn = rows.map((row, number) => {
    const [y, about] = [height * number, `${row.name}: ${row.text}`];
    const name = shortened(row.name, narrow.matches ? Math.max(12, 44 - row.text.length) : 80);
    return svg(row.href ? "a" : "g", { ...(row.href ? { href: row.href } : { role: "img" }), "aria-label": about, ...(row.run ? { "data-run": row.run } : {}), ...(isStacked ? { class: "stacked" } : {}) },
      svg("title", {}, about), svg("rect", { class: "hit", width: "100%", y, height }),
      svg("text", { ...nameLook, y: y + (isStacked ? 14 : 18) }, name),
      svg("text", { class: "figure", x: "99%", y: y + (isStacked ? 14 : 18), "text-anchor": "end" }, row.text),
      field(y + top, ...marks(row, number, (height - top) / 2, height)));
  });
  const size = { width: "100%", height: end + Math.max(...axes.map(({ ticks, title }) => title ? 40 : ticks?.length ? 24 : 2)) };
  return svg("svg", { class: "chart", role: "group", "aria-label": label, ...size }, field(0, ...grid), ...drawn);
}

/**
 * Intervals with a dot at the mean, a row for each, on one axis. A row has `name`, `value`, `low` and `high` (perhaps
 * null) and `text`, its figures in words; perhaps also `color`, `symbol` and `href`. A row with `marks` has several dots. With
 * `isStacked`, names are above their dots. With the `titles` of two axes, the `difference` of each row is a dot on the
 * second axis, which has 0; the dot is filled if `differs`.
 */
function dots(rows, { label, isStacked, titles }) {
  const groupsOf = (row) => [row.marks ?? [row], ...(titles ? [[row.difference]] : [])];
  const axes = (titles ? [[undefined, 0, 36], [0, 46, 100]] : [[undefined, 0, 100]]).map(([origin, from, to], number) => {
    const values = [...rows.flatMap((row) => groupsOf(row)[number]).flatMap(({ value, low, high }) => [value, low, high]), origin].filter(Number.isFinite);
    const ticks = Math.max(...values) - Math.min(...values) > 1e-9 ? roundTicks(Math.min(...values), Math.max(...values), titles ? 3 : 4) : values.slice(0, 1);
    return { ticks, zero: origin, title: titles?.[number], middle: `${(from + to) / 2}%`, at: percentOf([...values, ...ticks], from, to) };
  });
  const marks = (row, _, middle) => groupsOf(row).flatMap((group, axis) => group.flatMap(({ value, low, high, color = "var(--accent)", symbol, differs = true }, number) => {
    const [y, { at }] = [middle + 11 * (number - (group.length - 1) / 2), axes[axis]];
    return [...(Number.isFinite(low) && Number.isFinite(high) ? [svg("line", { class: "interval", stroke: color, x1: at(low), x2: at(high), y1: y, y2: y })] : []),
      ...(!Number.isFinite(value) ? [] : symbol ? [svg("svg", { x: at(value), y, overflow: "visible" }, svg("path", { d: SYMBOLS[symbol], fill: color, transform: "scale(4.5)" }))]
        : [svg("circle", { cx: at(value), cy: y, r: differs ? 5 : 4, fill: differs ? color : "var(--ground)", stroke: color, "stroke-width": differs ? 0 : 2 })])];
  }));
  return rowChart(rows, { label, axes, marks, room: Math.max(24, ...rows.map((row) => 11 * groupsOf(row)[0].length + 4)), isStacked });
}

/**
 * A sum as bars, each of which begins where the last one ends, between lines at totals. A bar has `name`, `text` and
 * `value`, by which it changes the sum; a total has `total`, which the sum then is, in place of `value`. Both perhaps have
 * `href` and `isFault`, for red. Falls are orange, rises blue. The axis need not begin at 0.
 */
function waterfall(bars, { label }) {
  const ends = [];
  for (const { total, value } of bars) ends.push(total ?? ends.at(-1) + value);
  const ticks = roundTicks(Math.min(...ends) - 1e-9, Math.max(...ends) + 1e-9, 4);
  const at = percentOf([...ends, ...ticks]);
  const marks = ({ total, value, isFault }, number, middle, height) => {
    const end = ends[number];
    const next = number + 1 < bars.length ? [svg("line", { class: "zero", x1: at(end), x2: at(end), y1: middle, y2: middle + height, "stroke-dasharray": DASHES.dot })] : [];
    if (total !== undefined) return [...next, svg("rect", { class: "total", x: at(end), width: 4, y: middle - 11, height: 22, transform: "translate(-2)" })];
    const start = ends[number - 1];
    const width = `${Math.max(0.4, Math.abs(Number.parseFloat(at(start)) - Number.parseFloat(at(end))))}%`;
    return [...next, svg("rect", { class: isFault ? "fault" : value < 0 ? "fall" : "rise", x: at(Math.min(start, end)), width, y: middle - 8, height: 16 })];
  };
  return rowChart(bars, { label, axes: [{ at, ticks }], marks, isStacked: narrow.matches || bars.some(({ name }) => name.length > innerWidth / 40) });
}
