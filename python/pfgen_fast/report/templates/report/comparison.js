// Two to six runs side by side: their means with verdicts; for a pair of them, the scores of the questions, some of which
// are brushed; and the answers to the brushed questions with the words that differ. A page needs `overview.runs`,
// `overview.questions`, `figures()`, and if it has answers, `answersTo(question)`.

views.comparison = {
  title: () => {
    if (areRising(state.compare)) return [make("bdi", {}, stepOf(state.compare[0]).name), `: step ${state.compare.map((run) => counted(stepOf(run).step)).join(" → ")}`];
    const [first, ...others] = state.compare.map((run) => make("bdi", {}, overview.runs[run].name));
    return [first, " against ", others.length > 1 ? `${others.length} ${WORDS.runs}` : others[0]];
  },
  content: async () => comparisonContent(state.compare, await figures()),
  reach: () => dialogBody.firstElementChild?.follow?.(),
};

const LETTERS = "ABCDEF";

/** Whether the runs are checkpoints of one series, the older first; the difference of two is then the newer minus the older, so that gains are positive. */
function areRising(runs) {
  const steps = runs.map(stepOf);
  return steps.length > 1 && steps.every((step, place) => step && (!place || (step.name === steps[place - 1].name && step.step > steps[place - 1].step)));
}

/** The decisions between A and the other runs in a metric, which are one family. */
function decisions(compared, metric, scores) {
  const binary = isBinary(compared, metric, scores);
  const [ofA, ...ofOthers] = compared.map((run) => scores.map((ofRuns) => ofRuns[run]));
  const isRising = areRising(compared);
  return decided(ofOthers.map((values) => pairedDifference(...isRising ? [values, ofA] : [ofA, values], { isBinary: binary })));
}

/** A decision between A and another run in one sentence, with the options of `verdictText`. */
function verdict(decision, letter, options) {
  return decision.n ? verdictText(decision, ...areRising(state.compare ?? []) ? [letter, "A"] : ["A", letter], options) : `${letter} has no ${WORDS.question} in common with A`;
}

function comparisonContent(compared, more) {
  const nOthers = compared.length - 1;
  const test = overview.tests[isBinary(compared, "average", more.average) ? "Tango" : overview.clusters ? "clustered t" : "t"];
  const ofScore = decisions(compared, "average", more.average);
  const pair = pairOf(compared, more.average);
  const parts = brushParts(compared, pair, more.average);
  const [common] = ofScore;
  const isShort = nOthers > 1 && ofScore.every(({ ends, nInFamily, n }) => ends && nInFamily === nOthers && n === common.n);  // the words of all intervals are then the same
  const items = compared.map((run, index) => comparedItem(compared, run, index, nOthers > 1 && verdict(ofScore[index - 1] ?? {}, LETTERS[index], { isShort })));
  return [
    Object.assign(make("div", {}, ...(nOthers > 1 ? [] : [make("h3", {}, verdict(common, "B"))]), make("ul", { className: "compared" }, ...items),
      ...(isShort ? [make("p", { className: "quiet" }, `After each difference, its 95 % interval${sentenceOf("family", { n: counted(nOthers) })} over ${overText(common)}.`)] : [])), { follow: parts.follow }),
    ...parts.nodes(meansOf(compared, more)),
    make("details", { className: "folded" }, make("summary", {}, "Figures"),
      figuresTable(...comparedFigures(compared, more), `Figures of the ${WORDS.runs}`),
      make("p", { className: "quiet" }, `Means over the ${WORDS.questions} that both ${WORDS.runs} have, and the 95 % interval of their difference (${test}): how far it could move with other ${WORDS.questions} of this kind.`
        + `${nOthers > 1 ? ` The ${nOthers} comparisons of each metric are corrected together by Holm.` : ""} The terminal’s compare decides in the same way.`)),
  ];
}

