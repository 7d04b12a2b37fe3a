// The page of the site where anyone can try it: a question, an answer, and files of the visitor. All other scripts of the
// page come first. The module and the suite are in scripts beside this one, because a page on disk loads nothing else.

const tried = document.currentScript.parentElement;
const beside = ((source) => (name) => new URL(name, source).href)(document.currentScript.src);
const say = wordsOf(tried.lang);

const kilobytes = (size) => counted(Math.round(size / 1000));

/** Offers to load the module and the suite; a link that holds a question loads them at once. */
function offerTrying() {
  const status = make("p", { className: "quiet", role: "status" });
  tried.append(status);
  if (typeof pfgen === "undefined") {
    status.textContent = say("lacks");
    return;
  }
  if (location.hash.includes("question=")) {
    startTrying(status);
    return;
  }
  const start = make("button", { type: "button" }, say("start", kilobytes(LOADED_BYTES)));
  start.addEventListener("click", async () => {
    start.remove();
    await startTrying(status);
    tried.querySelector("select")?.focus();
  });
  status.before(start);
}

async function startTrying(status) {
  try {
    const lines = [...await fileOfLines(beside("mini.js")), ...await fileOfLines(beside("module.js"))];
    const core = await openedCore(lines);
    const tellLoaded = (title, size) => { status.textContent = say("loaded", kilobytes(lines[2].length), title, kilobytes(size)); };
    tellLoaded(core.head.title, lines[1].length);
    status.before(...tryElements(core, tellLoaded));
  } catch (error) {
    status.textContent = error.message;
  }
}

