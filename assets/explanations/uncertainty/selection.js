// Intervals of probability and standard deviation: between plots, fields and the state ("low,high").

const DIGITS = 6;
const DRAGGED = 4;  // digits of what was dragged in a plot, which is less exact

/**
 * @param {number} value
 * @param {number} digits
 */
const rounded = (value, digits) => Number(value.toPrecision(digits));

/**
 * An end with few digits, moved outwards: the interval of a bar contains its smallest and its largest value.
 * @param {number} value
 * @param {boolean} up
 */
function outwards(value, up) {
  const near = rounded(value, DIGITS);
  if (up ? near >= value : near <= value) return near;
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) + 1 - DIGITS);
  return rounded(near + (up ? step : -step), DIGITS);
}

/**
 * The state of two ends, as typed: [] for none. An end that is missing is the least or greatest possible value.
 * @param {string} key p or sd
 * @param {string} from
 * @param {string} to
 * @returns {string[]}
 */
export function range(key, from, to) {
  const most = key === "p" ? 1 : 1e9;
  /**
   * @param {string} typed
   * @param {number} missing
   */
  const parse = (typed, missing) => {
    const value = typed.trim() === "" ? missing : Number(typed);
    return Number.isFinite(value) ? Math.min(most, Math.max(0, value)) : missing;
  };
  if (from.trim() === "" && to.trim() === "") return [];
  const values = [parse(from, 0), parse(to, most)].sort((a, b) => a - b);
  return [`${outwards(values[0], false)},${outwards(values[1], true)}`];
}

/**
 * Both ends of a state as fields show them; "" for what is as wide as possible.
 * @param {string} state
 */
export function ends(state) {
  if (!state) return ["", ""];
  const [from, to] = state.split(",");
  return [from, Number(to) >= 1e9 ? "" : to];
}

/**
 * What a selection in a plot chooses. Bars choose deviations, points probabilities and deviations.
 * @param {string} name spread or against
 * @param {{ x: number[], y: number[] }} chosen
 * @param {boolean} logarithmic whether deviations are drawn as their logarithm
 */
export function chosenRange(name, chosen, logarithmic) {
  /** @param {number} value */
  const deviation = (value) => (logarithmic ? 10 ** value : Math.max(0, value));
  /** @param {number[]} values */
  const sorted = (values) => [...values].sort((a, b) => a - b);
  /** @param {number} value */
  const text = (value) => String(rounded(value, DRAGGED));
  const sd = sorted(name === "spread" ? chosen.x : chosen.y).map(deviation).map(text).join(",");
  if (name === "spread") return { sd: [sd] };
  const p = sorted(chosen.x).map((value) => text(Math.min(1, Math.max(0, value)))).join(",");
  return { p: [p], sd: [sd] };
}