/** Charts of the means of all runs, a row for each metric; metrics of another size than scores have their own. The means of two runs stand beside their paired difference with its interval, those of more runs have intervals of their own. */
function meansOf(compared, more) {
  const isPair = compared.length === 2;
  const direction = areRising(compared) ? -1 : 1;
  const rows = ["average", ...Object.keys(METRICS)].map((metric) => {
    const shared = ALL_QUESTIONS.filter((question) => compared.every((run) => isNumber(more[metric][question][run])));
    const ofMetric = decisions(compared, metric, more[metric]);
    const hasVerdict = ofMetric.some(({ differs }) => differs !== null);  // an interval over a few questions would seem to be one
    const marks = compared.map((run, index) => {
      const { mean: value, ends } = ownInterval(run, metric, more[metric], shared);
      return { value, ...(isPair || !hasVerdict ? {} : { low: ends?.[0], high: ends?.[1] }), ...LOOKS[index] };
    });
    const [{ mean: value, ends, differs }] = ofMetric;
    const difference = { value, low: hasVerdict ? ends?.[0] : null, high: hasVerdict ? ends?.[1] : null, differs: Boolean(differs), color: differs ? LOOKS[direction * value > 0 ? 0 : 1].color : "var(--quiet)" };
    return { marks, difference, name: METRICS[metric] ?? WORDS.score, text: shortVerdict(ofMetric, metric, direction), isLike: marks.every(({ value }) => value === null || Math.abs(value) <= 2 * BEST) };
  });
  const [score, ...others] = rows;
  const charts = [[score, ...others.filter(({ isLike }) => isLike)], ...others.filter(({ isLike }) => !isLike).map((row) => [row])];
  const minus = direction < 0 ? "B - A" : "A - B";
  return charts.map((ofChart, number) => make("figure", {}, make("figcaption", {}, number ? `${isPair ? "In" : "Means in"} another unit` : isPair ? `Means and ${minus}` : "Means with 95 % intervals"),
    dots(ofChart, { label: `Means of the ${WORDS.runs}${isPair ? ` and ${minus}` : ""} with 95 % intervals over ${WORDS.questions}; the table has the same figures`, isStacked: true, titles: isPair ? ["means", `${minus}, 95 % interval`] : undefined }),
    savedLegend(compared, isPair && ofChart.some(({ difference }) => isNumber(difference.value) && !difference.differs) ? [`○ ${minus} not distinguished from 0`] : [])));
}

/** The legend of a figure: the names of runs by their symbols only where it is saved, because the list of runs is above it, and some lines. */
function savedLegend(compared, lines = [], shown = compared) {
  const items = shown.map((run) => Object.assign(symbolItem(LOOKS[compared.indexOf(run)], `${LETTERS[compared.indexOf(run)]} ${overview.runs[run].name}`), { hidden: true }));
  return make("ul", { className: "groups quiet", hidden: !lines.length }, ...items, ...lines.map((line) => make("li", {}, line)));
}

/** The difference of a pair with its interval or why it has none, or the runs that differ from A, by their letters; the decisions are about the mean of A less theirs, times `direction`. */
function shortVerdict(found, metric, direction) {
  const [pair, ...others] = found;
  if (pair.differs === null && pair.n && !others.length) return `${signed(pair.mean, digitsOf(metric))} (${overText(pair)}: no verdict)`;
  if (pair.ends && !others.length) return `${signed(pair.mean, digitsOf(metric))} (${rangeText(pair.ends, digitsOf(metric), signed)})`;
  const [better, worse] = metric === "average" ? ["better", "worse"] : ["higher", "lower"];
  const sides = [[better, -1], [worse, 1]].map(([word, sign]) => {
    const letters = found.flatMap(({ differs, mean: center }, index) => differs && direction * sign * (metric === "average" ? SIGN : 1) * center > 0 ? [LETTERS[index + 1]] : []);
    return letters.length ? `${letters.join(", ")} ${word}` : "";
  });
  return sides.filter(Boolean).join(" · ") || (found.every(({ differs }) => differs === null) ? "no verdict" : "not distinguished");
}

/** A run of the comparison, with its verdict and the changes that can be made. */
function comparedItem(compared, run, index, sentence) {
  const others = compared.filter((other) => other !== run);
  const change = (label, runs) => [" · ", make("a", { href: addressOf({ ...NOTHING_OPEN, compare: runs }) }, label)];
  const symbol = make("span", { ariaHidden: "true" }, LOOKS[index].character);
  symbol.style.color = LOOKS[index].color;
  return make("li", {}, symbol, " ", make("b", {}, LETTERS[index]), " ",
    make("a", { href: addressOf({ run, compare: null, question: null, sample: null }) }, make("bdi", {}, overview.runs[run].name)),
    trialsText(overview.runs[run]) && ` · ${trialsText(overview.runs[run])}`,
    ...(!index ? [" · baseline"] : sentence ? [" · ", make("b", {}, sentence)] : []),
    make("span", { className: "quiet" }, ...(index ? change("make it A", [run, ...others]) : []), ...(others.length > 1 ? change("remove", others) : [])));
}

