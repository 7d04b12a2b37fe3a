// A run: its figures, its parameters, and its answers to each question.

views.run = {
  title: () => [make("bdi", {}, overview.runs[state.run].name)],
  content: async () => runContent(state.run, await figures()),
  reach: reachSample,
};

function runContent(number, more) {
  const run = overview.runs[number];
  const parts = [];
  if (run.link) parts.push(make("p", {}, make("a", { href: run.link }, "Folder of the run")));
  const parameters = Object.entries(run.parameters);
  parts.push(
    make("div", { className: "tables" },
      section("Scores", smallTable(["Metric", "Mean"], scoresOf(run))),
      ...(run.sets.length ? [section("Shares of the reference sets", smallTable(["Set", "Fluency", "Truthfulness"], sharesOf(run)))] : []),
      section("Parameters", parameters.length ? smallTable(["Parameter", "Value"], parameters) : "The run has no config.json.")),
    compareWith(number),
    make("h3", {}, "Questions and sample answers"), legend());
  overview.questions.forEach((_, question) => {
    if (run.questions[question] !== undefined) parts.push(questionElement(number, question, more));
  });
  return parts;
}

function scoresOf(run) {
  return [
    ["Score", figure(run.score, 4)], ["Fluency", figure(run.fluency, 4)], ["Truthfulness", figure(run.truthfulness, 4)],
    ["Helpfulness", figure(run.helpfulness, 4)], ["Length in characters", figure(run.length, 1)],
  ];
}

/** What each set adds to a metric. They are no scores of their own, so the sum is below them. */
function sharesOf(run) {
  const shown = run.sets.map(([name, fluency, truthfulness]) => [name, `+ ${figure(fluency, 4)}`, `+ ${figure(truthfulness, 4)}`]);
  return [...shown, ["sum", `= ${figure(run.fluency, 4)}`, `= ${figure(run.truthfulness, 4)}`]];
}

function compareWith(number) {
  const select = make("select", {}, make("option", { value: "" }, "choose a run"),
    ...overview.runs.map(({ name }, other) => make("option", { value: other, disabled: other === number }, name)));
  select.addEventListener("change", () => { if (select.value) go({ compare: [number, Number(select.value)] }); });
  return make("p", { className: "tools" }, make("label", {}, "Compare with ", select));
}

function questionElement(run, question, more) {
  const { id, text } = overview.questions[question];
  const of = (name) => more[name][question][run];
  const element = make("details", { className: "question" },
    make("summary", {}, make("span", { className: "number" }, make("b", {}, id), ` ${figure(overview.runs[run].questions[question], 4)}`), make("bdi", {}, text)));
  element.dataset.question = question;
  const body = make("div", {},
    make("p", { className: "quiet" },
      `${partsText({ fluency: of("fluency"), truthfulness: of("truthfulness"), helpfulness: of("helpfulness") })} · mean length ${figure(of("length"), 1)}`
      + ` · spread (sd) of the score over answers ${figure(of("score_std"), 4)}. `,
      make("a", { href: addressOf({ run: null, question, sample: null, compare: null }) }, "The answers of all runs")));
  element.append(body);
  element.addEventListener("toggle", () => { if (element.open) showSamples(body, run, question); });
  return element;
}

/** Adds the samples, from the best to the worst, if they are not there yet. */
async function showSamples(body, run, question) {
  if (body.dataset.state) return body.shown;
  body.dataset.state = "shown";
  body.shown = (async () => {
    try {
      const answers = await answersTo(question);
      body.append(...answers.samples.filter((sample) => sample.run === run).map((sample) => {
        const name = `Sample ${sample.number + 1}`;
        return sampleElement(sample, answers, [make("b", {}, `${name}: ${figure(sample.score, 4)}`)], name);
      }));
    } catch (error) {
      body.append(problem(error));
    }
  })();
  return body.shown;
}

function problem(error) {
  return make("p", { className: "notice" }, `The answers cannot be shown: ${error.message}`);
}

/** Opens the question, and goes to the sample, that the state asks for. */
async function reachSample() {
  const { run, question, sample } = state;
  const element = question !== null && dialogBody.querySelector(`[data-question="${question}"]`);
  if (!element) return;
  element.open = true;
  element.scrollIntoView();
  element.querySelector("summary").focus({ preventScroll: true });
  if (sample === null) return;
  await showSamples(element.lastElementChild, run, question);
  element.querySelector(`[data-sample="${sample}"]`)?.scrollIntoView();
}
