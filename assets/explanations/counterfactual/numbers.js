// Probabilities and shares as text.

import { percent } from "../../kit/units.js";

const NEAR = 1e-3;

/**
 * Probabilities, all with as many decimals: three; near 0 and 1, where these would round to the end, as many as show that they
 * are not there.
 * @param {(number | null)[]} values null for unknown ones
 */
export function probabilities(values) {
  const digits = Math.max(3, ...values.filter((value) => value !== null).map((value) => {
    const rest = Math.min(value, 1 - value);
    return rest <= 0 || rest >= NEAR ? 3 : Math.min(9, Math.ceil(-Math.log10(rest)) + 1);
  }));
  return values.map((value) => (value === null ? "–" : value.toFixed(digits)));
}

export function probability(value) {
  return probabilities([value])[0];
}

/** A share in percent, "?" for an unknown one. */
export const shareText = (share) => (share === null ? "?" : percent(share));
