/** Something from outside that cannot be scored; the message says what, and what was expected. */
export class PfgenError extends Error {}

/** A question of a suite. */
export interface Question {
  id: string;
  question: string;
  category: string;
  note: string;
  /** The names of its reference sets. */
  sets: string[];
  /** The length up to which a score is not discounted, and the length from which it is 0, in units. */
  target: number;
  limit: number;
  unit: "character" | "word";
  /** Whether all its keyword rules can be checked here; otherwise `helpfulness` and `average` are null. */
  isChecked: boolean;
}

export interface Scores {
  fluency: number;
  truthfulness: number;
  helpfulness: number | null;
  /** The score. */
  average: number | null;
  fluencyBySet: Record<string, number>;
  truthfulnessBySet: Record<string, number>;
}

/** A keyword rule, and whether an answer meets it; null where only Python can check it. */
export interface KeywordRule {
  name: string | null;
  importance: number;
  isMet: boolean | null;
}

export interface Explanation {
  scores: Scores;
  /** For each code point, the share of reference answers that hold the most common 3-gram over it; null if not read. */
  cover: (number | null)[];
  rules: KeywordRule[];
  /** Where keyword patterns match in the first 10,000 characters: begin and end in code points. */
  matches: [number, number][];
  /** The length of the part that helpfulness is taken of, in units. */
  truncation: number;
}

/** Scores answers to the questions of one compiled suite. */
export interface Scorer {
  readonly questions: Question[];
  readonly setNames: string[];
  readonly profile: "leaderboard" | "paper" | "normalised";
  readonly metadataHash: string;
  /** `question` is an id or the text of a question. */
  score(question: string, answer: string): Scores;
  score(question: string, answers: string[]): Scores[];
  explain(question: string, answer: string): Explanation;
}

export interface Pfgen {
  Scorer: {
    /** Opens what `pfgen-fast suite compile` wrote; `floatSum` as in Python. */
    fromBytes(content: Uint8Array | ArrayBuffer, options?: { floatSum?: "compensated" | "naive" }): Scorer;
  };
  /** From 0 to 100, as sacrebleu computes it for one sentence; equals Python's to 12 digits, other numbers in all bits. */
  bleu(answer: string, references: string | string[]): number;
  /** From 0 to 100, as sacrebleu computes it for one sentence. */
  chrf(answer: string, references: string | string[]): number;
  /** F, from 0 to 1. */
  rougeL(answer: string, references: string | string[]): number;
}

/** Compiles the module, by default `pfgen.wasm` beside this file. */
export function load(source?: BufferSource | WebAssembly.Module): Promise<Pfgen>;
