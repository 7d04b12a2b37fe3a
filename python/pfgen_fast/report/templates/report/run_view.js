// A run as a diagnosis: where it stands, why it loses, on which questions, its worst answer; then its figures.

views.run = {
  title: () => [make("bdi", {}, overview.runs[state.run].name)],
  content: async () => {
    const more = await figures();
    views.run.rest = () => runQuestions(state.run, more);
    return runSummary(state.run, more);
  },
  reach: () => { shownDiagnosis?.follow?.(); return reachQuestion(); },
};

let [shownDiagnosis, shownReference] = [null, null];  // the reference of everything in the view; null for the only run

function runSummary(number, more) {
  paper = { number, nodes: [] };
  if (overview.has_answers) requestIdleCallback(() => worstAnswers(number).then((nodes) => { if (paper.number === number) paper.nodes = nodes; }));
  const asked = overview.causes && askedReference(number, more);
  shownReference = asked ? distanceTo(referenceOf(asked, more), (question) => lossFigures(more, question, number))
    : !overview.causes && modelRuns.length > 1 ? distanceTo({ name: "the median", at: (question) => ({ score: medians()[question] }) }, (question) => ({ score: overview.runs[number].questions[question] })) : null;
  shownDiagnosis = asked ? diagnosisParts(number, more, asked, shownReference) : null;
  return [
    ...standing(number),
    ...(shownDiagnosis?.nodes ?? []), ...weakest(number),
    ...(overview.has_parts ? answersInWords(number) : []),
    ...(overview.checklists ? ownLosses(number) : []),
    compareWith(number),
    make("h3", {}, WORDS.Questions),
  ];
}

function runQuestions(number, more) {
  const run = overview.runs[number];
  const shares = ["Set", "Fluency", "Truthfulness"];
  const parameters = Object.entries(run.parameters);
  const questions = questionTable({
    label: `${WORDS.Questions} of the ${WORDS.run}`, order: "by", first: `${SIGN > 0 ? "" : "-"}${shownReference ? "distance" : "score"}`, columns: runColumns(number, more),
    runs: [number], questions: ALL_QUESTIONS.filter((question) => isNumber(run.questions[question]) || overview.states || isNumber(more.length?.[question][number])),
    content: overview.has_answers ? async (question) => ownSamples(await answersTo(question), number, question) : null,
  });
  const folded = (title, ...content) => make("details", { className: "folded" }, make("summary", {}, title), ...content);
  const text = [
    ...(shownReference ? [`“${distanceTitle()}” is the score of the ${WORDS.run} less that of ${overview.causes ? shownReference.name : "the median of the models"}.`] : []),
    ...(overview.has_parts ? ["Spread is the standard deviation over the run’s answers."] : []),
    overview.has_answers ? `Select a ${WORDS.question} to read the answers, the worst first.` : "Select an item to see the scores of all models."].join(" ");
  const note = make("div", { className: "tools" }, make("p", { className: "quiet" }, text), ...questions.tools);
  offerSaving(questions, { name: questions.caption.textContent, place: note });
  return [
    note, questions,
    section("Scores", figuresTable(["Metric", "Mean", `95 % interval over ${WORDS.questions}`], metricLines(number, more), "Scores")),
    ...(run.sets.length ? [folded("Contribution of each reference set", figuresTable(shares, contributions(run), "Contributions of the sets"))] : []),
    ...(!overview.has_answers ? [] : [folded("Parameters", parameters.length ? smallTable(["Parameter", "Value"], parameters) : make("p", {}, "The run has no config.json."),
      ...(run.link ? [make("p", {}, make("a", { href: run.link }, "Folder of the run"))] : []))]),
  ];
}

// ---- Paper, which has the worst answers in place of links to answers

let paper = { number: null, nodes: [] };

/** The worst answer to each of the questions that the run loses most on. */
async function worstAnswers(number) {
  const value = shownReference?.distance ?? ((question) => overview.runs[number].questions[question]);
  const questions = placesInOrder(overview.questions.map((_, question) => value(question)), SIGN).filter((question) => value(question) !== null).slice(0, N_NAMED_QUESTIONS);
  const answered = await Promise.all(questions.map(async (question) => {
    const { id, text } = overview.questions[question];
    const [, worst] = ownSamples(await answersTo(question), number, question);
    return [make("h3", {}, `${id} `, make("bdi", {}, text)), worst];
  }));
  return [make("h2", {}, `The worst answers to the ${WORDS.questions} that it loses most on`), ...answered.flat()];
}

