// One sample enlarged: its picture and all chosen explainers side by side, with the values under the pointer. State: sample,
// shown (the label of the maps), large=1.

import { penOf } from "../../kit/canvases.js";
import { iconButton, make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { fileName, saveBlob, savePicture } from "../../kit/files.js";
import { language, translate, writeText } from "../../kit/i18n.js";
import { request } from "../../kit/page_parts.js";
import { askOf, explainersOf, get, labelName } from "../explanations.js";
import { cut, factsOf, labelList, mapFigure, paint, pictureFigure, shownLabel } from "./cells.js";
import { lookOf } from "./map_controls.js";

const EVERY = 1000;

/** @param {Saliency.Page} page */
export function build(page) {
  const dialog = page.find("dialog");
  page.dialog = dialog;
  dialog.addEventListener("close", () => {
    if (get(page, "large") === "1") page.change({ large: [] });
  });
  dialog.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act]");
    const act = button && { close: () => dialog.close(), previous: () => step(page, -1), next: () => step(page, 1),
      png: () => saveAll(page), save: () => saveOne(page, button.closest("figure")),
      label: () => page.change({ shown: [button.dataset.label] }) }[button.dataset.act];
    if (act) act();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    step(page, by);
  });
}

/** @param {Saliency.Page} page */
function step(page, by) {
  const { previous, next, card } = page.sampled || {};
  if (!card || String(card.id) !== get(page, "sample")) {
    page.pending = by;  // neighbours are known with the answer
    return;
  }
  const sample = by < 0 ? previous : next;
  if (sample !== null && sample !== undefined) page.change({ sample: [String(sample)], shown: [] });
}

/** @param {Saliency.Page} page */
export function draw(page) {
  const open = get(page, "large") === "1" && get(page, "sample") !== "";
  if (!open) {
    if (page.dialog.open) page.dialog.close();
    return;
  }
  if (!page.dialog.open) {
    page.dialog.showModal();
    page.dialog.querySelector(".ms-dialog-title").focus();  // else the first button looks pressed
  }
  ask(page);
  const card = page.sampled && page.sampled.card;
  if (!card || String(card.id) !== get(page, "sample")) return;
  const key = JSON.stringify([page.sampled.card, explainersOf(page), shownLabel(page, card), page.listed.mark, language()]);
  if (key !== page.enlarged) {
    page.enlarged = key;
    fill(page);
  } else {
    const look = JSON.stringify(lookOf(page, true));
    if (look !== page.enlargedLook) paint(page, page.find(".ms-saliency-large-maps"), 0);
    page.enlargedLook = look;
  }
}

/** @param {Saliency.Page} page */
function ask(page) {
  const known = page.sampled && page.sampled.card;
  const shown = known && String(known.id) === get(page, "sample") ? shownLabel(page, known) : null;
  request(page, "sample", askOf(page, {
    sample: [get(page, "sample")], explainer: page.state.explainer || [],
    ...(shown === null ? {} : { shown: [String(shown)] }),
  }));
}

const PARTS = [".ms-saliency-facts", ".ms-saliency-large-maps", ".ms-saliency-values", ".ms-saliency-pairs"];

/**
 * Take the answer of the part `sample`.
 * @param {Saliency.Page} page
 */
export function take(page, answer) {
  if (answer.state !== "ready") return undefined;
  page.sampled = answer;
  const why = page.dialog.querySelector(".ms-saliency-why");
  why.hidden = Boolean(answer.card);
  if (!answer.card) {
    writeText(why, "saliency.no_sample", { n: get(page, "sample") });
    for (const part of PARTS) page.dialog.querySelector(part).replaceChildren();
    page.enlarged = "";
    return undefined;
  }
  const { pending } = page;
  page.pending = 0;
  if (pending && String(answer.card.id) === get(page, "sample")) return step(page, pending);
  draw(page);
  drawHead(page);
  drawPairs(page);
  return undefined;
}

