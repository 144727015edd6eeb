// Which runs the cards of a board show: each has its own, and all can be given those that are chosen.

import { formatQuery, parseQuery } from "../../kit/state.js";

/**
 * The place of a card with these runs instead of its own; without any, its page chooses.
 * @param {string} place
 * @param {string[]} runs
 */
export function withRuns(place, runs) {
  const [path, ...query] = place.split("?");
  const state = parseQuery(query.join("?"));
  delete state.run;
  const found = formatQuery(runs.length ? { run: runs, ...state } : state);
  return found ? `${path}?${found}` : path;
}

/**
 * The cards of pages that show other runs than these, with the places that they would have.
 * @param {Wire.BoardCard[]} cards
 * @param {string[]} runs
 */
export function otherRuns(cards, runs) {
  const wanted = JSON.stringify(runs);
  return cards.flatMap(({ key, place, version }) => {
    if (place === null || JSON.stringify(parseQuery(place.split("?").slice(1).join("?")).run || []) === wanted) return [];
    return [{ key, place: withRuns(place, runs), was: version }];
  });
}
