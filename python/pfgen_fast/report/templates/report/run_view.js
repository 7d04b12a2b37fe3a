// A run as a diagnosis: where it stands, on which questions it loses, what is missing, its worst answer; then its figures.

views.run = {
  title: () => [make("bdi", {}, overview.runs[state.run].name)],
  content: async () => runContent(state.run, await figures()),
  reach: reachQuestion,
};

function runContent(number, more) {
  const run = overview.runs[number];
  const shares = ["Set", "Fluency", "Truthfulness"];
  const parameters = Object.entries(run.parameters);
  const questions = questionTable({
    label: "Questions of the run", order: "by", first: "distance", columns: runColumns(number, more),
    questions: overview.questions.map((_, question) => question).filter((question) => isNumber(run.questions[question]) || isNumber(more.length[question][number])),
    content: async (question) => ownSamples(await answersTo(question), number, question),
  });
  const folded = (title, ...content) => make("details", { className: "folded" }, make("summary", {}, title), ...content);
  return [
    ...diagnosis(number, more),
    compareWith(number),
    make("h3", {}, "Questions"),
    questionNote(questions, "“To the median” is the distance of the run’s score to the median of all runs. Spread is the standard deviation over the run’s answers. Select a question to read the sample answers, the worst first."),
    questions,
    section("Scores", figuresTable(["Metric", "Mean", "95 % interval over questions"], metricLines(number, more), "Scores")),
    ...(run.sets.length ? [folded("Contribution of each reference set", figuresTable(shares, contributions(run), "Contributions of the sets"))] : []),
    folded("Parameters", parameters.length ? smallTable(["Parameter", "Value"], parameters) : make("p", {}, "The run has no config.json."),
      ...(run.link ? [make("p", {}, make("a", { href: run.link }, "Folder of the run"))] : [])),
  ];
}

// ---- The diagnosis

const N_NAMED_QUESTIONS = 3;
const N_NAMED_KEYWORDS = 12;

function distanceTo(number) {
  return (question) => isNumber(overview.runs[number].questions[question]) ? overview.runs[number].questions[question] - medians[question] : null;
}

function diagnosis(number, more) {
  const run = overview.runs[number];
  const isRanked = run.rank !== null;
  const ties = !run.tied ? "" : run.tied[0] === run.tied[1] ? ", tied with no other run" : `, tied with ranks ${run.tied[0]} to ${run.tied[1]}`;
  const place = isRanked ? `Rank ${run.rank} of ${overview.runs.filter(({ rank }) => rank !== null).length}${ties}` : "Not ranked: a system run";
  const byDistance = overview.questions.map((_, question) => [distanceTo(number)(question), question])
    .filter(([distance]) => distance !== null).sort(([a], [b]) => a - b);
  const losses = byDistance.filter(([distance]) => distance < 0);
  const named = (losses.length ? losses : byDistance).slice(0, N_NAMED_QUESTIONS);
  const linked = (question) => make("a", { href: addressOf({ question, sample: null }) }, overview.questions[question].id);
  const missed = missedOften(number, more);
  const sentences = [
    make("p", { className: "verdict" }, make("b", {}, place), ` · score ${figure(run.score, 4)}. `,
      ...(named.length ? [losses.length ? "Loses most on " : "Leads least on ", ...named.flatMap(([, question], index) => [index ? ", " : "", linked(question)]), " (against the median of all runs). "] : []),
      weakestPart(number)),
  ];
  if (missed.length) {
    const shown = missed.slice(0, N_NAMED_KEYWORDS).flatMap(({ question, name }, index) => [index ? ", " : "", make("bdi", { className: "rule" }, name), " (", linked(question), ")"]);
    const rest = missed.length > N_NAMED_KEYWORDS ? [` and ${missed.length - N_NAMED_KEYWORDS} more`] : [];
    sentences.push(make("p", {}, `${counted(missed.length)} ${missed.length === 1 ? "keyword is" : "keywords are"} missing in half of the sample answers or more: `, ...shown, ...rest, "."));
  }
  const tooLong = run.samples ? `; ${(100 * run.too_long / run.samples).toFixed(0)} % of the sample answers are too long` : "";
  sentences.push(make("p", {}, `Mean length ${figure(run.length, 1)} characters (median of all runs ${figure(median(overview.runs.map(({ length }) => length)), 1)})${tooLong}. ${run.replies}`));
  if (run.worst) {
    const [question, sample] = run.worst;
    sentences.push(make("p", {}, make("a", { href: addressOf({ question, sample }) }, "Read its worst answer"), ` (${overview.questions[question].id}).`));
  }
  return sentences;
}

