// Saves what a page shows: pictures as PNG and SVG, tables as CSV and Markdown. page.js comes first.
//
// Each figure that has a drawing and each table gets a menu by itself, also if it is added later. A page calls
// `offerSaving` only for pictures outside of figures, and for another name or place of a menu. The cells of the class
// `tick`, which hold controls, are not saved.

const PAGE_NAME = document.title;
const offered = new WeakSet();

/**
 * Adds the menu that saves a table, or the drawing in another element.
 *
 * `name` is part of the file names: by default, the caption or the heading above. `place` is the element that the menu is
 * appended to. `legend` is an element that a picture shows first; a figure can name its ID in `data-legend`.
 */
function offerSaving(element, { name = nameAbove(element), place, legend } = {}) {
  offered.add(element);
  const isTable = element.tagName === "TABLE";
  const parts = [legend ?? document.getElementById(element.dataset.legend), element].filter(Boolean);
  const forms = isTable ? {
    CSV: () => saveFile(fileName(name, "csv"), csvOf(shownCells(element)), "text/csv"),
    Markdown: () => saveFile(fileName(name, "md"), markdownOf(shownCells(element), numberColumns(element)), "text/markdown"),
  } : {
    PNG: async () => saveFile(fileName(name, "png"), await pngOf(pictureOf(parts, name)), "image/png"),
    SVG: () => saveFile(fileName(name, "svg"), xmlOf(pictureOf(parts, name)), "image/svg+xml"),
  };
  const menu = saveMenu(name, forms);
  if (place) place.append(menu);
  else if (isTable) besideHead(element.closest(".scroller") ?? element, menu);
  else if (element.tagName === "FIGURE") element.append(menu);
  else element.after(menu);
}

function saveMenu(name, forms) {
  const opener = make("summary", { ariaLabel: `Save: ${name}` }, "Save");
  const menu = make("details", { className: "save", name: "save" }, opener, make("div", {}, ...Object.entries(forms).map(([form, save]) => {
    const button = make("button", { type: "button" }, form);
    button.addEventListener("click", () => { save(); menu.open = false; opener.focus(); });
    return button;
  })));
  menu.addEventListener("focusout", ({ relatedTarget }) => { if (!menu.contains(relatedTarget)) menu.open = false; });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault();  // otherwise it would close the dialog around the menu
    event.stopPropagation();
    menu.open = false;
    opener.focus();
  });
  return menu;
}

function besideHead(scroller, menu) {
  const head = scroller.parentElement.querySelector(":scope > .table-head");
  if (head) head.append(menu);
  else scroller.before(menu);
}

