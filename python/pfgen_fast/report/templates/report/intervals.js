// Means over questions, differences of pairs and their verdicts, as in the package statistics/ and on the terminal.

const METRICS = overview.has_parts ? { fluency: "Fluency", truthfulness: "Truthfulness", helpfulness: "Helpfulness", length: "Characters" }
  : Object.fromEntries(overview.columns.map(([key, title]) => [key, title]));

/** The digits of a metric's means. */
function digitsOf(metric) {
  return metric === "length" ? 1 : overview.digits;
}

/** The decimals that a figure bears whose interval has this half width, as base/table.py has them. */
function bearingDigits(half, most = 4) {
  return half > 0 ? Math.min(most, Math.max(0, 1 - Math.floor(Math.log10(half)))) : most;
}

function isNumber(value) {
  return typeof value === "number";
}

/** The mean of the numbers among some values; null if there is none. */
function mean(values) {
  const numbers = values.filter(isNumber);
  return numbers.length ? exactSum(numbers) / numbers.length : null;
}

/** The sum of numbers, rounded once, as Python's math.fsum has it: figures of the terminal have the same last digit. */
function exactSum(numbers) {
  const parts = [];  // from small to large; no two have a binary digit in common
  for (let value of numbers) {
    let n = 0;
    for (let place = 0; place < parts.length; place++) {
      const part = parts[place], both = value + part;
      const left = Math.abs(value) < Math.abs(part) ? value - (both - part) : part - (both - value);
      if (left) parts[n++] = left;
      value = both;
    }
    parts.length = n;
    parts.push(value);
  }
  let sum = 0, rest = 0;
  while (parts.length && !rest) {
    const part = parts.pop();
    [sum, rest] = [sum + part, part - (sum + part - sum)];
  }
  // Half of the last digit is left: what follows says to which side.
  const next = parts.at(-1) ?? 0;
  return rest * next > 0 && sum + 2 * rest - sum === 2 * rest ? sum + 2 * rest : sum;
}

/** The figures of a pair, first minus second, over the questions that both have, as paired_tests.py has them.
 *
 * `interval(alpha)` gives the ends of the interval that the test does not reject at this level. null stands for what
 * cannot be said: the mean without a common question, the p-value with one, the interval without any spread.
 */
function pairedDifference(a, b, { clusters = overview.clusters, strata = overview.strata, isBinary = false } = {}) {
  const places = a.map((_, place) => place).filter((place) => isNumber(a[place]) && isNumber(b[place]));
  const differences = places.map((place) => a[place] - b[place]);
  const n = differences.length;
  if (isBinary) return { mean: mean(differences), n, nUnits: n, isBinary, ...tango(differences) };
  const numbers = [...new Set(strata?.filter((stratum, place) => isNumber(stratum) && (isNumber(a[place]) || isNumber(b[place]))))];
  const parts = numbers.length ? numbers.map((stratum) => places.filter((place) => strata[place] === stratum)) : [places];
  const tested = combined(parts.map((part) => partOf(a, b, part, clusters)));
  const { center, error, degrees, nUnits, largest } = tested;
  const pOfEqual = Math.abs(center) <= 1e-9 * largest ? 1 : 2 / 2 ** Math.min(nUnits, 1000);
  const ends = (half) => [center - half, center + half];
  return {
    mean: center, n: tested.n, nUnits, hasClusters: Boolean(clusters), p: tested.least < 2 ? null : error ? tail(center / error, degrees) : pOfEqual,
    interval: (alpha) => error && tested.least > 1 ? ends(quantile(degrees, alpha) * error) : null,
  };
}

/** The mean difference over some questions, and its standard error. */
function partOf(a, b, places, clusters) {
  const differences = places.map((place) => a[place] - b[place]);
  const center = mean(differences);
  const largest = places.reduce((so, place) => Math.max(so, Math.abs(a[place]), Math.abs(b[place])), 0);
  const tested = errorOf(differences, center, largest, clusters && places.map((place) => clusters[place]));
  return { center, n: places.length, largest, least: tested.nUnits, ...tested };
}

/** The mean of strata with equal weights, with the degrees of freedom of Welch and Satterthwaite. */
function combined(parts) {
  if (parts.length === 1) return parts[0];
  const sum = (value) => exactSum(parts.map(value));
  const variance = sum(({ error }) => error ** 2);
  const isWhole = parts.every(({ n }) => n);
  return {
    center: isWhole ? sum(({ center }) => center) / parts.length : null, n: isWhole ? sum(({ n }) => n) : 0,
    error: Math.sqrt(variance) / parts.length, degrees: 1 / sum(({ error, degrees }) => error ? (error ** 2 / variance) ** 2 / degrees : 0),
    nUnits: sum(({ nUnits }) => nUnits), least: Math.min(...parts.map(({ least }) => least)), largest: Math.max(...parts.map(({ largest }) => largest)),
  };
}

