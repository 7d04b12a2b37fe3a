// The details of a run: its figures, its questions and its sample answers.

async function unpacked(number) {
  const packed = atob(document.getElementById(`run-${number}`).textContent);
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

views.run = {
  title: () => [make("bdi", {}, overview.runs[state.run].name)],
  content: async () => runDetails(await unpacked(state.run), overview.runs[state.run]),
  reach: reachQuestion,
};

function reachQuestion() {
  if (state.question === null) return;
  const element = dialogBody.querySelector(`[data-question="${state.question}"]`);
  if (!element) return;
  element.open = true;
  element.scrollIntoView();
  element.querySelector("summary").focus({ preventScroll: true });
}

function runDetails(details, run) {
  const parts = [];
  if (details.link) parts.push(make("p", {}, make("a", { href: details.link }, "Folder of the run")));
  parts.push(make("div", { className: "tables" },
    section("Scores", smallTable(["Set", "Score", "Fluency", "Truthfulness", "Helpfulness", "Length"],
      [["all", ...figuresOf(run)], ...details.sets.map(([name, ...values]) => [name, "", ...values.map((value) => figure(value, 4)), "", ""])])),
    section("Parameters", details.parameters.length ? smallTable(["Parameter", "Value"], details.parameters) : "The run has no config.json.")));
  parts.push(make("h3", {}, "Questions and sample answers"), document.getElementById("legend").content.cloneNode(true));
  let begin = 0;
  for (const question of details.questions) {
    parts.push(questionDetails(question, details, begin));
    begin += question.samples.length;
  }
  return parts;
}

function figuresOf(part) {
  return [figure(part.score, 4), figure(part.fluency, 4), figure(part.truthfulness, 4), figure(part.helpfulness, 4), figure(part.length, 1)];
}

function questionDetails(question, details, begin) {
  const { id, text } = overview.questions[question.number];
  const element = make("details", { className: "question" },
    make("summary", {},
      make("span", { className: "number" }, make("b", {}, id), ` ${figure(question.score, 4)} `, make("span", { className: "quiet" }, `±${figure(question.deviation, 4)}`)),
      make("bdi", {}, text)));
  element.dataset.question = question.number;
  element.addEventListener("toggle", () => {
    if (element.childElementCount > 1) return;
    element.append(
      make("p", { className: "quiet" }, `Fluency ${figure(question.fluency, 3)} · truthfulness ${figure(question.truthfulness, 3)} · helpfulness ${figure(question.helpfulness, 3)} · mean length ${figure(question.length, 1)}. Samples from the best to the worst:`),
      ...question.samples.flatMap((sample, index) => sampleParts(sample, index, details.texts[begin + index], details.tints[begin + index])));
  });
  return element;
}

function sampleParts(sample, index, text, tints) {
  const head = make("p", { className: "sample-head" }, make("b", {}, `Sample ${index + 1}: ${figure(sample.score, 4)}`),
    make("span", { className: "quiet" }, ` fluency ${figure(sample.fluency, 3)} · truthfulness ${figure(sample.truthfulness, 3)} · helpfulness ${figure(sample.helpfulness, 3)} · ${counted(sample.length ?? 0)} characters`));
  const answer = make("div", { className: "answer", tabIndex: 0, role: "group", ariaLabel: `Sample ${index + 1}` }, ...tinted(text, tints));
  if (!text) answer.append(make("span", { className: "quiet" }, sample.length ? "not shown" : "empty answer"));
  if (sample.hidden) answer.append(make("span", { className: "quiet" }, ` … ${counted(sample.hidden)} more characters`));
  const parts = [head, answer];
  if (sample.missing.length) {
    const names = sample.missing.flatMap((name, index) => [index ? ", " : "", make("bdi", {}, name)]);
    parts.push(make("p", { className: "missing" }, "Missing keywords: ", ...names));
  }
  if (sample.excess) parts.push(make("p", { className: "missing" }, `Too long by ${sample.excess} characters`));
  return parts;
}

/** Creates one span for each sequence of characters with the same tint. */
function tinted(text, tints) {
  const spans = [];
  let held = "";
  const characters = [...text];
  characters.forEach((character, index) => {
    held += character === "\n" ? "↵\n" : character;
    if (tints[index] !== tints[index + 1]) {
      spans.push(make("span", { className: `t${tints[index]}` }, held));
      held = "";
    }
  });
  return spans;
}
