// Why a run scores less than a reference: its loss by causes, and the answers of each cause. runs/loss_figures.py and
// runs/diagnosis.py have the same rules and words.

/** The names of the causes as losses and as gains; answers with a fault may score more than the others. */
const CAUSE_NAMES = {
  ...Object.fromEntries([["empty", "Empty"], ["language", `Not${overview.cause_words?.language.slice(3)}`], ["loop", "Repeats itself"], ["cut", "Cut off"]].map(([cause, name]) => [cause, [name, `${name}, yet better`]])),
  keywords: ["Missing keywords", "Keywords"], wording: ["Rare wording", "Wording"], length: ["Length", "Length"], other: ["Other", "Other"],
};

/** The figures of a question of a run from which losses follow, or null. */
function lossFigures(more, question, run) {
  const of = (name) => more[name][question][run];
  if (of("faults") === null || !isNumber(of("average"))) return null;
  return { score: of("average"), fluency: of("fluency"), truthfulness: of("truthfulness"), helpfulness: of("helpfulness"),
    late: of("late"), short: of("short"), clean: of("clean"), faults: of("faults"), judged: of("judged") };
}

/** The loss of a question by cause; the losses add up to the reference's score less its own. */
function questionLosses(own, reference) {
  const losses = Object.fromEntries(overview.causes.map((cause) => [cause, 0]));
  const mean = own.clean ? own.clean[0] : reference.score;
  for (const [fault, share, part] of own.faults) losses[fault] = share * mean - part;
  if (own.clean) {
    const [, fluency, truthfulness, helpfulness] = own.clean;
    const [late, short] = [own.late - reference.late, own.short - reference.short];
    losses.length = (late + short) / 3;
    losses.keywords = (reference.helpfulness - helpfulness - late) / 3;
    losses.wording = (reference.fluency + reference.truthfulness - fluency - truthfulness - short) / 3;
  }
  losses.other = reference.score - own.score - sum(Object.values(losses));
  return losses;
}

const rankedRuns = ALL_RUNS.filter((number) => overview.runs[number].rank !== null);
const FIGURES = ["score", "fluency", "truthfulness", "helpfulness", "late", "short"];  // that a reference has

/** The names of the references that are not runs, each with its words; the first is the default. */
function namedReferences(more) {
  const n = counted(rankedRuns.length);
  return [
    ...(more.published ? [["published", `the median ${more.published.about.split(",")[0]}`]] : []),
    ...(rankedRuns.length > 1 ? [["median", `the median of ${n} runs`], ["best", "the best run"]] : []),
  ];
}

/** The reference that the state asks for, or the default; undefined for the only run. */
function askedReference(number, more) {
  return state.filters.get("against") ?? namedReferences(more)[0]?.[0] ?? runKeys.find((_, other) => other !== number);
}

/** A reference by its name in the state or the key of a run: its name in a sentence, its length if known, and its figures by question. */
function referenceOf(asked, more) {
  const run = runsByKey.get(asked) ?? (asked === "best" ? rankedRuns[0] : undefined);
  if (run !== undefined) return { name: asked === "best" ? "the best run" : overview.runs[run].name, length: overview.runs[run].length, at: (question) => lossFigures(more, question, run) };
  const published = asked === "published" && more.published;
  const { rows } = published || more.median;
  return { name: published ? "the median" : `the median of ${counted(rankedRuns.length)} runs`, length: published ? null : median(modelRuns.map((number) => overview.runs[number].length)), at: (question) => rows[question] && Object.fromEntries(FIGURES.map((name, place) => [name, rows[question][place]])) };
}

/** The loss of a run to a reference by cause, over the questions that both have. */
function diagnosisOf(more, run, reference) {
  const rows = overview.questions.flatMap((_, question) => {
    const [own, other] = [lossFigures(more, question, run), reference.at(question)];
    return own && other ? [{ question, own, other, losses: questionLosses(own, other) }] : [];
  });
  const faultsOf = (cause) => rows.flatMap(({ own }) => own.faults.filter(([fault]) => fault === cause));
  const judged = (place) => sum(rows.map(({ own }) => own.judged[place]));
  const nAnswers = judged(0);  // all answers, or those that are recorded
  const causes = overview.causes.map((cause) => {
    const [loss, place] = [mean(rows.map(({ losses }) => losses[cause])), { keywords: 1, length: 2 }[cause]];
    const n = overview.faults.includes(cause) ? sum(faultsOf(cause).map(([, , , n]) => n)) : place && loss > 0 ? judged(place) : null;
    return { cause, loss, n, share: sum(faultsOf(cause).map(([, share]) => share)) / rows.length };
  });
  return {
    rows, causes, reference: reference.name, score: mean(rows.map(({ own }) => own.score)), referenceScore: mean(rows.map(({ other }) => other.score)),
    nAnswers, isWhole: nAnswers >= overview.runs[run].trials * rows.length,
  };
}

