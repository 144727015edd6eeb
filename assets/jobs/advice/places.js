// Cards of advice change places when savings become known: what was being read stays under the reader's eyes, and open.

const OPENED = ":scope > .ms-card-body > details";

/** @param {HTMLElement} host */
const cardsIn = (host) => /** @type {HTMLElement[]} */ ([...host.children].filter((one) => one.matches("[data-rule]")));

/**
 * Dash changes elements where they are, so that a card's element gets what another one had: its place on screen and whether
 * it is open follow the rule instead. Returns what is to be called after each change, before it is painted.
 * @param {HTMLElement} host
 */
export function keepPlaces(host) {
  /** @type {Set<string>} */
  const opened = new Set();
  let order = "";
  /** @type {{ rule: string, top: number } | null} */
  let read = null;

  const look = () => {
    const first = window.scrollY > 0 ? cardsIn(host).find((one) => one.getBoundingClientRect().bottom > 0) : undefined;
    read = first ? { rule: first.dataset.rule || "", top: first.getBoundingClientRect().top } : null;
  };
  host.addEventListener("toggle", ({ target }) => {
    const card = /** @type {HTMLElement} */ (target).closest("[data-rule]");
    if (!(card instanceof HTMLElement) || card.querySelector(OPENED) !== target) return;
    const { rule = "" } = card.dataset;
    if (/** @type {HTMLDetailsElement} */ (target).open) opened.add(rule);
    else opened.delete(rule);
  }, true);
  const watch = () => {
    if (host.isConnected) look();
    else window.removeEventListener("scroll", watch);
  };
  window.addEventListener("scroll", watch, { passive: true });

  return () => {
    const cards = cardsIn(host);
    const now = cards.map((one) => one.dataset.rule).join(" ");
    if (order && now !== order) {
      for (const card of cards) {
        const details = /** @type {HTMLDetailsElement | null} */ (card.querySelector(OPENED));
        if (details) details.open = opened.has(card.dataset.rule || "");
      }
      const card = read && cards.find((one) => one.dataset.rule === read?.rule);
      if (card && read) window.scrollBy(0, card.getBoundingClientRect().top - read.top);
    }
    order = now;
  };
}