function tryElements(core, tellLoaded) {
  const select = make("select", {});
  const asked = make("p", { className: "asked" });
  const problem = make("p", { className: "missing", role: "alert", hidden: true });
  const reference = make("section", { className: "reference", ariaLabel: say("reference") });
  const ranking = make("section", { hidden: true });
  const field = answerField({ core, say, standing });
  const link = buttonTo(copyLink, {}, say("copy"));
  let published = null, lastTake = 0;

  function standing(question, score) {
    const own = core.head.questions[question];
    if (own) return aboveReferences(own[1], score, say);
    const means = published?.questions[question];
    if (!means) return "";
    return say("published", counted(published.n), counted(1 + means.filter((mean) => mean > Math.round(1e6 * score)).length));
  }

  function tell(text) {
    problem.textContent = text;
    problem.hidden = !text;
    if (text) problem.scrollIntoView({ block: "nearest" });
  }

  /** Offers the questions of a suite, and asks the first. */
  function useSuite() {
    select.replaceChildren(...core.scorer.questions.map(({ id, question }) => make("option", { value: id }, `${id} ${shortened(question, 60)}`)));
    ask(firstQuestion(), "");
  }

  /** The first question in the language of the page, or the first. */
  function firstQuestion() {
    const { questions } = core.scorer;
    return (questions.find(({ question }) => /\p{Script=Hiragana}/u.test(question) === (tried.lang === "ja")) ?? questions[0]).id;
  }

  function ask(id, text) {
    const question = core.scorer.questions.find((own) => own.id === id || own.question === id);
    if (!question) {
      try {
        core.scorer.score(id, "");
      } catch (error) {
        tell(error.message);
      }
      return ask(firstQuestion(), text);
    }
    select.value = question.id;
    asked.textContent = question.question;
    const own = core.head.questions[question.id];
    const take = buttonTo(() => field.ask(question.id, own[0]), {}, say("take"));
    reference.replaceChildren(make("h2", {}, say("reference")), ...own
      ? [markedAnswer(own[0], core.scorer.explain(question.id, own[0]), core.head, say, say("reference")), take]
      : [make("p", { className: "quiet" }, say("without"))]);
    field.ask(question.id, text);
  }

  /** Takes question and answer from the fragment of the address. */
  function follow() {
    const asks = new URLSearchParams(location.hash.slice(1));
    if (!asks.has("question")) return;
    tell("");
    ask(asks.get("question"), asks.get("answer") ?? "");
  }

  async function copyLink() {
    const fragment = new URLSearchParams({ question: select.value, answer: field.text() });
    tell(`${fragment}`.length > 30_000 ? say("long") : "");
    if (!problem.hidden) return;
    try {
      history.replaceState(null, "", `#${fragment}`);
      await navigator.clipboard.writeText(location.href);
      link.textContent = say("copied");
    } catch {
      link.textContent = say("address");
    }
    setTimeout(() => { link.textContent = say("copy"); }, 3000);
  }

  /** Takes files, until the visitor offers others. */
  async function take(files) {
    const number = ++lastTake, isLast = () => number === lastTake;
    tell("");
    for (const file of files) {
      try {
        const content = await file.arrayBuffer();
        if (!isLast()) return;
        const isTable = TABLE.test(file.name);
        if (!isTable && !/\.pfgen$/i.test(file.name)) throw new Error("expected a name that ends in .pfgen, .csv, .tsv or .jsonl");
        await (isTable ? showRanking : takeSuite)(content, file.name, isLast);
      } catch (error) {
        if (isLast()) tell(error.message.startsWith(file.name) ? error.message : `${file.name}: ${error.message}`);
      }
    }
  }

  async function takeSuite(content, name, isLast) {
    const scorer = core.Scorer.fromBytes(content);
    const runs = await fileOfLines(beside("published.js")).then(([line]) => unpackedLine(line)).catch(() => null);
    if (!isLast()) return;
    published = runs?.hash === scorer.metadataHash ? runs : null;
    Object.assign(core, { scorer, head: { ...core.head, questions: { __proto__: null } } });
    link.hidden = ranking.hidden = true;  // a link opens the page with its own suite
    tellLoaded(name, content.byteLength);
    useSuite();
    select.focus();
  }

  async function showRanking(content, name, isLast) {
    ranking.hidden = false;
    const progress = make("p", { className: "quiet", role: "status" });
    ranking.replaceChildren(progress);
    let table;
    try {
      table = await scoredTable(content, name, core, (n, all) => { progress.textContent = say("scoring", counted(n), counted(all)); return isLast(); });
    } finally {
      if (!table && progress.isConnected) ranking.hidden = true;
    }
    if (!table) return;
    const heads = ["", say("model"), say("score"), say("fluency"), say("truthfulness"), say("helpfulness"), say("answers")];
    const rows = table.models.map(({ rank, model, n, means }) => make("tr", {},
      make("td", {}, rank === null ? "–" : counted(rank)), make("th", { scope: "row" }, shortened(model, 80)),
      ...means.map((mean, column) => make("td", {}, figure(mean, column ? 3 : 4))), make("td", {}, counted(n))));
    const save = buttonTo(() => saveFile(`${name.replace(TABLE, "")}-scored.csv`, scoredCsv(table), "text/csv"), {}, say("save"));
    ranking.replaceChildren(make("h2", {}, say("ranking", name)),
      make("div", { className: "scroller", tabIndex: 0, role: "group", ariaLabel: say("ranking", name) },
        make("table", { className: "ranked" }, make("thead", {}, make("tr", {}, ...heads.map((head) => make(head ? "th" : "td", head ? { scope: "col" } : {}, head)))), make("tbody", {}, ...rows))),
      ...[[!table.isCommon, "apart"], [table.models.at(-1).rank === null, "unranked"]].flatMap(([isTrue, word]) => isTrue ? [make("p", { className: "quiet" }, say(word))] : []), save);
  }

  const input = make("input", { className: "unseen", type: "file", multiple: true, accept: ".pfgen,.csv,.tsv,.jsonl,.ndjson" });
  input.addEventListener("change", () => { take([...input.files]); input.value = ""; });
  const dropping = (act) => (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;  // a text goes into the field
    event.preventDefault();
    act(event);
  };
  tried.addEventListener("dragover", dropping(() => tried.classList.add("over")));
  tried.addEventListener("dragleave", () => tried.classList.remove("over"));
  tried.addEventListener("drop", dropping((event) => { tried.classList.remove("over"); take([...event.dataTransfer.files]); }));
  select.addEventListener("change", () => { tell(""); ask(select.value, ""); });
  addEventListener("hashchange", follow);
  useSuite();
  follow();
  const levels = (say("levels") ? say("levels").split("|") : core.head.levels).map((level, number) => make("li", {}, make("span", { className: `t${number}` }, "文字 text"), ` ${level}`));
  return [
    make("label", {}, say("question"), " ", select), asked, problem,
    make("div", { className: "try-beside" }, make("div", {}, field, link), reference),
    make("details", {}, make("summary", {}, say("legend")), make("ul", { className: "levels" }, ...levels)),
    make("div", { className: "drop" }, make("p", {}, say("drop")), make("label", {}, make("span", {}, say("choose")), input)), ranking,
  ];
}

offerTrying();
