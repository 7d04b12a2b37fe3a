// The search in the answers of all runs: excerpts with the hit marked, by question or by run. It shows what it has found
// while it goes on.

const found = document.getElementById("found");
const N_SHOWN_HITS = 20;
const AROUND = 40;  // characters of an excerpt before and after the hit
const N_AHEAD = 6;  // lines that are unpacked while another is searched

/** The search that is shown: its text and its runs, its hits by question or by run, and how many there are. */
let searching = { key: "", groups: new Map(), n: 0 };

function patternOf(text) {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
}

async function searchAnswers(text, runs, key) {
  const isByRun = state.filters.get("by-run") === "yes";
  const mine = { key, groups: new Map(), n: 0, runs: new Set() };
  searching = mine;
  const wanted = patternOf(text);
  let shown = 0;
  for await (const { where, hits } of foundIn(runs, wanted)) {
    if (searching !== mine) return;
    for (const hit of hits) {
      const group = isByRun ? hit.run : hit.question;
      if (!mine.groups.has(group)) mine.groups.set(group, []);
      mine.groups.get(group).push(hit);
      mine.runs.add(hit.run);
      mine.n++;
    }
    showProgress(mine, text, where);
    if (mine.n > 1.5 * shown) {  // showing takes longer than searching
      showHits(mine, isByRun);
      shown = mine.n;
    }
  }
  showHits(mine, isByRun);
  showProgress(mine, text, "");
  const n = [...runs].filter((run) => overview.files.trials?.[run]).length;
  const searched = [[n, "all answers"], [runs.size - n, overview.has_parts ? "sample answers" : "all answers and reasons"]].filter(([count]) => count)
    .map(([count, what]) => `${what} of ${counted(count)} ${count === 1 ? WORDS.run : WORDS.runs}`);
  document.getElementById("found-count").append(` Searched: ${searched.join(", ") || `no ${WORDS.run}`}.`);
  const named = textsOfRuns().filter((of) => text.toLowerCase().split(/\s+/).every((word) => of.includes(word))).length;
  if (mine.n || !named) return;
  found.append(make("p", {}, make("a", { href: addressOf({ tab: "", search: text, filters: new Map() }) }, `Show the ${named === 1 ? WORDS.run : `${counted(named)} ${WORDS.runs}`} with this name or parameter`)));
}

/** The hits one part of the answers after the other: all answers of runs whose trials are there, and samples of the others. */
async function* foundIn(runs, wanted, trials = overview.files.trials ?? []) {
  const withSamples = new Set([...runs].filter((run) => !trials[run]));
  const ofQuestions = withSamples.size ? overview.questions.map(({ id }, question) => ({
    where: id, lines: () => packedAnswers(question), hits: (line) => hitsIn(line, question, wanted, withSamples),
  })) : [];
  const ofRuns = [...runs].filter((run) => trials[run]).map((run) => ({
    where: overview.runs[run].name, lines: () => packedLines(trials[run]),
    hits: (texts, question) => texts.flatMap((answer, number) => hitIn(answer, wanted, { run, question, number, isTrial: true })),
  }));
  const waiting = [];
  const next = async () => {
    const { where, hits, unpacked, place } = waiting.shift();
    const found = { where, hits: hits(await unpacked, place) };
    await turn();
    return found;
  };
  for (const { where, lines, hits } of [...ofQuestions, ...ofRuns]) {
    for (const [place, line] of (await lines()).entries()) {
      waiting.push({ where, hits, place, unpacked: unpackedLine(line) });
      if (waiting.length > N_AHEAD) yield await next();
    }
  }
  while (waiting.length) yield await next();
}

/** The hits in a line of data of a question. */
function hitsIn(line, question, wanted, runs) {
  const hits = [];
  let place = 0;
  for (const [index, run] of (line.runs ?? []).entries()) {
    for (const number of line.numbers[index]) {
      if (runs.has(run)) hits.push(...searchedTexts(line, place).flatMap((text) => hitIn(text, wanted, { run, question, number, score: line.score[place] })));
      place++;
    }
  }
  return hits;
}

/** The first match in a text, as a list. */
function hitIn(text, wanted, of) {
  const [match] = text.matchAll(wanted);
  return match ? [{ ...of, at: match.index, length: match[0].length, text, wanted }] : [];
}

function showProgress({ n, runs }, text, where) {
  const so = `${counted(n)} ${n === 1 ? "answer" : "answers"} of ${counted(runs.size)} ${runs.size === 1 ? WORDS.run : WORDS.runs} ${n === 1 ? "contains" : "contain"} “`;
  document.getElementById("found-count").replaceChildren(so, make("bdi", {}, shortened(text, 60)), "”",
    where ? "; searching " : ".", ...(where ? [make("bdi", {}, where), " …"] : []));
}

