// One card of the scalars page: tools, badges, image files.

import { badge, iconButton, make, words } from "../../kit/elements.js";
import { escapeMarkup } from "../../kit/markup.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { last, listed, same, toggled } from "../../kit/state.js";
import * as slots from "../../kit/cards/slots.js";
import * as derived from "./derived.js";
import * as digests from "./digests.js";
import { named } from "./grouping.js";
import * as hover from "./hover.js";
import * as insights from "./insights.js";
import * as judging from "./judging.js";
import * as rangeDialog from "./range.js";
import * as runList from "./run_list.js";
import * as sound from "./sound.js";
import { thresholds } from "./view.js";
import { back, jumpTo, restore, setView, viewOf } from "./zoom.js";

/** @type {["nan" | "above" | "below", string][]} */
const KINDS = [["nan", "NaN"], ["above", "+Inf"], ["below", "-Inf"]];

/** @param {string} key */
export function buttons(key) {
  const own = ["back", "restore", "zoom", "log", "range", "threshold"].map((name) => iconButton(name, `scalars.${name}`, name));
  return [...derived.buttons(key), ...own, iconButton("sound", "scalars.sound", "sound")];
}

export function files() {
  const tables = slots.links([["scalars.csv", "scalars.save.csv"], ["scalars.json", "scalars.save.json"]]);
  return [...slots.imageItems(), ...tables, digests.item(), judging.item()];
}

/**
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 */
export function press(page, card, key) {
  slots.press(card, "log", listed(page.state, "log", key));
  slots.press(card, "zoom", !listed(page.state, "pan", key));
  slots.press(card, "sound", sound.isPlaying(card));
  slots.press(card, "threshold", thresholds(page, key).length > 0);
  const view = viewOf(page, key);
  slots.press(card, "range", Boolean(view.split(",")[2]));
  const zoomed = view !== "";
  for (const act of ["back", "restore"]) card.querySelector(`[data-act="${act}"]`).disabled = !zoomed;
  card.classList.toggle("ms-zoomed", zoomed);
  derived.press(page, card, key);
  markReading(page, card);
}

/**
 * A card that still shows the points of another view says so until the points of this one have come.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
function markReading(page, card) {
  const slot = Number(card.dataset.slot);
  const [wanted, shown] = [page.asks[slot], page.answered.get(slot)];
  if (!wanted || !shown || same(wanted.view, shown.view) || card.classList.contains("ms-pending")) return;
  card.querySelector(".ms-card-notes").replaceChildren(badge("scalars.reading", {}, "scalars.reading.title", "accent"));
}

// What the figure says -----------------------------------------------------------------------------------------------

/**
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {Curves.ChartMeta} meta
 */
export function painted(page, card, key, meta) {
  hover.refresh(page, card);
  runList.painted(page, card);
  window.requestAnimationFrame(() => insights.painted(page, card));
  title(card, meta);
  return { badges: warnings(meta), notes: [...derived.notes(meta), ...legend(meta), ...notes(page, key, meta)] };
}

/**
 * Show the baseline beside the tag.
 * @param {HTMLElement} card
 * @param {Curves.ChartMeta} meta
 */
function title(card, meta) {
  const heading = card.querySelector(".ms-card-title");
  const minus = heading.querySelector(".ms-minus");
  if (minus) minus.remove();
  if (meta.base !== null) heading.append(make("span", "ms-minus", ` − ${named(meta.base)}`));
}

/** @param {Curves.ChartMeta} meta */
function warnings(meta) {
  const result = [];
  if (meta.beyond) result.push(badge("scalars.beyond", { n: count(meta.beyond) }, "scalars.beyond.title"));
  const bad = KINDS.filter(([name]) => meta[name] > 0).map(([name, text]) => `${count(meta[name])} ${text}`).join(" · ");
  if (bad) result.push(jump(bad, meta.first));
  for (const { text, interval, satisfied, tags } of meta.thresholds) {
    const condition = text.replace(/([<>])/g, "$1 ").replace(/[&|]/, " $& ");
    const values = { condition, interval, n: count(satisfied), tags: tags.join(", ") };
    result.push(badge("scalars.satisfied", values, "scalars.satisfied.title", satisfied ? "wrong" : "plain"));
  }
  if (meta.outliers) result.push(outliers(meta.outliers));
  if (meta.hidden) result.push(badge("scalars.hidden", { n: count(meta.hidden) }));
  if (meta.superseded) {
    result.push(badge("scalars.superseded", { n: count(meta.superseded) }, "scalars.superseded.title"));
  }
  if (meta.unplaced) result.push(badge("scalars.unplaced", { n: count(meta.unplaced) }));
  return result;
}

/**
 * What the axis leaves out by the rule of layouts/curves/value_ranges.py, and the press that changes it.
 * @param {Curves.ShownOutliers} outliers
 */
