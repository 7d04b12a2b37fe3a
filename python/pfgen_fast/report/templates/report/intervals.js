// Means over questions with their 95 % intervals, as statistics/mean_interval.py defines them; quantiles of Student's t come from it.

const METRICS = { fluency: "Fluency", truthfulness: "Truthfulness", helpfulness: "Helpfulness", length: "Length in characters" };

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
function pairedDifference(a, b) {
  const places = a.map((_, place) => place).filter((place) => isNumber(a[place]) && isNumber(b[place]));
  const differences = places.map((place) => a[place] - b[place]);
  const n = differences.length;
  const center = mean(differences);
  const largest = Math.max(0, ...places.flatMap((place) => [Math.abs(a[place]), Math.abs(b[place])]));
  if (n < 2 || Math.max(...differences) - Math.min(...differences) <= 1e-9 * largest) return { n, mean: center, half: null };
  const variance = exactSum(differences.map((difference) => (difference - center) * (difference - center))) / (n - 1);
  return { n, mean: center, half: overview.quantiles[n - 2] * Math.sqrt(variance) / Math.sqrt(n) };
}

/** The mean over questions and half of its interval. */
function meanInterval(values) {
  return pairedDifference(values, values.map(() => 0));
}