/** The part in which the run has its worst rank, in words. */
function weakestPart(number) {
  const ranked = overview.runs.filter(({ rank }) => rank !== null);
  const places = ["fluency", "truthfulness", "helpfulness"].filter((part) => overview.runs[number][part] !== null)
    .map((part) => ({ part, place: 1 + ranked.filter((run) => run[part] > overview.runs[number][part]).length }))
    .sort((a, b) => b.place - a.place);
  if (ranked.length < 2 || !places.length) return "";
  const [{ part, place }, ...others] = places;
  return `Weakest part: ${part}, rank ${place}${others.map((other) => `; ${other.part} ${other.place}`).join("")}.`;
}

/** The keywords that at least half of the sample answers to their question lack, the most frequent first. */
function missedOften(number, more) {
  return overview.questions.flatMap((_, question) => {
    const n = more.samples[question][number];
    return Object.entries(more.missed[question]).map(([name, counts]) => ({ question, name, share: n ? counts[number] / n : 0 }));
  }).filter(({ share: of }) => of >= 0.5).sort((a, b) => b.share - a.share || a.question - b.question);
}

// ---- The questions

function runColumns(number, more) {
  const run = overview.runs[number];
  const distance = distanceTo(number);
  const widest = widestOf(overview.questions.map((_, question) => distance(question)));
  const plain = (key, title, digits, isExtra = true) => {
    const value = (question) => more[key][question][number];
    return { key, title, value, isExtra, show: (question) => figure(value(question), digits) };
  };
  const missed = (question) => {
    const n = more.samples[question][number];
    return Object.entries(more.missed[question]).filter(([, counts]) => n && counts[number] >= n / 2).map(([name]) => name);
  };
  return [
    { key: "score", title: "Score", value: (question) => run.questions[question], show: (question) => figure(run.questions[question], 3), isLowestFirst: true },
    { key: "distance", title: "To the median", value: distance, show: (question) => differenceBar(distance(question), widest), isLowestFirst: true },
    plain("fluency", "Fluency", 3), plain("truthfulness", "Truthfulness", 3), plain("helpfulness", "Helpfulness", 3),
    plain("score_std", "Spread", 3), plain("length", "Length", 0),
    { key: "missed", title: "Missing in half or more", value: (question) => missed(question).length, isWords: true, isExtra: true,
      show: (question) => missed(question).flatMap((name, index) => [index ? ", " : "", make("bdi", {}, name)]) },
  ];
}

/** The samples of a run, from the worst to the best. */
function ownSamples(answers, run, question) {
  const samples = answers.samples.filter((sample) => sample.run === run)
    .sort((a, b) => (a.score === null) - (b.score === null) || a.score - b.score || a.number - b.number);
  const all = make("p", {}, make("a", { href: addressOf({ run: null, question, sample: null, compare: null }) }, "The answers of all runs"));
  return [legend(), ...samples.map((sample) => {
    const name = `Sample ${sample.number + 1}`;
    return sampleElement(sample, answers, [make("b", {}, `${name}: ${figure(sample.score, 4)}`)], name);
  }), all];
}

// ---- Figures

function metricLines(number, more) {
  const run = overview.runs[number];
  const line = (name, value, values, digits) => {
    const { mean: center, half } = meanInterval(values);
    const interval = half === null ? "–" : `${figure(center - half, digits)} to ${figure(center + half, digits)}`;
    return [name, figure(value, digits), interval];
  };
  return [
    line("Score", run.score, more.average.map((ofRuns) => ofRuns[number]), 4),
    ...Object.entries(METRICS).map(([metric, name]) =>
      line(name, run[metric], more[metric].map((ofRuns) => ofRuns[number]), metric === "length" ? 1 : 4)),
  ];
}

/** The share that each set adds to a metric, and the sum of the shares. */
function contributions(run) {
  const shown = run.sets.map(([name, fluency, truthfulness]) => [name, `+ ${figure(fluency, 4)}`, `+ ${figure(truthfulness, 4)}`]);
  return [...shown, ["sum", `= ${figure(run.fluency, 4)}`, `= ${figure(run.truthfulness, 4)}`]];
}

/** Offers the other runs; they are listed when the list is first used, because a list of hundreds takes long to make. */
function compareWith(number) {
  const select = make("select", {}, make("option", { value: "" }, "choose a run"));
  const fill = () => {
    if (select.length === 1) select.append(...overview.runs.map(({ name }, other) => make("option", { value: other, disabled: other === number }, name)));
  };
  for (const event of ["focus", "pointerdown"]) select.addEventListener(event, fill);
  select.addEventListener("change", () => { if (select.value) go({ run: null, question: null, sample: null, compare: [number, Number(select.value)] }); });
  return make("p", { className: "tools" }, make("label", {}, "Compare with ", select));
}
