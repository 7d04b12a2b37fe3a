// Compressed data in a page or in files next to it: lines of JSON, which are unpacked on demand.
// page.js comes first.

function turn() {
  return new Promise((next) => setTimeout(next));
}

/** The content of a line. */
function unpacked(line) {
  const text = atob(line);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

async function unpackedLine(line) {
  return unpacked(line).json();
}

/** A function from a number to a promise, which keeps its last `n` promises, but none that failed. */
function keepingLast(n, promised) {
  const kept = new Map();
  return (key) => {
    const value = kept.get(key) ?? promised(key);
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > n) kept.delete(kept.keys().next().value);
    value.catch(() => kept.delete(key));
    return value;
  };
}

/** Called by each file of data next to the page. */
function register(lines) {
  document.currentScript.lines = lines;
}

function fileOfLines(address) {
  return new Promise((done, failed) => {
    const script = make("script", { src: address });
    script.addEventListener("load", () => done(script.lines));
    script.addEventListener("error", () => failed(new Error(`${address} is missing next to the page`)));
    document.head.append(script);
    script.remove();
  });
}

/** Resolves when the browser has read the data, which follow this script. */
const hasData = new Promise((done) => document.addEventListener("DOMContentLoaded", done));

/** The lines of a part of the data: of a file if there is an address, otherwise of the element with this id. */
async function packedLines(address, id) {
  if (address) return fileOfLines(address);
  await hasData;
  return document.getElementById(id).textContent.split("\n");
}

/** The lines of the answers to a question; `overview` is in the state of the page. */
function packedAnswers(question) {
  return packedLines(overview.files.answers?.[question], `answers-${question}`);
}

/** The lines of a question, unpacked one by one. */
async function* unpackedLines(question) {
  for (const line of await packedAnswers(question)) {
    yield await unpackedLine(line);
    await turn();
  }
}
