// The answers of two runs to the brushed questions: answers that are alike next to each other, and the words that differ.

const MOST_UNITS = 1000;  // of an answer; what follows is not compared
const LEAST_ALIKE = 0.3;  // share of common characters; answers below it are not marked, because nearly everything would be
const N_PAIRS = 2;  // pairs of answers that are shown at first
const JOINED = 2;  // characters; what two changes have between them is part of the change if it is not longer

// ---- The words that differ

const UNSPACED = "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}";
const UNIT = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+|\\s+|.`, "gsu");

/** The units of a text: words, spaces and signs; of scripts without spaces between words, the characters. */
function unitsOf(text) {
  return text.match(UNIT) ?? [];
}

/** The share of words that two lists of units have in common, whatever their order. */
function likeness(...lists) {
  const [a, b] = lists.map((units) => units.filter((unit) => /[\p{L}\p{N}]/u.test(unit)));
  const left = new Map();
  for (const unit of a) left.set(unit, (left.get(unit) ?? 0) + 1);
  let common = 0;
  for (const unit of b) {
    const n = left.get(unit) ?? 0;
    if (n) common++;
    left.set(unit, n - 1);
  }
  return a.length + b.length ? 2 * common / (a.length + b.length) : 1;
}

/** For each unit of two lists, whether the other list lacks it, by a longest common subsequence. */
function differences(a, b) {
  const only = [a, b].map((units) => new Uint8Array(units.length));
  const [endA, endB] = [a, b].map((units) => Math.min(units.length, MOST_UNITS));
  let start = 0;
  while (start < Math.min(endA, endB) && a[start] === b[start]) start++;
  const width = endB - start + 1;
  const lengths = new Uint16Array((endA - start + 1) * width);  // of the subsequences of the rests
  const lengthAt = (i, j) => lengths[(i - start) * width + j - start];
  for (let i = endA - 1; i >= start; i--) {
    for (let j = endB - 1; j >= start; j--) lengths[(i - start) * width + j - start] = a[i] === b[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
  }
  let between = null;  // the common units since the last change
  const joined = (i, j) => {
    if (between && [...between.map(([unit]) => a[unit]).join("")].length <= JOINED) for (const [p, q] of between) only[0][p] = only[1][q] = 1;
    between = [];
    if (i !== null) only[0][i] = 1;
    if (j !== null) only[1][j] = 1;
  };
  for (let i = start, j = start; i < endA || j < endB;) {
    if (i < endA && j < endB && a[i] === b[j]) between?.push([i++, j++]) ?? (i++, j++);
    else if (j === endB || (i < endA && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) joined(i++, null);
    else joined(null, j++);
  }
  return only;
}

// ---- Answers side by side

/** The different answers of a run, the best first, each with the number of its repeats. */
function mergedSamples(samples) {
  const byText = new Map();
  const sorted = samples.toSorted((p, q) => (p.score === null) - (q.score === null) || SIGN * (q.score - p.score) || p.number - q.number);
  for (const sample of sorted) {
    const key = sample.length === null ? sample.number : `${sample.length} ${sample.score} ${sample.text}`;
    if (byText.has(key)) byText.get(key).n++;
    else byText.set(key, { ...sample, n: 1, units: unitsOf(sample.text) });
  }
  return [...byText.values()];
}

/** Pairs of answers: those that are most alike, if at least half of their words are common; then by order, and those that are left. */
function alignedSamples(ofA, ofB) {
  const [leftA, leftB] = [[...ofA], [...ofB]];
  const alike = ofA.flatMap((a) => ofB.map((b) => [likeness(a.units, b.units), a, b])).filter(([share]) => share >= 0.5).sort(([p], [q]) => q - p);
  const pairs = [];
  for (const [, a, b] of alike) {
    if (!leftA.includes(a) || !leftB.includes(b)) continue;
    pairs.push([a, b]);
    leftA.splice(leftA.indexOf(a), 1);
    leftB.splice(leftB.indexOf(b), 1);
  }
  while (leftA.length || leftB.length) pairs.push([leftA.shift(), leftB.shift()]);
  return pairs;
}

/** Which characters of two answers to mark as changed; null for both if the answers have too little in common. */
function changesOf(a, b) {
  if (!a || !b) return [null, null];
  const changed = differences(a.units, b.units).map((only, side) => [a, b][side].units.flatMap((unit, place) => Array([...unit].length).fill(only[place])));
  const all = changed.flat();
  return all.length && all.filter((isChanged) => !isChanged).length < LEAST_ALIKE * all.length ? [null, null] : changed;
}

/** A text in which changes and keywords are marked; `className` is that of the changes. */
function changedText(text, answers, changed, className, label) {
  const { points, marked } = shownPoints(text, answers);
  return answerBox(text.length, points.length, label, (begin, end) => [...alikeRanges(begin, end, marked, changed ?? [])].map(([from, to]) => {
    const shown = shownText(points.slice(from, to));
    const part = changed?.[from] ? make("span", { className }, shown) : shown;
    return marked[from] ? make("mark", { title: "keyword" }, part) : part;
  }));
}

/** The box of an answer with so many code points, of which `n` are shown and `nodes(begin, end)` are a part; the end of a long one is shown on demand. */
function answerBox(length, n, label, nodes) {
  const element = make("div", { className: "answer", role: "group", ariaLabel: label });
  if (n > N_SHORT) element.tabIndex = 0;  // it may scroll; a stop for each short one would be in the way
  addLongText(element, n, N_AT_ONCE, nodes, () => {
    const hidden = length - overview.n_shown;
    if (!n) element.append(make("span", { className: "quiet" }, length === null ? "The run holds no text of this answer." : length ? "not shown" : "empty answer"));
    if (hidden > 0) element.append(make("span", { className: "quiet" }, ` … ${counted(hidden)} more characters`));
  });
  return element;
}

/** How much a pair of answers shows: the difference of their scores; single answers come after pairs, and pairs of equal answers last. */
function interestOf([a, b]) {
  if (!a || !b) return -1;
  return isEqualPair([a, b]) ? -2 : Math.abs(a.score - b.score);
}

function isEqualPair([a, b]) {
  return a && b && a.length !== null && a.length === b.length && a.score === b.score && a.text === b.text;
}

/** The aligned answers of a pair of runs to a question, the largest differences of scores first, beside a reference answer. */
function pairedAnswers(answers, { runs, letters }) {
  const [ofA, ofB] = runs.map((run) => mergedSamples(answers.samples.filter((sample) => sample.run === run)));
  const pairs = alignedSamples(ofA, ofB).sort((p, q) => interestOf(q) - interestOf(p));
  const nEqual = pairs.filter(isEqualPair).length;
  const nShown = Math.max(1, Math.min(N_PAIRS, pairs.length - nEqual));
  const cell = (sample, changed, side, isPair) => {
    if (!sample) return make("div", {});
    const name = `${letters[side]}: ${figure(sample.score, overview.digits)}${sample.n > 1 ? ` × ${sample.n}` : ""}`;
    return make("div", {}, make("p", { className: "sample-head" }, make("b", {}, name), make("span", { className: "quiet" }, changed || !isPair ? "" : " · little in common")),
      changedText(sample, answers, changed, side ? "only second" : "only", name), ...sample.about?.() ?? []);
  };
  const cells = ([a, b]) => {
    const changed = changesOf(a, b);
    return [a, b].map((sample, side) => cell(sample, changed[side], side, a && b));
  };
  const grid = make("div", { className: "aligned" }, ...pairs.slice(0, nShown).flatMap(cells));
  const reference = answers.sets?.[0]?.texts[0];
  const row = make("div", { className: reference ? "with-reference" : "" }, grid);
  if (reference) row.append(make("div", {}, make("p", { className: "sample-head" }, make("b", {}, "A reference answer")), changedText(reference, answers, null, "", "A reference answer")));
  if (pairs.length > nShown) {
    const text = `Show ${counted(pairs.length - nShown)} more${nEqual ? ` (${counted(Math.min(nEqual, pairs.length - nShown))} the same in both)` : ""}`;
    row.append(moreButton(text, () => grid.append(...pairs.slice(nShown).flatMap(cells))));
  }
  return row;
}

/** Shows some of the brushed questions with their answers, and a button for more. */
function showBrushed(list, questions, pair, scores, begin) {
  const { runs, letters, difference, binary, minus } = pair;
  const digits = binary ? 0 : overview.digits;
  const end = Math.min(questions.length, begin + (overview.has_answers ? 8 : 100));
  list.append(...questions.slice(begin, end).map((question) => {
    const { id, text } = overview.questions[question];
    const figures = runs.map((run, side) => `${letters[side]} ${figure(scores[question][run], digits)}`).join(" · ");
    const part = make("section", {}, make("h4", {}, make("a", { href: addressOf({ ...NOTHING_OPEN, question }) }, make("b", {}, id), " ", make("bdi", {}, text)),
      make("span", { className: "quiet" }, ` ${figures}${binary ? "" : ` · ${minus} ${signed(difference(question), digits)}`}`)));
    if (overview.has_answers) answersTo(question).then((answers) => part.append(pairedAnswers(answers, pair)), (error) => part.append(problem(error)));
    return part;
  }));
  if (end < questions.length) list.append(moreButton(`Show more (${counted(questions.length - end)} left)`, () => showBrushed(list, questions, pair, scores, end)));
}