function showHits({ groups }, isByRun) {
  const order = [...groups.keys()].sort((a, b) => a - b);
  const known = new Map([...found.children].map((section) => [Number(section.dataset.group), section]));
  found.replaceChildren(...order.map((group) => {
    const hits = groups.get(group);
    const before = known.get(group);
    return before?.n === hits.length ? before : hitsSection(group, hits, isByRun);
  }));
}

function hitsSection(group, hits, isByRun) {
  const { id, text } = overview.questions[group] ?? {};
  const name = isByRun ? [make("bdi", {}, overview.runs[group].name)] : [id, " ", make("bdi", {}, text)];
  const list = make("ul", {});
  const show = (some) => list.append(...some.map((hit) => hitItem(hit, isByRun)));
  show(hits.slice(0, N_SHOWN_HITS));
  const section = make("section", {}, make("h3", {}, ...name, make("span", { className: "quiet" }, ` ${counted(hits.length)} ${hits.length === 1 ? "answer" : "answers"}`)), list);
  if (hits.length > N_SHOWN_HITS) section.append(moreButton(`Show ${counted(hits.length - N_SHOWN_HITS)} more`, () => show(hits.slice(N_SHOWN_HITS))));
  section.dataset.group = group;
  return Object.assign(section, { n: hits.length });
}

/** The part of an answer around its first hit, with all hits in it marked. */
function excerptOf({ at, length, text, wanted }, around = AROUND) {
  const to = Math.min(text.length, at + length + around);
  let from = Math.max(0, at - around);
  const nodes = [from ? "…" : ""];
  for (const { 0: hit, index } of text.slice(0, to).matchAll(wanted)) {
    nodes.push(text.slice(from, index), make("mark", {}, hit));
    from = index + hit.length;
  }
  return make("bdi", { className: "excerpt" }, ...nodes, text.slice(from, to), to < text.length ? "…" : "");
}

/** The ranges of the hits of the search in an element, whatever tints and frames divide its text. */
function hitRanges(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), nodes = [];
  let text = "";
  while (walker.nextNode()) {
    nodes.push([walker.currentNode, text.length]);
    text += walker.currentNode.data;
  }
  const placeOf = (at) => {
    const [node, start] = nodes.findLast(([, begin]) => begin <= at);
    return [node, at - start];
  };
  return !state.filters.has("answers") ? [] : Array.from(text.matchAll(patternOf(state.filters.get("answers"))), ({ 0: hit, index }) => {
    const range = new Range();
    range.setStart(...placeOf(index));
    range.setEnd(...placeOf(index + hit.length));
    return range;
  });
}

/** Marks the hits of the search in the open view. */
function markHits() {
  CSS.highlights?.set("hit", new Highlight(...[...dialogBody.querySelectorAll(".answer, .reason")].flatMap(hitRanges)));
}
new MutationObserver(markHits).observe(dialogBody, { childList: true, subtree: true });

function hitItem(hit, isByRun) {
  const { run, question, number, at, length, text, score, isTrial } = hit;
  const name = isByRun ? overview.questions[question].id : overview.runs[run].name;
  const excerpt = excerptOf(hit);
  const isWhole = at <= AROUND && text.length <= at + length + AROUND;
  const link = make("a", { href: addressOf({ run, question, sample: isTrial ? null : number, compare: null }) }, make("bdi", {}, name));
  const about = make("span", { className: "quiet" }, isTrial ? ` trial ${number + 1} ` : ` sample ${number + 1} · ${figure(score, 3)} `);
  // The views show samples only; another answer is shown here.
  return isTrial && !isWhole ? make("li", {}, link, about, make("details", {}, make("summary", {}, excerpt), excerptOf(hit, Infinity)))
    : make("li", {}, link, about, excerpt);
}

/** Searches for what the state asks for, unless that is shown already. */
function followSearch() {
  const text = state.filters.get("answers") ?? "";
  if (shownTab() !== "answers" || !text) {
    if (!text) searching = { key: "" };
    return;
  }
  const runs = new Set(chosenRuns());
  const key = JSON.stringify([text, state.filters.get("by-run") ?? "", [...runs]]);
  if (key === searching.key) return;
  found.replaceChildren();
  searchAnswers(text, runs, key);
}

/** Searches again when the state asks for something else. */
whenChanged(() => {
  document.querySelector('nav [data-tab="answers"]').hidden = !state.filters.has("answers");
  followSearch();
  markHits();
});
