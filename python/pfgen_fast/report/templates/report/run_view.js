// A run: its figures, its parameters, and its answers to each question.

views.run = {
  title: () => [make("bdi", {}, overview.runs[state.run].name)],
  content: async () => runContent(state.run, await figures()),
  reach: reachQuestion,
};

function runContent(number, more) {
  const run = overview.runs[number];
  const parts = [];
  if (run.link) parts.push(make("p", {}, make("a", { href: run.link }, "Folder of the run")));
  if (run.replies) parts.push(make("p", {}, run.replies));
  const parameters = Object.entries(run.parameters);
  const shares = ["Set", "Fluency", "Truthfulness"];
  parts.push(
    make("div", { className: "tables" },
      section("Scores", figuresTable(["Metric", "Mean", "95 % interval over questions"], scoresOf(number, more), "Scores")),
      ...(run.sets.length ? [section("What each reference set contributes", figuresTable(shares, contributions(run), "Contributions of the sets"))] : []),
      section("Parameters", parameters.length ? smallTable(["Parameter", "Value"], parameters) : "The run has no config.json.")),
    compareWith(number),
    make("h3", {}, "Questions and sample answers"), legend());
  overview.questions.forEach((_, question) => {
    if (isNumber(run.questions[question]) || isNumber(more.length[question][number])) parts.push(questionElement(number, question, more));
  });
  return parts;
}

function scoresOf(number, more) {
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

function compareWith(number) {
  const select = make("select", {}, make("option", { value: "" }, "choose a run"),
    ...overview.runs.map(({ name }, other) => make("option", { value: other, disabled: other === number }, name)));
  select.addEventListener("change", () => { if (select.value) go({ run: null, question: null, sample: null, compare: [number, Number(select.value)] }); });
  return make("p", { className: "tools" }, make("label", {}, "Compare with ", select));
}

function questionElement(run, question, more) {
  const { id, text } = overview.questions[question];
  const of = (name) => more[name][question][run];
  const element = make("details", { className: "question" },
    make("summary", {}, make("span", { className: "number" }, make("b", {}, id), ` ${figure(overview.runs[run].questions[question], 4)}`), make("bdi", {}, text)));
  element.dataset.question = question;
  const figuresLine = make("p", { className: "quiet" },
    `${partsText({ fluency: of("fluency"), truthfulness: of("truthfulness"), helpfulness: of("helpfulness") })} · mean length ${figure(of("length"), 1)}`
    + ` · standard deviation of the score over answers ${figure(of("score_std"), 4)}. `,
    make("a", { href: addressOf({ run: null, question, sample: null, compare: null }) }, "The answers of all runs"));
  const samples = make("div", {});
  element.append(figuresLine, samples);
  fillWhenOpened(element, samples, async () => ownSamples(await answersTo(question), run));
  return element;
}

/** The samples of a run, from the best to the worst. */
function ownSamples(answers, run) {
  return answers.samples.filter((sample) => sample.run === run).map((sample) => {
    const name = `Sample ${sample.number + 1}`;
    return sampleElement(sample, answers, [make("b", {}, `${name}: ${figure(sample.score, 4)}`)], name);
  });
}
