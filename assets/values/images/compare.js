// Compare two pictures of a tag, of any steps and runs: side by side, under a slider, or as a difference. State: compare is the
// tag, a and b are "position:run" (see cards/stepping.js), how is beside, slider or difference, split the percentage of A.

import { iconButton, make, pressSegment, segments } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { runSelect, setRuns } from "../../kit/run_select.js";
import { last } from "../../kit/state.js";
import * as stepping from "../../kit/cards/stepping.js";
import { comparing, fill, picture } from "./pictures.js";

const WRITE_WAIT_MS = 200;
const WAYS = [["beside", "images.beside"], ["slider", "images.slider"], ["difference", "images.difference"]];
const MIDDLE = "50";
/** @type {Images.SideName[]} */
const SIDES = ["a", "b"];

/** @param {Images.Page} page */
function wayOf(page) {
  const way = last(page.state, "how", "beside");
  return WAYS.some(([name]) => name === way) ? way : "beside";
}

/**
 * Content of a side: { series, list, position, place }. While a slider moves, its position is not in the state yet.
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {Images.SideName} side
 */
function sideOf(page, card, side) {
  const text = (page.sides && page.sides[side]) || last(page.state, side, ":");
  const at = text.indexOf(":");
  const run = text.slice(at + 1);
  const known = card.stepped.find((series) => series.run === run);
  const series = known || card.stepped[side === "b" ? Math.min(1, card.stepped.length - 1) : 0];
  const list = stepping.positions([series]);
  const position = list[stepping.indexIn(list, text.slice(0, at))];
  return { series, list, position, place: stepping.placeAt(series, position) };
}

/**
 * @param {Position[]} list
 * @param {Position} position
 * @param {string} run
 */
function written(list, position, run) {
  return `${position === list[list.length - 1] ? "" : position.text}:${run}`;
}

/**
 * @param {Images.Page} page
 * @param {Partial<Record<Images.SideName, string>>} changes
 */
function set(page, changes) {
  page.sides = { ...page.sides, ...changes };
  const card = page.find(".ms-slot:not([hidden])");
  if (card && card.stepped) show(page, card, card.dataset.key);
  window.clearTimeout(page.comparing);
  page.comparing = window.setTimeout(() => {
    page.comparing = 0;
    page.change(Object.fromEntries(Object.entries(page.sides).map(([side, text]) => [side, [text]])));
  }, WRITE_WAIT_MS);
}

/**
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {Images.SideName} side
 * @param {number} index
 */
function moveTo(page, card, side, index) {
  const { series, list } = sideOf(page, card, side);
  set(page, { [side]: written(list, list[Math.min(list.length - 1, Math.max(0, index))], series.run) });
}

/**
 * A new run starts at the position of the old one.
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {Images.SideName} side
 * @param {string} run
 */
function chooseRun(page, card, side, run) {
  const { position } = sideOf(page, card, side);
  const series = card.stepped.find((one) => one.run === run);
  if (!series) return;
  const list = stepping.positions([series]);
  set(page, { [side]: written(list, list[stepping.indexIn(list, position.text)], run) });
}

// What stands in the card -------------------------------------------------------------------------------------------

/**
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {Images.SideName} side
 */
function controls(page, card, side) {
  const { element, select } = runSelect("images.run");
  element.classList.add("ms-compare-run");
  select.addEventListener("change", () => chooseRun(page, card, side, select.value));
  const range = stepping.slider("ms-steps-side", (index) => moveTo(page, card, side, index));
  return make("div", "ms-compare-side", [make("span", "ms-badge", side.toUpperCase()), element, range], { "data-side": side });
}

/**
 * @param {Images.Page} page
 * @param {SteppedCard} card
 */
function build(page, card) {
  const ways = segments("images.how", WAYS, (way) => page.change({ how: way === "beside" ? [] : [way] }));
  ways.classList.add("ms-compare-ways");
  const bar = make("div", "ms-compare-bar", [
    make("div", "ms-compare-head", [ways, iconButton("swap", "images.swap", "swap")]),
    controls(page, card, "a"), controls(page, card, "b"),
  ]);
  const figures = SIDES.map((side) => {
    const figure = picture();
    figure.dataset.side = side;
    figure.querySelector('[data-act="compare"]').remove();
    return figure;
  });
  const split = make("input", "ms-compare-split", [], { type: "range", min: "0", max: "100", step: "0.5" });
  setLabel(split, "aria-label", "images.split");
  const stage = make("div", "ms-compare-stage", [...figures, split]);
  split.addEventListener("input", () => {
    stage.style.setProperty("--ms-split", String(Number(split.value) / 100));
    window.clearTimeout(page.splitting);
    page.splitting = window.setTimeout(() => {
      page.splitting = 0;
      page.change({ split: split.value === MIDDLE ? [] : [split.value] });
    }, WRITE_WAIT_MS);
  });
  scrollTogether(figures.map((figure) => figure.querySelector(".ms-image-frame")));
  return make("div", "ms-compare", [bar, stage]);
}

