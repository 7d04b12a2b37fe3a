// Charts as SVG. They take their colours from the style of the page, and are drawn when they come into view.

const SYMBOLS = {
  circle: "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0-1 0Z", diamond: "M0-1.3L1.3 0L0 1.3L-1.3 0Z", square: "M-.9-.9H.9V.9H-.9Z",
  "triangle-up": "M0-1.2L1.1 .8H-1.1Z", cross: "M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",
  x: "M-1.1-.6L-.6-1.1L0-.5L.6-1.1L1.1-.6L.5 0L1.1 .6L.6 1.1L0 .5L-.6 1.1L-1.1 .6L-.5 0Z",
};
const MOST_SYMBOLS = 1000;  // of a series; more are one path of circles, which browsers draw quickly
const MOST_OF_LINE = 14;  // letters of a name below an axis
const DASHES = { solid: "none", dash: "8 5", dot: "2 4", dashdot: "8 4 2 4" };

// ---- Axes

/** The numbers between two others that are whole multiples of a round step. */
function roundTicks(low, high, n = 6) {
  const rough = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) ticks.push(...[1, 2, 5].map((digit) => Number((digit * 10 ** power).toPrecision(3))));
  const inside = ticks.filter((tick) => tick >= low && tick <= high);
  if (inside.length < 3) return roundTicks(low, high);
  return inside.length > 9 ? inside.filter((tick) => /^[0.]*1[0.]*(e-\d+)?$/.test(String(tick))) : inside;
}

/** A number beside an axis or in a list; those from 1,000 have separators. */
function valueText(value) {
  return Math.abs(value) >= 1000 ? counted(value) : String(value);
}

/** From values to places between two ends and back, and the ticks between them. */
function axisOf({ isLog, names, title }, values, begin, end) {
  const scaled = isLog ? Math.log10 : (value) => value;
  const known = values.filter((value) => value !== null && (!isLog || value > 0)).map(scaled);
  let [low, high] = known.length ? [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))] : [0, 1];
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  [low, high] = [low - margin, high + margin];
  const [from, to] = isLog ? [10 ** low, 10 ** high] : [low, high];
  const ticks = names ? names.map((name, value) => ({ value, name }))
    : (isLog ? logTicks : roundTicks)(from, to).map((value) => ({ value, name: isLog && value < 0.001 ? value.toExponential() : valueText(value) }));
  return {
    title, ticks, names,
    at: (value) => value === null || (isLog && value <= 0) ? null : begin + (scaled(value) - low) / (high - low) * (end - begin),
    valueAt: (place) => { const value = low + (place - begin) / (end - begin) * (high - low); return isLog ? 10 ** value : value; },
  };
}

// ---- Drawing

/**
 * Draws a chart into an element.
 *
 * A series has `points`, each with `x`, `y`, the lines of its `text`, perhaps `low` and `high` and what it `opens`, as
 * changes of the state; and `color`, and if it is a line, its `dash`; and if points are drawn, their `symbol` and `size`;
 * and if the space between `low` and `high` is filled, `hasBand`. With `hasDiagonal`, both axes have the same values.
 * `onBrush(range)` is called with the values that the pointer drags over, as `{ x: [low, high], y: [low, high] }`, or
 * with null after a click beside all points; `brush` is the range to show.
 */
