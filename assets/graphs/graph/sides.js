// The columns beside the canvas, the tree and the panel: hidden or shown, and resized by the separators between them.

import { entry, listed, toggled, withEntry } from "../../kit/state.js";
import * as canvas from "../canvas.js";

/** @typedef {"tree" | "panel"} Side */

/** @type {Record<Side, string>} */
const COLUMNS = { tree: ".ms-graph-left", panel: ".ms-graph-right" };
/** @type {Side[]} */
const SIDES = ["tree", "panel"];
const LEAST_PX = 140;
const LEAST_CANVAS_PX = 240;
const STEP_PX = 16;

/**
 * The width of a column in px: at least that of a short name, and no more than the canvas and the other column leave.
 * @param {number} wanted
 * @param {number} room
 * @param {number} other
 */
export function widthWithin(wanted, room, other) {
  return Math.round(Math.max(LEAST_PX, Math.min(wanted, room - other - LEAST_CANVAS_PX)));
}

/**
 * @param {Graphs.Page} page
 * @param {Side} side
 */
export function hide(page, side) {
  canvas.turn(page);
  page.change({ fold: toggled(page.state, "fold", side) });
}

/** @param {Graphs.Page} page */
export function build(page) {
  for (const split of page.root.querySelectorAll(".ms-graph-split")) {
    const side = split.dataset.side;
    split.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      split.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    split.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      if (!split.hasPointerCapture(event.pointerId)) return;
      const box = page.find(".ms-graph-body").getBoundingClientRect();
      const half = split.offsetWidth / 2;
      resize(page, side, side === "tree" ? event.clientX - box.left - half : box.right - event.clientX - half);
    });
    split.addEventListener("lostpointercapture", () => keep(page, side));
    split.addEventListener("dblclick", () => page.change({ sizes: withEntry(page.state, "sizes", side, "") }));
    split.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const towards = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
      if (!towards) return;
      const wider = side === "tree" ? towards : -towards;
      resize(page, side, width(page, side) + wider * STEP_PX);
      keep(page, side);
      event.preventDefault();
      event.stopPropagation();
    });
  }
}

/**
 * Show what the state says: which columns are hidden, and how wide the others are.
 * @param {Graphs.Page} page
 */
export function draw(page) {
  for (const side of SIDES) {
    const hidden = listed(page.state, "fold", side);
    page.root.classList.toggle(`ms-graph-no-${side}`, hidden);
    const button = page.find(`[data-act="${side}"]`);
    button.setAttribute("aria-expanded", String(!hidden));
    const wanted = Number(entry(page.state, "sizes", side));
    const known = page.find(".ms-graph-body").style;
    if (wanted > 0) known.setProperty(`--ms-graph-${side}`, `${Math.min(wanted, 2000)}px`);
    else known.removeProperty(`--ms-graph-${side}`);
    say(page, side);
  }
}

/**
 * A separator has the width of its column as its value.
 * @param {Graphs.Page} page
 * @param {Side} side
 */
function say(page, side) {
  const split = page.find(`.ms-graph-split[data-side="${side}"]`);
  split.setAttribute("aria-valuenow", String(width(page, side)));
  split.setAttribute("aria-valuemin", String(LEAST_PX));
}

/**
 * @param {Graphs.Page} page
 * @param {Side} side
 */
function width(page, side) {
  return page.find(COLUMNS[side]).offsetWidth;
}

/**
 * @param {Graphs.Page} page
 * @param {Side} side
 * @param {number} wanted
 */
function resize(page, side, wanted) {
  const other = width(page, side === "tree" ? "panel" : "tree");
  const body = page.find(".ms-graph-body");
  canvas.turn(page);
  body.style.setProperty(`--ms-graph-${side}`, `${widthWithin(wanted, body.clientWidth, other)}px`);
  say(page, side);
}

/**
 * @param {Graphs.Page} page
 * @param {Side} side
 */
function keep(page, side) {
  page.change({ sizes: withEntry(page.state, "sizes", side, String(width(page, side))) });
}
