// The questions: how hard they are, how well they tell the runs apart, and which keywords the answers lack.

const questionsElement = document.getElementById("questions-table");
const N_MISSED = 3;

async function drawQuestions() {
  const models = new Set(modelRuns);
  const runs = chosenRuns().filter((run) => models.has(run));
  const key = runs.join();
  if (key !== drawQuestions.key) {
    drawQuestions.key = key;
    const more = await figures();
    if (key !== drawQuestions.key) return;
    const of = runs.length === modelRuns.length ? overview.questions.map((_, question) => difficultyOf(question)) : questionFigures(runs);
    drawQuestions.figures = of;
    drawQuestions.table = questionTable({
      label: WORDS.Questions, order: "questions", first: SIGN > 0 ? "mean" : "-mean", columns: questionColumns(of, runs, more), runs, isSearched: true,
      questions: ALL_QUESTIONS,
    });
    questionsElement.replaceChildren(drawQuestions.table);
    const tools = document.getElementById("questions-tools");
    tools.replaceChildren(...runsChoice(), ...drawQuestions.table.tools);
    offerSaving(drawQuestions.table, { name: WORDS.Questions, place: tools });
  }
  if (drawQuestions.table) document.getElementById("separation").replaceChildren(...separation(drawQuestions.figures));
  drawQuestions.table?.follow();
}

/** Which questions of the chosen length tell some runs apart best, and which least, by their figures. */
function separation(of) {
  const inOrder = overview.questions.flatMap((_, question) => hasLength(question) && isNumber(of[question].discrimination) ? [question] : [])
    .sort((a, b) => of[b].discrimination - of[a].discrimination || a - b);
  if (inOrder.length < 2 * N_NAMED_QUESTIONS) return [];
  const named = (some) => firstQuestions(some, (question) => figure(of[question].discrimination, 2),
    (question, value) => [make("a", { href: addressOf({ ...NOTHING_OPEN, question }) }, overview.questions[question].id), ` (${value})`]);
  const isReversed = of[inOrder.at(-1)].discrimination < 0;
  return [...named(inOrder), ` separate the ${WORDS.runs} best, `, ...named(inOrder.toReversed()), isReversed ? ` least or in reverse (discrimination; below 0, the worse ${WORDS.runs} do better).` : " least (discrimination)."];
}

function questionColumns(of, runs, more) {
  const missed = overview.has_parts ? overview.questions.map((_, question) => missedMost(question, runs, more)) : [];
  const hasSubjects = overview.questions.some(({ subject }) => subject);
  return [
    { key: "mean", title: overview.is_share ? "Right" : "Mean score", value: (question) => of[question].mean, isLowestFirst: true,
      show: (question) => [levelBar(of[question].mean), make("span", {}, overview.is_share ? `${counted(Math.round(of[question].mean * of[question].n))} of ${counted(of[question].n)}` : scoreText(of[question].mean))] },
    { key: "spread", title: `Spread of the ${WORDS.runs}`, value: (question) => of[question].spread, show: (question) => scoreText(of[question].spread), isExtra: true },
    { key: "discrimination", title: "Discrimination", value: (question) => of[question].discrimination, show: (question) => figure(of[question].discrimination, 2) },
    ...(!overview.has_parts ? [] : [{ key: "missed", title: "Most missed keywords", value: (question) => missed[question][0]?.share ?? null, isWords: true, isExtra: true,
      show: (question) => listed(missed[question].slice(0, N_MISSED).map(({ name, share: of }) => [make("bdi", {}, name), ` ${(100 * of).toFixed(0)} %`])) }]),
    ...(hasSubjects ? [{ key: "subject", title: WORDS.Subject, value: (question) => overview.questions[question].subject, show: (question) => make("bdi", {}, overview.questions[question].subject), isText: true, isExtra: true }] : []),
  ];
}

/** A value as a bar from 0, to the left if it is negative. */
function levelBar(value) {
  const bar = make("span", { className: "level", ariaHidden: "true" }, make("span", {}));
  const [zero, end] = [0, value ?? 0].map((at) => 100 * Math.min(1, Math.max(0, (at - LOWEST) / (BEST - LOWEST))));
  Object.assign(bar.firstChild.style, { marginLeft: `${Math.min(zero, end)}%`, width: `${Math.abs(end - zero)}%`, ...(value < 0 ? { background: "var(--worse)" } : {}) });
  return bar;
}

/** The keywords that the most sample answers of some runs lack, with their shares. */
function missedMost(question, runs, more) {
  const n = sum(runs.map((run) => more.samples[question][run]));
  return Object.entries(more.missed[question])
    .map(([name, counts]) => ({ name, share: n ? sum(runs.map((run) => counts[run])) / n : 0 }))
    .filter(({ share: of }) => of > 0).sort((a, b) => b.share - a.share);
}

whenShown("questions", drawQuestions);
