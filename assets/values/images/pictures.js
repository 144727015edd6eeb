// Pictures of a card: address, caption, failures, arrangement and preloading.

import { icon, iconButton, make } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { nameElement } from "../../kit/name_elements.js";
import { Names } from "../../kit/names.js";
import { entry, last } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import * as stepping from "../../kit/cards/stepping.js";

export const NEIGHBOURS = 24;  // pictures whose neighbours are preloaded
export const [GAP, CAPTION, LEAST] = [8, 24, [110, 40]];  // px: gap, caption, minimum width and height
export const SETTLED_MS = 150;
const [FEW, SMALL] = [2, 160];  // pictures in a card, and px of a side, up to which cards are small

// Addresses ---------------------------------------------------------------------------------------------------------

/**
 * @param {CardsPage} page
 * @param {string} tag
 * @param {Stepped} series
 * @param {number} place
 */
export function address(page, tag, series, place, extra = {}) {
  const query = new URLSearchParams({ run: series.run, tag, place: String(place) });
  // Steps above 2^53 are not exact in a browser.
  if (Number.isSafeInteger(series.steps[place])) query.set("step", String(series.steps[place]));
  query.set("v", series.walls[place].toString(36));
  if (indexOf(page, tag)) query.set("index", String(indexOf(page, tag)));
  for (const [name, value] of Object.entries(extra)) query.set(name, value);
  return `${page.root.dataset.routes}image?${query}`;
}

// A picture ---------------------------------------------------------------------------------------------------------

export function picture() {
  const image = make("img", "", [], { decoding: "async", loading: "lazy", alt: "" });
  const frame = make("div", "ms-image-frame", [image, make("p", "ms-image-note", [], { role: "status", hidden: "" })]);
  const save = make("a", "ms-button ms-button-icon", icon("download"), { download: "" });
  setLabel(save, "title", "images.save");
  setLabel(save, "aria-label", "images.save");
  const index = make("button", "ms-badge ms-badge-button ms-image-index", [], {
    type: "button",
    "data-act": "index",
    hidden: "",
  });
  setLabel(index, "title", "images.index");
  const caption = make("figcaption", "", [
    make("span", "ms-dot", [], { "aria-hidden": "true" }),
    make("span", "ms-image-run ms-cut"),
    make("span", "ms-image-step"),
    index,
    make("span", "ms-image-size ms-muted"),
    make("span", "ms-image-tools", [iconButton("compare", "images.compare", "compare"), save]),
  ]);
  const figure = make("figure", "ms-image", [frame, caption]);
  image.addEventListener("load", () => loaded(figure, image));
  image.addEventListener("error", () => failed(figure, image));
  return figure;
}

/**
 * @param {Images.Figure} figure
 * @param {HTMLImageElement} image
 */
export function loaded(figure, image) {
  figure.classList.remove("ms-image-failed", "ms-image-loading", "ms-image-damaged");
  shrink(cards.pageAround(figure));
  figure.querySelector(".ms-image-note").hidden = true;
  settle(cards.pageAround(figure));
  const size = `${count(image.naturalWidth)} × ${count(image.naturalHeight)}`;
  figure.querySelector(".ms-image-size").textContent = size;
  image.alt = `${image.dataset.what}, ${size}`;
  // Sharp pixels only help enlarged pictures; reduced ones would lose some.
  arrange(figure.parentElement);
  image.classList.toggle(
    "ms-image-enlarged",
    image.clientWidth > image.naturalWidth || image.clientHeight > image.naturalHeight,
  );
}

/**
 * Ask the route why it has no picture; if it has one, the browser could not decode it.
 * @param {Images.Figure} figure
 * @param {HTMLImageElement} image
 */
export async function failed(figure, image) {
  const source = image.getAttribute("src");
  if (!source) return;
  const reason = await reasonOf(source, image.dataset.what || "");
  if (image.getAttribute("src") !== source) return;
  figure.classList.add("ms-image-failed");
  figure.classList.remove("ms-image-loading");
  figure.querySelector(".ms-image-size").textContent = "";
  note(figure, reason);
}

