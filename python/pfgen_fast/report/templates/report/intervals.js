// Means over questions with their 95 % intervals, as statistics/mean_interval.py defines them; quantiles of Student's t come from it.

const METRICS = { fluency: "Fluency", truthfulness: "Truthfulness", helpfulness: "Helpfulness", length: "Length in characters" };

function isNumber(value) {
  return typeof value === "number";
}

/** The mean of the numbers among some values; null if there is none. */
function mean(values) {
  const numbers = values.filter(isNumber);
  return numbers.length ? numbers.reduce((sum, value) => sum + value, 0) / numbers.length : null;
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
  const variance = differences.reduce((sum, difference) => sum + (difference - center) ** 2, 0) / (n - 1);
  return { n, mean: center, half: overview.quantiles[n - 2] * Math.sqrt(variance / n) };
}

/** The mean over questions and half of its interval. */
function meanInterval(values) {
  return pairedDifference(values, values.map(() => 0));
}
