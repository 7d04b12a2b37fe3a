// A table of questions: its heads sort it, and its rows open the answers. The state holds the order and the open question.

/**
 * Creates a table of some questions.
 *
 * A column has `key`, `title` and `value(question)` to sort by, and perhaps `show(question)`, the nodes of its cell;
 * `isText`, if the values are texts; `isWords`, if the cell holds words; and `isExtra`, if narrow screens leave it out. `order` is the name of the filter that holds the order, and
 * `first` the order without it, such as "-score". `content(question)` promises the nodes below a row; with `picks`, rows are
 * ticked, by its `has(question)` and `toggle(question)`, and those of `lead()` are first; a table without both leads to the views of the questions.
 * `table.tools` are filters; those by state and mark ask for answers of `runs`. With `isSearched`, the search filters, too.
 */
function questionTable({ label, order, first, questions, columns, content, picks, runs, isSearched }) {
  const all = [{ key: "number", title: WORDS.Question, value: (question) => question }, ...columns];
  const heads = all.map((column) => {
    const button = buttonTo(() => {
      const [key, sign] = askedOrderOf(order, first);
      const isAscending = key === column.key ? sign < 0 : column.isText || column.key === "number" || Boolean(column.isLowestFirst);
      const next = `${isAscending ? "" : "-"}${column.key}`;
      goFilters({ [order]: next === first ? "" : next });
    }, { ariaLabel: column.title }, column.title);
    return withColumn(make("th", { scope: "col" }, button), column);
  });
  const table = make("table", { className: `of-questions ${columns.some(({ isWords }) => isWords) ? "" : "of-names"}` }, make("caption", { className: "unseen" }, label), make("thead", {}, make("tr", {}, ...heads)));
  const count = make("span", { role: "status" });
  table.tools = [...questionFilters(), count];
  const bodies = new Map(questions.map((question) => [question, questionBody(question, all, content, picks)]));
  table.append(...bodies.values());

  /** Sorts as the state says, opens the question that the state names, if any, and closes the others. */
  table.follow = async () => {
    const [key, sign] = askedOrderOf(order, first);
    const column = all.find((one) => one.key === key) ?? all[0];
    if (picks) for (const [question, body] of bodies) body.querySelector("input").checked = picks.has(question);
    const matches = isSearched ? searchOf("questions") : () => true;
    let n = 0;
    for (const [question, body] of bodies) {
      body.hidden = !isQuestionWanted(question, runs) || !matches(question);
      n += !body.hidden;
    }
    count.textContent = n < questions.length ? `${counted(n)} of ${counted(questions.length)} ${WORDS.questions}` : "";
    for (const select of table.tools.flatMap((tool) => [...tool.querySelectorAll("select")])) select.value = state.filters.get(select.dataset.filter) ?? "";
    const lead = picks?.lead() ?? new Set();
    const asked = [key, sign, ...lead].join(" ");
    if (table.order === asked) return openAsked();
    table.order = asked;
    const sorted = placesInOrder(questions.map(column.value), sign).map((place) => questions[place]);
    table.append(...sorted.toSorted((p, q) => lead.has(q) - lead.has(p)).map((question) => bodies.get(question)));
    markOrder(heads, heads[all.indexOf(column)], sign);
    return openAsked();
  };
  const openAsked = async () => {
    if (!content) return;
    for (const [question, body] of bodies) if (question !== state.question) body.close();
    await bodies.get(state.question)?.open();
  };
  return table;
}

const FACETS = { area: "Area", subject: WORDS.Subject, length: "Length" };
const QUESTION_FILTERS = [...Object.keys(FACETS), "state", "mark"];

/** The length that is chosen at first: that of the tasks in the scores. */
const MAIN = overview.questions.find((_, question) => overview.strata?.[question] !== null)?.length ?? "";

/** Lists that choose among the questions by area, subject and length, and by the states and marks of their answers. */
function questionFilters() {
  const values = Object.keys(FACETS).map((facet) => [facet, [...new Set(overview.questions.map((question) => question[facet]))].filter(Boolean)]);
  const states = (overview.state_names ?? []).filter((name, number) => name && number && overview.states.some((of) => of.includes(number)));
  return [...values.map(([facet, names]) => [facet, FACETS[facet], names]), ["state", "State", states], ["mark", "Mark", overview.marks ?? []]]
    .filter(([facet, , names]) => names.length > (facet in FACETS ? 1 : 0))
    .map(([facet, title, names]) => make("label", {}, `${title} `, choice(facet, facet === "length"
      ? [["", MAIN], ["all", "all"], ...names.filter((name) => name !== MAIN).map((name) => [name, name])] : [["", "all"], ...names.map((name) => [name, name])])));
}

/** Whether a question has the chosen length, or is the open one. */
function hasLength(question) {
  const asked = state.filters.get("length") ?? MAIN;
  return !asked || asked === "all" || question === state.question || overview.questions[question].length === asked;
}

