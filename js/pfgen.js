// Scores answers in browsers and in Node with the core of pfgen-fast, bit for bit as in Python; README.md names the one
// exception.

import { translated } from "./patterns.js";

const PROFILES = ["leaderboard", "paper", "normalised"];
const COLUMNS = 4; // fluency, truthfulness, helpfulness and average, before those of the sets
const METRICS = { bleu: 0, chrf: 1, rougeL: 4 };
const FORMS = { text: 0, regex: 1, and: 2, or: 3 };
const PATTERNS = { whitespace: 0, words: 1 };
const FIRST_WORD = 0x40000; // the symbol of the first word of a question
const UNKNOWN_WORD = 0x3fffe;
const MARKS = [..."^$、。・「」『』（）【】［］〈〉《》"]; // which truthfulness skips
const NOT_FOUND = 0xffffffff;
const MOST_AT_A_TIME = 1000;
const MOST_COMPARED = 2 ** 20; // code points of a text that metrics of references take
const MOST_SEARCHED = 10_000; // characters in which matches are shown
const SURROGATE = /[\ud800-\udfff]/;
const REGEX_SYNTAX = /[\\.^$*+?{}[\]|()]/;

/** Something from outside that cannot be scored; the message says what, and what was expected. */
export class PfgenError extends Error {
  name = "PfgenError";
}

/** One instance of the module, until an error ends it. */
class Instance {
  place = "the compiled suite"; // what an error is in

  constructor(module, search) {
    const imports = {
      fail: (at, n) => {
        const message = new TextDecoder().decode(this.bytes.subarray(at, at + n));
        throw new PfgenError(`${this.place}${message === "its checksum differs" ? " is damaged" : ""}: ${message}`);
      },
      search: (...searched) => search(this, ...searched),
    };
    // The library of C++ names them, and uses them only where it aborts.
    const system = Object.fromEntries(["fd_close", "fd_seek", "fd_write"].map((name) => [name, () => 8]));
    const { exports } = new WebAssembly.Instance(module, { pfgen: imports, wasi_snapshot_preview1: system });
    this.core = exports;
    this.core._initialize();
  }

  get bytes() {
    return new Uint8Array(this.core.memory.buffer);
  }

  numbers(at, n) {
    return new Uint32Array(this.core.memory.buffer, at, n);
  }

  floats(at, n) {
    return new Float64Array(this.core.memory.buffer, at, n);
  }

  allocate(n) {
    const at = this.core.allocate(n);
    if (at === 0) throw new PfgenError(`no memory for ${n.toLocaleString("en")} bytes`);
    return at;
  }

  /** Copies an array into the memory of the module. */
  copy(array) {
    const at = this.allocate(array.byteLength);
    this.bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    return at;
  }
}

/** Calls a function with an instance that an error ends: nothing in it can be unwound. */
function guarded(holder, run) {
  try {
    return run((holder.instance ??= holder.open()));
  } catch (error) {
    holder.instance = null;
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError)
      throw new PfgenError(`cannot be computed here (${error.message}); is the text too long?`);
    throw error;
  }
}

function codePoints(text) {
  const points = new Uint32Array(text.length);
  let n = 0;
  for (let i = 0; i < text.length; ++i) {
    const point = text.codePointAt(i);
    points[n++] = point;
    if (point > 0xffff) ++i;
  }
  return points.subarray(0, n);
}

function textOf(points) {
  let text = "";
  for (let i = 0; i < points.length; i += 8192) text += String.fromCodePoint.apply(null, points.subarray(i, i + 8192));
  return text;
}

