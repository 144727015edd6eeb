// Probabilities and shares as text.

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

/** A share from 0 to 1 in percent, two significant digits below 10 %. */
export function percent(share) {
  if (share === null) return "?";
  const value = 100 * share;
  return `${value >= 10 || value === 0 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}
