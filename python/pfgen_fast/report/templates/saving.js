// Saves what a page shows: tables as CSV, drawings as PNG and SVG. page.js and csv.js come first.
//
// Each figure or other element with a drawing and each table without its own file (`data-file`), except those of an answer, gets buttons
// by itself, also if it is added later. A page calls `offerSaving` only for another name or place of the buttons. The cells of the class `tick`,
// which hold controls, are not saved.

const PAGE_NAME = document.title;
const SAVED = "table:not([data-file], .words table), figure:has(svg, .plot), svg.chart:not(figure *)";
const offered = new WeakSet();

/**
 * Adds the buttons that save a table or the drawing of a figure.
 *
 * `name` is part of the file names: by default, the caption or the heading above. `place` is the element that the buttons
 * are appended to. A legend is a list in the figure, or the list with the ID in `data-legend`.
 */
function offerSaving(element, { name = nameAbove(element), place } = {}) {
  offered.add(element);
  if (element.tagName !== "TABLE") {
    const legend = document.getElementById(element.dataset.legend) ?? element.querySelector("ul");
    const buttons = saveButtons(name, pictureForms(() => element.querySelector("svg"), name, legend));
    if (place || element.tagName === "FIGURE") (place ?? element).append(buttons);
    else element.before(buttons);
    return;
  }
  const forms = element.matches(".picture") ? pictureForms(() => drawingOf(element), name, document.getElementById(element.dataset.legend)) : {};
  const buttons = saveButtons(name, { ...forms, CSV: () => saveFile(fileName(name, "csv"), csvOf(shownCells(element)), "text/csv") });
  const scroller = element.closest(".scroller") ?? element;
  const head = place ?? scroller.parentElement.querySelector(":scope > .table-head");
  const earlier = scroller.previousElementSibling;
  if (head) head.append(buttons);
  else if (earlier?.matches(".save")) earlier.replaceWith(buttons);  // of a table that this one has replaced
  else scroller.before(buttons);
}

/** The forms of a drawing. One that is not in the page is put there for a moment, because the style of the page applies to it. */
function pictureForms(drawing, name, legend) {
  const picture = () => {
    const original = drawing();
    if (original.isConnected) return pictureOf(original, name, legend);
    document.body.append(original);
    const copy = pictureOf(original, name, legend);
    original.remove();
    return copy;
  };
  return {
    PNG: async () => saveFile(fileName(name, "png"), await pngOf(picture()), "image/png"),
    SVG: () => saveFile(fileName(name, "svg"), xmlOf(picture()), "image/svg+xml"),
  };
}

/** Buttons that save something in some forms. */
function saveButtons(name, forms) {
  return make("div", { className: "save" }, ...Object.entries(forms).map(([form, save]) =>
    buttonTo(save, { ariaLabel: `Save as ${form}: ${name}`, title: `Save as ${form}` }, form)));
}