addEventListener("beforeprint", () => { if (askedView()?.name === "run") dialogBody.append(...paper.nodes); });
addEventListener("afterprint", () => { for (const node of paper.nodes) node.remove(); });

// ---- The diagnosis

const N_NAMED_QUESTIONS = 3;

/** The first of some questions in the order of a value: `nodes` of each, or of those that tie with later ones their number. */
function firstQuestions(questions, value, nodes) {
  const [last, next] = questions.slice(N_NAMED_QUESTIONS - 1).map(value);
  const tied = last === next ? questions.filter((question) => value(question) === last) : [];
  const parts = questions.slice(0, N_NAMED_QUESTIONS).filter((question) => !tied.includes(question)).map((question) => nodes(question, value(question)));
  if (next !== undefined && tied.length) parts.push([`${counted(tied.length)} ${WORDS.questions} with ${last}`]);
  return parts.flatMap((part, index) => [index ? index < parts.length - 1 ? ", " : " and " : "", ...part]);
}

/** A reference with the distance of a run to it by question; `own` has the figures of the run. */
function distanceTo(reference, own) {
  return { ...reference, distance: (question) => {
    const [score, other] = [own(question)?.score, reference.at(question)?.score];
    return isNumber(score) && isNumber(other) ? score - other : null;
  } };
}

function distanceTitle() {
  return `To ${shownReference.name.startsWith("the ") ? shownReference.name.split(" of ")[0] : `the other ${WORDS.run}`}`;
}

/** The rank and the score of the run. */
function standing(number) {
  const run = overview.runs[number];
  const isRanked = run.rank !== null;
  const nRanked = overview.runs.filter(({ rank }) => rank !== null).length;
  const range = !run.ranks || run.ranks[0] === run.ranks[1] ? "" : `, between ${run.ranks[0]} and ${run.ranks[1]}`;
  const place = isRanked ? `Rank ${run.rank} of ${nRanked}${range}` : `Not ranked: ${run.medal ? "a system run" : "the run has no score"}`;
  const isAlone = isRanked && nRanked === 1;
  const nAnswered = run.questions.filter(isNumber).length;
  return [
    make("p", { className: "verdict" }, ...(isAlone ? ["Score"] : [make("b", {}, place), " · score"]), ` ${figure(run.score, overview.digits)}${trialsText(run) && ` · ${trialsText(run)}`}. `,
      nAnswered < overview.questions.length ? `Has ${counted(nAnswered)} of ${counted(overview.questions.length)} ${WORDS.questions}. ` : ""),
  ];
}

/** The questions on which the run loses most. */
function weakest(number) {
  const run = overview.runs[number];
  if (!shownReference) return [];
  const { name, distance: distanceOf } = shownReference;
  const byDistance = overview.questions.map((_, question) => [distanceOf(question), question])
    .filter(([distance]) => distance !== null).sort(([a], [b]) => SIGN * (a - b));
  const losses = byDistance.filter(([distance]) => SIGN * distance < 0);
  const isTold = byDistance.length && byDistance[0][0] !== byDistance.at(-1)[0];
  const named = !isTold || run.losses || overview.is_share ? [] : firstQuestions((losses.length ? losses : byDistance).map(([, question]) => question), (question) => scoreText(distanceOf(question), signed),
    (question) => [make("a", { href: addressOf({ question, sample: null }) }, overview.questions[question].id), " ", make("bdi", {}, shortened(overview.questions[question].text, 24))]);
  if (overview.is_share && losses.length) return [make("p", {}, `Wrong on ${counted(losses.length)} ${WORDS.questions} that at least half of the ${WORDS.runs} have right.`)];
  return named.length ? [make("p", {}, losses.length ? "Loses most on " : "Leads least on ", ...named, ` (against ${name}).`)] : [];
}

