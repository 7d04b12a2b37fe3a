// The answers to the tasks, unpacked task by task when they are wanted, and searched. unpacking.js comes first.

const N_KEPT_TASKS = 20;

/** The part that holds each task, and its line there. */
const placesOfTasks = overview.parts.flatMap((n, part) => Array.from({ length: n }, (_, line) => [part, line]));

/** The lines of the part that was read last: neighbours are often looked at one after the other. */
let lastPart = { number: null, lines: null };

function linesOfPart(number) {
  if (lastPart.number !== number) lastPart = { number, lines: packedLines(overview.files[number], `part-${number}`) };
  lastPart.lines.catch(() => { lastPart = { number: null, lines: null }; });
  return lastPart.lines;
}

async function unpackTask(task) {
  const [part, line] = placesOfTasks[task];
  return unpackedLine((await linesOfPart(part))[line]);
}

const unpackedTasks = new Map();

/** Promises all that is known of a task. The last few are kept. */
function answersTo(task) {
  const answers = unpackedTasks.get(task) ?? unpackTask(task);
  unpackedTasks.delete(task);
  unpackedTasks.set(task, answers);
  if (unpackedTasks.size > N_KEPT_TASKS) unpackedTasks.delete(unpackedTasks.keys().next().value);
  answers.catch(() => unpackedTasks.delete(task));
  return answers;
}

/** Whether any text of a task holds another one: the instruction, or an answer or a reason of these models. */
function hasText({ instruction, entries }, wanted, isShown) {
  const holds = (text) => typeof text === "string" && text.toLowerCase().includes(wanted);
  return holds(instruction) || entries.some(({ model, answer, judgements }) =>
    isShown(model) && (holds(answer) || judgements.some(({ reasons }) => reasons?.some(holds))));
}

/** Finds the tasks among some that hold a text, whatever its case; `onFound` gets each, `onDone` how many are done.
 *
 * `isWanted` is asked after each task; when it says no, the search ends.
 */
async function findInTasks(tasks, text, isShown, { onFound, onDone, isWanted }) {
  const wanted = text.toLowerCase();
  for (const [done, task] of tasks.entries()) {
    const content = await unpackTask(task);
    if (!isWanted()) return;
    if (hasText(content, wanted, isShown)) onFound(task);
    onDone(done + 1);
    if (done % 8 === 7) await turn();
  }
}