/** The standard error of a mean and its degrees of freedom; with clusters, those of Bell and McCaffrey. */
function errorOf(values, center, largest, clusters) {
  const n = values.length;
  let residuals = values.map((value) => value - center), sizes = null;
  if (clusters) {
    const parts = new Map(clusters.map((cluster) => [cluster, []]));
    residuals.forEach((residual, place) => parts.get(clusters[place]).push(residual));
    residuals = [...parts.values()].map(exactSum);
    sizes = [...parts.values()].map((part) => part.length);
  }
  const nUnits = residuals.length;
  if (nUnits < 2 || residuals.every((sum) => Math.abs(sum) <= 1e-9 * largest)) return { error: 0, nUnits };
  if (!sizes) return { nUnits, degrees: n - 1, error: Math.sqrt(exactSum(residuals.map((residual) => residual * residual)) / (n - 1) / n) };
  const shares = sizes.map((size) => size * size / (n - size));
  const between = exactSum(shares) ** 2 - exactSum(shares.map((one) => one * one));
  return {
    nUnits, degrees: n * n / (exactSum(sizes.map((size) => size * size)) + between),
    error: Math.sqrt(exactSum(residuals.map((sum, place) => sum * sum / (1 - sizes[place] / n)))) / n,
  };
}

/** Tango's score test of differences of scores that are 0 or 1, and the interval that inverts it. */
function tango(differences) {
  const n = differences.length;
  const [alone, others] = [1, -1].map((sign) => differences.filter((difference) => difference === sign).length);
  const statistic = (shift) => {
    const linear = (2 * n - alone + others) * shift - alone - others;
    const share = (Math.sqrt(Math.max(linear ** 2 + 8 * n * others * shift * (1 - shift), 0)) - linear) / (4 * n);
    const distance = alone - others - n * shift;
    return Math.abs(distance) <= 1e-9 ? 0 : Math.abs(distance) / Math.sqrt(Math.max(n * (2 * share + shift * (1 - shift)), 0));
  };
  const end = (outside, z) => {
    let inside = (alone - others) / n;
    for (let halving = 0; halving < 60; halving++) {
      const middle = (inside + outside) / 2;
      if (statistic(middle) <= z) inside = middle;
      else outside = middle;
    }
    return inside;
  };
  return { p: n < 2 ? null : normalTail(statistic(0)), interval: (alpha) => n < 2 ? null : [-1, 1].map((outside) => end(outside, quantile(Infinity, alpha))) };
}

/** Decides the pairs of one family by Holm, as statistics/verdicts.py does; the intervals have the levels of the decisions. */
function decided(pairs, alpha = 0.05) {
  const family = pairs.filter(({ p, nUnits }) => p !== null && nUnits >= overview.min_questions).sort((a, b) => a.p - b.p);
  let nLeft = family.length;
  let corrected = 0;
  const decisions = new Map(family.map((pair, place) => {
    if (corrected <= alpha) nLeft = family.length - place;
    corrected = Math.min(1, Math.max(corrected, pair.p * (family.length - place)));
    return [pair, { corrected, differs: corrected <= alpha, nInFamily: family.length, ends: pair.interval(alpha / nLeft) }];
  }));
  return pairs.map((pair) => ({ ...pair, ...decisions.get(pair) ?? { corrected: null, differs: null, nInFamily: 1, ends: pair.n ? pair.interval(alpha) : null } }));
}

