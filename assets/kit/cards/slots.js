// Slots of cards (see cards.js): which tag is in which slot, heads, tools, downloads and full screen.

import { badge, icon, iconButton, make, menu, takesText, words } from "../elements.js";
import * as files from "../files.js";
import { escapeMarkup } from "../markup.js";
import { setLabel, translate, writeText } from "../i18n.js";
import { middle } from "../names.js";
import { last, listed, same, toggled } from "../state.js";
import { count } from "../units.js";
import { HEIGHTS } from "./arrangement.js";
import { tracesOf } from "./curves.js";
import * as cards from "./pages.js";
import { NO_CARD, arrange, isOutdated } from "./places.js";
import * as sections from "./sections.js";
import { across, measure } from "./widths.js";

const BY_ROWS = [460, 340, 272];  // px, by rows of cards
const AROUND = 220;  // px of the window without cards

/**
 * Text key of the title of a card that does not belong to one tag.
 * @param {CardsPage} page
 * @param {string} key
 */
const titleOf = (page, key) => (page.kind.title ? page.kind.title(key) : "");

/**
 * @param {HTMLElement} card
 * @returns {PlotlyDrawn | null}
 */
export function plotOf(card) {
  return card.querySelector(".js-plotly-plot");
}

/** @param {Drawing} drawing */
function metaOf(drawing) {
  return drawing.layout ? drawing.layout.meta : drawing.meta;
}

// Slots and heads ----------------------------------------------------------------------------------------------------

/** @param {CardsPage} page */
export function assign(page) {
  const full = last(page.state, "full", null);
  page.keys.forEach((key, slot) => {
    const card = page.slot(slot);
    card.hidden = page.asks[slot] === NO_CARD;
    if (card.hidden || key === null) return;
    if (card.dataset.key !== key) {
      card.dataset.key = key;
      head(page, card, key);
      card.classList.add("ms-pending");
    }
    const filled = page.drawings.get(slot);
    if (filled && key && metaOf(filled).tags[0] === key) painted(page, slot, filled);
    markOutdated(page, slot);
    card.classList.toggle("ms-full", page.only !== null || full === key);
    press(card, "full", listed(page.state, "full", key));
    sections.pressPin(page, card, key);
    page.kind.press(page, card, key);
  });
  const host = page.find(".ms-slots");
  const place = new Map(page.keys.map((key, slot) => [key, slot]));
  const shown = new Set(page.shown);
  const elements = page.items.filter((item) => !("key" in item) || shown.has(item.key)).map((item) =>
    ("key" in item ? page.slot(place.get(item.key)) : sections.headOf(page, item.head)));
  sections.removeOthers(page, elements);
  arrange(host, elements);
  host.classList.toggle("ms-one-card", page.items.length === 1 && page.shown.length === 1);
  host.classList.toggle("ms-height-chosen", last(page.state, "height", "") in HEIGHTS);
  host.style.setProperty("--ms-card-height", `${height(page)}px`);
  measure(page);
}

/**
 * One or two rows of cards fill the height of the window, unless the user chose a height.
 * @param {CardsPage} page
 */
function height(page) {
  const chosen = HEIGHTS[last(page.state, "height", "")];
  if (chosen) return chosen;
  const rows = sections.rowsOf(page.items, across(page, page.shown.length));
  const least = BY_ROWS[Math.min(rows, BY_ROWS.length) - 1] || BY_ROWS[0];
  return rows <= 2 ? Math.max(least, Math.min(560, Math.floor((window.innerHeight - AROUND) / rows))) : least;
}

/**
 * @param {CardsPage} page
 * @param {HTMLElement} card
 * @param {string} key
 */
function head(page, card, key) {
  const title = make("h3", "ms-card-title");
  if (key) {
    title.textContent = key;
    title.title = key;
    card.setAttribute("aria-label", key);
  } else {
    writeText(title, titleOf(page, key));
    setLabel(card, "aria-label", titleOf(page, key));
  }
  const header = card.querySelector(".ms-card-head");
  header.replaceChildren(title, make("span", "ms-card-badges"), make("span", "ms-card-notes"), toolbar(page, key));
}

/**
 * @param {CardsPage} page
 * @param {string} key
 */
