// node examples/score.js SUITE.pfgen QUESTION ANSWER: prints the score of an answer, and the keywords that it lacks.
import { readFile } from "node:fs/promises";
import { load } from "../pfgen.js";

const [file, question, answer] = process.argv.slice(2);
const { Scorer } = await load();
const scorer = Scorer.fromBytes(new Uint8Array(await readFile(file)));
const { scores, rules } = scorer.explain(question, answer);
console.log(`score ${scores.average?.toFixed(4) ?? "not known here"}`);
for (const rule of rules) if (rule.isMet === false) console.log(`lacks ${rule.name}`);