function outliers({ shown, beyond }) {
  const key = shown ? "scalars.outliers.shown" : "scalars.outliers";
  const made = make("button", "ms-badge ms-badge-button", words(key, { n: count(beyond) }), {
    type: "button", "data-act": "outliers", "aria-pressed": String(shown),
  });
  setLabel(made, "title", `${key}.title`);
  return made;
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {Curves.ChartMeta} meta
 */
function notes(page, key, meta) {
  const result = [];
  if (meta.lines < meta.series) {
    result.push(badge("scalars.lines", { shown: count(meta.lines), total: count(meta.series) }, null, "accent"));
    result.push(make("button", "ms-badge ms-badge-button", words("scalars.every"), { type: "button", "data-act": "every" }));
  }
  if (!meta.points) return result;  // a derived curve says why
  const values = { n: count(meta.points - meta.unplaced), inside: count(meta.inside) };
  const zoomed = viewOf(page, key) !== "";
  if (meta.points > 0 && meta.sent === 0) {
    return [...result, badge(zoomed ? "scalars.points.outside" : "scalars.points.none", values)];
  }
  const all = meta.points - meta.unplaced === 1 ? "scalars.point" : "scalars.points";
  const points = zoomed ? "scalars.points.part" : meta.whole ? all : "scalars.points.drawn";
  result.push(badge(points, values, meta.whole ? "scalars.points.whole" : "scalars.points.title"));
  return result;
}

/**
 * @param {string} what
 * @param {Curves.FirstBad | null} first
 */
function jump(what, first) {
  const button = make("button", "ms-badge ms-badge-wrong ms-badge-button", what, { type: "button", "data-act": "jump" });
  if (!first) {
    button.disabled = true;
    return button;
  }
  button.dataset.low = String(first.low);
  button.dataset.high = String(first.high);
  setLabel(button, "title", "scalars.bad.title", { what, step: count(first.step), run: first.label });
  return button;
}

/** @param {Curves.ChartMeta} meta */
function legend(meta) {
  return meta.legend.map((item) => {
    const stroke = make("span", `ms-stroke ms-stroke-${item.stroke}`, [], { "aria-hidden": "true" });
    if (item.colour) stroke.style.color = item.colour;
    const side = item.axis === 2 ? " → R" : "";
    return make("span", "ms-legend ms-cut", [stroke, make("span", "ms-cut", item.tag + side)], { title: item.tag });
  });
}

// Saving -------------------------------------------------------------------------------------------------------------

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {Drawing} figure
 */
export function forFile(page, key, { data, layout }) {
  const lines = data.filter((trace) => trace.meta && trace.meta.key !== undefined);
  if (layout.meta.base !== null) layout.title.text += escapeMarkup(` − ${named(layout.meta.base)}`);
  layout.showlegend = lines.length > 1 && lines.length <= 20;
  layout.legend = { orientation: "h", x: 0, y: -0.14, yanchor: "top", font: { size: 10 } };
  const axis = last(page.state, "x", "step");
  const titled = { standoff: 6, font: { size: 10 } };
  const title = {
    ...titled,
    text: escapeMarkup(axis.startsWith("tag:") ? axis.slice(4) : translate(`scalars.x.${axis}`)),
  };
  layout.xaxis = { ...layout.xaxis, title };
  for (const { name, number } of [{ name: "yaxis", number: 1 }, { name: "yaxis2", number: 2 }]) {
    const tags = new Set(
      lines.filter((trace) => (trace.yaxis || "y") === name.replace("axis", "")).map((trace) => trace.meta.tag),
    );
    if (!key && layout[name]) layout[name].title = { ...titled, text: escapeMarkup([...tags].join(", ")), standoff: number };
  }
  layout.margin = {
    ...layout.margin,
    l: (layout.margin?.l ?? 0) + 14,
    r: (layout.margin?.r ?? 0) + 14,
    b: 46 + (layout.showlegend ? 18 * Math.ceil(lines.length / 3) : 0),
  };
  const labelled = data.map((trace) => (lines.includes(trace)
    ? { ...trace, name: escapeMarkup(key ? labelOf(trace.meta) : `${labelOf(trace.meta)} ${trace.meta.tag}`) }
    : { ...trace, showlegend: false }));
  return { data: labelled, layout };
}

/** @param {SentMeta} meta */
function labelOf(meta) {
  return meta.members ? named(meta.label) : meta.label;
}

/**
 * Steps in view, if the axis shows steps.
 * @param {Curves.Page} page
 * @param {string} key
 * @returns {Record<string, string>}
 */
export function fileRange(page, key) {
  const view = viewOf(page, key).split(",");
  if (last(page.state, "x", "step") !== "step" || !view[0]) return {};
  return { from: String(Math.ceil(Number(view[0]))), to: String(Math.floor(Number(view[1]))) };
}

// Buttons -------------------------------------------------------------------------------------------------------------

export const acts = {
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  log: (page, card, key) => {
    page.change({ log: toggled(page.state, "log", key) });
    const [x0, x1] = viewOf(page, key).split(",");
    setView(page, key, x0 ? `${x0},${x1},,` : "", false);
  },
  ...derived.acts,
  copy_text: digests.copy,
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  zoom: (page, card, key) => page.change({ pan: toggled(page.state, "pan", key) }),
  sound: sound.toggle,
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  every: (page, card, key) => page.change({ every: toggled(page.state, "every", key) }),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  outliers: (page, card, key) => page.change({ outliers: toggled(page.state, "outliers", key) }),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  range: (page, card, key) => {
    const plot = card.querySelector(".js-plotly-plot");
    if (plot) rangeDialog.open(page, key, plot.layout.yaxis.range, listed(page.state, "log", key));
  },
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  back: (page, card, key) => back(page, key),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  restore: (page, card, key) => restore(page, key),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   * @param {HTMLElement} button
   */
  mark: (page, card, key, button) => insights.press(page, key, button),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   * @param {HTMLElement} button
   */
  judging: (page, card, key, button) => judging.open(page, key, button),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   * @param {HTMLElement} button
   */
  jump: (page, card, key, button) => jumpTo(page, key, button),
  /**
   * @param {Curves.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  threshold: async (page, card, key) => (await import("./threshold.js")).open(page, key),
};
