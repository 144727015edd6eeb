// Which card is in which slot. A slot keeps the drawing of its card, also while the card is not on screen: nothing is requested
// or drawn again because cards come and go (typing in the tag filter). The order on screen is that of the elements.

export const NO_CARD = null;

/**
 * The key of the card in each slot: known cards keep their slot, new ones take empty slots first, then those of cards that are
 * not on screen.
 * @param {string[]} shown keys of the cards on screen, at most `size`
 * @param {(string | null)[]} before the keys as they were
 * @param {number} size number of slots
 * @returns {(string | null)[]}
 */
export function slotsFor(shown, before, size) {
  const keys = Array.from({ length: size }, (_, slot) => (before[slot] === undefined ? NO_CARD : before[slot]));
  const wanted = new Set(shown);
  const every = keys.map((_, slot) => slot);
  const slots = [
    ...every.filter((slot) => keys[slot] === NO_CARD),
    ...every.filter((slot) => keys[slot] !== NO_CARD && !wanted.has(keys[slot])),
  ];
  shown.filter((name) => !keys.includes(name)).forEach((key, at) => { keys[slots[at]] = key; });
  return keys;
}

/**
 * Whether a drawing shows other runs than its card asks for.
 * @param {{ run?: string[] } | null | undefined} answered the ask that the drawing answers, if there is a drawing
 * @param {{ run?: string[] } | null} wanted the ask of the card
 * @returns {boolean}
 */
export function isOutdated(answered, wanted) {
  return answered !== null && answered !== undefined && wanted !== null
    && JSON.stringify(answered.run || []) !== JSON.stringify(wanted.run || []);
}

/**
 * Move as few elements as possible so that those of the shown cards stand in order, before all others.
 * @param {HTMLElement} host
 * @param {HTMLElement[]} ordered
 */
export function arrange(host, ordered) {
  let next = host.firstElementChild;
  for (const element of ordered) {
    if (element === next) next = next.nextElementSibling;
    else host.insertBefore(element, next);
  }
}
