// The answers to the tasks next to their verdicts and reasons, unpacked by task on demand. report/state.js comes first.

const N_KEPT_TASKS = 20;
const N_SHORT = 200;  // code points that fit without scrolling
const N_AT_ONCE = 6000;  // code points of a text that are shown at first; the rest is shown on demand
const N_QUESTION = 160;
const [CENTRE, FACTOR] = overview.rescaling;

/** Promises the data of a task: its instruction, and `samples`, the answers with a score, a state and judgements. */
const answersTo = keepingLast(N_KEPT_TASKS, async (task) => {
  const [head, columns] = await Promise.all((await packedAnswers(task)).map(unpackedLine));
  const samples = columns.runs.flatMap((run, index) => columns.numbers[index].map((number) => ({ run, number })));
  samples.forEach((sample, place) => {
    const score = columns.score[place];
    const [text, length, trial, words, verdicts] = ["texts", "length", "trials", "words", "verdicts"].map((name) => columns[name][place]);
    const [finish, state, marks, judgements] = ["finish", "states", "marks", "judgements"].map((name) => columns[name][place]);
    Object.assign(sample, { text, length, trial, words, verdicts, finish, state, marks, judgements, missing: [], score: score === null ? null : (score - CENTRE) * FACTOR });
  });
  const answers = { ...head, samples, task, checklist: overview.checklists[head.category] };
  for (const sample of samples) sample.about = () => [folded(["Verdicts"], async () => judgementsOf(sample, answers), { isOpen: true })];
  return answers;
});

/** The texts of an answer in a line of data that a search looks at: the answer and the reasons. */
function searchedTexts({ texts, judgements }, place) {
  return [texts[place], ...judgements[place].flatMap(({ reasons }) => reasons ?? []).filter(Boolean)];
}

// ---- Texts

/** The characters of a text; none is marked. */
function shownPoints({ text }) {
  const points = [...text];
  return { points, marked: new Uint8Array(points.length) };
}

/** A text in a box; the end of a very long text is shown on demand. */
function textBox(text, length, label) {
  const points = [...text];
  const element = make("div", { className: "answer", tabIndex: 0, role: "group", ariaLabel: label });
  addLongText(element, points.length, N_AT_ONCE, (begin, end) => [points.slice(begin, end).join("")], () => {
    const hidden = length - points.length;
    if (!text) element.append(make("span", { className: "quiet" }, length ? "not shown" : "empty"));
    else if (hidden > 0) element.append(make("span", { className: "quiet" }, ` … ${counted(hidden)} more characters`));
  });
  return element;
}

/** A part of a view that is made when it is opened first. */
function folded(summary, content, { isOpen = false } = {}) {
  const body = make("div", {});
  const element = make("details", { className: "folded" }, make("summary", {}, ...summary), body);
  fillWhenOpened(element, body, content);
  if (isOpen) element.opened();
  return element;
}

/** The beginning and the end of a long question: the end says what counts. */
function shortText(question) {
  const points = [...question];
  return points.length <= N_QUESTION ? question : `${points.slice(0, N_QUESTION / 2).join("").replace(/\s+\S{0,20}$/, "")} … ${points.slice(-N_QUESTION / 2).join("").replace(/^\S{0,20}\s+/, "")}`;
}

/** A question with what stands before it; a long question is shown whole on demand. */
function shortQuestion(question, ...before) {
  if (question.length <= N_QUESTION) return [...before, make("bdi", {}, question)];
  return [make("details", {}, make("summary", {}, ...before, make("bdi", { className: "cut" }, shortText(question)), make("bdi", { className: "whole" }, question)))];
}

function questionList({ questions, weights }) {
  return make("ol", { className: "verdicts" }, ...questions.map((question, number) =>
    make("li", {}, make("bdi", {}, question), make("span", { className: "quiet" }, ` weight ${weights[number].toFixed(1)}`))));
}

