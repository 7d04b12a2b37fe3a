// The page of an experiment: points have names, are marked wherever their run is shown, and are reached by arrow keys.
// page.js and sorting.js come first.

const tip = document.getElementById("tip");
const points = [...document.querySelectorAll(".point")];
const byRun = new Map();
for (const element of document.querySelectorAll("[data-run]")) {
  const { run } = element.dataset;
  if (!byRun.has(run)) byRun.set(run, []);
  byRun.get(run).push(element);
}
for (const point of points) {
  // As a label, so that the browser does not show the text a second time next to ours.
  const title = point.querySelector("title");
  point.setAttribute("aria-label", title.textContent);
  title.remove();
}

function leave() {
  tip.hidden = true;
  for (const element of document.querySelectorAll(".same")) element.classList.remove("same");
}

function show(point) {
  leave();
  for (const element of byRun.get(point.dataset.run) ?? [point]) element.classList.add("same");
  tip.textContent = point.getAttribute("aria-label");
  tip.hidden = false;
  const place = point.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tip;
  tip.style.left = `${Math.max(4, Math.min(place.left + 12, document.documentElement.clientWidth - width - 4))}px`;
  tip.style.top = `${place.top - height - 8 > 0 ? place.top - height - 8 : place.bottom + 8}px`;
}

/** The next point of the same panel in the direction of an arrow key. */
function neighbour(point, key) {
  const axis = key === "ArrowLeft" || key === "ArrowRight" ? "x" : "y";
  const step = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
  const place = (one) => Number(one.querySelector("use").getAttribute(axis));
  const panel = [...point.parentElement.querySelectorAll(".point")].sort((a, b) => place(a) - place(b));
  return panel[panel.indexOf(point) + step];
}

for (const point of points) {
  point.addEventListener("pointerenter", () => show(point));
  point.addEventListener("pointerleave", leave);
  point.addEventListener("focus", () => show(point));
  point.addEventListener("blur", leave);
  point.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const next = neighbour(point, event.key);
    if (!next) return;
    point.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}
addEventListener("scroll", leave, { capture: true, passive: true });

// Pictures are printed; tables only if they are open.
addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll(".fold:has(.drawing, .cell-map)")) fold.open = true; });

followTheme(() => {})();
