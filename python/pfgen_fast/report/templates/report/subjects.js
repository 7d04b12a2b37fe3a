// The scores by subject: a heat map of the runs that the leaderboard shows; a file has a table with intervals.

const OTHER = "other";
const isSmall = (questions) => questions.length < overview.few_items;

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
  return [...all.filter(([, questions]) => !isSmall(questions)), [OTHER, small.flatMap(([, questions]) => questions)]];
})();

const subjectName = (place) => `${subjects[place][0]} (${counted(subjects[place][1].length)})`;

/** The mean of a run in a subject with its interval, in words. */
function subjectText(run, place, average) {
  const [, questions] = subjects[place];
  const interval = ownInterval(run, "average", average, questions);
  if (isSmall(questions)) return figure(interval.mean, 2);
  const digits = interval.ends ? bearingDigits((interval.ends[1] - interval.ends[0]) / 2) : overview.digits;
  return `${figure(interval.mean, digits)} ${spreadText(interval, digits)}`;
}

/** The heat map of subjects and runs. Its colours go from the lowest mean of all runs to the highest, with 0 in the middle if some are negative; small subjects have none. */
function subjectMap(average) {
  const means = overview.runs.map((_, run) => subjects.map(([, questions]) => mean(questions.map((question) => average[question][run]))));
  const [low, high] = means.flat().filter(isNumber).reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
  const colours = coloursOf(low, high);
  const chosen = (place) => new Map([...state.filters, ...(subjects[place][0] === OTHER ? [] : [["subject", subjects[place][0]]])]);
  return {
    label: document.getElementById("subjects-title").textContent, scale: () => colours.scale, ends: () => colours.ends,
    axes: (shown) => [{ part: "subject", numbers: subjects.map((_, place) => place), name: subjectName, short: subjectName, lines: (place) => [subjectName(place)],
      opens: (place) => ({ tab: "questions", filters: chosen(place) }) }, runAxis(shown)],
    look({ run, subject }, nLetters) {
      const value = means[run][subject];
      return value === null ? [null, ""] : [isSmall(subjects[subject][1]) ? null : colours.levelOf(value), cellFigure(value, nLetters)];
    },
    lines: ({ run, subject }) => [shortened(overview.runs[run].name, 80), subjectName(subject), subjectText(run, subject, average)],
    opens: ({ run, subject }) => ({ ...NOTHING_OPEN, run, filters: chosen(subject) }),
  };
}

if (subjects.length) {
  const element = document.getElementById("subject-map");
  const spec = once(async () => subjectMap((await figures()).average));
  const heads = [WORDS.Run, ...subjects.map((_, place) => subjectName(place))];
  const lines = async () => {
    const { average } = await figures();
    return runsInOrder().map((run) => [overview.runs[run].name, ...subjects.map((_, place) => subjectText(run, place, average))]);
  };
  element.addEventListener("scroll", () => { if (element.map) showTiles(element.map); });
  drawWhenSeen(element, async () => {
    drawHeatMap(element, await spec(), runsInOrder());
    showLegend(document.querySelector("#subjects .heat-legend"), await spec());
  });
  const name = `Scores by ${WORDS.subject}`;
  const saveTable = async () => saveFile(fileName(name, "csv"), csvOf([heads, ...await lines()]), "text/csv");
  document.querySelector("#subjects .tools").append(saveButtons(name, { CSV: saveTable, ...pictureForms(() => titledMap(element), name) }));
}