/** How long the answers are, how they ended, and the worst of them. */
function answersInWords(number) {
  const run = overview.runs[number];
  const tooLong = run.samples ? `; ${(100 * run.too_long / run.samples).toFixed(0)} % of the sample answers are longer than ${overview.target}` : "";
  const sentences = [make("p", {}, `Mean length ${figure(run.length, 1)} characters${isNumber(shownReference?.length) ? ` (${shownReference.name}: ${figure(shownReference.length, 1)})` : ""}${tooLong}. ${run.replies}`)];
  if (run.worst) {
    const [question, sample] = run.worst;
    sentences.push(make("p", {}, make("a", { href: addressOf({ question, sample }) }, "Read its worst answer"), ` (${overview.questions[question].id}).`));
  }
  return sentences;
}

// ---- The questions

function runColumns(number, more) {
  const run = overview.runs[number];
  const distance = shownReference?.distance;
  const widest = distance && widestOf(overview.questions.map((_, question) => distance(question)));
  const plain = (key, title, digits, isExtra = true) => {
    const value = (question) => more[key][question][number];
    return { key, title, value, isExtra, show: (question) => figure(value(question), digits) };
  };
  const missed = (question) => {
    const n = more.samples[question][number];
    return Object.entries(more.missed[question]).filter(([, counts]) => n && counts[number] >= n / 2).map(([name]) => name);
  };
  return [
    { key: "score", title: "Score", value: (question) => run.questions[question], show: (question) => scoreText(run.questions[question]), isLowestFirst: true },
    ...(distance ? [{ key: "distance", title: distanceTitle(), value: distance, show: (question) => differenceBar(distance(question), widest), isLowestFirst: true }] : []),
    ...(overview.strata ? [] : overview.columns).filter(([key]) => key !== "length").map(([key, title]) => plain(key, title, 3)),
    ...(!overview.has_parts ? [] : [plain("score_std", "Spread", 3), plain("length", "Length", 0),
      { key: "missed", title: "Missing in half or more", value: (question) => missed(question).length, isWords: true, isExtra: true,
        show: (question) => listed(missed(question).map((name) => make("bdi", {}, name))) }]),
  ];
}

/** The samples of a run, from the worst to the best. */
function ownSamples(answers, run, question) {
  const samples = answers.samples.filter((sample) => sample.run === run)
    .sort((a, b) => (a.score === null) - (b.score === null) || a.score - b.score || a.number - b.number);
  const all = make("p", {}, make("a", { href: addressOf({ run: null, question, sample: null, compare: null }) }, `The answers of all ${WORDS.runs}`));
  return [legend(answers), ...samples.map((sample) => {
    const name = `${overview.has_parts ? "Sample" : "Answer"} ${sample.number + 1}`;
    return sampleElement(sample, answers, [make("b", {}, `${name}: ${figure(sample.score, overview.digits)}`)], name);
  }), all];
}

// ---- Figures

function metricLines(number, more) {
  const run = overview.runs[number];
  const line = (name, value, metric) => {
    const digits = digitsOf(metric);
    return [name, figure(value, digits), rangeText(ownInterval(number, metric, more[metric]).ends, digits)];
  };
  return [line(WORDS.score, run.score, "average"), ...Object.entries(METRICS).map(([metric, name]) => line(name, run[metric], metric))];
}

/** The share that each set adds to a metric, and the sum of the shares. */
function contributions(run) {
  const shown = run.sets.map(([name, fluency, truthfulness]) => [name, `+ ${figure(fluency, 4)}`, `+ ${figure(truthfulness, 4)}`]);
  return [...shown, ["sum", `= ${figure(run.fluency, 4)}`, `= ${figure(run.truthfulness, 4)}`]];
}

/** A field that names another run. Its list is filled when it is first used, because hundreds of names take long. */
function compareWith(number) {
  const list = make("datalist", { id: "other-runs" });
  const field = make("input", { type: "text", placeholder: `name of a ${WORDS.run}`, autocomplete: "off" });
  field.setAttribute("list", list.id);
  field.addEventListener("focus", () => {
    if (!list.children.length) list.append(...runKeys.filter((_, other) => other !== number).map((value) => make("option", { value })));
  });
  field.addEventListener("change", () => {
    const other = runsByKey.get(field.value);
    if (other !== undefined && other !== number) go({ ...NOTHING_OPEN, compare: [number, other] });
  });
  return make("p", { className: "tools" }, make("label", {}, "Compare with ", field), list);
}
