// The scores by subject: a row for each run that the leaderboard shows, a column for each subject with enough questions.

const FEW = 4;  // with fewer questions, an interval is wider than all scores
const isSmall = (questions) => questions.length < FEW;

/** The numbers of the questions of each subject; small subjects are "other" together. */
const subjects = (() => {
  const bySubject = new Map();
  overview.questions.forEach(({ subject }, question) => {
    if (overview.strata?.[question] === null) return;
    if (subject && !bySubject.has(subject)) bySubject.set(subject, []);
    bySubject.get(subject)?.push(question);
  });
  const all = [...bySubject];
  const small = all.filter(([, questions]) => isSmall(questions));
  if (small.length < 2) return all;
  return [...all.filter(([, questions]) => !isSmall(questions)), ["other", small.flatMap(([, questions]) => questions)]];
})();

/** The name of a run, whose organisation a narrow screen leaves out. */
function nameLink({ name, title, rest }, run) {
  const [, organisation, model] = title.match(/^([^/]*\/(?=.))?(.*)$/s);
  return make("a", { href: addressOf({ ...NOTHING_OPEN, run }), title: name },
    make("span", { className: "long" }, organisation ?? ""), model, make("span", { className: "long quiet" }, rest && `/${rest}`));
}

async function drawSubjects(element, shown) {
  const { average } = await figures();
  const heads = [WORDS.Run, ...subjects.map(([name, questions]) => `${name} (${counted(questions.length)})`)];
  const lines = shown.map((run) => [nameLink(overview.runs[run], run), ...subjects.map(([, questions]) => {
    const interval = ownInterval(run, "average", average, questions);
    if (isSmall(questions)) return make("span", { className: "quiet" }, figure(interval.mean, 2));
    const digits = interval.ends ? bearingDigits((interval.ends[1] - interval.ends[0]) / 2) : overview.digits;
    return `${figure(interval.mean, digits)} ${spreadText(interval, digits)}`;
  })]);
  const table = figuresTable(heads, lines, `Table of scores by ${WORDS.subject}`);
  for (const { title, parentElement } of table.querySelectorAll("th bdi > a")) parentElement.parentElement.dataset.saved = title;
  element.replaceChildren(table);
}

if (subjects.length) {
  const element = document.getElementById("subjects-table");
  drawWhenSeen(element, () => drawSubjects(element, runsInOrder()));
}
