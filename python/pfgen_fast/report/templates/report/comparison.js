// Two to six runs side by side: by how much A differs from the others, on which questions, and their answers.

views.comparison = {
  title: () => state.compare.flatMap((run, index) => [index ? (index > 1 ? ", " : " against ") : "", make("bdi", {}, overview.runs[run].name)]),
  content: async () => comparisonContent(state.compare, await figures()),
  reach: reachQuestion,
};

const LETTERS = "ABCDEF";

/** The decisions between A and the other runs in a metric, which are one family. */
function decisions(compared, metric, scores) {
  const binary = isBinary(compared, metric, scores);
  const [ofA, ...ofOthers] = compared.map((run) => scores.map((ofRuns) => ofRuns[run]));
  return decided(ofOthers.map((values) => pairedDifference(ofA, values, { isBinary: binary })));
}

/** A decision between A and another run in one sentence. */
function verdict(decision, letter) {
  return decision.n ? verdictText(decision, "A", letter) : `${letter} has no ${WORDS.question} in common with A`;
}

function comparisonContent(compared, more) {
  const nOthers = compared.length - 1;
  const ofScore = decisions(compared, "average", more.average);
  const test = overview.tests[isBinary(compared, "average", more.average) ? "Tango" : overview.clusters ? "clustered t" : "t"];
  const questions = questionTable({
    label: `${WORDS.Questions} of the ${WORDS.runs}`, order: "by", first: "B", columns: comparedColumns(compared, more.average),
    questions: overview.questions.map((_, question) => question).filter((question) => compared.every((run) => isNumber(more.average[question][run]))),
    content: overview.has_answers ? async (question) => answersBeside(await answersTo(question), compared) : null,
  });
  return [
    make("ul", { className: "compared" }, ...compared.map((run, index) => comparedItem(compared, run, index))),
    ...ofScore.map((decision, index) => make("p", {}, make("b", {}, verdict(decision, LETTERS[index + 1])))),
    make("p", { className: "quiet" }, (nOthers > 1
      ? `A line shows a ${WORDS.run}’s means, and below them by how much A is above them, with 95 % intervals (${test}) over the ${WORDS.questions} that both ${WORDS.runs} have. The ${nOthers} comparisons of each metric are corrected together by Holm.`
      : `Means over the ${WORDS.questions} that both ${WORDS.runs} have, and the 95 % interval of their difference (${test}): how far it could move with other ${WORDS.questions} of this kind.`) + " The terminal’s compare decides in the same way."),
    figuresTable(...comparedFigures(compared, more), `Figures of the ${WORDS.runs}`),
    make("h3", {}, WORDS.Questions),
    questionNote(questions, `The mean score of A, and by how much it is above the other ${WORDS.runs}. ${overview.has_answers ? "Select a question to read the answers, the best next to the best." : "Select an item to see the scores of all models."}`),
    nOthers > 1 ? make("div", { className: "scroller" }, questions) : questions,
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
function comparedFigures(compared, more) {
  const metrics = ["average", ...Object.keys(METRICS)].map((metric) => comparedMetric(metric, compared, more[metric]));
  if (compared.length === 2) {
    return [["Metric", "A", "B", "A - B", "95 % interval of A - B"], metrics.map(({ name, ofA, found: [cells] }) => [name, ofA, ...cells])];
  }
  return [[WORDS.Run, ...metrics.map(({ name }) => name)], [
    ["A", ...metrics.map(({ ofA }) => ofA)],
    ...compared.slice(1).map((_, index) => [LETTERS[index + 1], ...metrics.map(({ found }) => {
      const [value, difference, interval] = found[index];
      return `${value}\n${difference} (${interval})`;
    })]),
  ]];
}

/** A metric of the runs in words; a run without left-out questions has the figures of its own view, which are sums of rounded figures. */
function comparedMetric(metric, compared, scores) {
  const digits = digitsOf(metric);
  const [baseline, ...others] = compared;
  const have = (...runs) => (ofRuns) => runs.every((run) => isNumber(ofRuns[run]));
  const shown = (run, isShared) => {
    const isWhole = scores.every((ofRuns) => isShared(ofRuns) || !isNumber(ofRuns[run]));
    return figure(isWhole ? overview.runs[run][metric === "average" ? "score" : metric] : mean(scores.filter(isShared).map((ofRuns) => ofRuns[run])), digits);
  };
  const found = decisions(compared, metric, scores);
  return {
    name: METRICS[metric] ?? WORDS.score,
    ofA: shown(baseline, have(...compared)),
    found: others.map((run, index) => [shown(run, have(baseline, run)), signed(found[index].mean, digits), rangeText(found[index].ends, digits, signed)]),
  };
}

function comparedColumns(compared, scores) {
  const [baseline, ...others] = compared;
  const columns = others.map((run, index) => ({ letter: LETTERS[index + 1], difference: (question) => scores[question][baseline] - scores[question][run] }));
  const widest = widestOf(columns.flatMap(({ difference }) => overview.questions.map((_, question) => difference(question))));
  return [
    { key: "A", title: "A", value: (question) => scores[question][baseline], show: (question) => figure(overview.runs[baseline].questions[question], 4), isLowestFirst: true },
    ...columns.map(({ letter, difference }) => ({ key: letter, title: `A - ${letter}`, value: difference, show: (question) => differenceBar(difference(question), widest), isLowestFirst: true })),
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