/** A text of so many code points at the beginning of another, in which some may have two units. */
function beginning(text, n) {
  let end = 0;
  for (let i = 0; i < n; ++i) end += text.codePointAt(end) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

function checkedText(text, what) {
  if (typeof text !== "string") throw new PfgenError(`${what}: expected a string, not ${text === null ? "null" : typeof text}`);
  return text;
}

/** The rules of a question, each before its parts. */
function* depthFirst(rules) {
  for (const rule of rules) {
    yield rule;
    yield* depthFirst(rule.and ?? rule.or ?? []);
  }
}

/** The texts of rules that are regular expressions. */
function patternsOf(rules) {
  return [...depthFirst(rules)].flatMap(({ t }) => (t !== undefined && REGEX_SYNTAX.test(t) ? [t] : []));
}

function nameOf(rule) {
  return rule.name ?? rule.t ?? null;
}

/** Where the patterns of rules match near the beginning of an answer, in code points; without those of Python only. */
function matchesOf(rules, answer) {
  const read = answer.slice(0, MOST_SEARCHED);
  const isWide = /[\ud800-\udfff]/.test(read);
  const place = (index) => (isWide ? codePoints(read.slice(0, index)).length : index);
  const patterns = new Set([...depthFirst(rules)].flatMap(({ t }) => (t ? [t] : [])));
  return [...patterns].map(translated).flatMap((pattern) =>
    pattern ? [...read.matchAll(new RegExp(pattern, "gu"))].map(({ index, 0: match }) => [place(index), place(index + match.length)]) : [],
  );
}

/** A question as the core takes it: a list of numbers. */
function described(question, setNames) {
  const numbers = [];
  const addText = (text) => {
    const points = codePoints(text);
    numbers.push(points.length, ...points);
  };
  const { target = 100, limit = 150 } = question;
  const columns = question.sets.map((name) => setNames.indexOf(name));
  numbers.push(columns.length, ...columns, target, limit, Math.max(9999, 2 * limit - target + 1));
  const rules = [...depthFirst(question.keywords)];
  numbers.push(rules.length);
  for (const rule of rules) {
    const isRegex = rule.t !== undefined && REGEX_SYNTAX.test(rule.t);
    const form = isRegex ? "regex" : ["and", "or"].find((name) => rule[name]) ?? "text";
    const importance = new Uint32Array(new Float64Array([rule.importance]).buffer);
    numbers.push(FORMS[form], (rule.and ?? rule.or ?? []).length, Number(rule.name !== undefined), ...importance);
    addText(form === "text" ? rule.t : "");
  }
  if (question.unit !== "token") return Uint32Array.from([...numbers, 0, 0]);
  const words = new Map(question.vocabulary.map((word, i) => [word, FIRST_WORD + i]));
  for (const mark of MARKS) words.set(mark, mark.codePointAt(0));
  numbers.push(PATTERNS[question.tokenizer], words.size);
  for (const word of words.keys()) addText(word);
  numbers.push(words.size);
  for (const symbol of words.values()) numbers.push(symbol);
  numbers.push(UNKNOWN_WORD);
  return Uint32Array.from(numbers);
}

/** Scores answers to the questions of one compiled suite. */
class Scorer {
  #module;
  #file;
  #questions = [];
  #numbers = new Map(); // of questions, by id and text
  #patterns = []; // of each question, as regular expressions; null where only Python can search
  #searched; // the answers that the core scores
  #floatSum;

  constructor(module, bytes, floatSum) {
    this.#module = module;
    this.#file = bytes;
    this.#floatSum = floatSum;
    guarded(this, () => undefined);
  }

  /** Opens the file in a new instance. */
  open() {
    const instance = new Instance(this.#module, (...searched) => this.#search(...searched));
    const { core } = instance;
    core.open(instance.copy(this.#file), this.#file.length);
    if (this.#questions.length === 0) this.#read(instance);
    for (const question of this.#questions) {
      const at = instance.copy(described(question, this.setNames));
      core.add_question(at);
      core.release(at);
    }
    core.complete(this.#floatSum === "naive" ? 1 : 0);
    return instance;
  }

  #read({ core, bytes }) {
    const at = core.details();
    let questions;
    try {
      questions = JSON.parse(new TextDecoder().decode(bytes.subarray(at, at + core.details_size())));
    } catch {
      throw new PfgenError("the compiled suite: its questions cannot be read");
    }
    for (const { question_id, tokenizer, unit } of questions) {
      if (unit === "token" && !(tokenizer in PATTERNS))
        throw new PfgenError(
          `the compiled suite, question ${question_id}: its units are the tokens of ${tokenizer}, which only Python reads`,
        );
    }
    const hash = core.metadata_hash();
    this.metadataHash = new TextDecoder().decode(bytes.subarray(hash, hash + 40));
    this.profile = PROFILES[core.profile()];
    this.setNames = [...new Set(questions.flatMap((question) => question.sets))];
    this.#patterns = questions.map(({ keywords }) => patternsOf(keywords).map(translated));
    questions.forEach((question, i) => {
      this.#numbers.set(question.question_id, i);
      this.#numbers.set(question.question, i);
    });
    this.questions = questions.map(({ question_id, question, category, note, sets, target = 100, limit = 150, unit }, i) => ({
      id: question_id,
      question,
      category,
      note,
      sets,
      target,
      limit,
      unit: unit === "token" ? "word" : "character",
      isChecked: !this.#patterns[i].includes(null),
    }));
    this.#questions = questions;
  }

  /** Writes where each pattern of a question first ends in n code points of an answer, or what they became. */
  #search(instance, question, row, at, n, ends) {
    const { answers, isWide } = this.#searched;
    let text = isWide ? beginning(answers[row], n) : answers[row].slice(0, n);
    if (this.profile === "normalised") text = textOf(instance.numbers(at, n));
    const hasPairs = text.length !== n;
    const positions = instance.numbers(ends, this.#patterns[question].length);
    this.#patterns[question].forEach((pattern, i) => {
      const match = pattern?.exec(text);
      const end = match ? match.index + match[0].length : NOT_FOUND;
      positions[i] = match && hasPairs ? codePoints(text.slice(0, end)).length : end;
    });
  }

  #numberOf(question) {
    const number = this.#numbers.get(question);
    if (number !== undefined) return number;
    const ids = this.questions.map(({ id }) => id);
    const span = ids.length <= 3 ? ids : [...ids.slice(0, 2), "...", ids.at(-1)];
    const shown = String(question).length <= 80 ? String(question) : `${String(question).slice(0, 77)}...`;
    throw new PfgenError(`unknown question '${shown}' in the compiled suite; it has ${span.join(", ")}`);
  }

  /** The scores of one answer, or of each of a list. */
  score(question, answers) {
    const number = this.#numberOf(question);
    const all = Array.isArray(answers) ? answers : [answers];
    const scores = [];
    for (let first = 0; first < all.length; first += MOST_AT_A_TIME) {
      const some = all.slice(first, first + MOST_AT_A_TIME).map((answer, i) => checkedText(answer, Array.isArray(answers) ? `answers[${first + i}]` : "answer"));
      scores.push(...guarded(this, (instance) => this.#scoreSome(instance, number, some)));
    }
    return Array.isArray(answers) ? scores : scores[0];
  }

  #scoreSome(instance, number, answers) {
    const { core } = instance;
    const { sets, limit, target, unit, isChecked } = this.questions[number];
    // Of characters, no more is read; in profile normalised, one may become several, or none.
    const most = unit === "character" && this.profile === "leaderboard" ? 2 * limit - target + 1 : Infinity;
    const isWide = answers.some((answer) => SURROGATE.test(answer));
    const texts = isWide ? answers.map(codePoints) : answers;
    const lengths = Uint32Array.from(texts, (text) => Math.min(text.length, most));
    const nUnits = lengths.reduce((sum, length) => sum + length, 0);
    const units = instance.allocate(nUnits * (isWide ? 4 : 2));
    const memory = new (isWide ? Uint32Array : Uint16Array)(core.memory.buffer, units, nUnits);
    let at = 0;
    texts.forEach((text, row) => {
      for (let i = 0; i < lengths[row]; ++i) memory[at++] = isWide ? text[i] : text.charCodeAt(i);
    });
    const nColumns = COLUMNS + 2 * this.setNames.length;
    const counts = instance.copy(lengths);
    const out = instance.allocate(nColumns * answers.length * 8);
    this.#searched = { answers, isWide };
    instance.place = `the compiled suite: the section of question ${number + 1}`;
    core.score(number, units, counts, answers.length, Number(isWide), out, this.setNames.length);
    const values = instance.floats(out, nColumns * answers.length);
    const n = answers.length;
    const columns = sets.map((name) => this.setNames.indexOf(name));
    const ofSets = (first, row) => {
      const scores = {};
      for (let i = 0; i < sets.length; ++i) scores[sets[i]] = values[(first + columns[i]) * n + row];
      return scores;
    };
    const rows = answers.map((_, row) => ({
      fluency: values[row],
      truthfulness: values[n + row],
      // What depends on a rule that only Python can check is not known.
      helpfulness: isChecked ? values[2 * n + row] : null,
      average: isChecked ? values[3 * n + row] : null,
      fluencyBySet: ofSets(COLUMNS, row),
      truthfulnessBySet: ofSets(COLUMNS + this.setNames.length, row),
    }));
    for (const memory of [units, counts, out]) core.release(memory);
    return rows;
  }

  /** The scores of an answer, how common each of its characters is in the references, and its keyword rules. */
  explain(question, answer) {
    const number = this.#numberOf(question);
    const scores = this.score(question, checkedText(answer, "answer"));
    return guarded(this, (instance) => {
      const { core } = instance;
      const { keywords } = this.#questions[number];
      const points = codePoints(answer);
      const text = instance.copy(points);
      const out = instance.allocate(Math.max(points.length, 1 + 2 * keywords.length) * 8);
      this.#searched = { answers: [answer], isWide: true };
      core.cover(number, text, points.length, out);
      const cover = Array.from(instance.floats(out, points.length), (share) => (share < 0 ? null : share));
      core.explain(number, text, points.length, out);
      const [truncation, ...positions] = instance.floats(out, 1 + 2 * keywords.length);
      for (const memory of [text, out]) core.release(memory);
      const names = [...depthFirst(keywords)].map(nameOf);
      const rules = keywords.map((rule, i) => ({
        name: names[positions[2 * i + 1]],
        importance: rule.importance,
        isMet: patternsOf([rule]).every(translated) ? positions[2 * i] === 1 : null,
      }));
      return { scores, cover, rules, matches: matchesOf(keywords, answer), truncation };
    });
  }
}

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source !== undefined) return WebAssembly.compile(source);
  const address = new URL("./pfgen.wasm", import.meta.url);
  if (address.protocol !== "file:") {
    const response = await fetch(address);
    if (!response.ok) throw new PfgenError(`${address}: expected the module, got HTTP ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
  }
  const { readFile } = await import("node:fs/promises");
  return WebAssembly.compile(await readFile(address));
}

/** Compiles the module, by default `pfgen.wasm` beside this file. */
export async function load(source) {
  const module = await compiled(source);
  const metrics = { instance: null, open: () => new Instance(module, () => undefined) };
  const compare = (metric, answer, references) => {
    const list = Array.isArray(references) ? references : [checkedText(references, "references")];
    if (list.length === 0) throw new PfgenError("references: expected at least one reference");
    const texts = [answer, ...list].map((text, i) => {
      const what = i ? `references[${i - 1}]` : "answer";
      const points = codePoints(checkedText(text, what));
      if (points.length > MOST_COMPARED) throw new PfgenError(`${what}: a text of more than ${MOST_COMPARED} code points`);
      return points;
    });
    return guarded(metrics, (instance) => {
      const units = instance.allocate(4 * texts.reduce((sum, text) => sum + text.length, 0));
      let at = units;
      for (const text of texts) {
        instance.numbers(at, text.length).set(text);
        at += text.byteLength;
      }
      const lengths = instance.copy(Uint32Array.from(texts, (text) => text.length));
      const score = instance.core.compare(METRICS[metric], units, lengths, texts.length);
      instance.core.release(units);
      instance.core.release(lengths);
      return score;
    });
  };
  return {
    Scorer: {
      fromBytes(content, { floatSum = "compensated" } = {}) {
        if (!["compensated", "naive"].includes(floatSum))
          throw new PfgenError(`floatSum: expected 'compensated' or 'naive', not '${floatSum}'`);
        const bytes = content instanceof ArrayBuffer ? new Uint8Array(content) : content;
        if (!(bytes instanceof Uint8Array)) throw new PfgenError("the compiled suite: expected bytes");
        return new Scorer(module, bytes, floatSum);
      },
    },
    bleu: (answer, references) => compare("bleu", answer, references),
    chrf: (answer, references) => compare("chrf", answer, references),
    rougeL: (answer, references) => compare("rougeL", answer, references),
  };
}
