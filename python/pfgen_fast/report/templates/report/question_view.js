// A question: the answers of all runs that the leaderboard shows, from the best to the worst, and reference answers.

views.question = {
  title: () => [make("b", {}, overview.questions[state.question].id), " ", make("bdi", {}, overview.questions[state.question].text)],
  content: async () => {
    const { question } = state;
    const answers = await answersTo(question);
    await answersSearched;
    return questionContent(question, answers);
  },
};

const N_ANSWERS_AT_ONCE = 30;

/** The mean score of each question over all runs, and its rank: 1 is the hardest. */
const difficulties = (() => {
  const means = overview.questions.map((_, question) => mean(overview.runs.map((run) => run.questions[question])));
  const sorted = means.filter((value) => value !== null).sort((a, b) => a - b);
  return means.map((value) => ({ mean: value, rank: value === null ? null : sorted.indexOf(value) + 1 }));
})();

function questionContent(question, answers) {
  const { mean: meanScore, rank } = difficulties[question];
  const list = make("div", { className: "ranked" });
  const which = make("select", {}, ...[["best", "best of each run"], ["worst", "worst of each run"], ["all", "all"]].map(([value, name]) => make("option", { value }, name)));
  const order = make("select", {}, ...[["-1", "best first"], ["1", "worst first"]].map(([value, name]) => make("option", { value }, name)));
  const count = make("span", { role: "status" });
  const show = () => {
    const ranked = rankedSamples(answers.samples, which.value, Number(order.value));
    count.textContent = `${counted(ranked.length)} answers of ${counted(new Set(ranked.map((sample) => sample.run)).size)} runs`;
    list.replaceChildren();
    if (ranked.length) showRanked(list, ranked, question, answers, 0);
    else list.append(noAnswers());
  };
  which.addEventListener("change", show);
  order.addEventListener("change", show);
  show();
  return [
    make("p", { className: "quiet" }, `Mean score of all runs ${figure(meanScore, 4)}; rank ${rank ?? "–"} of ${overview.questions.length} by difficulty (1 is the hardest question).`),
    ...keywordParts(answers), legend(),
    make("div", { className: "beside" },
      make("section", { ariaLabel: "Answers of the runs" },
        make("h3", {}, "Answers of the runs"),
        make("p", { className: "tools" }, make("label", {}, "Answers ", which), make("label", {}, "Order ", order), count),
        list),
      references(answers)),
  ];
}

/** The notice for the case that the search and the filters leave no answer. */
function noAnswers() {
  const again = make("button", { type: "button", className: "more" }, "Clear search and filters");
  again.addEventListener("click", clearFilters);
  return make("p", { className: "notice" }, "No run with answers to this question matches the search and the filters. ", again);
}

/** The samples of the runs that the leaderboard shows, in order; with a number, only that sample of each run. */
function rankedSamples(samples, which, sign) {
  const visible = new Set(visibleRuns());
  const ranked = samples.filter((sample) => visible.has(sample.run))
    .sort((a, b) => (a.score === null) - (b.score === null) || (sign * (a.score - b.score)) || a.run - b.run || a.number - b.number);
  if (which === "all") return ranked;
  const ofRun = new Map();
  for (const sample of ranked) {
    if (!ofRun.has(sample.run) || (which === "best") === (sign > 0)) ofRun.set(sample.run, sample);
  }
  return ranked.filter((sample) => ofRun.get(sample.run) === sample);
}

/** Shows some answers, and more when the reader comes to their end. */
function showRanked(list, ranked, question, answers, begin) {
  const end = Math.min(ranked.length, begin + N_ANSWERS_AT_ONCE);
  for (let place = begin; place < end; place++) {
    const sample = ranked[place];
    const { name } = overview.runs[sample.run];
    const address = addressOf({ run: sample.run, question, sample: sample.number, compare: null });
    const head = [make("b", {}, `${counted(place + 1)}. ${figure(sample.score, 4)} `), make("a", { href: address }, make("bdi", {}, name))];
    list.append(sampleElement(sample, answers, head, `Answer of ${name}`));
  }
  if (end === ranked.length) return;
  const more = make("button", { type: "button", className: "more" }, `Show more (${counted(ranked.length - end)} left)`);
  const showMore = () => { watcher.disconnect(); more.remove(); showRanked(list, ranked, question, answers, end); };
  const watcher = new IntersectionObserver(([entry]) => { if (entry.isIntersecting) showMore(); }, { root: dialog, rootMargin: "50%" });
  more.addEventListener("click", showMore);
  list.append(more);
  watcher.observe(more);
}

function keywordParts({ rules, samples }) {
  if (!rules.length) return [];
  const missing = new Map();
  for (const name of samples.flatMap((sample) => sample.missing)) missing.set(name, (missing.get(name) ?? 0) + 1);
  const parts = [make("p", {}, "Keywords: ", ...rules.flatMap((rule, index) => [index ? ", " : "", make("bdi", { className: "rule" }, rule)]), ". Keywords are framed in the answers; one that comes too late to count is listed as missing.")];
  if (missing.size) {
    const shares = [...missing].sort((a, b) => b[1] - a[1]).slice(0, 20).flatMap(([name, n], index) => [index ? ", " : "", make("bdi", {}, name), ` in ${(100 * n / samples.length).toFixed(0)} %`]);
    parts.push(make("p", { className: "quiet" }, "Missing from the answers: ", ...shares, "."));
  }
  return parts;
}

/** The reference answers, beside the answers; on a narrow screen they are closed at first, because they stand above. */
function references(answers) {
  const sets = answers.sets.map(({ name, texts }) => make("section", { ariaLabel: `Reference set ${name}` },
    make("h4", {}, "Set ", make("bdi", {}, name)),
    ...texts.map((text, index) => answerText(text, answers, `Reference answer ${index + 1} of set ${name}`))));
  return make("details", { className: "references", open: matchMedia("(min-width: 60rem)").matches }, make("summary", {}, "Some reference answers"), ...sets);
}
