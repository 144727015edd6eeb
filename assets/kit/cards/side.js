// The column beside the cards, with tags and the run list: as wide as the names of runs need to be told apart, or as the user
// has dragged it, by pointer or with arrow keys at its edge. The width is kept with the preferences, for all pages.

import { make } from "../elements.js";
import { setLabel } from "../i18n.js";

const USUAL_PX = 220;
const LEAST_PX = 160;
const STEP_PX = 16;
const MOST_SHARE = 0.45;  // of the page
const MOST_SHARE_BY_ITSELF = 0.32;

/**
 * A width that leaves room for the cards.
 * @param {number} wanted
 * @param {number} room of the page
 * @param {number} [share]
 */
export function within(wanted, room, share = MOST_SHARE) {
  return Math.round(Math.max(LEAST_PX, Math.min(wanted, room * share)));
}

function chosen() {
  return window.mindscope.prefs.current().side;
}

/** @type {WeakMap<Element, CardsPage>} */
const pages = new WeakMap();

/** @param {CardsPage} page */
export function build(page) {
  pages.set(page.root, page);
  const edge = make("div", "ms-side-edge", [], { role: "separator", tabindex: "0", "aria-orientation": "vertical" });
  for (const name of ["aria-label", "title"]) setLabel(edge, name, "cards.side");
  const host = page.find(".ms-tags");
  /** @param {number} wanted */
  const resize = (wanted) => show(page, within(wanted, page.root.clientWidth));
  const keep = () => window.mindscope.prefs.set({ side: host.offsetWidth });
  edge.addEventListener("pointerdown", (event) => {
    edge.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  edge.addEventListener("pointermove", (event) => {
    if (edge.hasPointerCapture(event.pointerId)) resize(event.clientX - host.getBoundingClientRect().left);
  });
  edge.addEventListener("pointerup", keep);
  edge.addEventListener("dblclick", () => window.mindscope.prefs.set({ side: 0 }));
  edge.addEventListener("keydown", (event) => {
    const towards = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (!towards && event.key !== "Home") return;
    event.preventDefault();
    event.stopPropagation();
    if (!towards) return window.mindscope.prefs.set({ side: 0 });
    resize(host.offsetWidth + towards * STEP_PX);
    return keep();
  });
  host.append(edge);
  settle(page);
}

/**
 * @param {CardsPage} page
 * @param {number} width
 */
function show(page, width) {
  const edge = page.root.querySelector(".ms-side-edge");
  if (edge) edge.setAttribute("aria-valuenow", String(width));
  const value = width === USUAL_PX ? "" : `${width}px`;
  if (page.root.style.getPropertyValue("--ms-side") !== value) page.root.style.setProperty("--ms-side", value);
}

/**
 * Give the column its width: the chosen one, else what its names need.
 * @param {CardsPage} page
 */
export function settle(page) {
  const room = page.root.clientWidth;
  const own = chosen();
  if (own) show(page, within(own, room));
  else show(page, Math.max(USUAL_PX, within(page.sideNeeds || 0, room, MOST_SHARE_BY_ITSELF)));
}

/**
 * Tell how wide the column must be for its names.
 * @param {CardsPage} page
 * @param {number} px
 */
export function need(page, px) {
  if (page.sideNeeds === px) return;
  page.sideNeeds = px;
  settle(page);
}

function settleAll() {
  for (const root of document.querySelectorAll(".ms-tagged")) {
    const page = pages.get(root);
    if (page) settle(page);
  }
}

for (const name of ["mindscope:prefs", "resize"]) window.addEventListener(name, settleAll);
