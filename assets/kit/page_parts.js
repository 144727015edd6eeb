// Parts of a page that the server answers one by one (layouts/kit/page_parts.py). A page has parts (a Map),
// kind.answers[part] and store(part).

import { setProps } from "./dash.js";
import { same } from "./state.js";

const AGAIN_MS = 400;

/**
 * Whether an answer is not final, so that the same is asked again.
 * @param {{ state: string }} answer
 */
export const busy = ({ state }) => state === "reading" || state === "working" || state === "waiting";

/**
 * Ask for a part: a dict of lists. The same question is not asked twice, unless it is to be resumed or stopped (more:
 * { again: ["1"] } or { cancel: ["1"] }), or `fresh` is set.
 * @param {PageOfParts} page
 * @param {string} part
 * @param {Wire.Query} ask
 * @param {{ more?: Wire.Query, fresh?: boolean }} [options]
 */
export function request(page, part, ask, { more = {}, fresh = false } = {}) {
  const known = page.parts.get(part) || { turn: 0, ask: null };
  if (same(known.ask, ask) && !fresh && !Object.keys(more).length) return;
  window.clearTimeout(known.timer);
  const turn = known.turn + 1;
  page.parts.set(part, { turn, ask });
  setProps(page.store(`${part}-ask`), { data: { ...ask, ...more, turn: [String(turn)] } });
}

/**
 * Forget what was asked of a part, so that the next question is asked whatever it is.
 * @param {PageOfParts} page
 * @param {string} part
 */
export function forget(page, part) {
  const known = page.parts.get(part);
  if (known) known.ask = null;
}

/**
 * Take a question as asked, because the last answer is the one to it, too.
 * @param {PageOfParts} page
 * @param {string} part
 * @param {Wire.Query} ask
 */
export function assume(page, part, ask) {
  const known = page.parts.get(part);
  if (known) known.ask = ask;
}

/**
 * Give an answer to the page, unless a newer question was asked.
 * @param {PageOfParts} page
 * @param {PartAnswer} answer
 */
export function answered(page, answer) {
  const known = page.parts.get(answer.part);
  if (!known || String(known.turn) !== answer.turn) return;
  if (busy(answer)) {
    known.timer = window.setTimeout(() => {
      if (page.root.isConnected && known.ask) request(page, answer.part, known.ask, { fresh: true });
    }, AGAIN_MS);
  }
  const take = page.kind.answers && page.kind.answers[answer.part];
  if (take) take(page, answer);
}
