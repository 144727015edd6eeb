// Why a device stream did nothing in a range, and the critical path of a range: the share of each cause or kind, and the
// longest parts with the call behind each.

import { make, words } from "../../kit/elements.js";
import { count, exactDuration, exactTime, percent } from "../../kit/units.js";
import { setLabel } from "../../kit/i18n.js";
import { duration } from "../axis.js";

/**
 * What a list is about: its heading, sums by cause, what these add up to (ns), the columns with cause and call, the traces.
 * @typedef {object} PartsOptions
 * @property {HTMLElement} title
 * @property {Record<string, number>} sums
 * @property {number} whole
 * @property {string} cause
 * @property {string} row
 * @property {Timeline.Part[]} [names]
 */

/** Colours of causes: those of the host are warm, those of the device cold, the rest grey. */
/** @type {Record<string, string>} */
const FILLS = {
  host: "hsl(28 70% 58%)", synchronisation: "hsl(45 75% 52%)", data: "hsl(322 42% 58%)", stream: "hsl(190 50% 46%)",
  communication: "hsl(266 45% 60%)", short: "hsl(215 10% 70%)", unknown: "hsl(215 8% 48%)",
  computation: "hsl(160 42% 46%)", launch: "hsl(190 50% 46%)", queue: "hsl(215 8% 60%)",
};

/** @param {string} cause */
function swatch(cause) {
  const element = make("span", "ms-timeline-swatch");
  element.style.background = FILLS[cause] || FILLS.unknown;
  return element;
}

/**
 * @param {string} cause
 * @param {number} ns
 * @param {number} idle
 */
function named(cause, ns, idle) {
  const share = idle ? percent(ns / idle) : "";
  const element = make("span", "ms-timeline-key", [
    swatch(cause), words(`timeline.cause.${cause}`), make("span", "", duration(ns)), make("span", "ms-muted", share),
  ]);
  setLabel(element, "title", `timeline.cause_tip.${cause}`);
  return element;
}

/**
 * The parts of the panel for gaps. acts: go(row), showTime(from, length); names: the traces, [{ name }, ...].
 * @param {Timeline.Causes} found
 * @param {Timeline.PanelActs} acts
 * @param {Timeline.Part[]} names
 */
export function gapParts(found, acts, names) {
  if (!found.streams.length) return [words("timeline.gaps_none", {}, "p", "ms-muted")];
  if (!found.rows.length) return [words("timeline.gaps_never", {}, "p", "ms-muted")];
  const share = percent(found.idle / found.range);
  const title = words("timeline.gaps_idle", { idle: duration(found.idle), range: duration(found.range), share }, "strong");
  return parts(found, acts, { title, sums: found.causes, whole: found.idle, cause: "cause", row: "call", names });
}

/**
 * The parts of the panel for a critical path.
 * @param {Timeline.Causes} found
 * @param {Timeline.PanelActs} acts
 */
export function criticalParts(found, acts) {
  const title = words("timeline.critical_title", { range: duration(found.range) }, "strong");
  return parts(found, acts, { title, sums: found.kinds, whole: found.range, cause: "kind", row: "row" });
}

/**
 * Which trace began a collective last.
 * @param {Timeline.Causes} causes
 * @param {number} row
 * @param {Timeline.Part[]} names
 */
function lastToCome({ last = {} }, row, names) {
  if (!last[row]) return "";
  const [part, late] = last[row];
  return words("timeline.gap_last", { name: names[part].name, time: duration(late) }, "span", "ms-muted ms-timeline-last");
}

/**
 * @param {Timeline.Causes} found
 * @param {Timeline.PanelActs} acts
 * @param {PartsOptions} options
 */
function parts(found, acts, { title: heading, sums, whole, cause: causeColumn, row: rowColumn, names = [] }) {
  const causes = Object.entries(sums);
  const bar = make("div", "ms-timeline-causes", causes.map(([cause, ns]) => {
    const part = make("span", "");
    part.style.cssText = `flex-grow: ${ns}; background: ${FILLS[cause] || FILLS.unknown}`;
    setLabel(part, "title", `timeline.cause.${cause}`);
    return part;
  }), { "aria-hidden": "true" });
  const head = make("div", "ms-timeline-causes-names", [heading, ...causes.map(([cause, ns]) => named(cause, ns, whole))]);
  const rows = found.rows.map((row) => {
    const one = Object.fromEntries(found.columns.map((column, at) => [column, row[at]]));
    const [begin, length, behind] = [one.start_ns, one.duration_ns, one[rowColumn]].map(Number);
    const cause = String(one[causeColumn]);
    const name = String(one.name ?? "");
    const start = make("button", "ms-timeline-link", exactTime(begin), { type: "button" });
    start.addEventListener("click", () => acts.showTime(begin, length));
    const title = [one.stack, one.name].filter(Boolean).join("\n");
    const call = behind >= 0
      ? make("button", "ms-timeline-link ms-cut ms-name", name, { type: "button", title })
      : make("span", "ms-muted", "–");
    if (behind >= 0) call.addEventListener("click", () => acts.go(behind));
    return make("tr", "", [
      make("td", "ms-number", start),
      make("td", "ms-number", duration(length), { title: exactDuration(length) }),
      make("td", "", make("span", "ms-timeline-key", [swatch(cause), words(`timeline.cause.${cause}`)])),
      make("td", "ms-timeline-cell-name", [call, lastToCome(found, behind, names)]),
    ]);
  });
  const heads = ["start", "duration", causeColumn, rowColumn].map((one, at) =>
    make("th", at < 2 ? "ms-number" : "", words(`timeline.column.${one}`), { scope: "col" }));
  const table = make("table", "ms-timeline-table", [make("thead", "", make("tr", "", heads)), make("tbody", "", rows)]);
  const all = [head, bar, table];
  if (found.total > found.rows.length) {
    all.push(words("timeline.gaps_longest", { n: count(found.rows.length), total: count(found.total) }, "p", "ms-muted"));
  }
  return all;
}