function drawChart(element, { label, x, y, series, hasDiagonal, brush, onBrush }) {
  const [width, height] = [element.clientWidth, element.clientHeight];
  if (!width || !height) return;
  const edges = { left: 60, right: width - 16, top: 12, bottom: height - 48 };
  const points = series.flatMap((one) => one.points);
  let values = [points.map((point) => point.x), points.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y])];
  if (hasDiagonal) values = values.map(() => values.flat());
  const across = axisOf(x, values[0], edges.left, edges.right);
  const up = axisOf(y, [...values[1], ...y.also ?? []], edges.bottom, edges.top);
  const placed = series.map((one) => ({
    ...one, points: one.points.map((point) => Object.assign(point, { left: across.at(point.x), top: up.at(point.y) })).filter(({ left, top }) => left !== null && top !== null),
  }));
  const inReach = placed.flatMap((one) => one.points).sort((a, b) => a.left - b.left || b.top - a.top);
  const ring = svg("circle", { class: "ring", r: 9, visibility: "hidden" });
  const drawing = svg("svg", { class: "chart", role: "img", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` }, ...axisLines(across, up, edges),
    ...(hasDiagonal ? [svg("path", { class: "zero", d: `M${edges.left} ${edges.bottom}L${edges.right} ${edges.top}` })] : []),
    ...placed.flatMap((one) => seriesParts(one, up, across)), ...nameParts(placed.filter(({ hasNames }) => hasNames).flatMap((one) => one.points), { ...edges, right: width - 6 }, placed[0]?.hasNames === "all"), ring);
  element.replaceChildren(drawing, ...(inReach.length ? [keyboardPoint(inReach, 0)] : []));
  followPointer(drawing, inReach, ring);
  if (onBrush) followBrush(drawing, inReach, { across, up, brush, onBrush });
}

/** A name of an axis, in two lines if it has more letters than room, broken at the space nearest to its middle; long lines are cut. */
function inTwoLines(name, room) {
  const off = (place) => Math.abs(place - name.length / 2);
  const [space] = name.length > room ? [...name.matchAll(/ /g)].map(({ index }) => index).sort((a, b) => off(a) - off(b)) : [];
  return (space === undefined ? [name] : [name.slice(0, space), name.slice(space + 1)]).map((line) => shortened(line, room));
}

function axisLines(across, up, { left, right, top, bottom }) {
  const step = across.ticks.length > 1 ? across.at(across.ticks[1].value) - across.at(across.ticks[0].value) : right - left;
  const linesOf = (name) => across.names ? inTwoLines(name, Math.min(MOST_OF_LINE, Math.max(6, Math.floor(step / 7.2)))) : [name];
  const isBroken = across.ticks.some(({ name }) => linesOf(name).length > 1);
  const lines = across.ticks.flatMap(({ value, name }) => [
    svg("path", { class: "grid", d: `M${across.at(value)} ${top}V${bottom}` }),
    ...linesOf(name).map((line, place) => svg("text", { class: "value", x: across.at(value), y: bottom + 18 + 13 * place, "text-anchor": "middle" }, line))]);
  const levels = up.ticks.flatMap(({ value, name }) => [
    svg("path", { class: "grid", d: `M${left} ${up.at(value)}H${right}` }),
    svg("text", { class: "value", x: left - 6, y: up.at(value) + 5, "text-anchor": "end" }, name)]);
  return [
    ...lines, ...levels,
    svg("text", { class: "title", x: (left + right) / 2, y: bottom + (isBroken ? 45 : 40), "text-anchor": "middle" }, across.title),
    svg("text", { class: "title", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, shortened(up.title, Math.floor((bottom - top) / 7))),
  ];
}

function seriesParts({ points, color, dash, symbol, size, hasBand, boxes }, up, across) {
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
  if (boxes) {
    const [width, height] = [across.at(boxes[0]) - across.at(0), up.at(0) - up.at(boxes[1])];
    parts.push(svg("path", { class: "boxes", fill: color, d: points.map(({ left, top }) => `M${left - width / 2} ${top - height / 2}h${width}v${height}h${-width}z`).join("") }));
  }
  if (symbol && points.length > MOST_SYMBOLS) {
    const circles = points.map(({ left, top }) => `M${(left - 3).toFixed(1)} ${top.toFixed(1)}a3 3 0 1 0 6 0a3 3 0 1 0-6 0`).join("");
    parts.push(svg("path", { d: circles, fill: color, "fill-opacity": 0.5 }));
  } else if (symbol) {
    parts.push(svg("g", { fill: color, "fill-opacity": 0.8 }, ...points.map(({ left, top, run }) =>
      svg("path", { d: SYMBOLS[symbol], transform: `translate(${left.toFixed(1)} ${top.toFixed(1)}) scale(${size})`, ...(run ? { "data-run": run } : {}) }))));
  }
  return parts;
}

/** The names of the lowest and the highest point of both axes, or of all, where a name covers neither a point nor another name and no other point is nearer to it. */
function nameParts(points, { left, right, top, bottom }, isOfAll) {
  const ends = ["left", "top"].flatMap((side) => { const inOrder = points.toSorted((a, b) => a[side] - b[side]); return [inOrder[0], inOrder.at(-1)]; });
  const taken = points.map((point) => [point.left - 4, point.left + 4, point.top]);
  return [...new Set([...ends, ...isOfAll ? points : []])].filter((point) => point?.name).flatMap((point) => {
    const width = 7.5 * lettersOf(point.name);
    const middle = Math.max(left, Math.min(point.left - width / 2, right - width));
    const around = (gap, y) => [["middle", middle, width / 2, y], ["start", point.left + gap, 0, y], ["end", point.left - gap - width, width, y]];
    const distance = ([, x, , y], other) => Math.hypot(Math.max(x - other.left, other.left - x - width, 0), Math.max(Math.abs(y - other.top) - 6, 0));
    const isFree = ([, x, , y]) => x >= left && x + width <= right && y > top - 8 && y < bottom && taken.every(([from, to, other]) => to < x || from > x + width || Math.abs(y - other) > 12);
    return [0, -14, 14].flatMap((lift) => around(lift ? 0 : 8, point.top + lift)).filter((at) => isFree(at) && points.every((other) => other.name === point.name || distance(at, other) > distance(at, point) + 3)).slice(0, 1).map(([anchor, x, shift, y]) => {
      taken.push([x, x + width, y]);
      return svg("text", { class: "value name", x: x + shift, y: y + 4, "text-anchor": anchor }, point.name);
    });
  });
}

/** The end of a text that is too wide for `n` letters of Latin script. */
function endOf(text, n) {
  const letters = [...text];
  while (lettersOf(letters) > n) letters.splice(0, letters[0] === "…" ? 2 : 1, "…");
  return letters.join("");
}

/** The width of a text in letters of Latin script. */
function lettersOf(text) {
  return [...text].reduce((so, letter) => so + (letter < "\u1100" ? 1 : 2), 0);
}

// ---- The pointer and the keyboard

const REACH = 16;  // pixels from the pointer to a point
const LEAST_DRAG = 5;  // pixels; less is a click
const tip = document.getElementById("tip");

/** Shows lines of text next to a place of the window, above an open dialog; the first is bold. */
function showTip(lines, left, top) {
  (document.querySelector("dialog[open]") ?? document.body).append(tip);
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

/** The point within reach of the pointer, if any. */
function nearestPoint(drawing, placed, event) {
  const box = drawing.getBoundingClientRect();
  let nearest = null;
  let least = REACH;
  for (const point of placed) {
    const distance = Math.hypot(point.left - (event.clientX - box.left), point.top - (event.clientY - box.top));
    if (distance < least) [nearest, least] = [point, distance];
  }
  return nearest;
}

function followPointer(drawing, placed, ring) {
  drawing.addEventListener("pointermove", (event) => {
    const point = nearestPoint(drawing, placed, event);
    ring.setAttribute("visibility", point ? "visible" : "hidden");
    drawing.classList.toggle("over", Boolean(point?.opens));
    if (!point) return hideTip();
    ring.setAttribute("cx", point.left);
    ring.setAttribute("cy", point.top);
    showTip(point.text, event.clientX, event.clientY);
  });
  drawing.addEventListener("pointerleave", () => { ring.setAttribute("visibility", "hidden"); hideTip(); });
  drawing.addEventListener("click", (event) => {
    const point = nearestPoint(drawing, placed, event);
    if (point?.opens) go(point.opens);
  });
}

/** Lets the pointer drag over a range; on touch screens, a drag up or down still scrolls. */
function followBrush(drawing, placed, { across, up, brush, onBrush }) {
  const area = svg("rect", { class: "brush" });
  const show = (left, top, right, bottom) => {
    const size = { x: Math.min(left, right), y: Math.min(top, bottom), width: Math.abs(right - left), height: Math.abs(bottom - top) };
    for (const [name, value] of Object.entries(size)) area.setAttribute(name, value);
  };
  if (brush) show(across.at(brush.x[0]), up.at(brush.y[0]), across.at(brush.x[1]), up.at(brush.y[1]));
  drawing.classList.add("brushed");
  drawing.append(area);
  let start = null;
  const end = (event) => [event.clientX - drawing.getBoundingClientRect().left, event.clientY - drawing.getBoundingClientRect().top];
  const range = (axis, a, b) => [axis.valueAt(a), axis.valueAt(b)].sort((low, high) => low - high);
  drawing.addEventListener("pointerdown", (event) => {
    start = end(event);
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => { if (start) show(...start, ...end(event)); });
  drawing.addEventListener("pointercancel", () => { start = null; });
  drawing.addEventListener("pointerup", (event) => {
    if (!start) return;
    const [[left, top], [right, bottom]] = [start, end(event)];
    start = null;
    if (Math.hypot(right - left, bottom - top) >= LEAST_DRAG) {
      drawing.addEventListener("click", (click) => click.stopImmediatePropagation(), { capture: true, once: true });
      onBrush({ x: range(across, left, right), y: range(up, top, bottom) });
    } else if (!nearestPoint(drawing, placed, event)) {
      onBrush(null);
    }
  });
}

/** The point that has the keyboard's focus: a link to what it opens, if anything; arrow keys move it to the left and right. */
function keyboardPoint(placed, at) {
  const { left, top, opens, text } = placed[at];
  const link = opens ? make("a", { className: "point", href: addressOf(opens) }) : make("span", { className: "point", tabIndex: 0, role: "img" });
  link.ariaLabel = text.join(", ");
  if (placed[at].run) link.dataset.run = placed[at].run;
  Object.assign(link.style, { left: `${left}px`, top: `${top}px` });
  showTipOnFocus(link, text);
  link.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
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

/** Draws an element again, whose content has changed. */
function drawAgain(element) {
  stale.add(element);
  drawStale();
}

addEventListener("beforeprint", () => drawStale(true));

// ---- Legends

function symbolItem({ character, color }, name) {
  const symbol = make("span", { ariaHidden: "true" }, character);
  symbol.style.color = color;
  return make("li", {}, symbol, " ", make("bdi", {}, name));
}
