// Means over questions with their 95 % intervals, as statistics/mean_interval.py defines them; quantiles of Student's t come from it.

const METRICS = overview.has_answers ? { fluency: "Fluency", truthfulness: "Truthfulness", helpfulness: "Helpfulness", length: "Length in characters" }
  : Object.fromEntries(overview.columns.map(([key, title]) => [key, title]));

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
  let parts = [];  // from small to large; no two have a binary digit in common
  for (let value of numbers) {
    const left = [];
    for (const part of parts) {
      const [large, small] = Math.abs(value) < Math.abs(part) ? [part, value] : [value, part];
      value = large + small;
      if (small - (value - large)) left.push(small - (value - large));
    }
    parts = [...left, value];
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

/** The mean difference over the questions that both have, and half of its interval.
 *
 * null stands for what cannot be said: the mean without a common question, the interval without any spread.
 */
function pairedDifference(a, b, clusters = overview.clusters) {
  const places = a.map((_, place) => place).filter((place) => isNumber(a[place]) && isNumber(b[place]));
  const differences = places.map((place) => a[place] - b[place]);
  const n = differences.length;
  const center = mean(differences);
  const largest = Math.max(0, ...places.flatMap((place) => [Math.abs(a[place]), Math.abs(b[place])]));
  if (clusters) return { mean: center, n, ...clusteredHalf(differences, places.map((place) => clusters[place]), center, largest) };
  if (n < 2 || Math.max(...differences) - Math.min(...differences) <= 1e-9 * largest) return { n, mean: center, half: null };
  const variance = exactSum(differences.map((difference) => (difference - center) * (difference - center))) / (n - 1);
  return { n, mean: center, half: overview.quantiles[n - 2] * Math.sqrt(variance) / Math.sqrt(n) };
}

/** Half of the interval if the questions are in clusters (Bell and McCaffrey), and the number of clusters. */
function clusteredHalf(differences, clusters, center, largest) {
  const parts = new Map();
  differences.forEach((difference, place) => {
    if (!parts.has(clusters[place])) parts.set(clusters[place], []);
    parts.get(clusters[place]).push(difference - center);
  });
  const n = differences.length;
  const sums = [...parts.values()].map((part) => ({ sum: exactSum(part), size: part.length }));
  if (sums.length < 2 || Math.max(...sums.map(({ sum }) => Math.abs(sum))) <= 1e-9 * largest) return { half: null, units: sums.length };
  const variance = exactSum(sums.map(({ sum, size }) => sum * sum / (1 - size / n))) / n / n;
  const shares = sums.map(({ size }) => size * size / (n - size));
  const between = exactSum(shares) ** 2 - exactSum(shares.map((one) => one * one));
  const squares = exactSum(sums.map(({ size }) => size * size));
  return { half: quantile(n * n / (squares + between)) * Math.sqrt(variance), units: sums.length };
}

const N_STEPS = 4096;
const quantiles = new Map();

/** The 97.5 % quantile of Student's t for any degrees of freedom, as statistics/mean_interval.py computes it. */
function quantile(degrees) {
  if (degrees > 10000) return 1.959964;
  if (!quantiles.has(degrees)) {
    const step = Math.min(Math.PI / 2, 40 / Math.sqrt(degrees)) / N_STEPS;
    const share = [0];
    for (let number = 0; number < N_STEPS; number++) share.push(share[number] + Math.cos((number + 0.5) * step) ** (degrees - 1));
    const wanted = 0.95 * share[N_STEPS];
    const after = share.findIndex((sum) => sum > wanted);
    const angle = (after - 1 + (wanted - share[after - 1]) / (share[after] - share[after - 1])) * step;
    quantiles.set(degrees, Math.sqrt(degrees) * Math.tan(angle));
  }
  return quantiles.get(degrees);
}

/** The mean over questions and half of its interval. */
function meanInterval(values, clusters = overview.clusters) {
  return pairedDifference(values, values.map(() => 0), clusters);
}

function signed(value, digits) {
  if (value === null) return "–";
  const text = figure(Math.abs(value), digits);
  return `${value < 0 && /[1-9]/.test(text) ? "−" : "+"}${text}`;
}

function intervalText({ mean: center, half }, digits) {
  return half === null ? "–" : `${signed(center - half, digits)} to ${signed(center + half, digits)}`;
}

function median(values) {
  const sorted = values.filter(isNumber).sort((a, b) => a - b);
  return sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2 : null;
}

/** Pearson's correlation of the pairs of numbers; null without any spread. */
function correlation(a, b) {
  const places = a.map((_, place) => place).filter((place) => isNumber(a[place]) && isNumber(b[place]));
  const [x, y] = [a, b].map((values) => places.map((place) => values[place]));
  const [centerX, centerY] = [mean(x), mean(y)];
  const sum = (values) => values.reduce((so, value) => so + value, 0);
  const product = (p, q) => sum(p.map((value, place) => (value - centerX) * (q[place] - centerY)));
  const spread = Math.sqrt(sum(x.map((value) => (value - centerX) ** 2)) * sum(y.map((value) => (value - centerY) ** 2)));
  return places.length > 2 && spread > 1e-12 ? product(x, y) / spread : null;
}
