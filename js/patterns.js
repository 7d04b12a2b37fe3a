// Keyword patterns with regex syntax: Python's patterns as JavaScript's, where both mean the same.

const WORD = "[\\p{L}\\p{N}_]"; // Python's \w: str.isalnum() and _
const CLASSES = { d: "\\p{Nd}", w: "\\p{L}\\p{N}_" };
const BOUNDARY = `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`;
const REPEAT = /^(?:[*+?]|\{(?!\})(\d*),?(\d*)\})/;
const CONTROLS = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };

class Unlike extends Error {}

/** Reads a pattern of the part of Python's syntax that this page's engine searches in the same way. */
class Reader {
  constructor(pattern) {
    this.rest = [...pattern];
    this.at = 0;
  }

  get next() {
    return this.rest[this.at];
  }

  get isRepeat() {
    return REPEAT.test(this.rest.slice(this.at, this.at + 22).join(""));
  }

  take() {
    if (this.at === this.rest.length) throw new Unlike();
    return this.rest[this.at++];
  }

  skip(text) {
    if (!this.rest.slice(this.at, this.at + text.length).join("").startsWith(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Alternatives up to the end or a closing parenthesis: the source, and whether they may match nothing. */
  alternatives() {
    const parts = [this.sequence()];
    while (this.skip("|")) parts.push(this.sequence());
    return { source: parts.map((part) => part.source).join("|"), isEmpty: parts.some((part) => part.isEmpty) };
  }

  sequence() {
    const pieces = [];
    let isEmpty = true;
    while (this.next !== undefined && this.next !== "|" && this.next !== ")") {
      const piece = this.repeated(this.atom());
      pieces.push(piece.source);
      isEmpty &&= piece.isEmpty;
    }
    return { source: pieces.join(""), isEmpty };
  }

  atom() {
    if (this.isRepeat) throw new Unlike();
    const first = this.take();
    if (first === "(") return this.group();
    if (first === "[") return { source: this.set(), isEmpty: false };
    if (first === ".") return { source: "[^\\n]", isEmpty: false };
    if (first === "^") return { source: "^", isEmpty: true, isMark: true };
    if (first === "$") return { source: "(?=\\n?$)", isEmpty: true, isMark: true };
    if (first === "\\") {
      if (this.skip("b")) return { source: BOUNDARY, isEmpty: true, isMark: true };
      const escaped = this.escaped();
      return { source: escaped.length > 1 ? `[${escaped}]` : quoted(escaped), isEmpty: false };
    }
    return { source: quoted(first), isEmpty: false };
  }

  group() {
    const look = ["?=", "?!"].find((kind) => this.skip(kind));
    if (!look && !this.skip("?:") && this.next === "?") throw new Unlike();
    const inner = this.alternatives();
    if (this.take() !== ")") throw new Unlike();
    return { source: `(${look ?? "?:"}${inner.source})`, isEmpty: Boolean(look) || inner.isEmpty, isMark: Boolean(look) };
  }

  /** A class of characters; some of Python's warnings are about those that may change their meaning. */
  set() {
    const negation = this.skip("^") ? "^" : "";
    let members = "";
    for (let isFirst = true; isFirst || this.next !== "]"; isFirst = false) {
      const from = this.member();
      if (this.next === "-" && this.rest[this.at + 1] !== "]") {
        this.take();
        const to = this.member();
        if ([...from].length > 1 || [...to].length > 1 || from.codePointAt(0) > to.codePointAt(0)) throw new Unlike();
        members += `${quoted(from)}-${quoted(to)}`;
      } else {
        members += [...from].length > 1 ? from : quoted(from);
      }
    }
    this.take();
    return `[${negation}${members}]`;
  }

  member() {
    const character = this.take();
    if (character === "\\") return this.escaped();
    if ("[&~|-".includes(character) && (character === "[" || character === this.next)) throw new Unlike();
    return character;
  }

  /** The character that is written behind a backslash, or the source of a class. */
  escaped() {
    const character = this.take();
    if (character in CLASSES) return CLASSES[character];
    if (character in CONTROLS) return CONTROLS[character];
    if (/[\p{L}\p{N}]/u.test(character)) throw new Unlike();
    return character;
  }

  repeated(atom) {
    const match = REPEAT.exec(this.rest.slice(this.at, this.at + 22).join(""));
    if (!match) return atom;
    this.at += match[0].length;
    if (match[1] === "" || (match[2] && Number(match[1]) > Number(match[2]))) throw new Unlike();
    // Engines differ in what a repeated part that matches nothing leaves behind.
    if (atom.isEmpty || atom.isMark) throw new Unlike();
    const isLazy = this.next === "?";
    if (isLazy) this.take();
    if (this.isRepeat) throw new Unlike();
    const isEmpty = "*?".includes(match[0]) || Number(match[1]) === 0;
    return { source: atom.source + match[0] + (isLazy ? "?" : ""), isEmpty };
  }
}

function quoted(character) {
  if (character === "-") return "\\x2d"; // which is valid in classes and outside
  return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

/**
 * The regular expression that finds what Python's `re.search(pattern, text)` finds; null where the two languages may
 * differ: backreferences, look-behind, flags, possessive repeats, classes such as \s, repeats of what may match nothing.
 */
export function translated(pattern) {
  try {
    const reader = new Reader(pattern);
    const { source } = reader.alternatives();
    return reader.next === undefined ? new RegExp(source, "u") : null;
  } catch (error) {
    if (error instanceof Unlike || error instanceof SyntaxError) return null;
    throw error;
  }
}
