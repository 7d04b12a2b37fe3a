// Two to six runs side by side, A as the baseline: by how much they differ from it, on which questions, and their answers.

views.comparison = {
  title: () => state.compare.flatMap((run, index) => [index ? (index > 1 ? ", " : " against ") : "", make("bdi", {}, overview.runs[run].name)]),
  content: async () => comparisonContent(state.compare, await figures()),
  reach: reachQuestion,
};

const LETTERS = "ABCDEF";

/** What the difference of a run from A says, in one sentence; nodes. */
function verdict(difference, letter, names) {
  const what = `${letter} − A`;
  if (difference.mean === null) return [`${letter} has no ${WORDS.question} in common with A.`];
  const { n, units = n } = difference;
  if (units < overview.min_questions) return [`${what} is ${signed(difference.mean, 4)}; ${units} ${units < n ? "clusters" : WORDS.questions} are too few for a verdict.`];
  if (difference.half === null && difference.mean === 0) return [`${letter} has the same score as A on every ${WORDS.question}.`];
  const interval = difference.half === null ? `there is no interval, because all ${WORDS.questions} differ by the same` : `95 % interval ${intervalText(difference, 4)}`;
  if (difference.half !== null && Math.abs(difference.mean) <= difference.half) return [`No significant difference: ${what} is ${signed(difference.mean, 4)}, ${interval}.`];
  const better = SIGN * difference.mean > 0 ? letter : "A";
  return [`${better} (`, make("bdi", {}, names[LETTERS.indexOf(better)]), `) is better${names.length > 2 && better === "A" ? ` than ${letter}` : ""}: ${what} is ${signed(difference.mean, 4)}, ${interval}.`];
}

function comparisonContent(compared, more) {
  const names = compared.map((run) => overview.runs[run].name);
  const [baseline, ...others] = compared.map((run) => ({ run, of: (metric) => more[metric].map((ofRuns) => ofRuns[run]) }));
  const difference = (other, metric) => pairedDifference(other.of(metric), baseline.of(metric));
  const verdicts = others.map((other, index) => make("p", {}, make("b", {}, ...verdict(difference(other, "average"), LETTERS[index + 1], names))));
  const n = difference(others[0], "average").n;
  const questions = questionTable({
    label: `${WORDS.Questions} of the ${WORDS.runs}`, order: "by", first: "B", columns: comparedColumns(compared, baseline, others),
    questions: overview.questions.map((_, question) => question).filter((question) => compared.every((run) => isNumber(more.average[question][run]))),
    content: overview.has_answers ? async (question) => answersBeside(await answersTo(question), compared) : null,
  });
  return [
    make("ul", { className: "compared" }, ...compared.map((run, index) => comparedItem(compared, run, index))),
    ...verdicts,
    make("p", { className: "quiet" }, others.length > 1
      ? `A line shows a ${WORDS.run}’s means, and below them their differences from A with 95 % intervals. A difference is the mean over the ${WORDS.questions} that both ${WORDS.runs} have; the intervals are by Student’s t for pairs, without a correction for several comparisons.`
      : `Means over the ${n} ${WORDS.questions} that both ${WORDS.runs} have, and the 95 % interval of their difference by Student’s t for pairs: how far it could move with other ${WORDS.questions} of this kind. The ties of the leaderboard are corrected for all pairs of ${WORDS.runs}, so that fewer pairs differ there.`),
    figuresTable(...comparedFigures(baseline, others), `Figures of the ${WORDS.runs}`),
    make("h3", {}, WORDS.Questions),
    questionNote(questions, `The mean score of A, and by how much the other ${WORDS.runs} differ from it. ${overview.has_answers ? "Select a question to read the answers, the best next to the best." : "Select an item to see the scores of all models."}`),
    others.length > 1 ? make("div", { className: "scroller" }, questions) : questions,
  ];
}

