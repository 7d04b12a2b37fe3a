// The figures of runs and questions: those that the overview lacks, and what the questions tell about the runs.

let unpackedFigures = null;

/** The figures of each question and run that the overview lacks, as `(await figures()).length[question][run]`. */
function figures() {
  return unpackedFigures ??= packedLines("", "figures").then(([line]) => unpackedLine(line));
}
requestIdleCallback(figures);  // what is printed cannot wait for them
requestIdleCallback(() => difficultyOf(0));  // which takes long for hundreds of runs

/** A score or a difference of a question; figures of all questions have a digit more. Scores of 0 and 1 have none. */
function scoreText(value, shown = figure) {
  return shown(value, overview.is_share && Number.isInteger(value) ? 0 : Math.min(3, overview.digits));
}

const scoresOf = once(() => overview.questions.map((_, question) => overview.runs.map((run) => run.questions[question])));

/** The runs of models; system runs are reference points, which medians and difficulties leave out. */
const modelRuns = (() => {
  const models = ALL_RUNS.filter((number) => !overview.runs[number].medal);
  return models.length ? models : ALL_RUNS;
})();
const medians = once(() => scoresOf().map((ofRuns) => median(modelRuns.map((run) => ofRuns[run]))));

/** The numbers of the runs whose answers are shown: all, or if the state says so, those that the leaderboard shows. */
function chosenRuns() {
  return state.filters.get("runs") === "shown" ? visibleRuns() : ALL_RUNS;
}

/** What each question tells about some runs: its mean, the spread of the runs, and how it agrees with the other questions. */
function questionFigures(runs) {
  const totals = runs.map((run) => {
    const scores = overview.runs[run].questions.filter(isNumber);
    return { sum: sum(scores), n: scores.length };
  });
  return scoresOf().map((ofRuns) => {
    const scores = runs.map((run) => ofRuns[run]);
    const known = scores.filter(isNumber);
    const center = mean(known);
    const spread = known.length > 1 ? Math.sqrt(known.reduce((so, score) => so + (score - center) ** 2, 0) / (known.length - 1)) : null;
    const others = totals.map(({ sum, n }, place) => isNumber(scores[place]) && n > 1 ? (sum - scores[place]) / (n - 1) : null);
    return { mean: center, n: known.length, spread, discrimination: correlation(scores, others) };
  });
}

let difficulties = null;

/** The figures of a question over all models; the rank of the hardest question is 1. */
function difficultyOf(question) {
  if (!difficulties) {
    const all = questionFigures(modelRuns);
    const sorted = all.map((one) => one.mean).filter(isNumber).sort((a, b) => SIGN * (a - b));
    difficulties = all.map((one) => ({ ...one, rank: one.mean === null ? null : sorted.indexOf(one.mean) + 1 }));
  }
  return difficulties[question];
}

/** A table of figures, which may be wider than the screen. */
function figuresTable(heads, lines, label) {
  const table = smallTable(heads, lines);
  table.classList.add("figures");
  return Object.assign(table, { tabIndex: 0, role: "region", ariaLabel: label });
}
