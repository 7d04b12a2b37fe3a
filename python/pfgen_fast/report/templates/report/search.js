// The search in the answers of all runs: excerpts with the hit marked, by question or by run. It shows what it has found
// while it goes on.

const found = document.getElementById("found");
const N_SHOWN_HITS = 5;
const AROUND = 40;  // characters of an excerpt before and after the hit

/** The search that is shown: its text and its runs, its hits by question or by run, and how many there are. */
let searching = { key: "", groups: new Map(), n: 0 };

async function searchAnswers(text, runs, key) {
  const isByRun = state.filters.get("by-run") === "yes";
  const mine = { key, groups: new Map(), n: 0, runs: new Set() };
  searching = mine;
  const wanted = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu");
  for (let question = 0; question < overview.questions.length; question++) {
    showProgress(mine, text, question);
    for await (const line of unpackedLines(question)) {
      if (searching !== mine) return;
      const before = mine.n;
      for (const hit of hitsIn(line, wanted, runs)) {
        const group = isByRun ? hit.run : question;
        if (!mine.groups.has(group)) mine.groups.set(group, []);
        mine.groups.get(group).push({ ...hit, question });
        mine.runs.add(hit.run);
        mine.n++;
      }
      if (mine.n > before && (!isByRun || before === 0)) showHits(mine, isByRun);
    }
  }
  showHits(mine, isByRun);
  showProgress(mine, text, null);
}

/** The first match in each answer of a line of data. */
function* hitsIn(line, wanted, runs) {
  let place = 0;
  for (const [index, run] of (line.runs ?? []).entries()) {
    for (let number = 0; number < line.n_samples[index]; number++, place++) {
      const match = runs.has(run) ? wanted.exec(line.texts[place]) : null;
      if (match) yield { run, number, at: match.index, length: match[0].length, text: line.texts[place], score: line.score[place] };
    }
  }
}

function showProgress({ n, runs }, text, question) {
  const so = `${counted(n)} ${n === 1 ? "answer" : "answers"} of ${counted(runs.size)} ${runs.size === 1 ? "run" : "runs"} ${n === 1 ? "contains" : "contain"} “`;
  document.getElementById("found-count").replaceChildren(so, make("bdi", {}, shortened(text, 60)), "”",
    question === null ? "." : `; searching ${overview.questions[question].id} …`);
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
  if (hits.length > N_SHOWN_HITS) {
    const more = make("button", { type: "button", className: "more" }, `Show ${counted(hits.length - N_SHOWN_HITS)} more`);
    more.addEventListener("click", () => { more.remove(); show(hits.slice(N_SHOWN_HITS)); });
    section.append(more);
  }
  section.dataset.group = group;
  return Object.assign(section, { n: hits.length });
}

function hitItem({ run, question, number, at, length, text, score }, isByRun) {
  const [begin, end] = [Math.max(0, at - AROUND), Math.min(text.length, at + length + AROUND)];
  const name = isByRun ? overview.questions[question].id : overview.runs[run].name;
  return make("li", {},
    make("a", { href: addressOf({ run, question, sample: number, compare: null }) }, make("bdi", {}, name)),
    make("span", { className: "quiet" }, ` sample ${number + 1} · ${figure(score, 3)} `),
    make("bdi", { className: "excerpt" }, begin ? "…" : "", text.slice(begin, at), make("mark", {}, text.slice(at, at + length)), text.slice(at + length, end), end < text.length ? "…" : ""));
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
});