/** The heads and lines of the table of figures: a line for each metric and other run. */
function comparedFigures(compared, more) {
  const [baseline, ...others] = compared;
  const [name, other] = others.length > 1 ? [WORDS.Run, WORDS.run] : ["B", "B"];
  const lines = ["average", ...Object.keys(METRICS)].flatMap((metric) => {
    const digits = digitsOf(metric);
    const found = decisions(compared, metric, more[metric]);
    return others.map((run, index) => [
      `${METRICS[metric] ?? WORDS.score}${others.length > 1 ? ` · ${LETTERS[index + 1]}` : ""}`,
      ...[baseline, run].map((shown) => figure(sharedMean(shown, [baseline, run], metric, more[metric]), digits)),
      signed(found[index].mean, digits), rangeText(found[index].ends, digits, signed),
    ]);
  });
  const pair = areRising(compared) ? `${other} - A` : `A - ${other}`;
  return [["Metric", "A", name, pair, `95 % interval of ${pair}`], lines];
}

/** The mean of a run over the questions that some runs have; without left-out questions that of its own view, a sum of rounded figures. */
function sharedMean(run, runs, metric, scores) {
  const shared = scores.flatMap((ofRuns, question) => runs.every((other) => isNumber(ofRuns[other])) ? [question] : []);
  const isWhole = shared.length === scores.filter((ofRuns) => isNumber(ofRuns[run])).length;
  return isWhole ? overview.runs[run][metric === "average" ? "score" : metric] : ownInterval(run, metric, scores, shared).mean;
}

// ---- A pair, and which of its questions are brushed

const MOST_ROWS = 1000;  // of the table of a pair; the chart and the lists have all questions
const N_FIRST = 5;  // questions that are shown before any is brushed
const AREA = /^:(-?[\d.e-]+),(-?[\d.e-]+),(-?[\d.e-]+),(-?[\d.e-]+)$/;

/** The two runs that the state chooses, with their letters, and their common questions: the largest differences first. */
function pairOf(compared, scores) {
  const places = [...state.pair].map((letter) => LETTERS.indexOf(letter));
  const [first, second] = places.length === 2 && places[0] !== places[1] && places.every((place) => place in compared) ? places : [0, 1];
  const [a, b] = [compared[first], compared[second]];
  const questions = ALL_QUESTIONS.filter((question) => hasLength(question) && isNumber(scores[question][a]) && isNumber(scores[question][b]));
  const isRising = areRising(compared);
  const difference = (question) => (isRising ? -1 : 1) * (scores[question][a] - scores[question][b]);
  const better = (question) => Math.abs(difference(question)) < 5e-7 ? 0 : SIGN * Math.sign(scores[question][a] - scores[question][b]);
  questions.sort((p, q) => Math.abs(difference(q)) - Math.abs(difference(p)) || p - q);
  const [x, y] = [LETTERS[first], LETTERS[second]];
  const [xBetter, yBetter] = isRising ? ["Fell", "Rose"] : [`${x} better`, `${y} better`];
  const binary = isBinary([a, b], "average", scores);
  const sides = binary
    ? { first: [`Only ${x} right`, (question) => better(question) > 0], second: [`Only ${y} right`, (question) => better(question) < 0],
      both: ["Both right", (question) => !better(question) && scores[question][a] === 1], neither: ["Neither right", (question) => !better(question) && scores[question][a] === 0] }
    : { first: [xBetter, (question) => better(question) > 0], second: [yBetter, (question) => better(question) < 0], equal: ["Equal", (question) => !better(question)] };
  return {
    runs: [a, b], letters: [x, y], looks: [first, second].map((index) => LOOKS[index]), questions, difference, binary, better, isRising, minus: (isRising ? [y, x] : [x, y]).join(" - "),
    sides: new Map(Object.entries(sides).map(([key, [title, has]]) => [`:${key}`, { title, questions: questions.filter(has) }])),
  };
}

/** The questions that the state chooses: a side, an area of the chart, names, or else those that differ most. */
function brushedQuestions({ runs: [a, b], questions, sides, binary }, scores) {
  const asked = state.brush || (state.question === null ? "" : encodedKey(overview.questions[state.question].id));
  if (sides.has(asked)) return { title: sides.get(asked).title, questions: sides.get(asked).questions };
  const [left, right, low, high] = asked.match(AREA)?.slice(1).map(Number) ?? [];
  const names = new Set(asked.split(",").map((name) => questionsById.get(decodedKey(name))));
  const chosen = questions.filter((question) => left === undefined ? names.has(question)
    : scores[question][a] >= left && scores[question][a] <= right && scores[question][b] >= low && scores[question][b] <= high);
  if (asked) return { title: "Chosen", questions: chosen, area: left === undefined ? null : { x: [left, right], y: [low, high] } };
  const [side] = binary ? [...sides.values()].filter((of) => of.questions.length) : [];
  return { ...side ?? { questions: questions.slice(0, N_FIRST) }, isFirst: true };
}