function nameAbove(element) {
  const caption = element.querySelector("figcaption, caption");
  const headings = [...document.querySelectorAll("h1, h2, h3, h4")];
  const heading = headings.findLast((one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  return oneLine((caption ?? heading)?.textContent ?? "");
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
  for (const element of document.querySelectorAll("table, figure:has(svg, canvas, .plot)")) {
    if (!offered.has(element)) offerSaving(element);
  }
}

new MutationObserver(() => {
  clearTimeout(offerEverywhere.timer);
  offerEverywhere.timer = setTimeout(offerEverywhere, 50);
}).observe(document.body, { childList: true, subtree: true });
setTimeout(offerEverywhere);

// ---- Tables

/** The texts of the visible rows and columns, the head first: of a cell with `data-saved` that text. Opened rows are left out. */
function shownCells(table) {
  const shown = [...table.rows].filter((row) => !row.matches(".opened"))
    .map((row) => [...row.cells].filter((cell) => cell.checkVisibility() && !cell.matches(".tick")));
  return shown.filter((cells) => cells.length)
    .map((cells) => cells.flatMap((cell) => [cell.dataset.saved ?? oneLine(cell.innerText), ...Array(cell.colSpan - 1).fill("")]));
}

/** For each visible column whether it has numbers. */
function numberColumns(table) {
  const row = [...(table.tBodies[0]?.rows ?? [])].find((one) => one.checkVisibility() && one.cells.length > 1);
  const cells = [...(row?.cells ?? [])].filter((cell) => cell.checkVisibility() && !cell.matches(".tick"));
  return cells.map((cell) => getComputedStyle(cell).textAlign === "right" || cell.classList.contains("number"));
}

const FORMULA = /^\s*[=+\-@＝＋－＠]/;
const NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?$/i;
const GROUPED = /^[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;

/** A value as a cell; the rule of `files.untrusted_text.csv_value`, for texts that are harmless already. */
function csvValue(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = value.replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function csvLine(values) {
  return values.map((value) => {
    const cell = csvValue(value);
    return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  }).join(",");
}

function csvOf(rows) {
  const plain = (text) => text === "–" ? "" : GROUPED.test(text) ? text.replaceAll(",", "") : text.replace(/^−(?=[0-9])/, "-");
  return rows.map((row) => `${csvLine(row.map(plain))}\r\n`).join("");
}

const MARKUP = /[\\`*[\]<>&|~$@#]|(?<![\p{L}\p{N}])_|:(?=\/\/|[\p{L}\p{N}_+-]+:)|(?<=www)\.|^[-+=](?=[-+=\s]|$)|^[0-9](?=[0-9]*[.)](?:\s|$))/giu;

/** A text as a cell; the rule of `files.untrusted_text.markdown_text`. */
function markdownText(text) {
  return text.trim().replace(MARKUP, (character) => `&#${character.codePointAt(0)};`);
}

function markdownOf([head, ...rows], isNumber) {
  const marks = head.map((_, column) => isNumber[column] ? "---:" : "---");
  return [head.map(markdownText), marks, ...rows.map((row) => row.map(markdownText))].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

// ---- Pictures

const MARGIN = 12;  // pixels
const LARGEST = 16_000;  // pixels of a side that browsers can draw
const INHERITED = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline",
];

/** Elements of the page, one below the other, as one SVG that needs nothing else. */
function pictureOf(elements, name) {
  const groups = [];
  let [width, height] = [0, MARGIN];
  for (const element of elements) {
    const parts = partsOf(element);
    if (!parts.length) continue;
    const [left, top] = ["left", "top"].map((side) => Math.floor(Math.min(...parts.map(({ box }) => box[side]))));
    const [right, bottom] = ["right", "bottom"].map((side) => Math.ceil(Math.max(...parts.map(({ box }) => box[side]))));
    groups.push(svg("g", { transform: `translate(${MARGIN - left} ${height - top})` }, ...parts.map(({ drawing }) => drawing)));
    width = Math.max(width, right - left + 2 * MARGIN);
    height += bottom - top + MARGIN;
  }
  const ground = svg("rect", { width, height, fill: plainValue(getComputedStyle(document.body).backgroundColor) });
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "sans-serif" }, svg("title", {}, name), ground, ...groups);
}

/** What an element shows: drawings in the coordinates of the window, each with its box. */
function partsOf(element) {
  if (!element.checkVisibility({ visibilityProperty: true }) || element.matches(".save, .unseen")) return [];
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const place = { x: box.left, y: box.top, width: box.width, height: box.height };
  if (element instanceof SVGSVGElement) return [{ drawing: copiedDrawing(element, place), box }];
  if (element instanceof HTMLCanvasElement) return [{ drawing: svg("image", { ...place, href: element.toDataURL() }), box }];
  const parts = [...element.childNodes].flatMap((child) =>
    child instanceof Text ? linesOf(child, style) : child instanceof Element ? partsOf(child) : []);
  if (!/^rgba\(.*, 0\)$/.test(style.backgroundColor)) parts.unshift({ drawing: svg("rect", { ...place, fill: plainValue(style.backgroundColor) }), box });
  if (style.textOverflow !== "ellipsis" || !parts.length) return parts;
  const cut = svg("svg", { ...place, viewBox: Object.values(place).join(" ") }, ...parts.map(({ drawing }) => drawing));
  return [{ drawing: cut, box }];
}

/** The lines of a text, as the browser breaks them. */
function linesOf(node, style) {
  const isVertical = style.writingMode.startsWith("vertical");
  const lines = [];
  const range = document.createRange();
  for (const { 0: character, index } of node.data.matchAll(/./gsu)) {
    range.setStart(node, index);
    range.setEnd(node, index + character.length);
    const { left, top, right, bottom } = range.getBoundingClientRect();
    if (/\s/.test(character) && (left === right || top === bottom)) continue;
    const last = lines.at(-1);
    if (last && (isVertical ? last.box.left === left : last.box.top === top)) {
      last.text += character;
      Object.assign(last.box, { right: Math.max(last.box.right, right), bottom: Math.max(last.box.bottom, bottom) });
    } else lines.push({ text: character, box: { left, top, right, bottom } });
  }
  return lines.filter(({ text }) => text.trim()).map(({ text, box }) => ({ drawing: lineOf(text, box, style, isVertical), box }));
}

const ABOVE = 0.79;  // share of a line above its baseline

function lineOf(text, { left, top, right, bottom }, style, isVertical) {
  const monospace = style.fontFamily.includes("monospace") ? { "font-family": "monospace" } : {};
  const looks = { fill: plainValue(style.color), "font-size": style.fontSize, "font-weight": style.fontWeight, ...monospace };
  const origin = isVertical ? { transform: `translate(${right - (right - left) * ABOVE} ${top}) rotate(90)` } : { x: left, y: top + (bottom - top) * ABOVE };
  return svg("text", { ...origin, ...looks }, oneLine(text));
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