/** The instruction of a task, closed at first. */
function legend(answers, isOpen = false) {
  const { instruction, n_instruction: length, wanted, is_whole: isWhole } = answers;
  const about = [wanted === null ? "" : ` Wanted: ${counted(wanted)} words.`, isWhole ? "" : " The suite holds only a part of the instruction."];
  return folded(["Instruction", make("span", { className: "quiet" }, ...about)], async () => [length
    ? textBox(instruction, length, "Instruction") : make("p", { className: "quiet" }, "The suite has no instruction.")], { isOpen });
}

/** Nothing stands beside the answers: each has its verdicts there. */
function references() {
  return "";
}

// ---- Verdicts

/** The class of a verdict: the lower, the stronger, so that faults are seen; half of the best verdict has the last shade. */
function tintClass(verdict) {
  const [low, high] = overview.levels;
  return `on-diverging-${Math.max(0, 4 - Math.round((high - verdict) / (high - low) * 8))}`;
}

/** The numbers of the questions with the points that their verdicts cost, the largest first. */
function byCost(verdicts, { weights }) {
  const costs = verdicts.map((verdict, number) => ({ number, cost: FACTOR * weights[number] * (overview.levels[1] - verdict) }));
  return costs.sort((a, b) => b.cost - a.cost || a.number - b.number);
}

function costText(cost) {
  return `-${figure(cost, 1)}`;
}

/** Each question with its verdict and reason, the dearest first; questions that cost nothing are folded. */
function verdictList(checklist, verdicts, reasons) {
  const item = ({ number, cost }) => make("li", { value: number + 1 },
    make("div", {}, ...shortQuestion(checklist.questions[number], make("span", { className: `chip ${tintClass(verdicts[number])}` }, String(Number(verdicts[number].toFixed(3)))), " ",
      ...(cost > 0 ? [make("b", { className: "cost", title: "points of the score" }, costText(cost)), " "] : []))),
    reasons?.[number] ? make("p", { className: "reason" }, make("bdi", {}, reasons[number])) : "");
  const list = (some) => make("ol", { className: "verdicts" }, ...some.map(item));
  const inOrder = byCost(verdicts, checklist);
  const [costly, free] = [inOrder.filter(({ cost }) => cost > 0), inOrder.filter(({ cost }) => cost <= 0)];
  return [
    costly.length ? list(costly) : make("p", {}, "No verdict costs a point."),
    ...(free.length ? [make("details", { className: "folded" }, make("summary", {}, `${free.length} ${free.length === 1 ? "question" : "questions"} at the best level`), list(free))] : []),
  ];
}

function judgementElement({ judge, version, rating, tries, cut, stale, fault, scores, reasons }, checklist) {
  const parts = [
    rating && `rating ${rating}`, judge, version !== judge && version, tries && `${tries} tries`,
    cut && "the judge saw only the beginning of the answer",
    stale && "stale: of another answer, instruction, checklist or prompt",
    fault && `no usable reply: ${fault}`,
  ].filter(Boolean);
  const nodes = parts.length ? [make("p", { className: fault || stale ? "missing" : "quiet" }, make("bdi", {}, parts.join(" · ")))] : [];
  if (scores?.length === checklist.questions.length) nodes.push(...verdictList(checklist, scores, reasons));
  else if (scores) nodes.push(make("p", {}, `Rating: ${scores.join(", ")}`), ...(reasons ?? []).filter(Boolean).map((reason) => make("p", { className: "reason" }, make("bdi", {}, reason))));
  return make("div", {}, ...nodes);
}

function judgementsOf({ judgements }, { checklist }) {
  return judgements.length ? judgements.map((judgement) => judgementElement(judgement, checklist)) : [make("p", { className: "quiet" }, "There is no judgement.")];
}

// ---- Answers

