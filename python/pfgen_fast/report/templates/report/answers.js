// The answers of the runs: unpacked by question on demand, tinted, marked and searched. A question consists of several
// lines, and after each line the browser can react.

const N_KEPT_QUESTIONS = 8;
const N_SHORT = 200;  // code points that fit without scrolling
const N_AT_ONCE = 1500;  // code points of an answer that are shown at first; the rest is shown on demand

/** Promises the data of a question: `samples`, `references`, `table`, `patterns`, `lookAhead`, `rules`. */
const answersTo = keepingLast(N_KEPT_QUESTIONS, async (question) => {
  const lines = unpackedLines(question);
  const head = (await lines.next()).value;
  const samples = [];
  for await (const line of lines) samples.push(...samplesOf(line, head.names));
  const texts = head.texts.map((text, place) => textOf(head, place));
  const sets = Object.entries(head.sets).map(([name, size]) => ({ name, texts: texts.splice(0, size) }));
  const patterns = head.patterns.map((pattern) => [...pattern]);
  return { samples, sets, rules: head.rules, patterns, lookAhead: head.look_ahead, table: tintTable(head) };
});

function textOf(columns, place) {
  return { text: columns.texts[place], length: columns.length[place], tints: columns.tints[place] ?? null, spans: columns.spans[place] ?? [] };
}

function samplesOf(line, names) {
  const samples = [];
  line.runs.forEach((run, index) => {
    for (const number of line.numbers[index]) {
      const place = samples.length;
      samples.push({
        run, number, ...textOf(line, place), excess: line.excess[place],
        score: line.score[place], fluency: line.fluency[place], truthfulness: line.truthfulness[place],
        helpfulness: line.helpfulness[place], fault: line.fault[place], keywordsCost: line.by_keywords[place], lengthCost: line.by_length[place], missing: line.missing[place].map((name) => names[name]),
      });
    }
  });
  return samples;
}

// ---- Tints and keywords

function tintTable({ grams, counts, sizes }) {
  const points = [...grams];
  const rows = new Map();
  for (let row = 0; 3 * row < points.length; row++) rows.set(points.slice(3 * row, 3 * row + 3).join(""), row);
  return { rows, counts, sizes };
}

/** The level of each code point, as report/tinting.py computes it: the same divisions and sums in the same order. */
function tintLevels(points, { rows, counts, sizes }) {
  const found = points.slice(2).map((last, start) => rows.get(points[start] + points[start + 1] + last));
  const total = new Float64Array(points.length);
  sizes.forEach((size, set) => {
    const cover = new Float64Array(points.length);
    found.forEach((row, start) => {
      if (row === undefined) return;
      const share = counts[set][row] / size;
      for (let at = start; at < start + 3; at++) cover[at] = Math.max(cover[at], share);
    });
    cover.forEach((share, at) => { total[at] += share; });
  });
  return Array.from(total, (sum) => tintLevel(sum / sizes.length, overview.bounds));
}

/** The code points of a text that are shown, with the tint of each and whether it is part of a keyword. */
function shownPoints({ text, tints, spans }, { patterns, lookAhead, table }) {
  const all = [...text];
  const points = tints === null ? all.slice(0, overview.n_shown) : all;
  const marked = new Uint8Array(points.length);
  for (const [begin, end] of spans) marked.fill(1, begin, end);
  for (const pattern of patterns) {
    for (let start = 0; start + pattern.length <= Math.min(points.length, lookAhead); start++) {
      if (pattern.every((point, offset) => points[start + offset] === point)) marked.fill(1, start, start + pattern.length);
    }
  }
  return { points, levels: tints === null ? tintLevels(all, table) : [...tints], marked };
}

// ---- Elements

/** A text with its tints. */
function answerText(text, answers, label) {
  const shown = shownPoints(text, answers);
  return answerBox(text.length, shown.points.length, label, (begin, end) => tintedNodes(shown, begin, end));
}

/** An answer below its head (nodes), with its missing keywords. */
function sampleElement(sample, answers, head, label) {
  const parts = ["fluency", "truthfulness", "helpfulness"].map((part) => `${part} ${figure(sample[part], 3)}`).join(" · ");
  const element = make("div", { className: "scored" },
    make("p", { className: "sample-head" }, ...head, make("span", { className: "quiet" }, ` ${parts} · ${counted(sample.length)} characters`)),
    answerText(sample, answers, label));
  if (sample.missing.length) {
    element.append(make("p", { className: "missing" }, "Missing keywords: ", ...listed(sample.missing.map((name) => make("bdi", {}, name)))));
  }
  if (sample.excess) element.append(make("p", { className: "missing" }, `Its last keyword ends ${sample.excess}, which lowers helpfulness`));
  element.dataset.sample = sample.number;
  return element;
}

function legend() {
  return document.getElementById("legend").content.cloneNode(true);
}

/** The texts of an answer in a line of data that a search looks at. */
function searchedTexts(line, place) {
  return [line.texts[place]];
}

/** The keywords of a question, and the answers of models that miss them. */
function aboutAnswers({ rules, samples: all }) {
  if (!rules.length) return [legend()];
  const samples = all.filter(({ run }) => modelRuns.includes(run));
  const missing = new Map();
  for (const name of samples.flatMap((sample) => sample.missing)) missing.set(name, (missing.get(name) ?? 0) + 1);
  const parts = [make("p", {}, "Keywords: ", ...listed(rules.map((rule) => make("bdi", { className: "rule" }, rule))), ". Keywords are framed in the answers; one that comes too late to count is listed as missing.")];
  if (missing.size) {
    const shares = [...missing].sort((a, b) => b[1] - a[1]).slice(0, 20).map(([name, n]) => [make("bdi", {}, name), ` in ${(100 * n / samples.length).toFixed(0)} %`]);
    parts.push(make("p", { className: "quiet" }, "Missing from the answers: ", ...listed(shares), "."));
  }
  return [...parts, legend()];
}

/** The reference answers next to the answers; on a narrow screen they are above the answers, and closed at first. */
function references(answers) {
  const sets = answers.sets.map(({ name, texts }) => make("section", { ariaLabel: `Reference set ${name}` },
    make("h4", {}, "Set ", make("bdi", {}, name)),
    ...texts.map((text, index) => answerText(text, answers, `Reference answer ${index + 1} of set ${name}`))));
  return make("details", { className: "references", open: matchMedia("(min-width: 60rem)").matches }, make("summary", {}, "Some reference answers"), ...sets);
}
