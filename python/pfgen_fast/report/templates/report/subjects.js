// The scores by subject: a row for each run that the leaderboard shows, a column for each subject.

const FEW_ITEMS = overview.min_questions;

/** The numbers of the questions of each subject. */
const subjects = (() => {
  const found = new Map();
  overview.questions.forEach(({ subject }, question) => {
    if (subject && !found.has(subject)) found.set(subject, []);
    found.get(subject)?.push(question);
  });
  return [...found];
})();

async function drawSubjects(element, shown) {
  const { average } = await figures();
  const heads = [WORDS.Run, ...subjects.map(([name, questions]) => `${name} (${counted(questions.length)})`)];
  const lines = shown.map((run) => [overview.runs[run].name, ...subjects.map(([, questions]) => {
    const interval = ownInterval(run, "average", average, questions);
    const digits = overview.is_share && interval.ends ? bearingDigits((interval.ends[1] - interval.ends[0]) / 2) : 4;
    return `${figure(interval.mean, digits)} ${spreadText(interval, digits)}`;
  })]);
  element.replaceChildren(figuresTable(heads, lines, "Scores by subject"));
}

if (subjects.length) {
  const element = document.getElementById("subjects-table");
  const few = subjects.filter(([, questions]) => questions.length < FEW_ITEMS);
  document.getElementById("few-subjects").textContent = few.length
    ? `Subjects with fewer than ${FEW_ITEMS} ${WORDS.questions}: ${counted(few.length)} of ${counted(subjects.length)}.` : "";
  drawWhenSeen(element, () => drawSubjects(element, runsInOrder()));
}
