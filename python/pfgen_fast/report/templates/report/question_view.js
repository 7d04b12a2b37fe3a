// A question: the answers of all runs or of those that the leaderboard shows, in order, and reference answers.

views.question = {
  title: () => [make("b", {}, overview.questions[state.question].id), " ", make("bdi", {}, overview.questions[state.question].text)],
  content: async () => {
    const { question } = state;
    if (!overview.has_answers) return itemContent(question);
    const answers = await answersTo(question);
    return questionContent(question, answers);
  },
};

const N_ANSWERS_AT_ONCE = 30;

/** The scores of all models on an item of a table, which has no answers. */
function itemContent(question) {
  const scores = overview.runs.map(({ name, questions }) => [name, questions[question]]).filter(([, score]) => isNumber(score));
  const sorted = scores.sort(([, a], [, b]) => SIGN * (b - a)).map(([name, score]) => [name, figure(score, 4)]);
  return [difficulty(question), figuresTable([WORDS.Run, WORDS.score], sorted, "Scores of the models")];
}

/** How hard a question is, and how well it tells runs apart, in a sentence. */
function difficulty(question) {
  const { mean: meanScore, rank, spread, discrimination } = difficultyOf(question);
  return make("p", { className: "quiet" }, `Mean score of the models ${figure(meanScore, overview.digits)}; rank ${rank ?? "–"} of ${overview.questions.length} by difficulty (1 is the hardest ${WORDS.question}); standard deviation over the models ${scoreText(spread)}; correlation with the other ${WORDS.questions} ${figure(discrimination, 2)}.`);
}

function questionContent(question, answers) {
  const which = choice("which", [["", `best of each ${WORDS.run}`], ["worst", `worst of each ${WORDS.run}`], ["all", "all"]]);
  const first = choice("first", [["", "best first"], ["worst", "worst first"]]);
  const ranked = rankedSamples(answers.samples, state.filters.get("which") ?? "best", state.filters.get("first") === "worst" ? 1 : -1);
  const list = make("div", { className: "ranked" });
  if (ranked.length) showRanked(list, ranked, question, answers, 0);
  else list.append(make("p", { className: "notice" }, `No ${WORDS.run} with answers to this ${WORDS.question} matches the search and the filters. `,
    buttonTo(clearFilters, { className: "more" }, "Clear search and filters")));
  return [
    difficulty(question),
    ...views.question.more ? [views.question.more(question)] : [],
    ...aboutAnswers(answers),
    make("div", { className: "beside" },
      make("section", { ariaLabel: `Answers of the ${WORDS.runs}` },
        make("h3", {}, `Answers of the ${WORDS.runs}`),
        make("p", { className: "tools" }, make("label", {}, "Answers ", which), make("label", {}, "Order ", first), ...runsChoice(),
          make("span", { role: "status" }, `${counted(ranked.length)} answers of ${counted(new Set(ranked.map((sample) => sample.run)).size)} ${WORDS.runs}`)),
        list),
      references(answers)),
  ];
}

/** A list of values for a filter of the state. */
function choice(filter, values) {
  const select = make("select", {}, ...values.map(([value, name]) => make("option", { value }, name)));
  select.dataset.filter = filter;
  select.value = state.filters.get(filter) ?? "";
  return select;
}

/** The choice between all runs and those that the leaderboard shows, if it does not show all. */
function runsChoice() {
  const n = visibleRuns().length;
  if (n === overview.runs.length && !state.filters.has("runs")) return [];
  return [make("label", {}, `${WORDS.Run}s `, choice("runs", [["", `all ${counted(overview.runs.length)}`], ["shown", `the ${counted(n)} of the leaderboard’s filters`]]))];
}

/** The samples of the chosen runs, in order. */
function rankedSamples(samples, which, sign) {
  const visible = new Set(chosenRuns());
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
    const head = [make("b", {}, `${counted(place + 1)}. ${figure(sample.score, overview.digits)} `), make("a", { href: address }, make("bdi", {}, name))];
    list.append(sampleElement(sample, answers, head, `Answer of ${name}`));
  }
  if (end === ranked.length) return;
  const more = moreButton(`Show more (${counted(ranked.length - end)} left)`, () => { watcher.disconnect(); showRanked(list, ranked, question, answers, end); });
  const watcher = new IntersectionObserver(([entry]) => { if (entry.isIntersecting) more.click(); }, { root: dialog, rootMargin: "50%" });
  list.append(more);
  watcher.observe(more);
}
