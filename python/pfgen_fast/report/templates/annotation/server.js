// Sends the decisions to the server of the page, if there is one, until it has them all.
//
// The server stores rows with a version. If another tab has stored rows since the version that this page knows, it
// replies with these rows: the page takes the decisions that it has not changed itself, and sends all again.

const FIRST_WAIT = 500, LONGEST_WAIT = 30_000;

let version = null;  // null until the stored rows have been loaded
let sending = null;  // the timer
let isBusy = false;
let wait = FIRST_WAIT;
let problem = "";

function sendSoon(delay = FIRST_WAIT) {
  if (!sheet.is_served) return;
  clearTimeout(sending);
  sending = setTimeout(exchangeWithServer, delay);
}

async function exchangeWithServer() {
  if (isBusy) return;  // sends again when it is done
  isBusy = true;
  try {
    await (version === null ? load() : send());
    problem = "";
    wait = FIRST_WAIT;
  } catch (error) {
    problem = error.message;
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
  isBusy = false;
  if (unsent.size || version === null) sendSoon(wait);
  showDecisions();
}

async function load() {
  take(await replyOf(await fetch("state", { cache: "no-store" })));
}

async function send() {
  const sent = new Map([...unsent].map((number) => [number, decisions[number]]));
  const rows = items.flatMap((item, number) => rowsOf(item, decisions[number]));
  const headers = { "Content-Type": "application/json" };
  const reply = await fetch("state", { method: "POST", headers, body: JSON.stringify({ version, rows }) });
  const content = await replyOf(reply);
  if (reply.status === 409) {
    take(content);
    return;
  }
  version = content.version;
  for (const [number, decision] of sent) if (decisions[number] === decision) markUnsent(number, false);
}

async function replyOf(reply) {
  const content = await reply.json().catch(() => ({}));
  if (!reply.ok && reply.status !== 409) throw new Error(content.error ?? `HTTP ${reply.status}`);
  return content;
}

/** Takes the decisions of the server, except for those of items that have been changed here. */
function take(content) {
  const found = decisionsOf(content.rows);
  const others = [...items.keys()].filter((number) => !unsent.has(number));
  for (const number of others) decisions[number] = found.get(number) ?? blank(items[number]);
  version = content.version;
}

addEventListener("online", () => sendSoon());
