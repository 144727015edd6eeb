// Pages on screen, by the id of their root element.

import { setState } from "./state.js";

// Pages on screen by the id of their root element; there may be several in somebody's own layout. fresh(root) is what a new
// page has beside root, state, store(part), find(selector) and change({key: [...]}); begin(page) is called once for each.
export function keeper(fresh, begin) {
  const pages = new Map();

  function pageOf(rootId) {
    const root = document.getElementById(rootId);
    if (!root) return null;
    let page = pages.get(rootId);
    if (!page || page.root !== root) {
      page = {
        root, state: {},
        store: (part) => rootId.replace(/-root$/, `-${part}`),
        find: (selector) => root.querySelector(selector),
        ...fresh(root),
      };
      page.change = (changes) => { page.state = setState(page.store("state"), page.state, changes); };
      pages.set(rootId, page);
      begin(page);
    }
    return page;
  }

  return { pages, pageOf };
}