/** @param {Saliency.Page} page */
function drawHead(page) {
  const { card, place, total, previous, next } = page.sampled;
  const where = place < 0 ? words("saliency.filtered_out", {}, "span", "ms-muted")
    : words("saliency.place", { n: count(place + 1), total: count(total) }, "span", "ms-muted");
  page.dialog.querySelector(".ms-dialog-title").replaceChildren(
    words("saliency.sample", { n: card.id }), " ", where, " ", make("span", "ms-mono ms-muted", card.image));
  page.dialog.querySelector('[data-act="previous"]').disabled = previous === null;
  page.dialog.querySelector('[data-act="next"]').disabled = next === null;
}

/** @param {Saliency.Page} page */
function fill(page) {
  const { card } = page.sampled;
  const label = shownLabel(page, card);
  const facts = page.dialog.querySelector(".ms-saliency-facts");
  const list = labelList(page, card, label, EVERY);
  facts.replaceChildren(list, label === null ? "" : make("p", "ms-muted", factsFor(page, card, label)));
  const maps = page.dialog.querySelector(".ms-saliency-large-maps");
  cut(maps);
  const figures = [pictureFigure(page, card), ...explainersOf(page).map((name) => mapFigure(page, card, name, label))];
  for (const figure of figures) caption(page, figure);
  maps.style.setProperty("--ms-maps", String(figures.length));
  maps.replaceChildren(...figures);
  maps.onpointermove = (event) => read(page, event);
  maps.onpointerleave = () => clear(page);
  clear(page);
  paint(page, maps, 0);
  page.enlargedLook = JSON.stringify(lookOf(page, true));
}

/** @param {Saliency.Page} page */
function factsFor(page, card, label) {
  const found = card.labels.find(([number]) => number === label);
  return found ? factsOf(labelName(page, label), ...found.slice(1)) : labelName(page, label);
}

/** @param {Saliency.Page} page */
function caption(page, figure) {
  const name = figure.dataset.explainer;
  const range = make("span", "ms-muted ms-number");
  const save = iconButton("download", "saliency.save", "save");
  figure.prepend(make("figcaption", "", [
    name ? make("span", "ms-cut ms-name", name, { title: name }) : words("saliency.picture"), range, save,
  ]));
  const canvas = figure.querySelector("canvas");
  const frame = make("div", "ms-saliency-frame", [make("span", "ms-saliency-cross", [], { hidden: "" })]);
  canvas.replaceWith(frame);
  frame.prepend(canvas);
  figure.onDrawn = () => {
    const { map } = figure;
    if (map) writeText(range, "saliency.range", { low: scaled(map.low), high: scaled(map.high) });
  };
}

// Values ------------------------------------------------------------------------------------------------------------

const scaled = (value) => (value / 255).toFixed(3);

/** The pixel of a picture under a place that goes from 0 to 1 in both directions. */
export function pixelAt({ width, height }, x, y) {
  return [Math.min(width - 1, Math.max(0, Math.floor(x * width))), Math.min(height - 1, Math.max(0, Math.floor(y * height)))];
}

/**
 * Show the values of all maps at the place under the pointer.
 * @param {Saliency.Page} page
 */
function read(page, event) {
  const canvas = event.target instanceof Element && event.target.closest(".ms-saliency-frame");
  if (!canvas) return clear(page);
  const box = canvas.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  const parts = [];
  const figures = [...page.dialog.querySelectorAll(".ms-saliency-large-maps .ms-saliency-drawn")];
  for (const figure of figures) {
    const cross = figure.querySelector(".ms-saliency-cross");
    cross.hidden = false;
    Object.assign(cross.style, { left: `${100 * x}%`, top: `${100 * y}%` });
    const { map } = figure;
    if (!map || !map.grey) continue;
    const [column, line] = pixelAt(map, x, y);
    const value = map.grey[line * map.width + column];
    parts.push(`${figure.dataset.explainer} ${scaled(value)} (${value})`);
  }
  const sides = figures.length ? figures[0].picture || figures[0].map : null;
  const [column, line] = sides ? pixelAt(sides, x, y) : [0, 0];
  const text = `${translate("saliency.at", { x: column, y: line })} ${parts.join("   ")}`;
  page.dialog.querySelector(".ms-saliency-values").textContent = text;
  return undefined;
}