function isQuestionWanted(question, runs) {
  const asked = (name) => state.filters.get(name) ?? "";
  if (!hasLength(question) || ["area", "subject"].some((facet) => asked(facet) && overview.questions[question][facet] !== asked(facet))) return false;
  if (asked("state") && !runs.some((run) => overview.state_names?.[overview.states[question][run]] === asked("state"))) return false;
  return !asked("mark") || runs.some((run) => overview.marked?.[question][run] & 1 << overview.marks.indexOf(asked("mark")));
}

document.querySelector("#heat-map .tools > label").after(...questionFilters());

/** The key of the column that the state sorts by, and the sign of the order. */
function askedOrderOf(order, first) {
  const asked = state.filters.get(order) ?? first;
  return asked.startsWith("-") ? [asked.slice(1), -1] : [asked, 1];
}

function withColumn(cell, { isText, isWords, isExtra, key }) {
  if (!isText && !isWords && key !== "number") cell.classList.add("number");
  if (isExtra) cell.classList.add("extra");
  return cell;
}

function questionBody(question, columns, content, picks) {
  const { id, text } = overview.questions[question];
  const name = [make("b", {}, id), " ", make("bdi", {}, text)];
  const address = addressOf({ run: null, compare: null, question, sample: null });
  const box = make("input", { type: "checkbox" });
  box.addEventListener("change", () => picks.toggle(question));
  const head = picks ? make("label", {}, box, " ", ...name) : content ? make("button", { type: "button", ariaExpanded: "false" }, ...name) : make("a", { href: address }, ...name);
  head.title = text;
  const cells = columns.slice(1).map((column) => withColumn(make("td", {}, ...[column.show(question)].flat()), column));
  const body = make("tbody", {}, make("tr", {}, make("th", { scope: "row" }, head), ...cells));
  body.dataset.question = question;
  body.rows[0].addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !getSelection().isCollapsed || (picks && event.target.closest("label"))) return;
    event.preventDefault();
    if (picks) return picks.toggle(question);
    const isOpen = content && state.question === question;
    go({ ...(content ? {} : NOTHING_OPEN), question: isOpen ? null : question, sample: null });
  });
  let below = null;
  body.close = () => {
    head.ariaExpanded = "false";
    if (below) below.row.hidden = true;
  };
  body.open = () => {
    head.ariaExpanded = "true";
    if (!below) {
      const cell = make("td", { colSpan: columns.length }, make("p", { className: "quiet" }, "Loading …"));
      const row = make("tr", { className: "opened" }, cell);
      body.append(row);
      const filled = content(question).then((nodes) => cell.replaceChildren(...nodes), (error) => cell.replaceChildren(problem(error)));
      below = { row, filled };
    }
    below.row.hidden = false;
    return below.filled;
  };
  return body;
}

/** Sorts the table of the open view, and shows the question and the answer that the state names. */
async function reachQuestion() {
  const table = dialogBody.querySelector(".of-questions");
  await table?.follow();
  dialogTitle.querySelector(".asked")?.remove();
  const body = state.question === null ? null : table?.querySelector(`tbody[data-question="${state.question}"]`);
  if (!body) return;
  const { id, text } = overview.questions[state.question];
  dialogTitle.append(make("span", { className: "asked quiet" }, `${id} `, make("bdi", {}, shortened(text, 80))));
  leaveHead();  // which is perhaps higher now
  const place = `${state.question} ${state.sample}`;
  if (table.reached === place) return;  // only the order has changed
  table.reached = place;
  const answer = state.sample === null ? null : body.querySelector(`[data-sample="${state.sample}"]`);
  body.querySelector("button").focus({ preventScroll: true });
  const isFirst = answer && answer === body.querySelector("[data-sample]");
  (isFirst ? body : answer ?? body).scrollIntoView({ block: answer ? "start" : "nearest" });
  if (answer && state.filters.has("answers") && !hitRanges(answer).length) answer.querySelector(".answer .more")?.click();
  if (answer) hitRanges(answer)[0]?.startContainer.parentElement.scrollIntoView({ block: "nearest" });
  if (state.sample !== null && !answer) showUnknown([["sample", String(state.sample + 1)]]);
}

/** A difference as a bar to the left or the right of the middle, and its figure below the head of the column. */
function differenceBar(difference, widest) {
  if (!isNumber(difference)) return ["–"];
  const bar = make("span", { className: `bar ${difference < 0 ? "minus" : "plus"}`, ariaHidden: "true" }, make("span", {}));
  bar.firstChild.style.width = `${50 * Math.min(1, Math.abs(difference) / widest)}%`;
  return [bar, make("span", {}, scoreText(difference, signed))];
}

function widestOf(differences) {
  return differences.filter(isNumber).reduce((widest, one) => Math.max(widest, Math.abs(one)), 1e-9);
}