function toolbar(page, key) {
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  setLabel(summary, "title", "cards.save");
  setLabel(summary, "aria-label", "cards.save");
  const items = page.kind.files(key);
  const tools = [
    ...(page.paged ? [iconButton("pin", "cards.pin", "pin")] : []),
    ...page.kind.tools(key),
    ...(items.length ? [menu(summary, items)] : []),
    iconButton("full", "cards.full", "full"),
  ];
  const bar = make("span", "ms-card-tools", tools, { role: "toolbar" });
  setLabel(bar, "aria-label", "cards.tools");
  return bar;
}

/**
 * @param {HTMLElement} card
 * @param {string} act
 * @param {boolean} on
 */
export function press(card, act, on) {
  const button = card.querySelector(`[data-act="${act}"]`);
  if (button) button.setAttribute("aria-pressed", String(on));
}

/**
 * Ignore the drawing of a tag that the slot no longer shows.
 * @param {CardsPage} page
 * @param {number} slot
 * @param {Drawing} drawing
 */
export function painted(page, slot, drawing) {
  page.drawings.set(slot, drawing);
  const card = page.slot(slot);
  const meta = metaOf(drawing);
  const wanted = page.asks[slot];
  if (!card || !meta || card.hidden || !wanted) return;
  if (!same(meta.tags, [...wanted.tag, ...(wanted.right || [])])) return;
  card.classList.remove("ms-pending", "ms-failed");
  const { badges, notes } = page.kind.painted(page, card, card.dataset.key, meta);
  card.querySelector(".ms-card-badges").replaceChildren(...badges);
  card.querySelector(".ms-card-notes").replaceChildren(...notes);
}

/**
 * A card that still shows the previous selection of runs says so.
 * @param {CardsPage} page
 * @param {number} slot
 */
export function markOutdated(page, slot) {
  const card = page.slot(slot);
  const outdated = !card.classList.contains("ms-pending") && isOutdated(page.answered.get(slot), page.asks[slot]);
  card.classList.toggle("ms-outdated", outdated);
  card.setAttribute("aria-busy", String(outdated));
}

// Failures -----------------------------------------------------------------------------------------------------------

/** @param {CardsPage} page */
function open(page) {
  /**
   * @param {Wire.Query | null} wanted
   * @param {number} slot
   */
  const unanswered = (wanted, slot) => wanted !== NO_CARD && !same(page.answered.get(slot), wanted);
  return page.asks.flatMap((wanted, slot) => (unanswered(wanted, slot) ? [slot] : []));
}

/**
 * Mark cards whose request failed, since they still show the previous drawing; with the reason of a server that refused it,
 * unless it is said for all of them together.
 * @param {CardsPage} page
 * @param {number[]} failed
 * @param {string} reason
 * @param {boolean} [isSaid]
 */
export function fail(page, failed, reason, isSaid = false) {
  for (const slot of failed) {
    const card = page.slot(slot);
    const retry = make("button", "ms-badge ms-badge-button", words("cards.retry"), { type: "button", "data-act": "retry" });
    card.classList.add("ms-failed");
    card.querySelector(".ms-card-badges").replaceChildren(badge("cards.failed", {}, null, "wrong"));
    const notes = isSaid ? [] : reason ? [make("span", "ms-card-reason", reason)] : [retry];
    card.querySelector(".ms-card-notes").replaceChildren(...notes);
  }
}

// shell.js tells the status of every answer, 0 for none. A server that is back is asked again; an error of its own is not
// likely to go away, so that waits for the button.
let gone = false;
window.addEventListener("mindscope:answer", ({ detail: { status, reason, isSaid } }) => {
  const pages = Array.from(document.querySelectorAll(".ms-tagged")).flatMap((root) => cards.pageAround(root) || []);
  if (status === 0 || status === 400 || status >= 500) {
    for (const page of pages) {
      fail(page, open(page), reason, isSaid);
      page.release();
    }
  }
  if (status < 400 && status > 0 && gone) pages.forEach((page) => page.request(open(page)));
  gone = status === 0 || status >= 502;
});

// What was refused of a page that asks by itself is of its cards alone.
document.addEventListener("mindscope:refused", ({ target, detail: { reason } }) => {
  const page = target instanceof Element && cards.pageAround(target);
  if (!page) return;
  const waiting = open(page);
  fail(page, waiting.length ? waiting : [0], reason);
  page.release();
});

// Saving -------------------------------------------------------------------------------------------------------------

const TITLE = 22;  // px of the title above the plot of an image

export function imageItems() {
  return ["png", "svg"].map((format) => make("button", "ms-menu-item", words(`cards.save.${format}`),
    { type: "button", "data-act": format }));
}

