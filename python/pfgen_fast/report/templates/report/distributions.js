// Student's t and the normal distribution: p-values and quantiles, as SciPy has them.

/** The logarithm of the gamma function, by Stirling's series. */
function logGamma(x) {
  let shift = 0;
  for (; x < 20; x++) shift -= Math.log(x);
  const square = x * x;
  return shift + (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / x;
}

/** The regularised incomplete beta function for x + y = 1, by its continued fraction (Lentz). */
function incompleteBeta(a, b, x, y) {
  if (x === 0 || y === 0) return x;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, y, x);
  let c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), fraction = d;
  for (let m = 1, last = 0; m < 10_000 && Math.abs(last - 1) > 1e-15; m++) {
    for (const part of [m * (b - m) * x / (a + 2 * m - 1) / (a + 2 * m), -(a + m) * (a + b + m) * x / (a + 2 * m) / (a + 2 * m + 1)]) {
      d = 1 / (1 + part * d);
      c = 1 + part / c;
      last = c * d;
      fraction *= last;
    }
  }
  return Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(y)) * fraction / a;
}

/** The probability that the normal distribution is at least so far from 0, on either side. */
function normalTail(z) {
  const square = z * z;
  if (square < 9) {
    let sum = 0;
    for (let n = 1, term = Math.abs(z); term > 1e-18; n += 2, term *= square / n) sum += term;
    return 1 - Math.sqrt(2 / Math.PI) * Math.exp(-square / 2) * sum;
  }
  let fraction = 0;
  for (let n = 200; n; n--) fraction = n / (Math.abs(z) + fraction);
  return Math.sqrt(2 / Math.PI) * Math.exp(-square / 2) / (Math.abs(z) + fraction);
}

/** The two-sided p-value of Student's t; with infinite degrees of freedom, of the normal distribution. */
function tail(t, degrees) {
  const square = t * t;
  return degrees === Infinity ? normalTail(t) : incompleteBeta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square));
}

const quantiles = new Map();

/** The value of Student's t with the two-sided p-value `alpha`. */
function quantile(degrees, alpha = 0.05) {
  const key = `${degrees} ${alpha}`;
  if (!quantiles.has(key)) {
    let low = 0, high = 1;
    while (tail(high, degrees) > alpha) [low, high] = [high, 2 * high];
    for (let halving = 0; halving < 60; halving++) {
      const middle = (low + high) / 2;
      if (tail(middle, degrees) > alpha) low = middle;
      else high = middle;
    }
    quantiles.set(key, (low + high) / 2);
  }
  return quantiles.get(key);
}