/** A run of the comparison, with the changes that can be made. */
function comparedItem(compared, run, index) {
  const others = compared.filter((other) => other !== run);
  const change = (label, runs) => [" · ", make("a", { href: addressOf({ compare: runs }) }, label)];
  return make("li", {}, make("b", {}, LETTERS[index]), " ",
    make("a", { href: addressOf({ run, compare: null, question: null, sample: null }) }, make("bdi", {}, overview.runs[run].name)),
    ...(index ? change("make it A", [run, ...others]) : [" · baseline"]), ...(others.length > 1 ? change("remove", others) : []));
}

/** The heads and lines of the table of figures: a line for each metric of two runs, or for each of several runs. */
function comparedFigures(baseline, others) {
  const metrics = ["average", ...Object.keys(METRICS)].map((metric) => comparedMetric(metric, baseline, others));
  if (others.length === 1) {
    const lines = metrics.map(({ name, ofA, found: [[value, difference, interval]] }) => [name, ofA, value, difference, interval]);
    return [["Metric", "A", "B", "B − A", "95 % interval of B − A"], lines];
  }
  return [[WORDS.Run, ...metrics.map(({ name }) => name)], [
    ["A", ...metrics.map(({ ofA }) => ofA)],
    ...others.map((_, index) => [LETTERS[index + 1], ...metrics.map(({ found }) => {
      const [value, difference, interval] = found[index];
      return `${value}\n${difference} (${interval})`;
    })]),
  ]];
}

/** A metric of the runs in words; a run without left-out questions has the figures of its own view, which are sums of rounded figures. */
function comparedMetric(metric, baseline, others) {
  const digits = metric === "length" ? 1 : 4;
  const valuesOfA = baseline.of(metric);
  const isOfBoth = (other) => {
    const values = other.of(metric);
    return (place) => isNumber(values[place]) && isNumber(valuesOfA[place]);
  };
  const shown = ({ run, of }, isShared) => {
    const values = of(metric);
    const isWhole = values.every((value, place) => isShared(place) || !isNumber(value));
    return figure(isWhole ? overview.runs[run][metric === "average" ? "score" : metric] : mean(values.filter((_, place) => isShared(place))), digits);
  };
  return {
    name: METRICS[metric] ?? WORDS.score,
    ofA: shown(baseline, (place) => others.every((other) => isOfBoth(other)(place))),
    found: others.map((other) => {
      const difference = pairedDifference(other.of(metric), valuesOfA);
      return [shown(other, isOfBoth(other)), signed(difference.mean, digits), intervalText(difference, digits)];
    }),
  };
}

function comparedColumns(compared, baseline, others) {
  const ofA = baseline.of("average");
  const columns = others.map((other, index) => {
    const values = other.of("average");
    return { letter: LETTERS[index + 1], difference: (question) => values[question] - ofA[question] };
  });
  const widest = widestOf(columns.flatMap(({ difference }) => overview.questions.map((_, question) => difference(question))));
  return [
    { key: "A", title: "A", value: (question) => ofA[question], show: (question) => figure(overview.runs[compared[0]].questions[question], 4), isLowestFirst: true },
    ...columns.map(({ letter, difference }) => ({ key: letter, title: `${letter} − A`, value: difference, show: (question) => differenceBar(difference(question), widest), isLowestFirst: true })),
  ];
}

/** The answers of the runs, the best next to the best. */
function answersBeside(answers, compared) {
  const columns = compared.map((run) => answers.samples.filter((sample) => sample.run === run));
  const cells = [];
  for (let place = 0; place < Math.max(...columns.map((samples) => samples.length)); place++) {
    columns.forEach((samples, index) => {
      const name = `${LETTERS[index]}, sample ${place + 1}`;
      cells.push(samples[place]
        ? sampleElement(samples[place], answers, [make("b", {}, `${name}: ${figure(samples[place].score, 4)}`)], name)
        : make("div", {}));
    });
  }
  const grid = make("div", { className: "beside-each-other" }, ...cells);
  grid.style.setProperty("--n", compared.length);
  return [legend(), grid];
}
