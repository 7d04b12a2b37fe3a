// Two runs side by side: by how much they differ, on which questions, and their answers in pairs.

views.pair = {
  title: () => state.compare.flatMap((run, index) => [index ? " against " : "", make("bdi", {}, overview.runs[run].name)]),
  content: async () => pairContent(state.compare, await figures()),
  reach: reachQuestion,
};

function signed(value, digits) {
  if (value === null) return "–";
  const text = figure(Math.abs(value), digits);
  return `${value < 0 && /[1-9]/.test(text) ? "−" : "+"}${text}`;
}

function intervalText({ mean: center, half }, digits) {
  return half === null ? "–" : `${signed(center - half, digits)} to ${signed(center + half, digits)}`;
}

/** What the difference says, in one sentence; nodes. */
function verdict(difference, names) {
  if (difference.mean === null) return ["The runs have no question in common."];
  const interval = difference.half === null ? "there is no interval, because all questions differ by the same" : `95 % interval ${intervalText(difference, 4)}`;
  if (difference.n < overview.min_questions) return [`A − B is ${signed(difference.mean, 4)}; ${difference.n} questions are too few for a verdict.`];
  if (difference.half === null && difference.mean === 0) return ["The runs have the same score on every question."];
  if (difference.half !== null && Math.abs(difference.mean) <= difference.half) return [`No significant difference: A − B is ${signed(difference.mean, 4)}, ${interval}.`];
  return [difference.mean > 0 ? "A (" : "B (", make("bdi", {}, names[difference.mean > 0 ? 0 : 1]), `) is better: A − B is ${signed(difference.mean, 4)}, ${interval}.`];
}

function pairContent([one, other], more) {
  const runs = [overview.runs[one], overview.runs[other]];
  const names = runs.map(({ name }) => name);
  const columns = {};
  for (const metric of ["average", ...Object.keys(METRICS)]) columns[metric] = [one, other].map((run) => more[metric].map((ofRuns) => ofRuns[run]));
  const lines = Object.entries(columns).map(([metric, [a, b]]) => {
    const digits = metric === "length" ? 1 : 4;
    const difference = pairedDifference(a, b);
    const both = a.map((_, place) => isNumber(a[place]) && isNumber(b[place]));
    // If no question of a run is left out, its figures are those of its own view, which are sums of rounded figures.
    const means = [a, b].map((values, index) => figure(values.every((value, place) => both[place] || !isNumber(value))
      ? runs[index][metric === "average" ? "score" : metric] : mean(values.filter((_, place) => both[place])), digits));
    return [METRICS[metric] ?? "Score", ...means, signed(difference.mean, digits), intervalText(difference, digits)];
  });
  const score = pairedDifference(...columns.average);
  const links = [one, other].map((run, index) => make("li", {}, make("b", {}, "AB"[index]), " ",
    make("a", { href: addressOf({ run, compare: null, question: null, sample: null }) }, make("bdi", {}, names[index]))));
  return [
    make("ul", { className: "pair-names" }, ...links, make("li", {}, make("a", { href: addressOf({ compare: [other, one] }) }, "Swap A and B"))),
    make("p", {}, make("b", {}, ...verdict(score, names))),
    make("p", { className: "quiet" }, `Means over the ${score.n} questions that both runs have, and the 95 % interval of their difference by Student’s t for pairs: how far it could move with other questions of this kind.`),
    figuresTable(["Metric", "A", "B", "A − B", "95 % interval of A − B"], lines, "Figures of both runs"),
    make("h3", {}, "Questions, sorted by A − B"), legend(),
    ...questionBars([one, other], columns.average),
  ];
}

/** A line with a bar for each question that both have, sorted by the difference. */
function questionBars(pair, [a, b]) {
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
  fillWhenOpened(element, body, async () => pairedSamples(await answersTo(question), pair));
  return element;
}

/** The answers of both runs, the best beside the best. */
function pairedSamples(answers, pair) {
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
  return cells;
}
