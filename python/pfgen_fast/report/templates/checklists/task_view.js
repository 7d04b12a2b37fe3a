// The dialog of the page of checklists: a task with the answers of all models next to their verdicts and reasons.

const N_AT_ONCE = 6000;  // code points of a text that are shown at first; the rest is shown on demand
const N_QUESTION = 100;

// ---- Texts

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

/** A part of the view that is made when it is opened first. */
function folded(summary, content, { isOpen = false, className = "" } = {}) {
  const body = make("div", {});
  const element = make("details", { className }, make("summary", {}, ...summary), body);
  fillWhenOpened(element, body, content);
  if (isOpen) element.opened();
  return element;
}

// ---- Verdicts

function verdictChip(verdict) {
  return make("span", { className: `verdict ${tintClass(verdict)}` }, String(Number(verdict.toFixed(3))));
}

/** A question with its verdict and cost; a long question is shown whole on demand. */
function askedQuestion(question, verdict, cost) {
  const head = [verdictChip(verdict), " ", ...(cost > 0 ? [make("b", { className: "cost", title: "points of the score" }, costText(cost)), " "] : [])];
  if (question.length <= N_QUESTION) return make("p", {}, ...head, make("bdi", {}, question));
  return make("details", {}, make("summary", {}, ...head, make("bdi", {}, shortened(question, N_QUESTION))), make("div", {}, make("bdi", {}, question)));
}

/** The points that a verdict costs: the weight of its question times the distance to the best level. */
function costOf(verdict, weight) {
  return weight * (overview.levels.at(-1) - verdict);
}

function costText(cost) {
  return `-${cost.toFixed(1)}`;
}

/** The numbers of the questions, with the verdicts that cost most first. */
function byCost(scores, weights) {
  const costs = scores.map((verdict, number) => costOf(verdict, weights[number]));
  return costs.map((cost, number) => ({ number, cost })).sort((a, b) => b.cost - a.cost || a.number - b.number);
}

/** Each question with its verdict and reason; questions that cost nothing are folded. */
function verdictList({ questions, weights }, scores, reasons) {
  const item = ({ number, cost }) => make("li", { value: number + 1 },
    askedQuestion(questions[number], scores[number], cost),
    reasons?.[number] ? make("p", { className: "reason" }, make("bdi", {}, reasons[number])) : "");
  const list = (found) => make("ol", { className: "verdicts" }, ...found.map(item));
  const inOrder = byCost(scores, weights);
  const costly = inOrder.filter(({ cost }) => cost > 0);
  const free = inOrder.filter(({ cost }) => cost <= 0);
  return [
    costly.length ? list(costly) : make("p", {}, "No verdict costs a point."),
    ...(free.length ? [make("details", {}, make("summary", {}, `${free.length} ${free.length === 1 ? "question" : "questions"} at the best level`), list(free))] : []),
  ];
}

function judgementHead({ judge, version, rating, tries, cut, stale, fault }) {
  const parts = [];
  if (rating) parts.push(`rating ${rating}`);
  if (judge) parts.push(judge);
  if (version && version !== judge) parts.push(version);
  if (tries) parts.push(`${tries} tries`);
  if (cut) parts.push("the judge saw only the beginning of the answer");
  if (stale) parts.push("stale: of another answer, instruction, checklist or prompt");
  if (fault) parts.push(`no usable reply: ${fault}`);
  return parts.join(" · ");
}

function judgementElement(judgement, category) {
  const head = judgementHead(judgement);
  const nodes = head ? [make("p", { className: judgement.fault || judgement.stale ? "missing" : "quiet" }, make("bdi", {}, head))] : [];
  const { scores, reasons } = judgement;
  if (scores && scores.length === category.questions.length) nodes.push(...verdictList(category, scores, reasons));
  else if (scores) nodes.push(make("p", {}, `Rating: ${scores.join(", ")}`), ...(reasons ?? []).filter(Boolean).map((reason) => make("p", { className: "reason" }, make("bdi", {}, reason))));
  return make("div", { className: "judgement" }, ...nodes);
}

// ---- An answer

function answerFacts(entry) {
  const parts = [];
  if (entry.words !== undefined && entry.words !== null) parts.push(`${counted(entry.words)} words`);
  if (entry.length !== undefined) parts.push(`${counted(entry.length)} characters`);
  if (entry.finish && entry.finish !== "stop") parts.push(`finished: ${entry.finish}`);
  if (entry.marks) parts.push(...entry.marks);
  return parts.join(" · ");
}

/** The question whose verdict costs an answer most: its number and its points; empty if no verdict costs a point. */
function dearest({ verdicts }, { questions, weights }) {
  const [first] = verdicts?.length === questions.length ? byCost(verdicts, weights) : [];
  return first?.cost > 0 ? `${first.number + 1}: ${costText(first.cost)}` : "";
}

