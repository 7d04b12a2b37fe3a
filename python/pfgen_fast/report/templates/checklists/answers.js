// The answers to the tasks, unpacked by task on demand, and searched. unpacking.js comes first.

const N_KEPT_TASKS = 20;

/** The part that holds each task, and its line there. */
const placesOfTasks = overview.parts.flatMap((n, part) => Array.from({ length: n }, (_, line) => [part, line]));

/** The lines of a part; the last part is kept, because readers often go from a task to the next one. */
const linesOfPart = keepingLast(1, (number) => packedLines(overview.files[number], `part-${number}`));

async function textOfTask(task) {
  const [part, line] = placesOfTasks[task];
  return unpackedText((await linesOfPart(part))[line]);
}

/** Promises the data of a task. */
const answersTo = keepingLast(N_KEPT_TASKS, async (task) => JSON.parse(await textOfTask(task)));

/** What matches a text whatever its case; in JSON that page_json of the program wrote, if it is `inJson`. */
function patternOf(text, { inJson = false } = {}) {
  const written = !inJson ? text : JSON.stringify(text).slice(1, -1).replace(/[<>&]/g, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return new RegExp(written.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu");
}

/** Whether any text of a task matches: the instruction, or an answer or a reason of these models. */
function hasText({ instruction, entries }, pattern, isShown) {
  const holds = (text) => typeof text === "string" && pattern.test(text);
  return holds(instruction) || entries.some(({ model, answer, judgements }) =>
    isShown(model) && (holds(answer) || judgements.some(({ reasons }) => reasons?.some(holds))));
}

/** Finds the tasks that contain a text, ignoring case; `onFound` gets each, `onDone` how many are done.
 *
 * `isWanted` is asked after each task; when it says no, the search ends.
 */
async function findInTasks(tasks, text, isShown, { onFound, onDone, isWanted }) {
  const [pattern, inJson] = [patternOf(text), patternOf(text, { inJson: true })];
  for (const [done, task] of tasks.entries()) {
    const json = await textOfTask(task);
    if (!isWanted()) return;
    // Most tasks do not contain the text, and reading them as JSON would double the time of the search.
    if (inJson.test(json) && hasText(JSON.parse(json), pattern, isShown)) onFound(task);
    onDone(done + 1);
    if (done % 8 === 7) await turn();
  }
}
