// The key to the colours of the lines: a scale with ticks, or the categories. It stays visible while the axes scroll.

import { make, words } from "../kit/elements.js";
import { count } from "../kit/units.js";
import { setLabel, translate } from "../kit/i18n.js";
import { fullOf } from "./columns.js";

const FULL = 100;

/**
 * @param {string} colour
 * @param {string | HTMLElement} text
 */
function dot(colour, text) {
  const mark = make("span", "ms-dot");
  mark.style.background = colour;
  return make("li", "", [mark, typeof text === "string" ? make("span", "ms-cut ms-name", text, { title: text }) : text]);
}

/** @param {Lineage.Key} key */
function scaleOf({ stops = [], ticks = [] }) {
  const bar = make("div", "ms-lineage-key-bar");
  const places = stops.map((colour, i) => `${colour} ${(FULL * i) / (stops.length - 1)}%`);
  bar.style.background = `linear-gradient(to top, ${places.join(", ")})`;
  const marks = ticks.map(([part, text]) => {
    const mark = make("span", "ms-lineage-key-tick", text);
    mark.style.bottom = `${part * FULL}%`;
    return mark;
  });
  return make("div", "ms-lineage-key-scale", [bar, ...marks]);
}

/**
 * The key of a figure in its box; hidden if the lines have the colours of their runs.
 * @param {HTMLElement} box
 * @param {Lineage.Key | undefined} key
 * @param {Lineage.Page} page
 */
export function drawKey(box, key, page) {
  const column = key && page.columns.get(key.name);
  box.hidden = !column;
  if (!column) return;
  const scale = key.scale === "linear" ? "" : ` (${translate(`lineage.${key.scale}`)})`;
  const title = `${fullOf(column)}${scale}`;
  /** @type {HTMLElement[]} */
  const parts = [make("div", "ms-lineage-key-title ms-cut ms-name", title, { title })];
  const grey = key.apart ? [dot(key.grey, words("lineage.no_value"))] : [];
  if (key.entries) {
    const more = key.left ? [make("li", "ms-muted", words("lineage.more_values", { n: count(key.left) }))] : [];
    const entries = key.entries.map(([colour, text]) => dot(colour, text));
    parts.push(make("ul", "ms-lineage-key-list", [...entries, ...more, ...grey]));
  } else {
    parts.push(scaleOf(key));
    if (grey.length) parts.push(make("ul", "ms-lineage-key-list", grey));
  }
  box.replaceChildren(...parts);
  setLabel(box, "aria-label", "lineage.key", { name: title });
}