function nameAbove(element) {
  const caption = element.querySelector("figcaption, caption");
  const headingIn = (part) => [...part?.querySelectorAll("h1, h2, h3, h4") ?? []].findLast((one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  return oneLine((caption ?? headingIn(element.closest("section, dialog")) ?? headingIn(document))?.textContent ?? "");
}

/** A name of letters, digits and hyphens. */
function fileName(name, ending) {
  const words = `${PAGE_NAME} ${name}`.match(/[\p{L}\p{M}\p{N}]+/gu) ?? ["saved"];
  return `${shortened(words.join("-"), 100).replace(/[-…]+$/, "")}.${ending}`;
}

function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

function offerEverywhere() {
  for (const element of document.querySelectorAll(SAVED)) {
    const whole = element.localName === "svg" ? element.parentElement : element;
    if (!offered.has(whole)) offerSaving(whole);
  }
}

new MutationObserver(() => {
  clearTimeout(offerEverywhere.timer);
  offerEverywhere.timer = setTimeout(offerEverywhere, 50);
}).observe(document.body, { childList: true, subtree: true });
setTimeout(offerEverywhere);

// ---- Tables

/** The texts of the visible rows and columns, the head first: of a cell with `data-saved` that text. Opened rows are left out. Rows out of sight may have no `innerText`. */
function shownCells(table) {
  const shown = [...table.rows].filter((row) => !row.matches(".opened"))
    .map((row) => [...row.cells].filter((cell) => cell.checkVisibility() && !cell.matches(".tick")));
  return shown.filter((cells) => cells.length)
    .map((cells) => cells.flatMap((cell) => [cell.dataset.saved ?? oneLine(cell.innerText || cell.textContent), ...Array(cell.colSpan - 1).fill("")]));
}

const GROUPED = /^[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;

function csvOf(rows) {
  const plain = (text) => text === "–" ? "" : GROUPED.test(text) ? text.replaceAll(",", "") : text;
  return rows.map((row) => `${csvLine(row.map(plain))}\r\n`).join("");
}

// ---- Pictures

const LINE = 20;  // pixels
const LARGEST = 16_000;  // pixels of a side that browsers can draw
const INHERITED = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "font-size", "font-weight", "font-style", "letter-spacing", "text-anchor", "dominant-baseline", "paint-order", "vector-effect",
];

/** A drawing of the page below its legend, as an SVG that needs nothing else. */
function pictureOf(drawing, name, legend) {
  const { width, height } = drawing.getBoundingClientRect();
  const style = getComputedStyle(document.body);
  const items = [...(legend?.children ?? [])].map((item, line) => {
    const symbol = item.firstElementChild?.textContent ?? "";
    const sign = svg("tspan", { fill: plainValue(getComputedStyle(item.firstElementChild ?? item).color) }, symbol);
    return svg("text", { x: 8, y: LINE * (line + 0.75), "font-size": 13, fill: plainValue(style.color) }, sign, oneLine(item.textContent).slice(symbol.length));
  });
  const top = LINE * items.length;
  const size = { width: Math.max(width, ...items.map((item) => 16 + 7.5 * lettersOf(item.textContent))), height: height + top };
  const ground = svg("rect", { ...size, fill: plainValue(style.backgroundColor) });
  const copy = copiedDrawing(drawing, { x: 0, y: top, width, height });
  return svg("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": "sans-serif" }, svg("title", {}, name), ground, ...items, copy);
}

/** A table as a drawing: the grounds, words and drawings of its cells. */
function drawingOf(table) {
  const whole = table.getBoundingClientRect();
  const range = document.createRange();
  const placed = ({ left, top, width, height }) => ({ x: left - whole.left, y: top - whole.top, width, height });
  const parts = [...table.querySelectorAll(":not(svg *)")].flatMap((element) => {
    const place = placed(element.getBoundingClientRect());
    if (element.localName === "svg") return [copiedDrawing(element, place)];
    const { backgroundColor, color, fontSize, fontWeight } = getComputedStyle(element);
    const ground = backgroundColor === "rgba(0, 0, 0, 0)" ? [] : [svg("rect", { ...place, fill: plainValue(backgroundColor) })];
    const nodes = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    return [...ground, ...nodes.flatMap((node) => [...node.data.matchAll(/\S+/g)].map(({ index, 0: word }) => {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { x, y, height } = placed(range.getBoundingClientRect());
      return svg("text", { x, y: y + 0.78 * height, fill: plainValue(color), "font-size": fontSize, "font-weight": fontWeight }, word);
    }))];
  });
  return svg("svg", { width: whole.width, height: whole.height }, ...parts);
}

/** A copy of an SVG with the looks that the page's style gives it, without what only the page needs. */
function copiedDrawing(original, place) {
  const copy = original.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [original, ...original.querySelectorAll("*")].forEach((from, number) => {
    const to = copies[number];
    const style = getComputedStyle(from);
    if (style.display === "none" || style.visibility === "hidden") return to.remove();
    const above = number ? getComputedStyle(from.parentElement) : null;
    for (const name of INHERITED) {
      const value = style.getPropertyValue(name);
      if (to.hasAttribute(name) || value !== above?.getPropertyValue(name)) to.setAttribute(name, plainValue(value));
    }
    if (style.opacity !== "1") to.setAttribute("opacity", style.opacity);
    for (const { name } of [...to.attributes]) {
      if (/^(aria-.*|class|data-.*|role|style|tabindex)$/.test(name) || (from.localName === "a" && name.endsWith("href"))) to.removeAttribute(name);
    }
  });
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, value);
  return copy;
}

/** A value of a style in a form that every program reads. */
function plainValue(value) {
  const mixed = value.match(/^color\(srgb ([^)]*)\)$/);
  if (!mixed) return value.replace(/^url\("(.*)"\)/, "url($1)");
  const [red, green, blue, opacity = "1"] = mixed[1].split(/[\s/]+/);
  return `rgba(${[red, green, blue].map((share) => Math.round(255 * share)).join(", ")}, ${opacity})`;
}

function xmlOf(picture) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(picture)}\n`;
}

/** The picture with two pixels for each of the page. */
async function pngOf(picture) {
  const [width, height] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
  const scale = Math.min(2, LARGEST / width, LARGEST / height);
  const image = make("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(xmlOf(picture))}` });
  await image.decode();
  const canvas = make("canvas", { width: width * scale, height: height * scale });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}
