// The text page: one card per tag with one text per run, all at the same step. Counterpart of layouts/values/text. A text is
// fetched when it is shown, and set as textContent only.

import { badge, icon, make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { nameElement } from "../../kit/name_elements.js";
import { Names } from "../../kit/names.js";
import { last, listed, toggled } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import * as stepping from "../../kit/cards/stepping.js";

const MOST = 24;         // texts per card, until all are requested
const LONGEST = 200000;  // characters shown of a text
const KEPT = 200;        // texts cached
const SETTLED_MS = 60;

/**
 * @param {RecordedTexts.Page} page
 * @param {string} tag
 * @param {Stepped} series
 * @param {number} place
 */
function address(page, tag, series, place, extra = {}) {
  const query = new URLSearchParams({ run: series.run, tag, place: String(place) });
  // Steps above 2^53 are not exact in a browser.
  if (Number.isSafeInteger(series.steps[place])) query.set("step", String(series.steps[place]));
  query.set("v", series.walls[place].toString(36));
  for (const [name, value] of Object.entries(extra)) query.set(name, value);
  return `${page.root.dataset.routes}text?${query}`;
}

/**
 * Resolves to { text, total, problem }, with the beginning of a long text, or to { reason } or { key }. Failures are
 * not cached.
 * @param {RecordedTexts.Page} page
 * @param {string} source
 */
async function fetched(page, source) {
  const known = page.kept.get(source);
  if (known) return known;
  try {
    const answer = await fetch(source);
    if (!answer.ok) return { reason: (await answer.json()).error };
    const whole = await answer.text();
    const problem = decodeURIComponent(answer.headers.get("Mindscope-Problem") || "");
    const result = { text: whole.slice(0, LONGEST), total: whole.length, problem };
    page.kept.set(source, result);
    const [oldest] = page.kept.keys();
    if (page.kept.size > KEPT) page.kept.delete(oldest);
    return result;
  } catch (error) {
    return { key: "text.unanswered" };
  }
}

function block() {
  const save = make("a", "ms-button ms-button-icon", icon("download"), { download: "" });
  setLabel(save, "title", "text.save");
  setLabel(save, "aria-label", "text.save");
  const caption = make("figcaption", "", [
    make("span", "ms-dot", [], { "aria-hidden": "true" }),
    make("span", "ms-text-run ms-cut"),
    make("span", "ms-text-step ms-muted"),
    make("span", "ms-text-tools", save),
  ]);
  return make("figure", "ms-text", [caption, make("div", "ms-text-notes"), make("pre", "ms-text-body", [], { tabindex: "0" })]);
}

/**
 * @param {RecordedTexts.Figure} figure
 * @param {...HTMLElement} notes
 */
function note(figure, ...notes) {
  figure.querySelector(".ms-text-notes").replaceChildren(...notes);
}

/**
 * @param {RecordedTexts.Figure} figure
 * @param {RecordedTexts.Fetched} found
 */
function write(figure, { text, total, problem, reason, key }) {
  const wrong = "ms-text-note ms-text-wrong";
  figure.querySelector("pre").textContent = text === undefined ? "" : text;
  if (text === undefined) return note(figure, key ? words(key, {}, "p", wrong) : make("p", wrong, reason || ""));
  const notes = problem ? [make("p", wrong, problem)] : [];
  if (total !== undefined && total > text.length) {
    notes.push(words("text.cut", { n: count(text.length), total: count(total) }, "p", "ms-text-note"));
  }
  return note(figure, ...notes);
}

/**
 * @param {RecordedTexts.Page} page
 * @param {RecordedTexts.Figure} figure
 * @param {string} tag
 * @param {Stepped} series
 * @param {number} place
 * @param {Names} labels of all series of the card
 */
function fill(page, figure, tag, series, place, labels) {
  figure.dataset.run = series.run;
  figure.querySelector(".ms-dot").style.background = series.colour;
  const name = figure.querySelector(".ms-text-run");
  name.replaceChildren(nameElement(series.label, labels));
  name.title = series.label;
  const save = figure.querySelector("a[download]");
  const label = figure.querySelector(".ms-text-step");
  save.hidden = place < 0;
  if (place < 0) {
    figure.dataset.source = "";
    label.replaceChildren();
    delete label.dataset.english;
    figure.querySelector("pre").textContent = "";
    return note(figure, words("text.not_yet", { step: count(series.order[0]) }, "p", "ms-text-note"));
  }
  writeText(label, "text.step", { step: count(series.steps[place]) });
  label.title = new Date(series.walls[place]).toLocaleString();
  const source = address(page, tag, series, place);
  if (figure.dataset.source === source) return undefined;
  figure.dataset.source = source;
  save.href = address(page, tag, series, place, { download: "1" });
  window.clearTimeout(figure.settling);
  figure.settling = window.setTimeout(async () => {
    const found = await fetched(page, source);
    if (figure.dataset.source === source) write(figure, found);
  }, SETTLED_MS);
  return undefined;
}

/**
 * @param {RecordedTexts.Page} page
 * @param {SteppedCard} card
 * @param {string} key
 */
function show(page, card, key) {
  const host = card.querySelector(".ms-texts");
  if (!host.firstChild) host.replaceChildren(make("div", "ms-text-list"), stepping.ownSlider(page, card));
  const list = host.firstChild;
  const shown = listed(page.state, "every", key) ? card.stepped : card.stepped.slice(0, MOST);
  const position = stepping.positionOf(page, card);
  while (list.children.length > shown.length) list.lastChild.remove();
  while (list.children.length < shown.length) list.append(block());
  const labels = new Names(card.stepped.map((series) => series.label));
  shown.forEach((series, at) =>
    fill(page, list.children[at], key, series, stepping.placeAt(series, position), labels));
}

/** @param {RecordedTexts.Page} page */
function build(page) {
  const wrap = make("button", "ms-button ms-text-wrap", words("text.wrap"), { type: "button" });
  wrap.addEventListener("click", () => page.change({ wrap: last(page.state, "wrap", "1") === "0" ? [] : ["0"] }));
  return { left: stepping.control(page), right: [wrap] };
}

/** @param {RecordedTexts.Page} page */
function draw(page) {
  const wraps = last(page.state, "wrap", "1") !== "0";
  page.find(".ms-text-wrap").setAttribute("aria-pressed", String(wraps));
  page.root.classList.toggle("ms-texts-wrapped", wraps);
  stepping.draw(page);
}

/**
 * @param {RecordedTexts.Page} page
 * @param {SteppedCard} card
 * @param {string} key
 * @param {Wire.Recorded} meta
 */
function painted(page, card, key, meta) {
  stepping.take(page, card, meta);
  const number = card.stepped.reduce((sum, series) => sum + series.steps.length, 0);
  const notes = [badge(number === 1 ? "text.count_one" : "text.count", { n: count(number) }, "text.count.title")];
  if (card.stepped.length > MOST && !listed(page.state, "every", key)) {
    notes.push(badge("text.runs", { shown: MOST, total: count(card.stepped.length) }, null, "accent"));
    notes.push(make("button", "ms-badge ms-badge-button", words("text.every"), { type: "button", "data-act": "every" }));
  }
  return { badges: [], notes };
}

cards.define("text", {
  fields: () => ({ kept: new Map() }),
  build, draw, show, painted,
  ask: () => ({}),
  tools: () => [],
  files: () => [],
  press: () => {},
  acts: { every: (page, card, key) => page.change({ every: toggled(page.state, "every", key) }) },
});
