// Pages on screen, by the id of their root element.

import { setState } from "./state.js";

/**
 * What a field holds until Dash has sent its first value, which is before anything reads it.
 * @type {never}
 */
export const notYet = /** @type {never} */ (null);

/**
 * Pages on screen by the id of their root element; there may be several in somebody's own layout. fresh(root, page) is what a
 * new page has beside root, state, store(part), find(selector) and change({key: [...]}); begin(page) is called once for each.
 * The `page` that fresh takes is still being made: handlers may keep it, but its own fields come with what fresh returns.
 * @template {object} Own
 * @param {(root: HTMLElement, page: KeptPage & Own) => Own} fresh
 * @param {(page: KeptPage & Own) => void} [begin]
 */
export function keeper(fresh, begin = () => {}) {
  /** @type {Map<string, KeptPage & Own>} */
  const pages = new Map();

  /**
   * @param {string} rootId
   * @returns {(KeptPage & Own) | null}
   */
  function pageOf(rootId) {
    const root = document.getElementById(rootId);
    if (!root) return null;
    let page = pages.get(rootId);
    if (!page || page.root !== root) {
      /** @type {KeptPage} */
      const kept = {
        root, state: {},
        store: (part) => rootId.replace(/-root$/, `-${part}`),
        find: (selector) => root.querySelector(selector),
        change: (changes) => { made.state = setState(made.store("state"), made.state, changes); },
      };
      const made = /** @type {KeptPage & Own} */ (kept);
      Object.assign(made, fresh(root, made));
      page = made;
      pages.set(rootId, made);
      begin(made);
    }
    return page;
  }

  return { pages, pageOf };
}
