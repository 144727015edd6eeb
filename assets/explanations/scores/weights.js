// Weights of metrics in hundredths, as the state has them: ["Faithfulness:25", ...].

/**
 * A text as hundredths from 0 to 100, or null if it is no number.
 * @param {string} text
 */
export function hundredths(text) {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return null;
  return Math.min(100, Math.max(0, Math.round(value * 100)));
}

/**
 * The state of all weights after that of one metric was changed.
 * @param {[string, number][]} weights
 * @param {string} metric
 * @param {number} value
 */
export function changedWeights(weights, metric, value) {
  return weights.map(([name, before]) => `${name}:${name === metric ? value : before}`);
}
