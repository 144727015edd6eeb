// Zoom of a figure along an axis of whole numbers, such as steps or ranks, as `from` and `to` of the page's state.

import { get } from "./profiles.js";

/**
 * Keep in the address which whole places of an axis a figure was zoomed to.
 * @param {Profiles.Page} page
 * @param {{ "xaxis.range[0]"?: number, "xaxis.range[1]"?: number, "xaxis.autorange"?: boolean }} change as plotly tells it
 */
export function zoom(page, change) {
  const [from, to] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
  if (from !== undefined && to !== undefined) {
    page.change({ from: [String(Math.max(0, Math.ceil(from)))], to: [String(Math.max(0, Math.floor(to)))] });
  } else if (change["xaxis.autorange"] && get(page, "to")) page.change({ from: [], to: [] });
}