/**
 * @param {string} source
 * @param {string} what
 */
export async function reasonOf(source, what) {
  try {
    const answer = await fetch(source);
    if (!answer.ok) return (await answer.json()).error;
    const problem = decodeURIComponent(answer.headers.get("Mindscope-Problem") || "");
    if (problem) return `${what}: ${problem}`;
    return translate("images.undecodable", { what, media: answer.headers.get("Content-Type") || "" });
  } catch (error) {
    return translate("images.unanswered", { what });
  }
}

/**
 * Ask for what <img> does not report: damage, and the number of images in the record.
 * @param {CardsPage} page
 * @param {Images.Figure} figure
 */
export async function look(page, figure) {
  const image = figure.querySelector("img");
  const source = image.getAttribute("src");
  if (!source || figure.looked === source || figure.matches(".ms-image-failed, .ms-image-loading")) return;
  figure.looked = source;
  const answer = await fetch(source, { method: "HEAD" }).catch(() => null);
  if (!answer || !answer.ok || image.getAttribute("src") !== source) return;
  const problem = decodeURIComponent(answer.headers.get("Mindscope-Problem") || "");
  figure.classList.toggle("ms-image-damaged", problem !== "");
  if (problem) note(figure, `${image.dataset.what}: ${problem}`);
  const total = Number(answer.headers.get("Mindscope-Images")) || 1;
  const index = figure.querySelector(".ms-image-index");
  index.hidden = total < 2;
  index.dataset.total = String(total);
  const card = figure.closest(".ms-slot");
  if (card) index.textContent = `${indexOf(page, card.dataset.key) + 1}/${total}`; // it may be removed while its picture loads
}

/**
 * Index of the shown image in its record.
 * @param {CardsPage} page
 * @param {string} tag
 */
export function indexOf(page, tag) {
  return Math.max(0, Number(entry(page.state, "index", tag)) || 0);
}

/**
 * @param {Images.Figure} figure
 * @param {string} text
 */
export function note(figure, text) {
  const element = figure.querySelector(".ms-image-note");
  element.textContent = text;
  element.hidden = false;
}

/**
 * Show one place of a series; wanted is the requested position, which may be later.
 * @param {Images.Page} page
 * @param {HTMLElement} figure
 * @param {string} tag
 * @param {Stepped} series
 * @param {number} place
 * @param {Position | null} wanted
 * @param {Names} [labels] of all series of the card
 */
export function fill(page, figure, tag, series, place, wanted, labels = new Names([series.label])) {
  const image = figure.querySelector("img");
  figure.dataset.run = series.run;
  figure.querySelector(".ms-dot").style.background = series.colour;
  const name = figure.querySelector(".ms-image-run");
  const labelled = labels.all.join("\0");
  if (name.textContent !== series.label || name.dataset.labelled !== labelled) {
    name.replaceChildren(nameElement(series.label, labels));
    name.dataset.labelled = labelled;
    name.title = series.label;
  }
  const label = figure.querySelector(".ms-image-step");
  const save = figure.querySelector("a[download]");
  const none = place < 0;
  figure.classList.toggle("ms-image-none", none);
  save.hidden = none;
  if (none) {
    label.textContent = "";
    image.removeAttribute("src");
    figure.querySelector(".ms-image-size").textContent = "";
    const first = series.order.length ? count(series.order[0]) : "–";
    return note(figure, translate("images.not_yet", { step: first }));
  }
  const step = series.steps[place];
  writeText(label, "images.step", { step: count(step) });
  const older = Boolean(wanted && wanted.step !== step);
  label.classList.toggle("ms-image-older", older);
  // The slider says which step all others are at.
  label.hidden = Boolean(wanted) && !older && Boolean(figure.closest(".ms-image-grid"));
  label.title = new Date(series.walls[place]).toLocaleString();
  const source = address(page, tag, series, place);
  if (image.getAttribute("src") === source) return undefined;
  image.alt = image.dataset.what = translate("images.alt", { tag, run: series.label, step: count(step) });
  image.src = source;
  if (!image.complete) figure.classList.add("ms-image-loading");
  save.href = address(page, tag, series, place, { download: "1" });
  return undefined;
}

