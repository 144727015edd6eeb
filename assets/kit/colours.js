// The colours of runs. Counterpart of layouts/runs/run_colours.py and layouts/kit/theme.py: while the state names runs, their
// hues are spread here as on the server, so that the picker needs no request; otherwise the list of runs brings the colours.

// Hues in three shades; tests/layouts/runs/test_run_colours.py compares them with layouts/kit/theme.py.
export const PALETTE = [
  ["#236db4", "#4e95df", "#3880c9"], ["#d25908", "#e96e2b", "#b64a00"], ["#2b9c78", "#087a5b", "#138e6b"],
  ["#895dd6", "#a57af6", "#7f52ca"], ["#c6871a", "#926209", "#aa7103"], ["#2e9ac8", "#00749c", "#0986b3"],
  ["#c765aa", "#a7488d", "#d26fb5"], ["#7c8542", "#8e9754", "#68702d"], ["#217f7b", "#479f9a", "#2f8a86"],
  ["#866850", "#ab8b72", "#96775f"],
];
const FIRST = [5, 4, 2, 3, 9];
const [LOWEST, HIGHEST] = [0.139, 0.297];
const EVERY = "*";
const SHADES = 3;
const SECOND = PALETTE.map((_, hue) => hue).filter((hue) => !FIRST.includes(hue));
/**
 * @template T
 * @param {T[]} list
 * @param {number} n
 * @returns {T[]}
 */
const turned = (list, n) => [...list.slice(n), ...list.slice(0, n)];
const ORDERS = FIRST.map((_, n) => [...turned(FIRST, n), ...turned(SECOND, n)]);

/**
 * The colour of every run on a page with this state: member key -> #rrggbb.
 * @param {Wire.Query | null | undefined} state
 * @param {Wire.RunRow[]} rows
 * @returns {Map<string, string>}
 */
export function coloursOf(state, rows) {
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const row of rows) row.members.forEach((key, i) => found.set(key, row.colours[i]));
  const keys = (state && state.run) || [];
  if (!keys.length) return found;
  const wanted = new Set(keys);
  const whole = wanted.has(EVERY);
  const shown = rows.map((row) => {
    const all = whole || wanted.has(row.key);
    return { row, members: all ? row.members : row.members.filter((key) => wanted.has(key)), hand: row.hand[row.key] };
  }).filter(({ members }) => members.length).sort((a, b) => oldestFirst(a.row, b.row));
  const wish = spread(shown.map(({ row, hand }) => ({ key: row.key, hue: row.hue, hand: hand ? hand[1] : null })));
  for (const { row, members, hand } of shown) {
    const [hue, number] = wish.get(row.key) || [0, 0];
    members.forEach((key, place) => found.set(key, members.length > 1
      ? shade(hand ? hand[0] : PALETTE[hue][0], place, members.length)
      : hand ? hand[0] : PALETTE[hue][number]));
    for (const key of members) if (row.hand[key]) found.set(key, row.hand[key][0]);
  }
  return found;
}

/**
 * A text that changes whenever the user sets or resets the colour of a run by hand.
 * @param {Wire.RunRow[]} rows
 */
export function handMark(rows) {
  return JSON.stringify(rows.filter(({ hand }) => Object.keys(hand).length).map(({ hand }) => hand));
}

/**
 * Hue and shade of units that are shown together, oldest first, as places in PALETTE.
 * @param {{ key: string, hue: number, hand: number | null }[]} units hand is the hue of the colour set by hand
 * @returns {Map<string, [number, number]>}
 */
export function spread(units) {
  /** @type {Map<string, [number, number]>} */
  const found = new Map();
  const taken = new Set();
  const uses = PALETTE.map(() => 0);
  /**
   * @param {{ key: string }} unit
   * @param {number} hue
   */
  const take = ({ key }, hue) => {
    const free = [0, 1, 2].find((number) => !taken.has(hue * SHADES + number));
    const number = free === undefined ? uses[hue] % SHADES : free;
    taken.add(hue * SHADES + number);
    found.set(key, [hue, number]);
    uses[hue] += 1;
  };
  /** @type {{ key: string, hue: number, hand: number | null }[]} */
  const left = [];
  for (const unit of units) {
    if (FIRST.includes(unit.hue) && !uses[unit.hue]) take(unit, unit.hue);
    else left.push(unit);
  }
  for (const unit of left) {
    const least = Math.min(...uses);
    const own = uses[unit.hue] === least && (least > 0 || FIRST.every((hue) => uses[hue] > 0));
    take(unit, own ? unit.hue : ORDERS[unit.hue % FIRST.length].find((hue) => uses[hue] === least) ?? unit.hue);
  }
  giveWay(units, found);
  return found;
}

/**
 * Move units away from the hues of colours set by hand, as long as there are free ones; no other unit changes.
 * @param {{ key: string, hand: number | null }[]} units
 * @param {Map<string, [number, number]>} found
 */
function giveWay(units, found) {
  const byHand = units.flatMap(({ hand }) => (hand === null ? [] : [hand]));
  if (!byHand.length) return;
  const own = units.filter(({ hand }) => hand === null);
  /** @param {{ key: string }} unit */
  const hueOf = ({ key }) => found.get(key)?.[0] ?? 0;
  const used = new Set([...byHand, ...own.map(hueOf)]);
  for (const unit of own) {
    const hue = hueOf(unit);
    if (!byHand.includes(hue)) continue;
    const free = ORDERS[hue % FIRST.length].find((one) => !used.has(one));
    if (free === undefined) continue;
    found.set(unit.key, [free, 0]);
    used.add(free);
  }
}

/**
 * By start, then by key as Python compares texts: by code points.
 * @param {Wire.RunRow} a
 * @param {Wire.RunRow} b
 */
function oldestFirst(a, b) {
  if ((a.started || 0) !== (b.started || 0)) return (a.started || 0) - (b.started || 0);
  const [one, other] = [Array.from(a.key), Array.from(b.key)];
  const at = one.findIndex((character, i) => character !== other[i]);
  if (at < 0) return one.length - other.length;
  return at >= other.length ? 1 : (one[at].codePointAt(0) || 0) - (other[at].codePointAt(0) || 0);
}

/**
 * One of `count` shades of a colour, from the darkest (place 0) to the lightest that is readable in both themes.
 * @param {string} colour
 * @param {number} place
 * @param {number} count
 */
export function shade(colour, place, count) {
  const wanted = LOWEST + ((HIGHEST - LOWEST) * place) / Math.max(count - 1, 1);
  const linear = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  const mixed = (wanted - luminance) / (1 - luminance);
  const parts = linear.map((part) => (wanted <= luminance ? (part * wanted) / luminance : part + (1 - part) * mixed));
  return `#${parts.map(encoded).join("")}`;
}

/** @param {number} part */
function encoded(part) {
  const share = part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055;
  return Math.floor(255 * share + 0.5).toString(16).padStart(2, "0");
}