function answerElement(entry, category, isOpen) {
  const { name } = overview.models[entry.model];
  const trial = entry.trial ? ` (trial ${entry.trial})` : "";
  const score = entry.score === undefined ? make("b", { className: "state" }, entry.state) : make("b", {}, entry.score.toFixed(2));
  const element = folded([score, " ", make("bdi", {}, name), trial, " ", make("span", { className: "quiet" }, answerFacts(entry))], () => {
    const text = entry.answer === undefined
      ? make("p", { className: "quiet" }, "The run holds no text of this answer.")
      : textBox(entry.answer, entry.length, `Answer of ${name}`);
    const judgements = entry.judgements.length
      ? entry.judgements.map((judgement) => judgementElement(judgement, category))
      : [make("p", { className: "quiet" }, "There is no judgement.")];
    return [make("div", { className: "beside-answer" }, make("div", { tabIndex: 0, role: "group", ariaLabel: `Verdicts on the answer of ${name}` }, ...judgements), make("div", {}, text))];
  }, { isOpen, className: "answer-of" });
  element.dataset.model = entry.model;
  return element;
}

// ---- The task

/** All verdicts at a glance, a row for each answer. */
function verdictTable(entries, category, opened) {
  const { questions } = category;
  const judged = entries.filter(({ verdicts }) => verdicts);
  if (!judged.length) return [];
  const isByQuestion = judged[0].verdicts.length === questions.length;
  const heads = isByQuestion ? questions.map((question, number) => make("th", { scope: "col", className: "number", title: question }, String(number + 1))) : [make("th", { scope: "col", className: "number" }, "Rating")];
  const rows = judged.map((entry) => {
    const button = make("button", { type: "button", className: "name-button" }, make("bdi", {}, overview.models[entry.model].name), entry.trial ? ` (${entry.trial})` : "");
    button.addEventListener("click", () => opened(entry));
    return make("tr", {}, make("th", { scope: "row" }, button), make("td", { className: "number" }, entry.score.toFixed(2)),
      make("td", { className: "number" }, entry.words === null ? "–" : counted(entry.words)),
      ...(isByQuestion ? [make("td", { className: "number" }, dearest(entry, category) || "–")] : []),
      ...entry.verdicts.map((verdict) => make("td", { className: isByQuestion ? `number ${tintClass(verdict)}` : "number" }, String(Number(verdict.toFixed(2))))));
  });
  const named = [["Model", ""], ["Score", "number"], ["Words", "number"], ...(isByQuestion ? [["Costs most", "number"]] : [])];
  const firstHeads = named.map(([name, className]) => make("th", { scope: "col", className }, name));
  const table = make("table", { className: "glance" }, make("thead", {}, make("tr", {}, ...firstHeads, ...heads)), make("tbody", {}, ...rows));
  return [make("div", { className: "scroller", role: "region", ariaLabel: "Verdicts of all answers", tabIndex: 0 }, table)];
}

function entriesInOrder(entries) {
  const wanted = new Set(shownModels());
  return entries.filter(({ model }) => wanted.has(model)).sort((a, b) => (b.score ?? -1) - (a.score ?? -1) || a.model - b.model);
}

function taskTitle() {
  const { id, length, category } = overview.tasks;
  const nodes = [make("bdi", {}, id[state.task])];
  if (length[state.task] !== null) nodes.push(" ", make("bdi", {}, length[state.task]));
  nodes.push(make("span", { className: "quiet" }, " ", make("bdi", {}, categoryKeys[category[state.task]])));
  return nodes;
}

async function taskContent(task) {
  const content = await answersTo(task);
  const category = overview.categories[overview.tasks.category[task]];
  const entries = entriesInOrder(content.entries);
  const isAlone = entries.length === 1 || state.filters.has("model");
  const answers = entries.map((entry) => [entry, answerElement(entry, category, isAlone)]);
  const open = async (entry) => {
    const [, element] = answers.find(([one]) => one === entry);
    await element.opened();
    element.scrollIntoView();
    element.querySelector("summary").focus({ preventScroll: true });
  };
  const wanted = content.wanted === null ? "" : ` Wanted: ${counted(content.wanted)} words.`;
  const notWhole = content.is_whole ? "" : "The suite holds only a part of the instruction.";
  const given = new Set(content.entries.map(({ model }) => model));
  const without = shownModels().filter((model) => !given.has(model) && STATES[overview.tasks.states[task][model]] === "missing");
  return [
    folded([make("b", {}, "Instruction"), make("span", { className: "quiet" }, wanted, " ", notWhole)], () => [content.n_instruction
      ? textBox(content.instruction, content.n_instruction, "Instruction")
      : make("p", { className: "quiet" }, "The suite has no instruction.")], { isOpen: !isAlone, className: "instruction" }),
    ...(content.reference === null ? [] : [folded([make("b", {}, "Reference")], () => [textBox(content.reference, [...content.reference].length, "Reference")])]),
    folded([make("b", {}, "Checklist")], () => [questionList(category)]),
    ...(isAlone ? [] : verdictTable(entries, category, open)),
    ...(without.length ? [make("p", { className: "missing" }, "Missing: ", ...without.flatMap((model, number) => [number ? ", " : "", make("bdi", {}, overview.models[model].name)]))] : []),
    ...answers.map(([, element]) => element),
  ];
}

views.task = { title: taskTitle, content: () => taskContent(state.task) };

// ---- Steps from task to task, in the order of the list

function steps() {
  return { part: "task", values: state.task === null ? [] : tasksInOrder() };
}

function moveInTable() {}
