// Equality with Python: the records are written by tools/wasm_records.py.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "../pfgen.js";

const RECORDS = process.env.PFGEN_RECORDS ?? new URL("../../build/wasm/records/", import.meta.url).pathname;
const { Scorer } = await load();
const columns = ["fluency", "truthfulness", "helpfulness", "average"];

function flat(scores, names) {
  const ofSets = (values) => names.map((name) => values[name] ?? NaN);
  return [...columns.map((name) => scores[name]), ...ofSets(scores.fluencyBySet), ...ofSets(scores.truthfulnessBySet)];
}

function bits(numbers) {
  return [...new BigUint64Array(Float64Array.from(numbers).buffer)].map(String);
}

for (const name of readdirSync(RECORDS).filter((file) => file.endsWith(".json"))) {
  const { suite, answers } = JSON.parse(readFileSync(`${RECORDS}/${name}`, "utf8"));
  const scorer = Scorer.fromBytes(new Uint8Array(readFileSync(`${RECORDS}/${suite}`)));

  test(`${name}: ${answers.length} scores equal Python's, bit for bit, alone and in lists`, () => {
    for (const { question, answer, scores } of answers) {
      assert.deepEqual(bits(flat(scorer.score(question, answer), scorer.setNames)), scores, `${question}: ${answer}`);
    }
    for (const [question, some] of grouped(answers)) {
      const scores = scorer.score(question, some.map((row) => row.answer));
      assert.deepEqual(scores.map((row) => bits(flat(row, scorer.setNames))), some.map((row) => row.scores));
    }
  });

  test(`${name}: marks and keyword rules equal Python's`, () => {
    for (const { question, answer, cover, unmet } of answers.filter((row) => row.cover)) {
      const explained = scorer.explain(question, answer);
      const read = explained.cover.slice(0, cover.length);
      assert.deepEqual(read.map((share) => share?.toFixed(12)), cover.map((share) => share?.toFixed(12)));
      assert.ok(explained.cover.slice(cover.length).every((share) => share === null));
      assert.deepEqual(explained.rules.filter((rule) => !rule.isMet).map((rule) => rule.name), unmet);
    }
  });
}

function grouped(answers) {
  const groups = new Map();
  for (const row of answers) groups.set(row.question, [...(groups.get(row.question) ?? []), row]);
  return groups;
}
