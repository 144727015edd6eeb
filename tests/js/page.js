// What modules touch of a browser when they are loaded, for tests that run without one. Import this file first.
const nothing = () => {};
const element = () => ({
  addEventListener: nothing, append: nothing, prepend: nothing, replaceChildren: nothing, setAttribute: nothing, dataset: {},
  style: {}, classList: { add: nothing, remove: nothing, toggle: nothing },
  getContext: () => ({ measureText: (text) => ({ width: 6 * text.length }) }),
});
class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}

export const changes = [];  // what was written with set_props: [id, props]

globalThis.window = globalThis;
Object.assign(globalThis, {
  addEventListener: nothing, dispatchEvent: nothing, MutationObserver: Observer, ResizeObserver: Observer,
  Element: class {}, Text: class {},
  HTMLElement: class {}, CustomEvent: class {}, setInterval: nothing, innerWidth: 1440, innerHeight: 900, devicePixelRatio: 1,
  matchMedia: () => ({ matches: false, addEventListener: nothing }),
  location: { search: "" }, localStorage: { getItem: () => null, setItem: nothing },
  dash_clientside: { no_update: "no update", set_props: (id, props) => changes.push([id, props]) },
  document: {
    documentElement: { lang: "en", dataset: {}, style: {}, toggleAttribute: nothing, hasAttribute: () => false },
    body: element(), activeElement: null,
    addEventListener: nothing, createElement: element, createElementNS: element, getElementById: () => null,
    querySelector: () => null, querySelectorAll: () => [], getElementsByClassName: () => [],
  },
});

/** A page as the keeper makes it, with this state. */
export function pageWith(state, more = {}) {
  const page = { state, change: (entries) => Object.assign(page.state, entries), ...more };
  return page;
}
