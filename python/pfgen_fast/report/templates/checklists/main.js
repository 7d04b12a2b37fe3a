// The last script, which starts the page of checklists: downloads, and the view that the address names.

const downloads = document.getElementById("downloads");

unpackedLine(document.getElementById("download-files").textContent).then((files) => {
  for (const [name, text] of Object.entries(files)) {
    const button = make("button", { type: "button" }, "CSV");
    button.setAttribute("aria-label", `Download ${name}`);
    button.addEventListener("click", () => saveFile(name, text, "text/csv"));
    downloads.append(button);
  }
});

// A cell of the heat map leads to the answers of its model and category; keyboards have the names and the filters.
document.getElementById("heat").addEventListener("click", (event) => {
  const cell = event.target.closest("td[class]");
  if (!cell) return;
  const { key } = overview.models[cell.cellIndex - 1];
  goFilters({ area: "", category: categoryKeys[cell.parentElement.dataset.category], model: key });
  document.getElementById("answers").scrollIntoView();
});

followTheme(() => {})();
followAddress((next) => {
  const isFiltered = addressOf({ ...next, task: null }) !== addressOf({ task: null });
  if (isFiltered && next.task === null && next.filters.size) document.getElementById("answers").scrollIntoView();
});
