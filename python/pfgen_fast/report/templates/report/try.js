// "Score another answer here" in the view of a question. try/field.js comes first.

const sayInReport = wordsOf("en");
const tryCore = keepingLast(1, () => packedLines(overview.files.try?.[0], "try").then(openedCore));

/** Where a score would stand among the ranked models of the page. */
function standingOnPage(question, score) {
  const means = overview.runs.filter(({ rank }) => rank !== null).map((run) => run.questions[question]).filter(isNumber);
  return sayInReport("runs", counted(means.length + 1), counted(1 + means.filter((mean) => mean > score).length));
}

views.question.more = (question) => {
  const part = make("div", { className: "try-beside" });
  const element = make("details", { className: "folded" }, make("summary", {}, "Score another answer here"), part);
  fillWhenOpened(element, part, async () => {
    const core = await tryCore();
    const { id } = overview.questions[question];
    const [reference, scores] = core.head.questions[id];
    const standing = (_, score) => `${aboveReferences(scores, score, sayInReport)} ${standingOnPage(question, score)}`;
    const field = answerField({ core, say: sayInReport, standing });
    field.ask(id, "");
    return [field, make("section", {}, make("h3", {}, sayInReport("reference")), markedAnswer(reference, core.scorer.explain(id, reference), core.head, sayInReport, sayInReport("reference")))];
  });
  return element;
};
