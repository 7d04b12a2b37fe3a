// Charts of points, lines and bands, as SVG. They take their colours from the style of the page, and are drawn when they
// come into view.

const SYMBOLS = {
  circle: "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0-1 0Z", diamond: "M0-1.3L1.3 0L0 1.3L-1.3 0Z", square: "M-.9-.9H.9V.9H-.9Z",
  "triangle-up": "M0-1.2L1.1 .8H-1.1Z", cross: "M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",
  x: "M-1.1-.6L-.6-1.1L0-.5L.6-1.1L1.1-.6L.5 0L1.1 .6L.6 1.1L0 .5L-.6 1.1L-1.1 .6L-.5 0Z",
};
const DASHES = { solid: "none", dash: "8 5", dot: "2 4", dashdot: "8 4 2 4" };
const N_TICKS = 6;

// ---- Axes

/** The numbers between two others that are whole multiples of a round step. */
function roundTicks(low, high) {
  const rough = (high - low) / N_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) ticks.push(...[1, 2, 5].map((digit) => Number((digit * 10 ** power).toPrecision(3))));
  const inside = ticks.filter((tick) => tick >= low && tick <= high);
  return inside.length > 9 ? inside.filter((tick) => /^[0.]*1[0.]*(e-\d+)?$/.test(String(tick))) : inside;
}

function logName(value) {
  return value < 0.001 ? value.toExponential() : counted(value);
}

/** From values to places between two ends, and the ticks between them. */
function axisOf({ isLog, names, title }, values, begin, end) {
  const scaled = isLog ? Math.log10 : (value) => value;
  const known = values.filter((value) => value !== null && (!isLog || value > 0)).map(scaled);
  let [low, high] = known.length ? [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))] : [0, 1];
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  [low, high] = [low - margin, high + margin];
  const [from, to] = isLog ? [10 ** low, 10 ** high] : [low, high];
  const ticks = names ? names.map((name, value) => ({ value, name: shortened(name, 14) }))
    : (isLog ? logTicks : roundTicks)(from, to).map((value) => ({ value, name: isLog ? logName(value) : String(value) }));
  return { title, ticks, at: (value) => value === null || (isLog && value <= 0) ? null : begin + (scaled(value) - low) / (high - low) * (end - begin) };
}

// ---- Drawing

/**
 * Draws a chart into an element.
 *
 * A series has `points`, each with `x`, `y`, the lines of its `text`, perhaps `low` and `high` and the `run` that it
 * opens, if any; and `color`, and if it is a line, its `dash`; and if points are drawn, their `symbol` and `size`; and if the
 * space between `low` and `high` is filled, `hasBand`.
 */
function drawChart(element, { label, x, y, series }) {
  const [width, height] = [element.clientWidth, element.clientHeight];
  if (!width || !height) return;
  const edges = { left: 60, right: width - 16, top: 12, bottom: height - 48 };
  const points = series.flatMap((one) => one.points);
  const across = axisOf(x, points.map((point) => point.x), edges.left, edges.right);
  const up = axisOf(y, points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]), edges.bottom, edges.top);
  const placed = series.map((one) => ({ ...one, points: placedPoints(one.points, across, up) }));
  const inReach = placed.flatMap((one) => one.points).sort((a, b) => a.left - b.left || b.top - a.top);
  const ring = svg("circle", { class: "ring", r: 9, visibility: "hidden" });
  const drawing = svg("svg", { role: "img", "aria-label": label, width, height }, ...axisLines(across, up, edges),
    ...placed.flatMap((one) => seriesParts(one, up)), ring);
  element.replaceChildren(drawing, ...(inReach.length ? [keyboardPoint(inReach, 0)] : []));
  followPointer(drawing, inReach, ring);
}

/** The points within the axes, with their places. */
function placedPoints(points, across, up) {
  return points.map((point) => ({ ...point, left: across.at(point.x), top: up.at(point.y) })).filter(({ left, top }) => left !== null && top !== null);
}

