// The images page: one card per tag with one picture per run, all at the same step. Counterpart of layouts/values/images. The
// server sends only when images were recorded; a picture is an <img> of the image route, so moving a slider changes nothing but
// addresses. pictures.js draws pictures, compare.js compares two.

import { badge, iconButton, make, pressSegment, segments, words } from "../../kit/elements.js";
import { count, percent } from "../../kit/units.js";
import { setLabel } from "../../kit/i18n.js";
import { Names } from "../../kit/names.js";
import { last, listed, toggled, withEntry } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import * as slots from "../../kit/cards/slots.js";
import * as stepping from "../../kit/cards/stepping.js";
import * as comparison from "./compare.js";
import { arrange, comparing, fill, indexOf, picture, settle } from "./pictures.js";

const MOST = 24;      // pictures per card, until all are requested
const ADJUST_WAIT_MS = 200;
const ADJUSTMENTS = [["bright", "images.brightness"], ["contrast", "images.contrast"]];

// The grid of a card ------------------------------------------------------------------------------------------------

/**
 * @param {Images.Page} page
 * @param {SteppedCard} card
 */
function gridOf(page, card) {
  const host = card.querySelector(".ms-images");
  let grid = host.querySelector(":scope > .ms-image-grid");
  if (!grid) {
    grid = make("div", "ms-image-grid");
    host.replaceChildren(grid, stepping.ownSlider(page, card));
    new ResizeObserver(() => arrange(grid)).observe(grid);
  }
  return grid;
}

/**
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {string} key
 */
function show(page, card, key) {
  if (comparing(page) === key) return comparison.show(page, card, key);
  const grid = gridOf(page, card);
  const every = listed(page.state, "every", key);
  const shown = every ? card.stepped : card.stepped.slice(0, MOST);
  const position = stepping.positionOf(page, card);
  while (grid.children.length > shown.length) grid.lastChild.remove();
  while (grid.children.length < shown.length) grid.append(picture());
  const labels = new Names(card.stepped.map((series) => series.label));
  shown.forEach((series, at) =>
    fill(page, grid.children[at], key, series, stepping.placeAt(series, position), position, labels));
  settle(page);
  return undefined;
}

// Controls ----------------------------------------------------------------------------------------------------------

/** @param {string[]} options */
function adjustment([name, label]) {
  const range = make("input", "ms-slider ms-image-adjust", [], {
    type: "range",
    min: "0",
    max: "200",
    step: "5",
    "data-adjust": name,
  });
  setLabel(range, "aria-label", label);
  return make("label", "ms-field", [words(label, {}, "span", "ms-field-name"), range, make("output", "ms-image-percent")]);
}

/**
 * @param {Images.Page} page
 * @param {{ [k: string]: number }} values
 */
function adjust(page, values) {
  for (const [name] of ADJUSTMENTS) {
    const range = page.find(`[data-adjust="${name}"]`);
    range.value = values[name];
    range.nextSibling.textContent = percent(values[name] / 100);
  }
  page.root.style.setProperty("--ms-brightness", String(values.bright / 100));
  page.root.style.setProperty("--ms-contrast", String(values.contrast / 100));
  page.find(".ms-image-reset").disabled = values.bright === 100 && values.contrast === 100;
}

/**
 * @param {Images.Page} page
 * @param {Wire.Query} state
 */
function adjusted(page, state) {
  return Object.fromEntries(ADJUSTMENTS.map(([name]) => {
    const value = Number(last(state, name, "100"));
    return [name, Number.isFinite(value) ? Math.min(200, Math.max(0, value)) : 100];
  }));
}