/**
 * Cards are small if most of their pictures are and there are few in each, so that more of them are on screen.
 * @param {CardsPage | null} page
 */
export function shrink(page) {
  if (!page || comparing(page) !== null) return;
  const shown = Array.from(page.root.querySelectorAll(".ms-slot:not([hidden]) .ms-image-grid"));
  const known = shown.flatMap((grid) => Array.from(grid.querySelectorAll("img"))).filter((image) => image.naturalWidth);
  const few = shown.every((grid) => grid.children.length <= FEW);
  const sides = known.map((image) => Math.max(image.naturalWidth, image.naturalHeight)).sort((a, b) => a - b);
  const small = few && sides[Math.floor(sides.length / 2)] <= SMALL;
  if (page.root.classList.contains("ms-images-small") === small) return;
  page.root.classList.toggle("ms-images-small", small);
  for (const grid of shown) arrange(grid);
}

/**
 * Choose the number of columns that makes pictures largest; if they must scroll, css decides.
 * @param {HTMLElement | null} grid
 */
export function arrange(grid) {
  if (!grid || !grid.classList.contains("ms-image-grid")) return;
  const { naturalWidth: width, naturalHeight: height }
    = Array.from(grid.querySelectorAll("img")).find((image) => image.naturalWidth) || {};
  const number = grid.children.length;
  let [columns, largest] = [0, 0];
  for (let across = 1; width && across <= number; across += 1) {
    const down = Math.ceil(number / across);
    const room = [(grid.clientWidth - 20 + GAP) / across - GAP, (grid.clientHeight - 8 + GAP) / down - GAP - CAPTION];
    const size = Math.min(room[0], (room[1] * width) / height);
    if (room[0] >= LEAST[0] && room[1] >= LEAST[1] && size > largest) [columns, largest] = [across, size];
  }
  grid.style.gridTemplateColumns = columns ? `repeat(${columns}, minmax(0, 1fr))` : "";
  grid.style.gridAutoRows = columns ? "minmax(0, 1fr)" : "";
}

/**
 * When nothing has moved for a moment, preload neighbours.
 * @param {CardsPage | null} page
 */
export function settle(page) {
  if (!page) return;
  window.clearTimeout(page.settling);
  page.settling = window.setTimeout(() => {
    const visible = Array.from(page.root.querySelectorAll(".ms-image")).filter((figure) => {
      const box = figure.getBoundingClientRect();
      return box.bottom > 0 && box.top < window.innerHeight && box.width > 0;
    });
    for (const figure of visible) look(page, figure);
    preload(/** @type {Images.Page} */ (page), visible.filter((figure) => figure.closest(".ms-image-grid")));
  }, SETTLED_MS);
}

/**
 * @param {Images.Page} page
 * @param {Images.Figure[]} visible
 */
export function preload(page, visible) {
  page.ahead = visible.slice(0, NEIGHBOURS).flatMap((figure) => {
    /** @type {SteppedCard} */
    const card = figure.closest(".ms-slot");
    const series = card.stepped && card.stepped.find((one) => one.run === figure.dataset.run);
    if (!series || card.steppedKey !== card.dataset.key) return [];
    const now = stepping.placeAt(series, stepping.positionOf(page, card));
    return [now - 1, now + 1].filter((place) => place >= 0 && place < series.steps.length)
      .map((place) => Object.assign(new Image(), { src: address(page, card.dataset.key || "", series, place) }));
  });
}

/**
 * Tag whose pictures are compared, or null.
 * @param {CardsPage} page
 */
export function comparing(page) {
  const tag = last(page.state, "compare", null);
  return tag !== null && page.catalogue && page.catalogue.tags.includes(tag) ? tag : null;
}