/**
 * Links to plain routes, completed when the menu opens: [[file name, text key], ...].
 * @param {string[][]} names
 */
export function links(names) {
  return names.map(([name, key]) => make("a", "ms-menu-item", words(key), { "data-save": name, download: "" }));
}

/**
 * @param {CardsPage} page
 * @param {HTMLElement} card
 */
function drawLinks(page, card) {
  const { key = "" } = card.dataset;
  const tags = page.kind.fileTags ? page.kind.fileTags(page, key) : [key];
  const range = page.kind.fileRange ? page.kind.fileRange(page, key) : {};
  for (const element of card.querySelectorAll("[data-save]")) {
    element.href = cards.exportUrl(page, element.dataset.save, tags, range);
  }
}

/**
 * The run whose cards these are, or how many.
 * @param {CardsPage} page
 */
function subjectOf({ catalogue }) {
  const { runs } = catalogue;
  return runs.length === 1 ? runs[0] : translate("cards.of_runs", { n: count(runs.length) });
}

/**
 * @param {CardsPage} page
 * @param {HTMLElement} card
 * @param {string} key
 */
function forFile(page, card, key) {
  const plot = /** @type {PlotlyDrawn} */ (plotOf(card));
  const { layout } = files.withColours(plot, card, { grid: "--ms-plot-grid", zero: "--ms-plot-zero" });
  const drawing = page.drawings.get(Number(card.dataset.slot));
  const data = drawing ? tracesOf(drawing) : [];
  const name = `${key || translate(titleOf(page, key))} · ${subjectOf(page)} · ${files.pageTitle()}`;
  const corner = { x: 0.01, xanchor: "left", y: 1, yanchor: "top", pad: { t: 8 } };
  layout.title = { text: escapeMarkup(name), font: { size: 13 }, ...corner };
  layout.margin = { ...layout.margin, t: Math.max(30, (layout.margin || {}).t || 0) };
  const figure = { data, layout };
  return page.kind.forFile ? page.kind.forFile(page, card, key, figure) : figure;
}

/**
 * @param {CardsPage} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {string} format
 */
function saveImage(page, card, key, format) {
  const { clientWidth: width, clientHeight: height } = plotOf(card) || card;
  const tags = key || (page.kind.fileTags ? page.kind.fileTags(page, key) : []).join("_");
  const name = files.fileName([middle(subjectOf(page), 60), files.pageTitle(), tags].filter(Boolean).join("_"), "chart", 160);
  return files.saveFigure(forFile(page, card, key), format, name, width, height + TITLE);
}

// Events -------------------------------------------------------------------------------------------------------------

/** @type {Record<string, (page: CardsPage, card: HTMLElement, key: string, button: HTMLElement) => unknown>} */
const acts = {
  retry: (page, card) => page.request([Number(card.dataset.slot)]),
  full: (page, card, key) => page.change({ full: toggled(page.state, "full", key).slice(-1) }),
  pin: (page, card, key) => page.change({ pin: toggled(page.state, "pin", key) }),
  png: (page, card, key) => saveImage(page, card, key, "png"),
  svg: (page, card, key) => saveImage(page, card, key, "svg"),
};

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest(".ms-slot [data-act]");
  if (!button) return;
  const card = button.closest(".ms-slot");
  const page = cards.pageAround(card);
  if (!page) return;
  const act = (page.kind.acts || {})[button.dataset.act] || acts[button.dataset.act];
  if (act) act(page, card, card.dataset.key, button);
});

document.addEventListener("toggle", (event) => {
  const card = event.target instanceof Element && event.target.closest(".ms-slot");
  const page = card && cards.pageAround(card);
  if (page && event.target?.open) drawLinks(page, card);
  if (card) card.classList.toggle("ms-menu-open", Boolean(card.querySelector("details[open]")));
}, true);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key !== "f" && event.key !== "Escape") return;
  const large = document.querySelector(".ms-slot.ms-full:not([hidden])");
  const card = large || (event.key === "f" && document.activeElement.closest(".ms-slot"))
    || (event.key === "f" && document.querySelector(".ms-slot:hover"));
  if (!card || (event.key === "Escape" && !large)) return;
  const page = cards.pageAround(card);
  if (page && page.only !== null) return;
  event.preventDefault();
  if (page) acts.full(page, card, card.dataset.key, card);
});
