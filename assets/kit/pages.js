// Pages on screen, by the id of their root element.

import { setState } from "./state.js";

/**
 * Pages on screen by the id of their root element; there may be several in somebody's own layout. fresh(root) is what a new
 * page has beside root, state, store(part), find(selector) and change({key: [...]}); begin(page) is called once for each.
 * @template {object} Own
 * @param {(root: HTMLElement) => Own} fresh
 * @param {(page: KeptPage & Own) => void} begin
 */
export function keeper(fresh, begin) {
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
      const made = Object.assign(kept, fresh(root));
      page = made;
      pages.set(rootId, made);
      begin(made);
    }
    return page;
  }

  return { pages, pageOf };
}
