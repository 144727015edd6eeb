// The zoom of cards, one by one or linked: entries "x0,x1,y0,y1:key" of the state, of which either pair may be empty. Linked
// cards share one pair in an entry of the key "*", and have only the other one of their own; see entry() of kit/state.js.

/** @param {string} text */
export function parsed(text) {
  const at = text.indexOf(":");
  return { view: text.slice(0, at), key: text.slice(at + 1) };
}

const EMPTY = ",,,";
const ALL = "*";

/** @param {string} view @returns {string[]} */
const ends = (view) => (view || EMPTY).split(",");

/** @param {string[]} four */
const joined = (four) => (four.some((end) => end !== "") ? four.join(",") : "");

/**
 * The view of a card, "" for everything: what is its own, for either axis otherwise what all share. A card that was restored
 * by itself has an empty entry.
 * @param {string[]} entries
 * @param {string} key
 */
export function viewOf(entries, key) {
  /** @param {string} owner */
  const found = (owner) => entries.map(parsed).findLast((one) => one.key === owner);
  const [own, shared] = [found(key), found(ALL)];
  if (own && !own.view) return "";
  const [mine, all] = [ends(own ? own.view : ""), ends(shared ? shared.view : "")];
  return joined([...(mine[0] ? mine : all).slice(0, 2), ...(mine[2] ? mine : all).slice(2)]);
}

/**
 * The entry of a key with one pair of a view, none if that is empty.
 * @param {string} view
 * @param {number} at
 * @param {string} key
 */
function pairOf(view, at, key) {
  const [low, high] = ends(view).slice(at, at + 2);
  return low ? [`${at ? `,,${low},${high}` : `${low},${high},,`}:${key}`] : [];
}

/**
 * The entries once a linked card has this view: all have its pair in common, it alone the other one.
 * @param {string[]} entries
 * @param {string} key
 * @param {string} view
 * @param {number} [common] place of the pair in common: 0, or 2
 */
export function withLinked(entries, key, view, common = 0) {
  const others = entries.map(parsed).filter((one) => one.key !== ALL && one.key !== key);
  const own = 2 - common;
  return [...pairOf(view, common, ALL), ...others.flatMap((one) => pairOf(one.view, own, one.key)), ...pairOf(view, own, key)];
}

/**
 * The entries once cards are linked: the pair of the card zoomed last is that of all.
 * @param {string[]} entries
 * @param {number} [common]
 */
export function linked(entries, common = 0) {
  const last = entries.map(parsed).findLast((one) => ends(one.view)[common]);
  return last ? withLinked(entries, last.key, last.view, common) : withLinked(entries, ALL, "", common);
}
