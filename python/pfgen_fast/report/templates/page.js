// Shared by the scripts of all pages: elements, the theme, the looks of lines. Untrusted text only becomes text nodes.
"use strict";

const narrow = matchMedia("(max-width: 40rem)");

/** Creates an element with properties and children; strings become text nodes. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** A button that acts when it is pressed. */
function buttonTo(act, properties, ...content) {
  const button = make("button", { type: "button", ...properties }, ...content);
  button.addEventListener("click", act);
  return button;
}

/** A button at the end of what is shown, which shows more in its place. */
function moreButton(text, showMore) {
  const button = buttonTo(() => { button.remove(); showMore(); }, { className: "more" }, text);
  return button;
}

/** Nodes with commas between them; an item may be a list of nodes. */
function listed(items) {
  return items.flatMap((item, index) => [index ? ", " : "", ...[item].flat()]);
}

/** The same as `make` for an element of SVG, with attributes. */
function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A figure as base/table.py has it: a tie, which toFixed rounds up, goes to the even digit, and no zero is negative. */
function figure(value, digits, isSigned = false) {
  if (value === null) return "–";
  const size = Math.abs(value);
  const exact = size.toFixed(Math.min(100, digits + 50));
  const cut = exact.length - Math.min(100 - digits, 50);
  const isEven = /^50*$/.test(exact.slice(cut)) && /[02468]\.?$/.test(exact.slice(0, cut));
  const text = isEven ? exact.slice(0, cut).replace(/\.$/, "") : size.toFixed(digits);
  return `${value < 0 && /[1-9]/.test(text) ? "-" : isSigned ? "+" : ""}${text}`;
}

function signed(value, digits) {
  return figure(value, digits, true);
}

/** A function whose value is computed by its first call. */
function once(compute) {
  let value;
  return () => value ??= compute();
}

function counted(value) {
  return Math.abs(value) < 1000 && Number.isInteger(value) ? String(value) : value.toLocaleString("en");  // whose first call takes long
}

function section(title, content) {
  return make("div", {}, make("h3", {}, title), content);
}

/** Draws again when the theme or the width changes; returns a function that applies the theme. */
function followTheme(drawAll) {
  const button = document.getElementById("theme");
  function showTheme() {
    button.textContent = theme.current === "dark" ? "Light theme" : "Dark theme";
    drawAll();
  }
  button.addEventListener("click", () => { theme.choose(theme.current === "dark" ? "light" : "dark"); showTheme(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  narrow.addEventListener("change", drawAll);
  return showTheme;
}

function shortened(text, length) {
  const points = text.length <= length ? [] : [...text];
  return points.length <= length ? text : `${points.slice(0, length - 1).join("")}…`;
}

/** Adds a text of `n` code points, of which `nodes(begin, end)` are a part: `first` of them now, the others on demand. */
function addLongText(element, n, first, nodes, addEnd) {
  element.append(...nodes(0, Math.min(n, first)));
  if (n <= first) {
    addEnd();
    return;
  }
  element.append(moreButton(`Show all ${counted(n)} characters`, () => { element.append(...nodes(first, n)); addEnd(); element.focus(); }));
}

/** Saves a text or a blob as a file. */
function saveFile(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const LOOKS = [
  { symbol: "circle", character: "●", color: "#3b82f6" }, { symbol: "diamond", character: "◆", color: "#e8710a" },
  { symbol: "square", character: "■", color: "#12a37f" }, { symbol: "triangle-up", character: "▲", color: "#b05cd6" },
  { symbol: "cross", character: "✚", color: "#d6455d" }, { symbol: "x", character: "✖", color: "#7a8699" },
];

for (const button of document.querySelectorAll(".copy-link")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = location.protocol === "file:" ? "Copied: a page on disk; send the file, too" : "Copied";
    } catch {
      button.textContent = "Copy it from the address bar";
    }
    setTimeout(() => { button.textContent = "Copy link"; }, 3000);
  });
}

const keysDialog = document.getElementById("keys");
for (const button of document.querySelectorAll(".show-keys")) {
  const showKeys = () => { if (!keysDialog.open) keysDialog.showModal(); };
  button.addEventListener("click", showKeys);
  keysDialog.querySelector("button").addEventListener("click", () => keysDialog.close());
  addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    showKeys();
    event.preventDefault();
  });
}