/** @param {Images.Page} page */
function build(page) {
  const ranges = ADJUSTMENTS.map(adjustment);
  for (const field of ranges) {
    field.querySelector("input").addEventListener("input", () => {
      const values = Object.fromEntries(
        ADJUSTMENTS.map(([name]) => [name, Number(page.find(`[data-adjust="${name}"]`).value)]),
      );
      adjust(page, values);
      window.clearTimeout(page.adjusting);
      page.adjusting = window.setTimeout(() => {
        page.adjusting = 0;
        const changes = ADJUSTMENTS.map(([name]) => [name, values[name] === 100 ? [] : [String(values[name])]]);
        page.change(Object.fromEntries(changes));
      }, ADJUST_WAIT_MS);
    });
  }
  const reset = iconButton("restore", "images.reset", "");
  reset.removeAttribute("data-act");
  reset.classList.add("ms-image-reset");
  reset.addEventListener("click", () => page.change({ bright: [], contrast: [] }));
  const size = segments("images.size", [["fit", "images.fit"], ["actual", "images.actual"]],
    (value) => page.change({ size: value === "actual" ? ["actual"] : [] }));
  const scale = segments("images.scale", [["nearest", "images.nearest"], ["smooth", "images.smooth"]],
    (value) => page.change({ scale: value === "smooth" ? ["smooth"] : [] }));
  size.classList.add("ms-image-sizes");
  scale.classList.add("ms-image-scales");
  return { left: [...stepping.control(page), make("div", "ms-image-adjustments", [...ranges, reset])], right: [size, scale] };
}

/** @param {Images.Page} page */
function draw(page) {
  const size = last(page.state, "size", "fit") === "actual" ? "actual" : "fit";
  const scale = last(page.state, "scale", "nearest") === "smooth" ? "smooth" : "nearest";
  pressSegment(page.find(".ms-image-sizes"), size);
  pressSegment(page.find(".ms-image-scales"), scale);
  page.root.classList.toggle("ms-images-actual", size === "actual");
  page.root.classList.toggle("ms-images-smooth", scale === "smooth");
  if (!page.adjusting) adjust(page, adjusted(page, page.state));
  stepping.draw(page);
  comparison.draw(page);
  page.root.classList.toggle("ms-images-comparing", comparing(page) !== null);
}

/**
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {string} key
 * @param {Wire.Recorded} meta
 */
function painted(page, card, key, meta) {
  stepping.take(page, card, meta);
  const number = card.stepped.reduce((sum, series) => sum + series.steps.length, 0);
  const notes = [badge(number === 1 ? "images.count_one" : "images.count", { n: count(number) }, "images.count.title")];
  if (card.stepped.length > MOST && comparing(page) !== key && !listed(page.state, "every", key)) {
    notes.push(badge("images.runs", { shown: MOST, total: count(card.stepped.length) }, null, "accent"));
    notes.push(make("button", "ms-badge ms-badge-button", words("images.every"), { type: "button", "data-act": "every" }));
  }
  return { badges: [], notes };
}

document.addEventListener("click", (event) => {
  const image = event.target instanceof Element && event.target.closest(".ms-image-grid .ms-image-frame img");
  const page = image && cards.pageAround(image);
  if (page) page.change({ size: last(page.state, "size", "") === "actual" ? [] : ["actual"] });
});

cards.define("images", {
  fields: () => ({ sides: {}, comparing: 0, splitting: 0, adjusting: 0, ahead: [] }),
  build, draw, show, painted,
  ask: () => ({}),
  tools: () => [iconButton("compare", "images.compare", "compare")],
  files: () => [],
  press: (page, card, key) => slots.press(card, "compare", comparing(page) === key),
  cards: (page) => {
    const tag = comparing(page);
    return tag === null ? null : [tag];
  },
  keys: (page, key) => comparison.keys(page, key),
  acts: {
    every: (page, card, key) => page.change({ every: toggled(page.state, "every", key) }),
    compare: (page, card, key, button) => comparison.toggle(page, card, key, button),
    index: (page, card, key, button) => {
      const next = (indexOf(page, key) + 1) % Number(button.dataset.total);
      page.change({ index: withEntry(page.state, "index", key, next ? String(next) : "") });
    },
    swap: (page) => comparison.swap(page),
  },
});