/** The loss and its largest causes, in the sentence of the terminal. */
function diagnosisSentence(diagnosis) {
  const { causes, reference, score, referenceScore, nAnswers, isWhole } = diagnosis;
  const part = ({ cause, loss, n, share }) => {
    const [points, words] = [figure(Math.abs(loss), 3), overview.cause_words[cause]];
    if (!overview.faults.includes(cause)) return `${points} ${(loss > 0 && words) || `by ${cause}`}`;
    if (isWhole) return `${points} in ${counted(n)} of ${counted(nAnswers)} ${nAnswers === 1 ? "answer" : "answers"} ${words}`;
    return `${points} in ${share >= 0.01 ? `about ${figure(100 * share, 0)}` : "under 1"} % of answers ${words}`;
  };
  const [few, most] = [0.005, 3];
  const largest = causes.slice(0, -1).sort((a, b) => Math.abs(b.loss) - Math.abs(a.loss));
  const shown = Math.max(few, Math.abs(largest[0].loss) / 10);
  const named = (sign) => largest.filter(({ loss }) => sign * loss >= shown).slice(0, most);
  const loss = referenceScore - score;
  const all = [...named(1), ...named(-1)];
  const rest = all.length ? all.reduce((so, one) => so - Number(one.loss.toFixed(3)), Number(loss.toFixed(3))) : 0;
  const parts = (sign) => [...named(sign).map(part), ...sign * rest >= few ? [`${figure(Math.abs(rest), 3)} by the rest`] : []].join(", ");
  const sign = loss > -few ? 1 : -1;
  const isEqual = Math.abs(loss) < few;
  const head = isEqual ? `Scores as ${reference}` : sign > 0 ? `Loses ${figure(loss, 3)} to ${reference}` : `Gains ${figure(-loss, 3)} on ${reference}`;
  const tails = [sign, -sign].map((side) => parts(side) && `${isEqual || side !== sign ? (side > 0 ? "loses " : "gains ") : ""}${parts(side)}`).filter(Boolean);
  return tails.length ? `${head}: ${tails.join("; ")}.` : `${head}.`;
}

// ---- The waterfall and the answers of a bar

/** The nodes of a diagnosis against a reference, and `follow`, which shows the answers of the cause that the state asks for. */
function diagnosisParts(number, more, asked, reference) {
  const choice = make("select", {}, ...namedReferences(more).map(([value, name]) => make("option", { value }, name)));
  const offer = (keys) => choice.append(...keys.filter((key) => !choice.querySelector(`[value="${CSS.escape(key)}"]`)).map((value) => make("option", { value }, value)));
  choice.addEventListener("focus", () => offer(runKeys.filter((_, other) => other !== number)), { once: true });  // hundreds of names take long
  choice.dataset.filter = "against";
  if (runsByKey.has(asked)) offer([asked]);
  choice.value = asked;
  const against = make("p", { className: "tools" }, make("label", {}, "Against ", choice));
  const diagnosis = diagnosisOf(more, number, reference);
  if (!diagnosis.rows.length) return { nodes: [against] };
  const bars = barsOf(diagnosis);
  const chart = make("div", {}, waterfall(bars, { label: `The loss of the ${WORDS.run} to ${reference.name} by cause` }), waterfallLegend(bars, "lost by a fault of answers"));
  const answers = make("div", {});
  let cause = null;
  const follow = () => {
    chart.querySelectorAll("a").forEach((link, place) => {
      const ofBar = linkedCauses(diagnosis)[place].cause;
      link.setAttribute("href", addressOf({ cause: ofBar === state.cause ? null : ofBar, question: null, sample: null }));
      link.setAttribute("aria-expanded", String(ofBar === state.cause));
    });
    if (cause === state.cause) return;
    cause = state.cause;
    answers.replaceChildren(...(cause ? answersOfCause(cause, diagnosis, number) : []));
  };
  const sentence = make("p", { className: "verdict" }, make("b", {}, diagnosisSentence(diagnosis)));
  const note = make("p", { className: "quiet on-screen" }, `Points of the score, and the ${diagnosis.isWhole ? "number of answers" : "estimated share of answers (≈) or the number of samples"} with the cause. Select a bar to read ${diagnosis.isWhole ? "its samples" : "its answers"}.`);
  return { nodes: [sentence, against, chart, note, answers, make("p", {}, ...costlyKeywords(diagnosis, more, number))], follow };
}

/** The causes that are bars, the largest loss first, and the rest last. */
function shownCauses({ causes }) {
  return causes.filter(({ loss }) => Math.abs(loss) >= 0.0005).sort((a, b) => (a.cause === "other") - (b.cause === "other") || b.loss - a.loss);
}

/** The bars that open answers. */
function linkedCauses(diagnosis) {
  return shownCauses(diagnosis).filter(({ cause }) => cause !== "other");
}

/** The bars from the reference to the run. */
function barsOf(diagnosis) {
  const { reference, score, referenceScore, nAnswers, isWhole } = diagnosis;
  const kind = narrow.matches ? "" : isWhole ? " answers" : " samples";
  return [
    { name: reference.replace(/^the /, "The "), total: referenceScore, text: figure(referenceScore, 3) },
    ...shownCauses(diagnosis).map(({ cause, loss, n, share }) => ({
      name: CAUSE_NAMES[cause][loss > 0 ? 0 : 1], value: -loss, isFault: loss > 0 && overview.faults.includes(cause), href: cause === "other" ? undefined : "#",
      text: `${signed(-loss, 3)}${!isWhole && overview.faults.includes(cause) ? ` · ≈ ${figure(100 * share, 0)} %` : n === null ? "" : ` · ${counted(n)} of ${counted(nAnswers)}${kind}`}`,
    })),
    { name: `This ${WORDS.run}`, total: score, text: figure(score, 3) },
  ];
}

