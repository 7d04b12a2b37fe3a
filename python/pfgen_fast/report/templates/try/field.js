// A field that scores an answer at every keystroke, marks it, and remembers its scores. It computes everything with the
// module: `pfgen` of the script before. page.js, unpacking.js, marks.js and try/words.js come first.

const N_MARKED = 1500;  // code points of an answer that are marked
const MOST_SCORES = 10;  // in the history
const SETTLED = 800;  // milliseconds without a change after which a score is remembered

/** What three packed lines hold: the head of a suite, its index, and the module. */
async function openedCore(lines) {
  const [head, ...bytes] = await Promise.all([unpackedLine(lines[0]), ...lines.slice(1).map((line) => unpacked(line).arrayBuffer())]);
  const { Scorer } = await pfgen.load(bytes[1]);
  return { head, Scorer, scorer: Scorer.fromBytes(bytes[0]) };
}

/** An answer with its marks, up to `N_MARKED` code points; `explanation` is the module's. */
function markedAnswer(text, explanation, head, say, label) {
  const all = [...text.slice(0, 2 * N_MARKED)].slice(0, N_MARKED);
  const marked = new Uint8Array(all.length);
  for (const [begin, end] of explanation.matches) marked.fill(1, begin, end);
  const levels = all.map((_, at) => tintLevel(explanation.cover[at] ?? 0, head.bounds));
  const element = make("div", { className: "answer", role: "group", ariaLabel: label, tabIndex: 0 });
  const hidden = explanation.cover.length - all.length;
  element.append(...tintedNodes({ points: all, levels, marked }, 0, all.length));
  if (hidden > 0) element.append(make("span", { className: "quiet" }, say("more", counted(hidden))));
  return element;
}

/** The score and its parts. */
function scoresLine(scores, say) {
  const shown = (value, digits) => value === null ? say("unknown") : figure(value, digits);
  const parts = ["fluency", "truthfulness", "helpfulness"].map((name) => `${say(name)} ${shown(scores[name], 3)}`);
  return make("p", { className: "scores" }, `${say("score")} `, make("b", {}, shown(scores.average, 4)), make("span", { className: "quiet" }, ` ${parts.join(" · ")}`));
}

/** How a score compares with those of the reference answers, in millionths, in a sentence. */
function aboveReferences(scores, score, say) {
  const below = scores.filter((own) => own < Math.round(1e6 * score)).length;
  const [low, high] = [scores[0], scores.at(-1)].map((own) => figure(own / 1e6, 2));
  return say("above", counted(below), counted(scores.length), low, high);
}

/** What has changed between two remembered answers. */
function changeOf(before, now, say) {
  const names = (from, to) => from.filter((name) => !to.includes(name)).join(", ");
  const added = names(now.met, before.met), lost = names(before.met, now.met);
  if (added || lost) return added ? say("added", added) : say("lost", lost);
  const n = now.length - before.length;
  return n ? say(n > 0 ? "longer" : "shorter", counted(Math.abs(n))) : say("changed");
}

/**
 * The element of a field, with `ask(question, text)`, which asks a question and may set the answer, and `text()`.
 *
 * `standing(question, score)` returns a sentence about where a score stands, or nothing.
 */
function answerField({ core, say, standing }) {
  const field = make("textarea", { rows: 7, spellcheck: false });
  const result = make("div", { className: "result" });
  const spoken = make("p", { className: "unseen", role: "status" });
  const list = make("ol", { ariaLabel: say("history") });
  const history = make("div", { className: "history", hidden: true }, make("span", { className: "quiet" }, `${say("history")} (${say("back")})`), list);
  let question = null, entries = [], at = 0, shown = null, frame = 0, timer = 0;

  function show() {
    frame = 0;
    clearTimeout(timer);
    shown = null;
    try {
      const explanation = core.scorer.explain(question, field.value);
      const { scores, rules } = explanation;
      const named = (met) => rules.filter(({ isMet }) => isMet === met).map(({ name }) => name ?? "–");
      const lines = [["keywords", named(false)], ["unchecked", named(null)]].filter(([, names]) => names.length);
      const place = field.value && scores.average !== null && standing(question, scores.average);
      result.replaceChildren(
        scoresLine(scores, say),
        ...field.value ? [markedAnswer(field.value, explanation, core.head, say, say("yours"))] : [],
        ...lines.map(([word, names]) => make("p", { className: word === "keywords" ? "missing" : "quiet" }, say(word), make("bdi", {}, names.join(", ")))),
        ...place ? [make("p", { className: "standing" }, place)] : []);
      shown = { text: field.value, score: scores.average, met: named(true), length: explanation.cover.length };
      timer = setTimeout(remember, SETTLED);
    } catch (error) {
      result.replaceChildren(make("p", { className: "missing", role: "alert" }, error.message));
    }
  }

  function remember() {
    if (!shown?.text || shown.text === entries[at]?.text) return;
    spoken.textContent = result.firstChild.textContent;
    entries = [...entries, shown].slice(-MOST_SCORES);
    at = entries.length - 1;
    showHistory();
  }

  function showHistory() {
    history.hidden = entries.length < 2;
    list.replaceChildren(...entries.map((entry, number) => {
      const score = entry.score === null ? "–" : figure(entry.score, 2);
      const button = buttonTo(() => back(number), { title: shortened(entry.text, 80) }, make("b", {}, score), number ? ` ${changeOf(entries[number - 1], entry, say)}` : "");
      if (number === at) button.setAttribute("aria-current", "true");
      return make("li", {}, button);
    }));
  }

  function back(number) {
    if (!entries[number]) return;
    at = number;
    field.value = entries[at].text;
    show();
    showHistory();
    field.focus();
  }

  field.addEventListener("input", () => { frame ||= requestAnimationFrame(show); });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || !step) return;
    event.preventDefault();
    remember();
    back(field.value ? at + step : at);
  });
  const element = make("div", { className: "try-field" }, make("label", {}, say("yours"), field), result, spoken, history);
  const ask = (asked, text = field.value) => {
    if (asked !== question) [entries, at, history.hidden] = [[], 0, true];
    [question, field.value] = [asked, text];
    show();
  };
  return Object.assign(element, { ask, text: () => field.value });
}