/** The chart of a pair, its table of questions and the list of the brushed ones; `follow` shows what the state has brushed. */
function brushParts(compared, pair, scores) {
  const { letters: [x, y], questions, binary } = pair;
  let brushed = brushedQuestions(pair, scores);
  let [ticked, leading] = [new Set(), new Set()];  // those that lead the table stay while questions are ticked in it
  const write = (chosen) => go({ question: null, brush: chosen.map((question) => encodedKey(overview.questions[question].id)).join(",") });
  const table = questionTable({
    label: `${WORDS.Questions} of the ${WORDS.runs}`, order: "by", first: "-difference", columns: pairColumns(pair, scores), questions: questions.slice(0, MOST_ROWS), runs: pair.runs,
    picks: {
      has: (question) => ticked.has(question),
      lead: () => leading,
      toggle: (question) => write(ticked.has(question) ? brushed.questions.filter((other) => other !== question) : [...ticked, question]),
    },
  });
  const plot = make("div", { className: "plot low" });
  const list = make("div", { className: overview.has_answers ? "brushed" : "brushed names" });
  const title = make("h3", { ariaLive: "polite" });
  const buttons = [...pair.sides].filter(([key, side]) => key !== ":equal" || side.questions.length).map(([key, { title: name, questions: { length } }]) =>
    [key, buttonTo(() => go({ question: null, brush: state.brush === key ? "" : key }), {}, `${name}: ${counted(length)}`)]);
  const clear = buttonTo(() => write([]), {}, "Clear");
  for (const element of [table, list]) pair.looks.forEach(({ color }, side) => element.style.setProperty(["--first", "--second"][pair.isRising && element === table ? 1 - side : side], color));
  table.classList.add("pair");
  drawWhenSeen(plot, () => (binary ? drawShares : drawPair)(plot, pair, scores, brushed));
  let shown = null;
  return {
    nodes: (means) => [
      make("div", { className: "thirds" }, make("div", {}, ...means),
        make("figure", {}, make("figcaption", {}, binary ? `${WORDS.Questions} by who is right` : `${x} against ${y} by ${WORDS.question}`), savedLegend(compared, [], pair.runs), plot),
        make("div", {}, make("div", { className: "table-head" }, make("b", {}, questions.length > MOST_ROWS ? `The ${counted(MOST_ROWS)} ${WORDS.questions} that differ most` : WORDS.Questions)),
          make("div", { className: "scroller tall", tabIndex: 0, role: "group", ariaLabel: table.caption.textContent }, table))),
      make("div", { className: "tools" }, ...pairChoice(compared), ...buttons.map(([, button]) => button), clear, ...table.tools,
        make("span", { className: "quiet" }, `${binary ? "Tick" : "Drag over points or tick"} ${WORDS.questions} to ${overview.has_answers ? "compare the answers to them" : "list them"}.`)),
      title, list,
    ],
    follow: () => {
      brushed = brushedQuestions(pair, scores);
      ticked = new Set(brushed.isFirst ? [] : brushed.questions);
      if (!table.parentElement.matches(":focus-within")) leading = ticked;
      table.follow();
      const key = JSON.stringify([state.brush, state.question]);
      if (shown === key) return;
      shown = key;
      for (const [side, button] of buttons) button.ariaPressed = String(side === state.brush);
      clear.disabled = Boolean(brushed.isFirst);
      drawAgain(plot);
      const n = `${counted(brushed.questions.length)} ${brushed.questions.length === 1 ? WORDS.question : WORDS.questions}`;
      const [nFallen, nRisen] = ["first", "second"].map((side) => counted(pair.sides.get(`:${side}`).questions.length));
      const changes = pair.isRising ? `From ${x} to ${y}, ${nRisen} of the ${counted(questions.length)} ${WORDS.questions} rose and ${nFallen} fell. ` : "";
      title.textContent = brushed.title ? `${brushed.title}: ${n}` : `${changes}The ${n} that differ most`;
      list.replaceChildren();
      showBrushed(list, brushed.questions, pair, scores, 0);
    },
  };
}

/** The choice of the pair, if there is one. */
function pairChoice(compared) {
  const letters = [...LETTERS.slice(0, compared.length)];
  const pairs = letters.flatMap((first) => letters.filter((second) => second > first).map((second) => [first + second, `${first} against ${second}`]));
  if (pairs.length === 1) return [];
  const list = make("select", {}, ...pairs.map(([value, name]) => make("option", { value }, name)));
  list.value = state.pair || "AB";
  list.dataset.part = "pair";
  list.addEventListener("change", () => go({ pair: list.value, brush: "" }));
  return [make("label", {}, "Pair ", list)];
}