/** An answer below its head (nodes), next to its verdicts and reasons. */
function sampleElement(sample, answers, head, label) {
  const { trial, words, length, finish, marks, state, text } = sample;
  const facts = [
    trial === 1 ? "" : `trial ${trial}`, state === "judged" ? "" : state, words === null ? "" : `${counted(words)} words`,
    length === null ? "" : `${counted(length)} characters`, finish && finish !== "stop" ? `finished: ${finish}` : "", ...marks,
  ].filter(Boolean).join(" · ");
  const shown = length === null ? make("p", { className: "quiet" }, "The run holds no text of this answer.") : textBox(text, length, label);
  const element = make("div", { className: "scored" },
    make("p", { className: "sample-head" }, ...head, make("span", { className: "quiet" }, ` ${facts}`)),
    make("div", { className: "beside-answer" }, make("div", { tabIndex: 0, role: "group", ariaLabel: `Verdicts: ${label}` }, ...judgementsOf(sample, answers)), make("div", {}, shown)));
  element.dataset.sample = sample.number;
  element.dataset.run = sample.run;
  return element;
}

/** The verdicts on all answers at a glance next to the task, and the models without an answer. */
function aboutAnswers(answers) {
  const { samples, checklist, reference, task } = answers;
  const chosen = new Set(chosenRuns());
  const judged = samples.filter(({ run, verdicts }) => verdicts && chosen.has(run)).sort((a, b) => b.score - a.score || a.run - b.run);
  const without = [...chosen].filter((run) => overview.state_names[overview.states[task][run]] === "missing");
  const missing = listed(without.map((run) => make("bdi", {}, overview.runs[run].name)));
  return [
    make("div", { className: "beside" },
      judged.length ? glance(judged, checklist) : make("p", {}, "No answer is judged."),
      make("div", {}, legend(answers, true), folded([`Checklist of ${checklist.name}`], async () => [questionList(checklist)]),
        ...(reference === null ? [] : [folded(["Reference"], async () => [textBox(reference, [...reference].length, "Reference")])]))),
    ...(without.length ? [make("p", { className: "missing" }, "Missing: ", ...missing)] : []),
  ];
}

function glance(judged, checklist) {
  const isByQuestion = judged[0].verdicts.length === checklist.questions.length;
  const heads = isByQuestion ? checklist.questions.map((question, number) => [String(number + 1), question]) : [["Rating", ""]];
  const rows = judged.map((sample) => {
    const [dearest] = isByQuestion ? byCost(sample.verdicts, checklist) : [];
    const button = buttonTo(() => {
      const answer = dialogBody.querySelector(`.scored[data-run="${sample.run}"]`);
      answer?.scrollIntoView();
      answer?.querySelector("[tabindex]").focus({ preventScroll: true });
    }, { className: "name-button" }, make("bdi", {}, overview.runs[sample.run].name), sample.trial === 1 ? "" : ` (${sample.trial})`);
    return make("tr", {}, make("th", { scope: "row" }, button), make("td", { className: "number" }, figure(sample.score, overview.digits)),
      ...(isByQuestion ? [make("td", { className: "number" }, dearest.cost > 0 ? `${dearest.number + 1}: ${costText(dearest.cost)}` : "–")] : []),
      ...sample.verdicts.map((verdict) => make("td", { className: isByQuestion ? `number ${tintClass(verdict)}` : "number" }, String(Number(verdict.toFixed(2))))));
  });
  const all = [["Model", ""], ["Score", ""], ...(isByQuestion ? [["Costs most", "the question that costs the most points"]] : []), ...heads];
  const head = make("tr", {}, ...all.map(([name, title], place) => make("th", { scope: "col", className: place ? "number" : "", title }, name)));
  const table = make("table", { className: "tinted" }, make("caption", { className: "unseen" }, "Verdicts at a glance"), make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", {}, make("h3", {}, "Verdicts"), make("div", { className: "scroller", role: "region", ariaLabel: "Verdicts of all answers", tabIndex: 0 }, table));
}
