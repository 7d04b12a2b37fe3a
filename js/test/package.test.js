// The package as npm packs it: its files, its types, its example and its README.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as exported from "../pfgen.js";

const PACKAGE = new URL("..", import.meta.url).pathname;
const RECORDS = process.env.PFGEN_RECORDS ?? new URL("../../build/wasm/records/", import.meta.url).pathname;
const suite = join(RECORDS, readdirSync(RECORDS).find((name) => name.endsWith("leaderboard.pfgen")));
const FILES = ["LICENSE", "README.md", "examples/score.js", "package.json", "patterns.js", "pfgen.d.ts", "pfgen.js", "pfgen.wasm"];
const types = readFileSync(join(PACKAGE, "pfgen.d.ts"), "utf8").replace(/\/\*\*.*?\*\//gs, "");
const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "pfgen-"));
after(() => rmSync(folder, { recursive: true }));

/** The names of the members of an interface. */
function membersOf(name) {
  const [, body] = new RegExp(`interface ${name} \\{(.*?)\\n\\}`, "s").exec(types);
  return [...new Set(Array.from(body.matchAll(/^  (?:readonly )?(\w+)[:(]/gm), (match) => match[1]))].sort();
}

test("the types have the names that the module has", async () => {
  const values = Array.from(types.matchAll(/^export (?:class|function) (\w+)/gm), (match) => match[1]);
  assert.deepEqual(values.sort(), Object.keys(exported).sort());
  const pfgen = await exported.load();
  assert.deepEqual(membersOf("Pfgen"), Object.keys(pfgen).sort());
  const scorer = pfgen.Scorer.fromBytes(new Uint8Array(readFileSync(suite)));
  for (const name of membersOf("Scorer")) assert.ok(name in scorer, name);
  const explanation = scorer.explain(scorer.questions[0].id, "Ice floats.");
  for (const [name, value] of Object.entries({
    Question: scorer.questions[0],
    Explanation: explanation,
    Scores: explanation.scores,
    KeywordRule: explanation.rules[0],
  })) {
    assert.deepEqual(membersOf(name), Object.keys(value).sort(), name);
  }
});

const hasNpm = spawnSync("npm", ["--version"]).status === 0;
test("the packed package has its files, and runs its example and its README", { skip: !hasNpm && "NOT CHECKED: no npm" }, () => {
  const npm = (...args) => execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund"], { cwd: folder, encoding: "utf8" });
  const [packed] = JSON.parse(npm("pack", PACKAGE, "--json"));
  assert.deepEqual(packed.files.map(({ path }) => path).sort(), FILES);
  npm("install", "--prefix", folder, packed.filename);
  copyFileSync(suite, join(folder, "mini.pfgen"));
  const run = (...args) => execFileSync("node", args, { cwd: folder, encoding: "utf8" });
  const printed = run("node_modules/pfgen-fast/examples/score.js", "mini.pfgen", "Q07", "Ice floats.");
  assert.match(printed, /^score 0\.\d{4}\n(lacks .+\n)+$/);
  const [, code] = /```js\n(.*?)```/s.exec(readme);
  const shown = Array.from(code.matchAll(/; +\/\/ ([\d.]+)$/gm), (match) => match[1]);
  writeFileSync(join(folder, "readme.mjs"), code.replace(/^(\S.*); +\/\/ ([\d.]+)$/gm, "console.log(($1).toFixed('$2'.split('.')[1].length));"));
  assert.ok(shown.length > 1);
  assert.equal(run("readme.mjs"), `${shown.join("\n")}\n`);
});