function axisLines(across, up, { left, right, top, bottom }) {
  const lines = across.ticks.flatMap(({ value, name }) => [
    svg("path", { class: "grid", d: `M${across.at(value)} ${top}V${bottom}` }),
    svg("text", { class: "value", x: across.at(value), y: bottom + 18, "text-anchor": "middle" }, name)]);
  const levels = up.ticks.flatMap(({ value, name }) => [
    svg("path", { class: "grid", d: `M${left} ${up.at(value)}H${right}` }),
    svg("text", { class: "value", x: left - 6, y: up.at(value) + 5, "text-anchor": "end" }, name)]);
  return [
    ...lines, ...levels,
    svg("text", { class: "title", x: (left + right) / 2, y: bottom + 40, "text-anchor": "middle" }, across.title),
    svg("text", { class: "title", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, up.title),
  ];
}

function seriesParts({ points, color, dash, symbol, size, hasBand }, up) {
  if (!points.length) return [];
  const line = (places) => places.map(([left, top]) => `${left.toFixed(1)} ${top.toFixed(1)}`).join("L");
  const bars = points.filter(({ low, high }) => low !== undefined && high !== undefined);
  const parts = [];
  if (hasBand) {
    const edge = [...points.map(({ left, high }) => [left, up.at(high)]), ...points.toReversed().map(({ left, low }) => [left, up.at(low)])];
    parts.push(svg("path", { d: `M${line(edge)}Z`, fill: color, opacity: 0.2 }));
  } else if (bars.length) {
    parts.push(svg("path", { d: bars.map(({ left, low, high }) => `M${left} ${up.at(low)}V${up.at(high)}`).join(""), stroke: color, "stroke-width": 1.5 }));
  }
  if (dash) parts.push(svg("path", { d: `M${line(points.map(({ left, top }) => [left, top]))}`, fill: "none", stroke: color, "stroke-width": 1.5, "stroke-dasharray": DASHES[dash] }));
  if (symbol) {
    parts.push(svg("g", { fill: color, "fill-opacity": 0.8 }, ...points.map(({ left, top }) =>
      svg("path", { d: SYMBOLS[symbol], transform: `translate(${left.toFixed(1)} ${top.toFixed(1)}) scale(${size})` }))));
  }
  return parts;
}

// ---- The pointer and the keyboard

const tip = document.getElementById("tip");

/** Shows lines of text next to a place of the window; the first is bold. */
function showTip(lines, left, top) {
  tip.replaceChildren(...lines.map((line, index) => make(index ? "div" : "b", {}, make("bdi", {}, line))));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(left + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${top + 14 + height > innerHeight ? top - height - 10 : top + 14}px`;
}

function hideTip() {
  tip.hidden = true;
}

/** Shows the lines next to a link while it has the focus. */
function showTipOnFocus(link, lines) {
  link.addEventListener("focus", () => {
    const { right, top } = link.getBoundingClientRect();
    showTip(lines, right, top);
  });
  link.addEventListener("blur", hideTip);
}

const REACH = 16;  // pixels

function followPointer(drawing, placed, ring) {
  const nearest = (event) => {
    const box = drawing.getBoundingClientRect();
    let found = null;
    let least = REACH;
    for (const point of placed) {
      const distance = Math.hypot(point.left - (event.clientX - box.left), point.top - (event.clientY - box.top));
      if (distance < least) [found, least] = [point, distance];
    }
    return found;
  };
  drawing.addEventListener("pointermove", (event) => {
    const point = nearest(event);
    ring.setAttribute("visibility", point ? "visible" : "hidden");
    drawing.classList.toggle("over", point?.run !== undefined);
    if (!point) return hideTip();
    ring.setAttribute("cx", point.left);
    ring.setAttribute("cy", point.top);
    showTip(point.text, event.clientX, event.clientY);
  });
  drawing.addEventListener("pointerleave", () => { ring.setAttribute("visibility", "hidden"); hideTip(); });
  drawing.addEventListener("click", (event) => {
    const point = nearest(event);
    if (point?.run !== undefined) go({ run: point.run, question: null, sample: null });
  });
}

/** The point that has the keyboard's focus: a link to its run, if any; arrow keys move it to the left and right. */
function keyboardPoint(placed, at) {
  const { left, top, run, text } = placed[at];
  const link = run === undefined ? make("span", { className: "point", tabIndex: 0, role: "img" })
    : make("a", { className: "point", href: addressOf({ run, question: null, sample: null }) });
  link.ariaLabel = text.join(", ");
  Object.assign(link.style, { left: `${left}px`, top: `${top}px` });
  showTipOnFocus(link, text);
  link.addEventListener("keydown", (event) => {
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: placed.length - 1 }[event.key];
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (next === at || !placed[next]) return;
    // A new element, because screen readers read what gets the focus.
    const moved = keyboardPoint(placed, next);
    link.after(moved);
    moved.focus();
    link.remove();
  });
  return link;
}

// ---- When to draw

const drawers = new Map();
const stale = new Set();
const inView = new Set();

/** Draws an element whenever it is in view and its content or width has changed. */
function drawWhenSeen(element, draw) {
  drawers.set(element, draw);
  stale.add(element);
  viewWatcher.observe(element);
  widthWatcher.observe(element);
}

const viewWatcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
  drawStale();
}, { rootMargin: "200px" });

const widthWatcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const width = target.clientWidth;
    if (target.drawnWidth !== undefined && target.drawnWidth !== width) stale.add(target);
  }
  drawStale();
});

/** Draws one element after the other, so that the browser can react between them. */
function drawStale(everything = false) {
  const next = [...stale].find((element) => (everything || inView.has(element)) && element.clientWidth);
  if (!next) return;
  stale.delete(next);
  next.drawnWidth = next.clientWidth;
  drawers.get(next)(next);
  if (everything) drawStale(true);
  else setTimeout(drawStale);
}

/** Draws everything again: the visible elements soon, the others when they come into view. */
function drawSoon() {
  for (const element of drawers.keys()) stale.add(element);
  clearTimeout(drawSoon.timer);
  drawSoon.timer = setTimeout(drawStale, 100);
}

addEventListener("beforeprint", () => drawStale(true));

// ---- Legends

function symbolItem({ character, color }, name) {
  const symbol = make("span", { ariaHidden: "true" }, character);
  symbol.style.color = color;
  return make("li", {}, symbol, " ", make("bdi", {}, name));
}