/** @param {HTMLElement[]} frames */
function scrollTogether(frames) {
  for (const [one, other] of [frames, [...frames].reverse()]) {
    one.addEventListener("scroll", () => {
      if (other.scrollLeft !== one.scrollLeft) other.scrollLeft = one.scrollLeft;
      if (other.scrollTop !== one.scrollTop) other.scrollTop = one.scrollTop;
    });
  }
}

/**
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {string} key
 */
export function show(page, card, key) {
  const host = card.querySelector(".ms-images");
  if (!host.querySelector(":scope > .ms-compare")) host.replaceChildren(build(page, card));
  if (!card.stepped.length) return;
  const way = wayOf(page);
  host.querySelector(".ms-compare-stage").dataset.how = way;
  const split = host.querySelector(".ms-compare-split");
  split.hidden = way !== "slider";
  if (!page.splitting) {
    split.value = last(page.state, "split", MIDDLE);
    host.querySelector(".ms-compare-stage").style.setProperty("--ms-split", String(Number(split.value) / 100));
  }
  pressSegment(host.querySelector(".ms-compare-ways"), way);
  for (const side of SIDES) {
    const { series, list, position, place } = sideOf(page, card, side);
    const bar = host.querySelector(`.ms-compare-side[data-side="${side}"]`);
    setRuns(bar.querySelector("select"), card.stepped.map(({ run, label }) => [run, label]), series.run);
    stepping.drawSlider(bar.querySelector(".ms-steps"), list, position);
    fill(page, host.querySelector(`.ms-image[data-side="${side}"]`), key, series, place, position);
  }
}

// Into and out of comparing -----------------------------------------------------------------------------------------

/**
 * The chosen picture becomes A; B is another run at that step, or the same run at its first step.
 * @param {Images.Page} page
 * @param {SteppedCard} card
 * @param {string} key
 * @param {HTMLElement} button
 */
export function toggle(page, card, key, button) {
  page.sides = {};
  if (comparing(page) === key) return page.change({ compare: [], a: [], b: [], how: [], split: [] });
  if (!card.stepped || !card.stepped.length) return undefined;
  const figure = button.closest(".ms-image");
  const series = card.stepped.find((one) => figure && one.run === figure.dataset.run) || card.stepped[0];
  const other = card.stepped.find((one) => one !== series) || series;
  const { text } = stepping.positionOf(page, card) || { text: "" };
  const own = stepping.positions([series]);
  const theirs = stepping.positions([other]);
  const a = own[stepping.indexIn(own, text)];
  const b = other === series ? own[0] : theirs[stepping.indexIn(theirs, text)];
  return page.change({ compare: [key], a: [written(own, a, series.run)], b: [written(theirs, b, other.run)], full: [] });
}

/** @param {Images.Page} page */
export function swap(page) {
  const card = page.find(".ms-slot:not([hidden])");
  const [a, b] = SIDES.map((side) => sideOf(page, card, side));
  set(page, { a: written(b.list, b.position, b.series.run), b: written(a.list, a.position, a.series.run) });
}

/**
 * Arrow keys move both sides if they show two runs, else only B.
 * @param {Images.Page} page
 * @param {string} key
 */
export function keys(page, key) {
  const card = page.find(".ms-slot:not([hidden])");
  if (comparing(page) === null || !card || !card.stepped) return false;
  const sides = SIDES.map((side) => ({ side, ...sideOf(page, card, side) }));
  const moved = sides[0].series === sides[1].series ? sides.slice(1) : sides;
  for (const { side, list, position } of moved) {
    const now = list.indexOf(position);
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: list.length - 1 }[key];
    if (next !== undefined) moveTo(page, card, side, next);
  }
  return true;
}

/** @param {Images.Page} page */
export function draw(page) {
  if (!page.comparing) page.sides = {};
}
