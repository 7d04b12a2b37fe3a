// Exports the decisions as a file, and imports such a file to go on with it in another browser.

const fileInput = document.getElementById("file");

/** The content of the export: a header, the rows of the items that have been begun, and the number of rows. */
function exported() {
  const rows = items.flatMap((item, number) => rowsOf(item, decisions[number]));
  return [JSON.parse(sheet.header), ...rows, { kind: "end", rows: rows.length }].map((row) => `${jsonOf(row)}\n`).join("");
}

function exportFile() {
  const name = `${sheet.annotator.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^\.+/, "") || "annotator"}.jsonl`;
  saveFile(name, exported(), "application/x-ndjson");
  isExported = true;
  showMessage("exported", name);
}

/** The rows of an export of this sheet; throws an error whose message is a word of the page. */
function rowsIn(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const fault = (word, row = 0) => Object.assign(new Error(word), { row });
  const rows = lines.map((line, at) => {
    try {
      return JSON.parse(line);
    } catch {
      throw fault(at > 0 && at === lines.length - 1 ? "import_cut" : "import_not_export", at);
    }
  });
  const header = rows.shift(), end = rows.pop();
  if (header?.kind !== "annotations" || header.format !== 1) throw fault("import_not_export");
  if (header.sheet !== sheet.sheet) throw fault("import_other");
  if (end?.kind !== "end" || end.rows !== rows.length) throw fault("import_cut");
  return rows;
}

/** Takes the decisions of a file; asks first if they differ from those of items that have been begun here. */
async function importText(name, text) {
  let found;
  try {
    found = decisionsOf(rowsIn(text));
  } catch (error) {
    const isWord = error.message in WORDS.en;
    showMessage(isWord ? error.message : "import_not_export", name, error.row + (isWord ? 1 : 2));
    return;
  }
  const rowsAt = (number, decision) => jsonOf(rowsOf(items[number], decision));
  for (const [number, decision] of found) if (rowsAt(number, decision) === rowsAt(number, decisions[number])) found.delete(number);
  const conflicts = [...found.keys()].filter((number) => stateOf(decisions[number]) !== "open");
  const answer = conflicts.length ? await ask(say("import_conflict", conflicts.length), "keep_file", "keep_mine") : "keep_file";
  if (answer === "cancel") return;
  if (answer === "keep_mine") for (const number of conflicts) found.delete(number);
  decideAll(found);
  showMessage("imported", found.size);
}

document.getElementById("export").addEventListener("click", exportFile);
document.getElementById("import").addEventListener("click", () => fileInput.click());
fileInput.addEventListener("change", async () => {
  const [file] = fileInput.files;
  if (!file) return;
  const text = await file.text();
  fileInput.value = "";
  importText(file.name, text);
});
