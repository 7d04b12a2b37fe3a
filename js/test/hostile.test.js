// What comes from outside: one sentence, a scorer that goes on, and memory that does not grow.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { translated } from "../patterns.js";
import { load, PfgenError } from "../pfgen.js";

const RECORDS = process.env.PFGEN_RECORDS ?? new URL("../../build/wasm/records/", import.meta.url).pathname;
const file = readdirSync(RECORDS).find((name) => name.endsWith("leaderboard.pfgen"));
const bytes = new Uint8Array(readFileSync(`${RECORDS}/${file}`));
const { Scorer, bleu, chrf, rougeL } = await load();
const scorer = Scorer.fromBytes(bytes);
const { id } = scorer.questions[0];

function refused(run, message) {
  assert.throws(run, (error) => error instanceof PfgenError && error.message === message);
}

test("contents that are no bytes, and an unknown sum", () => {
  refused(() => Scorer.fromBytes("bytes"), "the compiled suite: expected bytes");
  refused(() => Scorer.fromBytes(bytes, { floatSum: "exact" }), "floatSum: expected 'compensated' or 'naive', not 'exact'");
});

test("a damaged question is an error, and the scorer goes on with others", () => {
  const damaged = bytes.slice();
  damaged[damaged.length - 5000] ^= 1; // in the last question
  const some = Scorer.fromBytes(damaged);
  const last = some.questions.at(-1).id;
  const message = `the compiled suite: the section of question ${some.questions.length} is damaged: its checksum differs`;
  refused(() => some.score(last, "It floats."), message);
  assert.deepEqual(some.score(id, "It floats."), scorer.score(id, "It floats."));
  refused(() => some.explain(last, "It floats."), message);
});

test("questions and answers that are none", () => {
  const ids = scorer.questions.map((question) => question.id);
  const message = `unknown question 'Q99' in the compiled suite; it has ${ids[0]}, ${ids[1]}, ..., ${ids.at(-1)}`;
  refused(() => scorer.score("Q99", ""), message);
  refused(() => scorer.explain("Q99", ""), message);
  refused(() => scorer.score(id, null), "answer: expected a string, not null");
  refused(() => scorer.score(id, ["It floats.", 7]), "answers[1]: expected a string, not number");
  refused(() => bleu("It floats.", []), "references: expected at least one reference");
  refused(() => chrf("It floats.", ["It sinks.", null]), "references[1]: expected a string, not null");
  refused(() => bleu("It floats."), "references: expected a string, not undefined");
  assert.deepEqual(scorer.score(id, []), []);
});

test("long texts and lone surrogates", () => {
  const long = "水に浮く。".repeat(1_000_000);
  assert.equal(scorer.score(id, long).helpfulness, 0);
  assert.equal(scorer.explain(id, long).cover.length, 5_000_000);
  assert.ok(scorer.score(id, "a\ud800b\udc00").average >= 0);
  refused(() => rougeL("It floats.", ["", long]), "references[1]: a text of more than 1048576 code points");
});

test("memory does not grow over 100,000 calls", () => {
  const scorer = Scorer.fromBytes(bytes); // in whose memory there were no long texts
  const texts = ["氷は水より密度が低いので浮きます。", "Ice floats.", "\u{1f600}\ud800"];
  let n = 0;
  const once = () => (++n % 5 ? scorer.score(id, texts[n % 3]) : scorer.explain(id, texts[n % 3]));
  for (let i = 0; i < 1000; ++i) once();
  const before = scorer.instance.bytes.length;
  for (let i = 0; i < 100_000; ++i) once();
  assert.equal(scorer.instance.bytes.length, before);
});

test("patterns are searched only where both languages agree", () => {
  const first = (pattern, text) => translated(pattern)?.exec(text)?.[0];
  assert.equal(first("(^|[^0-9])100", "a 100"), " 100");
  assert.equal(first("\\b9 ?(%|percent)", "光9 %, 9 percent"), "9 percent"); // ASCII would see a boundary after 光
  assert.equal(first("a.c", "a\u2028c"), "a\u2028c");
  assert.equal(first("[\\]\\-&]{2}", "x&-"), "&-");
  assert.equal(first("end$", "the end\n"), "end");
  assert.equal(first("covid-1[6-9]", "covid-19"), "covid-19");
  for (const pattern of ["(a)\\1", "(?i)a", "(?<=a)b", "\\sx", "a*+", "(a*)*", "(?P<n>a)", "[[a]]", "\\x41", "a{2,1}", "a{,3}", "*a", "("]) {
    assert.equal(translated(pattern), null, pattern);
  }
});
