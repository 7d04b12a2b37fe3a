// Two runs side by side: by how much they differ, on which questions, and their answers in pairs.

views.pair = {
  title: () => state.compare.flatMap((run, index) => [index ? " against " : "", make("bdi", {}, overview.runs[run].name)]),
  content: async () => pairContent(state.compare, await figures()),
  reach: reachPair,
};

const MIN_QUESTIONS = overview.min_questions;

/** The mean difference over the questions that both have, and half of its 95 % interval by the paired t-test.
 *
 * It equals `statistics/paired.py`; null stands for what cannot be said, as without a common question or any spread.
 */
function pairedDifference(a, b) {
  const places = a.map((_, place) => place).filter((place) => isNumber(a[place]) && isNumber(b[place]));
  const differences = places.map((place) => a[place] - b[place]);
  const n = differences.length;
  const center = mean(differences);
  const largest = Math.max(0, ...places.flatMap((place) => [Math.abs(a[place]), Math.abs(b[place])]));
  if (n < 2 || Math.max(...differences) - Math.min(...differences) <= 1e-9 * largest) return { n, mean: center, half: null };
  const variance = differences.reduce((sum, difference) => sum + (difference - center) ** 2, 0) / (n - 1);
  return { n, mean: center, half: overview.quantiles[n - 2] * Math.sqrt(variance / n) };
}

function isNumber(value) {
  return typeof value === "number";
}

function signed(value, digits) {
  return value === null ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

function intervalText({ mean: center, half }, digits) {
  return half === null ? "–" : `${signed(center - half, digits)} to ${signed(center + half, digits)}`;
}

/** What the difference says, in one sentence; nodes. */
function verdict(difference, names) {
  if (difference.mean === null) return ["The runs have no question in common."];
  const interval = difference.half === null ? "there is no interval, because all questions differ by the same" : `95 % interval ${intervalText(difference, 4)}`;
  if (difference.n < MIN_QUESTIONS) return [`A − B is ${signed(difference.mean, 4)}; ${difference.n} questions are too few for a verdict.`];
  if (difference.half === null && difference.mean === 0) return ["The runs have the same score on every question."];
  if (difference.half !== null && Math.abs(difference.mean) <= difference.half) return [`No significant difference: A − B is ${signed(difference.mean, 4)}, ${interval}.`];
  return [difference.mean > 0 ? "A (" : "B (", make("bdi", {}, names[difference.mean > 0 ? 0 : 1]), `) is better by ${Math.abs(difference.mean).toFixed(4)}; of A − B, ${interval}.`];
}

function pairContent([one, other], more) {
  const runs = [overview.runs[one], overview.runs[other]];
  const names = runs.map(({ name }) => name);
  const columns = {
    Score: [runs[0].questions, runs[1].questions],
    ...Object.fromEntries(["fluency", "truthfulness", "helpfulness", "length"].map((name) =>
      [name === "length" ? "Length in characters" : TITLES[name], [one, other].map((run) => more[name].map((ofRuns) => ofRuns[run]))])),
  };
  const lines = Object.entries(columns).map(([name, [a, b]]) => {
    const digits = name.startsWith("Length") ? 1 : 4;
    const difference = pairedDifference(a, b);
    const both = a.map((_, place) => isNumber(a[place]) && isNumber(b[place]));
    const means = [a, b].map((values) => figure(mean(values.filter((_, place) => both[place])), digits));
    return [name, ...means, signed(difference.mean, digits), intervalText(difference, digits)];
  });
  const score = pairedDifference(...columns.Score);
  const links = [one, other].map((run, index) => make("li", {}, make("b", {}, "AB"[index]), " ",
    make("a", { href: addressOf({ run, compare: null, question: null, sample: null }) }, make("bdi", {}, names[index]))));
  return [
    make("ul", { className: "pair-names" }, ...links, make("li", {}, make("a", { href: addressOf({ compare: [other, one] }) }, "Swap A and B"))),
    make("p", {}, make("b", {}, ...verdict(score, names))),
    make("p", { className: "quiet" }, `Means over the ${score.n} questions that both runs have, and the 95 % interval of the mean difference by Student's t for pairs, with the questions as draws.`),
    smallTable(["Metric", "A", "B", "A − B", "95 % interval of A − B"], lines),
    make("h3", {}, "Questions, from where A is better to where B is"), legend(),
    ...questionBars([one, other]),
  ];
}

/** A line with a bar for each question that both have, sorted by the difference. */
function questionBars(pair) {
  const [a, b] = pair.map((run) => overview.runs[run].questions);
  const differences = overview.questions
    .map((_, question) => ({ question, difference: a[question] - b[question] }))
    .filter(({ question }) => isNumber(a[question]) && isNumber(b[question]))
    .sort((x, y) => y.difference - x.difference || x.question - y.question);
  const widest = Math.max(1e-9, ...differences.map(({ difference }) => Math.abs(difference)));
  return differences.map(({ question, difference }) => pairElement(pair, question, difference, Math.abs(difference) / widest));
}

function pairElement(pair, question, difference, width) {
  const { id, text } = overview.questions[question];
  const bar = make("span", { className: `bar ${difference < 0 ? "minus" : "plus"}`, ariaHidden: "true" }, make("span", {}));
  bar.firstChild.style.width = `${50 * width}%`;
  const scores = pair.map((run) => figure(overview.runs[run].questions[question], 4));
  const element = make("details", { className: "question paired" },
    make("summary", {}, make("span", { className: "number" }, make("b", {}, id), ` ${signed(difference, 4)}`), bar,
      make("span", {}, make("bdi", {}, text), make("span", { className: "quiet" }, ` A ${scores[0]}, B ${scores[1]}`))));
  element.dataset.question = question;
  const body = make("div", { className: "pairs" });
  element.append(body);
  element.addEventListener("toggle", () => { if (element.open && !body.childElementCount) showPairs(body, pair, question); });
  return element;
}

/** The answers of both runs, the best beside the best. */
async function showPairs(body, pair, question) {
  body.append(make("p", { className: "quiet" }, "Loading …"));
  try {
    const answers = await answersTo(question);
    const columns = pair.map((run) => answers.samples.filter((sample) => sample.run === run));
    const cells = [];
    for (let place = 0; place < Math.max(...columns.map((samples) => samples.length)); place++) {
      columns.forEach((samples, index) => {
        const name = `${"AB"[index]}, sample ${place + 1}`;
        cells.push(samples[place]
          ? sampleElement(samples[place], answers, [make("b", {}, `${name}: ${figure(samples[place].score, 4)}`)], name)
          : make("div", {}));
      });
    }
    body.replaceChildren(...cells);
  } catch (error) {
    body.replaceChildren(problem(error));
  }
}

function reachPair() {
  const element = state.question !== null && dialogBody.querySelector(`[data-question="${state.question}"]`);
  if (!element) return;
  element.open = true;
  element.scrollIntoView();
  element.querySelector("summary").focus({ preventScroll: true });
}
