// The page of the site where anyone can try it: a question, an answer, and files of the visitor. All other scripts of the
// page come first. The module and the suite are in scripts beside this one, because a page on disk loads nothing else.

const tried = document.currentScript.parentElement;
const beside = ((source) => (name) => new URL(name, source).href)(document.currentScript.src);
const say = wordsOf(tried.lang);

const kilobytes = (line) => counted(Math.round(line.length / 1000));

async function startTrying() {
  const status = make("p", { className: "quiet", role: "status" });
  tried.append(status);
  if (typeof pfgen === "undefined") {
    status.textContent = say("lacks");
    return;
  }
  try {
    const lines = [...await fileOfLines(beside("mini.js")), ...await fileOfLines(beside("module.js"))];
    const core = await openedCore(lines);
    status.textContent = say("loaded", kilobytes(lines[2]), core.head.title, kilobytes(lines[1]));
    status.before(...tryElements(core));
  } catch (error) {
    status.textContent = error.message;
  }
}

function tryElements(core) {
  const select = make("select", {});
  const asked = make("p", { className: "asked" });
  const problem = make("p", { className: "missing", role: "alert", hidden: true });
  const reference = make("section", { className: "reference", ariaLabel: say("reference") });
  const ranking = make("section", { hidden: true });
  const field = answerField({ core, say, standing });
  const link = make("button", { type: "button" }, say("copy"));
  let published = null;

  function standing(question, score) {
    const own = core.head?.questions[question];
    if (own) return aboveReferences(own[1], score, say);
    const means = published?.questions[question];
    if (!means) return "";
    return say("published", counted(published.n), counted(1 + means.filter((mean) => mean > Math.round(1e6 * score)).length));
  }

  function tell(text) {
    problem.textContent = text;
    problem.hidden = !text;
  }

  /** Offers the questions of a suite, and asks the first or the one of the address. */
  function useSuite() {
    select.replaceChildren(...core.scorer.questions.map(({ id, question }) => make("option", { value: id }, `${id} ${shortened(question, 60)}`)));
    follow();
    if (!field.ready) ask(firstQuestion(), "");
  }

  /** The first question in the language of the page, or the first. */
  function firstQuestion() {
    const { questions } = core.scorer;
    return (questions.find(({ question }) => /\p{Script=Hiragana}/u.test(question) === (tried.lang === "ja")) ?? questions[0]).id;
  }

  function ask(id, text) {
    field.ready = true;
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
    const own = core.head.questions?.[question.id];
    const take = make("button", { type: "button" }, say("take"));
    take.addEventListener("click", () => field.ask(question.id, own[0]));
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
    if (`${fragment}`.length > 30_000) return tell(say("long"));
    try {
      history.replaceState(null, "", `#${fragment}`);
      await navigator.clipboard.writeText(location.href);
      link.textContent = say("copied");
    } catch {
      link.textContent = say("copy");  // the address bar has it
    }
    setTimeout(() => { link.textContent = say("copy"); }, 3000);
  }

  async function take(files) {
    tell("");
    for (const file of files) {
      try {
        const content = await file.arrayBuffer();
        if (TABLE.test(file.name)) await showRanking(content, file.name);
        else await takeSuite(content);
      } catch (error) {
        tell(error.message);
      }
    }
  }

  async function takeSuite(content) {
    const scorer = core.Scorer.fromBytes(content);
    published ??= await fileOfLines(beside("published.js")).then(([line]) => unpackedLine(line)).catch(() => null);
    const known = published?.hash === scorer.metadataHash;
    Object.assign(core, { scorer, head: { ...core.head, questions: {} } });
    if (!known) published = null;
    field.ready = false;
    ranking.hidden = true;
    useSuite();
  }

  async function showRanking(content, name) {
    ranking.hidden = false;
    const progress = make("p", { className: "quiet", role: "status" });
    ranking.replaceChildren(progress);
    let table;
    try {
      table = await scoredTable(content, name, core, (n, all) => { progress.textContent = say("scoring", counted(n), counted(all)); });
    } catch (error) {
      ranking.hidden = true;
      throw error;
    }
    const heads = ["", say("model"), say("score"), say("fluency"), say("truthfulness"), say("helpfulness"), say("answers")];
    const rows = table.models.map(({ model, n, means }) => make("tr", {},
      make("td", {}, counted(1 + table.models.filter((other) => other.means[0] > means[0]).length)), make("th", { scope: "row" }, shortened(model, 80)),
      ...means.map((mean, column) => make("td", {}, figure(mean, column ? 3 : 4))), make("td", {}, counted(n))));
    const save = make("button", { type: "button" }, say("save"));
    save.addEventListener("click", () => saveFile(`${name.replace(TABLE, "")}-scored.csv`, scoredCsv(table), "text/csv"));
    ranking.replaceChildren(make("h2", {}, say("ranking", name)),
      make("div", { className: "scroller", tabIndex: 0, role: "group", ariaLabel: say("ranking", name) },
        make("table", { className: "ranked" }, make("thead", {}, make("tr", {}, ...heads.map((head) => make(head ? "th" : "td", head ? { scope: "col" } : {}, head)))), make("tbody", {}, ...rows))),
      save);
  }

  const input = make("input", { type: "file", multiple: true, accept: ".pfgen,.csv,.tsv,.jsonl,.ndjson" });
  input.addEventListener("change", () => { take([...input.files]); input.value = ""; });
  tried.addEventListener("dragover", (event) => { event.preventDefault(); tried.classList.add("over"); });
  tried.addEventListener("dragleave", () => tried.classList.remove("over"));
  tried.addEventListener("drop", (event) => { event.preventDefault(); tried.classList.remove("over"); take([...event.dataTransfer.files]); });
  select.addEventListener("change", () => { tell(""); ask(select.value, ""); });
  link.addEventListener("click", copyLink);
  addEventListener("hashchange", follow);
  useSuite();
  const levels = (say("levels") ? say("levels").split("|") : core.head.levels).map((level, number) => make("li", {}, make("span", { className: `t${number}` }, "文字 text"), ` ${level}`));
  return [
    make("label", {}, say("question"), " ", select), asked, problem,
    make("div", { className: "try-beside" }, make("div", {}, field, link), reference),
    make("details", {}, make("summary", {}, say("legend")), make("ul", { className: "levels" }, ...levels)),
    make("div", { className: "drop" }, make("p", {}, say("drop")), make("label", {}, make("span", {}, say("choose")), input)), ranking,
  ];
}

startTrying();