/** What the colours of the bars of a waterfall mean, if they are several. */
function waterfallLegend(bars, fault) {
  const ofBar = ({ value, isFault }) => isFault ? fault : value < 0 ? "lost" : "gained";
  const shown = new Set(bars.filter(({ total }) => total === undefined).map(ofBar));
  const looks = [["lost", "worse"], [fault, "loss"], ["gained", "better"]].filter(([words]) => shown.has(words));
  return looks.length < 2 ? "" : make("ul", { className: "groups quiet" }, ...looks.map(([words, color]) => symbolItem({ character: "■", color: `var(--${color})` }, words)));
}

const N_OF_CAUSE = 10;  // answers shown at once

/** The answers that have a cause: the questions with the largest loss first, and of each question the answers with the largest. */
function answersOfCause(cause, { rows, causes }, run) {
  const { loss } = causes.find((one) => one.cause === cause);
  const sign = loss < 0 ? -1 : 1;
  const rest = rows.filter(({ losses }) => sign * losses[cause] > 0).sort((a, b) => sign * (b.losses[cause] - a.losses[cause]));
  const list = make("div", {});
  const showMore = async () => {
    for (let n = 0; rest.length && n < N_OF_CAUSE;) {
      const row = rest.shift();
      const elements = samplesOfCause(await answersTo(row.question), run, cause, row, sign);
      n += elements.length;
      list.append(...elements);
    }
    if (!list.children.length) list.append(make("p", { className: "quiet" }, "No recorded sample has this cause."));
    if (rest.length) list.append(moreButton(`Show more (of ${counted(rest.length)} ${rest.length === 1 ? WORDS.question : WORDS.questions})`, showMore));
  };
  const title = make("h3", {}, `${CAUSE_NAMES[cause][loss > 0 ? 0 : 1]}: the answers by ${WORDS.question}, ${loss > 0 ? "largest loss" : "largest gain"} first`);
  const isBelow = () => title.getBoundingClientRect().top > 0.8 * innerHeight;
  showMore().then(() => { if (isBelow()) title.scrollIntoView({ block: "center" }); }, (error) => list.append(problem(error)));
  return [title, legend(), list];
}

function samplesOfCause(answers, run, cause, { question, own, other }, sign) {
  const isFault = overview.faults.includes(cause);
  const cost = isFault ? ({ score }) => (own.clean ? own.clean[0] : other.score) - score
    : cause === "wording" ? ({ fluency, truthfulness }) => (other.fluency + other.truthfulness - fluency - truthfulness) / 3
    : (sample) => sample[`${cause}Cost`];
  const samples = answers.samples.filter((sample) => sample.run === run && sample.fault === (isFault ? cause : null) && (sign < 0 || cost(sample) > 0));
  const address = addressOf({ ...NOTHING_OPEN, question });
  const head = () => [make("a", { href: address }, overview.questions[question].id), " ", make("bdi", {}, overview.questions[question].text)];
  const ofCost = (sample) => ` (${signed(-cost(sample), 3)})`;
  if (cause === "empty") return samples.length ? [make("p", {}, ...head(), make("b", {}, ` ${counted(samples.length)} empty ${samples.length === 1 ? "answer" : "answers"}`), `${ofCost(samples[0])}${samples.length === 1 ? "" : " each"}`)] : [];
  return samples.sort((a, b) => sign * (cost(b) - cost(a)) || a.number - b.number).map((sample) => sampleElement(sample, answers,
    [...head(), make("b", {}, ` Sample ${sample.number + 1}: ${figure(sample.score, 4)}`), ofCost(sample)],
    `Answer to ${overview.questions[question].id}`));
}

const N_NAMED_KEYWORDS = 8;

/** The keywords with the largest loss: that of a question, by the number of sample answers that lack each. */
function costlyKeywords({ rows }, more, run) {
  const costs = rows.filter(({ losses }) => losses.keywords > 0).flatMap(({ question, losses }) => {
    const missing = Object.entries(more.missed[question]).map(([name, counts]) => ({ question, name, n: counts[run] })).filter(({ n }) => n);
    const all = sum(missing.map(({ n }) => n));
    return missing.map((one) => ({ ...one, loss: losses.keywords * one.n / all }));
  }).sort((a, b) => b.loss - a.loss).slice(0, N_NAMED_KEYWORDS);
  const linked = (question) => make("a", { href: addressOf({ question, sample: null, cause: null }) }, overview.questions[question].id);
  return costs.length ? ["Missing keywords that cost most: ", ...listed(costs.map(({ question, name }) => [make("bdi", { className: "rule" }, name), " (", linked(question), ")"])), "."] : [];
}