/** @param {Saliency.Page} page */
function clear(page) {
  for (const cross of page.dialog.querySelectorAll(".ms-saliency-cross")) cross.hidden = true;
  page.dialog.querySelector(".ms-saliency-values").replaceChildren(words("saliency.hint", {}, "span", "ms-muted"));
}

/** @param {Saliency.Page} page */
function drawPairs(page) {
  const { pairs } = page.sampled;
  const host = page.dialog.querySelector(".ms-saliency-pairs");
  const lines = pairs.map(([one, other, value]) => make("li", "", [
    make("span", "ms-cut", `${one} – ${other}`),
    value === null ? words("saliency.constant_pair", {}, "span", "ms-muted") : make("span", "ms-number", value.toFixed(3)),
  ]));
  host.replaceChildren(...(lines.length ? [words("saliency.pairs", {}, "h3", "ms-muted"), make("ul", "", lines)] : []));
}

// Files -------------------------------------------------------------------------------------------------------------

/** @param {Saliency.Page} page */
function nameOf(page, figures) {
  const { card } = page.sampled;
  const label = shownLabel(page, card);
  const parts = [page.run.name, `sample_${card.id}`, ...(label === null ? [] : [labelName(page, label)])];
  return fileName([...parts, ...figures].join("_"), "sample");
}

/** @param {Saliency.Page} page */
function saveOne(page, figure) {
  const name = nameOf(page, [figure.dataset.explainer || "picture"]);
  figure.querySelector("canvas").toBlob((blob) => saveBlob(blob, `${name}.png`));
}

/** Texts joined into as few lines as fit; a text is never divided. */
export function joinedLines(texts, fits) {
  const lines = [];
  for (const text of texts) {
    const longer = lines.length ? `${lines[lines.length - 1]} · ${text}` : text;
    if (lines.length && fits(longer)) lines[lines.length - 1] = longer;
    else lines.push(text);
  }
  return lines;
}

/**
 * All pictures side by side with their names, in the colours of the page.
 * @param {Saliency.Page} page
 */
function saveAll(page) {
  const figures = [...page.dialog.querySelectorAll(".ms-saliency-large-maps .ms-saliency-drawn")];
  if (!figures.length) return;
  const [gap, line] = [12, 22];
  const drawn = figures.map((figure) => figure.querySelector("canvas"));
  const side = Math.max(160, ...drawn.map((canvas) => canvas.width));
  const high = Math.max(...drawn.map((canvas) => canvas.height * side / canvas.width));
  const canvas = make("canvas");
  const context = penOf(canvas);
  const style = getComputedStyle(page.dialog);
  const font = `13px ${style.fontFamily}`;
  const wide = figures.length * side + (figures.length - 1) * gap;
  const { card } = page.sampled;
  const label = shownLabel(page, card);
  const facts = label === null ? [] : factsFor(page, card, label).split("; ");
  context.font = font;
  const head = joinedLines(
    [page.run.name, translate("saliency.sample", { n: card.id }), ...facts], (text) => context.measureText(text).width <= wide);
  canvas.width = wide + 2 * gap;
  canvas.height = Math.ceil(high + (head.length + 1) * line + 2 * gap);
  context.fillStyle = style.getPropertyValue("--ms-card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--ms-text");
  context.font = font;
  context.textBaseline = "middle";
  head.forEach((text, at) => context.fillText(text, gap, gap + (at + 0.5) * line - 4, wide));
  const top = gap + head.length * line - 4;
  figures.forEach((figure, at) => {
    const left = gap + at * (side + gap);
    context.fillText(figure.dataset.explainer || translate("saliency.picture"), left, top + 0.5 * line, side);
    context.imageSmoothingEnabled = drawn[at].width > side;
    context.drawImage(drawn[at], left, top + line, side, drawn[at].height * side / drawn[at].width);
  });
  void savePicture(canvas, nameOf(page, []));
}