function pairColumns({ runs, letters, questions, difference, minus, binary }, scores) {
  const widest = widestOf(questions.map(difference));
  return [
    ...runs.map((run, side) => ({ key: "AB"[side], title: letters[side], value: (question) => scores[question][run], show: (question) => figure(overview.runs[run].questions[question], binary ? 0 : overview.digits), isLowestFirst: true, isExtra: true })),
    { key: "difference", title: minus, value: (question) => Math.abs(difference(question)), show: (question) => differenceBar(difference(question), widest) },
  ];
}

/** Draws the questions by the scores of A and B: above the diagonal B is higher. */
function drawPair(element, pair, scores, brushed) {
  const { runs: [a, b], letters, looks, questions, better } = pair;
  const chosen = new Set(brushed.isFirst ? [] : brushed.questions);
  const hadFocus = element.contains(document.activeElement);
  // All points are made once, and what one says when it is asked for, because thousands of texts take long.
  pair.points ??= new Map(questions.map((question) => [question, {
    x: scores[question][a], y: scores[question][b], opens: { question: null, brush: encodedKey(overview.questions[question].id) },
    get text() {
      const { id, text } = overview.questions[question];
      return [shortened(`${id} ${text}`, 80), `${letters[0]} ${figure(this.x, overview.digits)}, ${letters[1]} ${figure(this.y, overview.digits)}`];
    },
  }]));
  const series = [1, -1, 0].flatMap((side) => [true, false].map((isChosen) => {
    const look = side ? looks[side > 0 ? 0 : 1] : LOOKS[5];
    const own = questions.filter((question) => better(question) === side && chosen.has(question) === isChosen);
    return { symbol: look.symbol, color: isChosen || !chosen.size ? look.color : `${look.color}55`, size: isChosen ? 7 : 5, points: own.map((question) => pair.points.get(question)) };
  }));
  const room = [element.clientWidth - 44, element.clientHeight - 60].map((size) => size / 7.5 - 3);
  const axis = (place) => ({ title: `${letters[place]}: ${endOf(overview.runs[[a, b][place]].name, room[place])}` });  // names mostly differ at their ends
  drawChart(element, {
    label: `Scatter plot of ${counted(questions.length)} ${WORDS.questions}: ${letters[0]} against ${letters[1]}. The table has the same figures.`,
    x: axis(0), y: axis(1), series, hasDiagonal: true, brush: brushed.area,
    onBrush: (area) => go({ question: null, brush: area ? `:${[...area.x, ...area.y].map((end) => Number(end.toPrecision(4))).join(",")}` : "" }),
  });
  if (hadFocus) element.querySelector(".point")?.focus();
}

/** Draws the shares of 0/1 scores: columns by whether A is right, parts of them by whether B is; each leads to its questions. */
function drawShares(element, { letters, looks, questions, sides }) {
  const [width, height] = [element.clientWidth, element.clientHeight];
  const of = (key) => sides.get(`:${key}`).questions.length;
  const n = questions.length || 1;
  const right = width * (of("first") + of("both")) / n;
  const column = (x, size, parts) => {
    const total = parts.reduce((so, { key }) => so + of(key), 0) || 1;
    let y = 0;
    return parts.map(({ key, color }) => {
      const part = { x: x + 1, y: y + 1, width: Math.max(0, size - 2), height: Math.max(0, height * of(key) / total - 2) };
      y += height * of(key) / total;
      const { title } = sides.get(`:${key}`);
      const count = counted(of(key));
      const lines = [[`${title}: ${count}`], [title, count], [...title.split(" "), count], [count]]
        .find((words) => 18 * words.length + 6 < part.height && words.every((word) => 6.7 * word.length + 10 < part.width)) ?? [];
      return svg("a", { class: "share", href: addressOf({ question: null, brush: `:${key}` }), "aria-label": `${title}: ${count}` },
        svg("rect", { ...part, fill: color, "fill-opacity": 0.35 }),
        svg("text", {}, ...lines.map((words, line) => svg("tspan", { x: part.x + 8, y: part.y + 18 * (line + 1) }, words))));
    });
  };
  element.replaceChildren(svg("svg", { class: "chart", role: "group", "aria-label": `${letters.join(" and ")} by who is right`, width, height },
    ...column(0, right, [{ key: "both", color: "var(--quiet)" }, { key: "first", color: looks[0].color }]),
    ...column(right, width - right, [{ key: "second", color: looks[1].color }, { key: "neither", color: "var(--line)" }])));
}