/** A sentence of statistics/verdicts.py with its values. */
function sentenceOf(name, values) {
  return overview.sentences[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

/** Over how many questions a decision is. */
function overText({ n, nUnits, hasClusters }) {
  return `${counted(n)} ${n === 1 ? WORDS.question : WORDS.questions}${hasClusters ? ` in ${counted(nUnits)} ${nUnits === 1 ? "cluster" : "clusters"}` : ""}`;
}

/** A decision about first minus second in the words of the terminal, `isShort` without those of its interval. */
function verdictText(decision, first, second, { isShort = false } = {}) {
  const { mean: center, isBinary, differs, nInFamily, ends } = decision;
  const over = overText(decision);
  const pair = `${first} - ${second}`;
  let digits = isBinary && ends ? bearingDigits((ends[1] - ends[0]) / 2) : overview.verdict_digits ?? 4;
  while (digits < 4 && ends && Math.min(...ends.map(Math.abs)) < 0.5 / 10 ** digits) digits++;  // so that the ends show the decision
  const difference = signed(center, digits);
  if (differs === null) return sentenceOf("without", { few: sentenceOf("no verdict", { over, least: overview.min_questions }), pair, difference });
  const family = nInFamily > 1 ? sentenceOf("family", { n: counted(nInFamily) }) : "";
  const [low, high] = (ends ?? [0, 0]).map((end) => signed(end, digits));
  const interval = ends && isShort ? `${low} to ${high}` : ends ? sentenceOf("interval", { level: 95, pair: ` of ${pair}`, family, low, high, over }) : sentenceOf("equal", { over });
  if (!differs) return sentenceOf("not distinguished", { pair, difference, interval });
  return sentenceOf("differs", { first, outcome: SIGN * center > 0 ? "better" : "worse", size: figure(Math.abs(center), digits), direction: SIGN > 0 ? "" : overview.sentences.lower, interval });
}

/** Whether all scores of some runs in a metric are 0 or 1, each of one trial; they have Tango's test and Wilson's intervals. */
function isBinary(runs, metric, scores) {
  if (overview.clusters || !(overview.single_trials?.includes(metric) ?? runs.every((run) => overview.runs[run].trials === 1))) return false;
  return scores.every((ofRuns) => runs.every((run) => [0, 1, null, undefined].includes(ofRuns[run])));
}

const binaryColumns = new Map();  // by metric, whether all scores of the page are 0 or 1

/** The mean of a run in a metric over some questions, and the ends of its 95 % interval, or null. */
function ownInterval(run, metric, scores, questions = scores.map((_, question) => question)) {
  if (!binaryColumns.has(metric)) binaryColumns.set(metric, isBinary(ALL_RUNS, metric, scores));
  const [clusters, strata] = [overview.clusters, overview.strata].map((groups) => groups && questions.map((question) => groups[question]));
  const interval = meanInterval(questions.map((question) => scores[question][run]), clusters, binaryColumns.get(metric), strata);
  const [least, most] = !overview.has_parts ? [-Infinity, Infinity] : [0, metric === "helpfulness" ? 1 : Infinity];  // a score and a length are not below 0
  return { ...interval, ends: interval.ends && interval.ends.map((end) => Math.min(most, Math.max(least, end))) };
}

/** The mean and the ends of its interval: Student's, or Wilson's for scores of 0 and 1. */
function meanInterval(values, clusters, binary, strata) {
  const { mean: center, n, interval } = pairedDifference(values, values.map((value) => isNumber(value) ? 0 : null), { clusters, strata });
  if (!binary || !n) return { mean: center, ends: interval(0.05) };
  const ofQuantile = quantile(Infinity) ** 2 / n;
  const middle = (center + ofQuantile / 2) / (1 + ofQuantile);
  const half = Math.sqrt(ofQuantile * (center * (1 - center) + ofQuantile / 4)) / (1 + ofQuantile);
  return { mean: center, ends: [Math.max(0, middle - half), Math.min(1, middle + half)] };
}

function rangeText(ends, digits, shown = figure) {
  return ends ? `${shown(ends[0], digits)} to ${shown(ends[1], digits)}` : "–";
}

/** An interval as `±0.0123`, or with its ends if the mean is not its middle. */
function spreadText({ mean: center, ends }, digits) {
  if (!ends) return "–";
  const half = (ends[1] - ends[0]) / 2;
  return Math.abs(ends[1] - half - center) <= 1e-9 * Math.max(half, Math.abs(center)) ? `±${figure(half, digits)}` : rangeText(ends, digits);
}

function sum(values) {
  return values.reduce((so, value) => so + value, 0);
}

function median(values) {
  const sorted = Float64Array.from(values.filter(isNumber)).sort();
  return sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2 : null;
}

/** Pearson's correlation of the pairs of numbers; null without any spread. */
function correlation(a, b) {
  const places = a.map((_, place) => place).filter((place) => isNumber(a[place]) && isNumber(b[place]));
  const [x, y] = [a, b].map((values) => places.map((place) => values[place]));
  const [centerX, centerY] = [x, y].map((values) => sum(values) / values.length);
  const product = (p, q) => sum(p.map((value, place) => (value - centerX) * (q[place] - centerY)));
  const spread = Math.sqrt(sum(x.map((value) => (value - centerX) ** 2)) * sum(y.map((value) => (value - centerY) ** 2)));
  return places.length > 2 && spread > 1e-12 ? product(x, y) / spread : null;
}
