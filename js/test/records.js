// Compares a scorer with the records of tools/wasm_records.py, in Node and in browsers.

const NAMES = ["fluency", "truthfulness", "helpfulness", "average"];

function bits(scores, setNames) {
  const ofSets = (values) => setNames.map((name) => values[name] ?? NaN);
  const numbers = [...NAMES.map((name) => scores[name]), ...ofSets(scores.fluencyBySet), ...ofSets(scores.truthfulnessBySet)];
  return [...new BigUint64Array(Float64Array.from(numbers).buffer)].join();
}

export function byQuestion(answers) {
  const groups = new Map();
  for (const row of answers) {
    if (!groups.has(row.question)) groups.set(row.question, []);
    groups.get(row.question).push(row);
  }
  return groups;
}

/** The records whose scores differ in a bit, alone or in a list. */
export function differences(scorer, answers) {
  const differing = new Set();
  for (const [question, rows] of byQuestion(answers)) {
    const texts = rows.map(({ answer, times = 1 }) => answer.repeat(times));
    const inList = scorer.score(question, texts);
    rows.forEach((row, i) => {
      for (const scores of [inList[i], scorer.score(question, texts[i])]) {
        if (bits(scores, scorer.setNames) !== row.scores.join()) differing.add(row);
      }
    });
  }
  return [...differing];
}

/** The time in milliseconds that the explanation of an answer usually takes. */
export function keystroke(scorer, answers) {
  const times = answers.slice(0, 500).map(({ question, answer }) => {
    const begin = performance.now();
    scorer.explain(question, answer);
    return performance.now() - begin;
  });
  return times.sort((a, b) => a - b)[times.length >> 1];
}
