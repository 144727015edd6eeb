// Stepping through recorded values such as images and texts, with one slider for the page or one per card. Counterpart of
// layouts/kit/cards/recorded.py. A position is a step, or "step~n" for the n-th value of a step that was recorded more than
// once.
//
// A kind (see cards.js) that steps also has show(page, card, key), which draws a card at its position, and may have keys(page,
// key), which returns true if it handled an arrow key, Home or End itself. State: step, or with each=1 one at="position:tag"
// per tag. The newest position is not named.

import { iconButton, make, takesText, words } from "../elements.js";
import { count } from "../units.js";
import { setLabel, translate, writeText } from "../i18n.js";
import { entry, last, withEntry } from "../state.js";
import * as cards from "./pages.js";

const WRITE_WAIT_MS = 200;
/** @type {WeakMap<number[], { places: Map<number, number[]>, order: number[] }>} */
const indexes = new WeakMap();  // array of steps -> its index
/** @type {WeakMap<Wire.Recorded, Stepped[]>} */
const decoded = new WeakMap();  // meta of a card -> its series

// What the server sent ----------------------------------------------------------------------------------------------

/** @param {number[]} differences */
function summed(differences) {
  let value = 0;
  return differences.map((difference) => (value += difference));
}

/**
 * Index of an array of steps: the places of each step as written, and the sorted steps.
 * @param {number[]} steps
 * @returns {{ places: Map<number, number[]>, order: number[] }}
 */
function indexed(steps) {
  let index = indexes.get(steps);
  if (!index) {
    /** @type {Map<number, number[]>} */
    const places = new Map();
    steps.forEach((step, place) => {
      const known = places.get(step);
      if (known) known.push(place);
      else places.set(step, [place]);
    });
    index = { places, order: [...places.keys()].sort((a, b) => a - b) };
    indexes.set(steps, index);
  }
  return index;
}

/** @param {Wire.Recorded} meta */
function seriesOf(meta) {
  const known = decoded.get(meta);
  if (known) return known;
  const columns = meta.steps.map(summed);
  const series = meta.series.map((one) => {
    const steps = columns[one.steps];
    return { ...one, steps, walls: summed(one.walls), ...indexed(steps) };
  });
  decoded.set(meta, series);
  return series;
}

// Positions ---------------------------------------------------------------------------------------------------------

/** @param {string | undefined} text */
export function parse(text) {
  const found = /^(-?\d+)(?:~(\d+))?$/.exec(text || "");
  return found ? { step: Number(found[1]), nth: found[2] ? Number(found[2]) : Infinity } : null;
}

/**
 * All distinct positions of some series in order: [{ step, nth, text }].
 * @param {Pick<Stepped, "places">[]} series
 * @returns {Position[]}
 */
export function positions(series) {
  /** @type {Map<number, number>} */
  const most = new Map();
  for (/** @type {Map<number, number[]>} */ const places of new Set(series.map((one) => one.places))) {
    for (const [step, list] of places) most.set(step, Math.max(list.length, most.get(step) || 0));
  }
  /** @type {Position[]} */
  const result = [];
  for (const step of [...most.keys()].sort((a, b) => a - b)) {
    const times = most.get(step) || 0;
    for (let nth = 1; nth <= times; nth += 1) result.push({ step, nth, text: nth === times ? `${step}` : `${step}~${nth}` });
  }
  return result;
}

/**
 * Index of a position, or of the last one before it; of the newest if text is empty.
 * @param {Position[]} list
 * @param {string} text
 */
export function indexIn(list, text) {
  const wanted = parse(text);
  if (!wanted) return list.length - 1;
  let low = 0;
  for (let high = list.length; low < high;) {
    const middle = (low + high) >> 1;
    const { step, nth } = list[middle];
    if (step < wanted.step || (step === wanted.step && nth <= wanted.nth)) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/**
 * Place of the value shown at a position: that of the step, or the last before it; -1 for none.
 * @param {Stepped} series
 * @param {Pick<Position, "step" | "nth"> | null} position
 */
export function placeAt(series, position) {
  if (!position) return -1;
  const exact = series.places.get(position.step);
  if (exact) return exact[Math.min(position.nth, exact.length) - 1];
  let low = 0;
  for (let high = series.order.length; low < high;) {
    const middle = (low + high) >> 1;
    if (series.order[middle] < position.step) low = middle + 1;
    else high = middle;
  }
  return low ? series.places.get(series.order[low - 1])?.at(-1) ?? -1 : -1;
}

// Of a page ---------------------------------------------------------------------------------------------------------

/**
 * Visible cards whose steps have been loaded.
 * @param {CardsPage} page
 * @returns {SteppedCard[]}
 */
function drawn(page) {
  return Array.from(page.root.querySelectorAll(".ms-slot:not([hidden])")).filter(
    (card) => card.steppedKey === card.dataset.key || "",
  );
}

/** @param {CardsPage} page */
function perCard(page) {
  return last(page.state, "each", "0") === "1";
}

/**
 * While a slider moves, its position is not in the state yet.
 * @param {CardsPage} page
 * @param {string} key
 */
function chosen(page, key) {
  const own = perCard(page) ? key : "";
  const moving = page.moving.get(own);
  if (moving !== undefined) return moving;
  return perCard(page) ? entry(page.state, "at", key) : last(page.state, "step", "");
}

/**
 * @param {CardsPage} page
 * @param {SteppedCard} card
 * @returns {Position[]}
 */
function listFor(page, card) {
  return perCard(page) ? card.positions : page.positions || [];
}

/**
 * @param {CardsPage} page
 * @param {SteppedCard} card
 * @returns {Position | null}
 */
export function positionOf(page, card) {
  const list = listFor(page, card);
  return list[indexIn(list, chosen(page, card.dataset.key || ""))] || null;
}

/**
 * Store the steps of a card and redraw it.
 * @param {CardsPage} page
 * @param {SteppedCard} card
 * @param {Wire.Recorded} meta
 */
export function take(page, card, meta) {
  const series = seriesOf(meta);
  if (card.stepped !== series || card.steppedKey !== card.dataset.key || "") {
    card.stepped = series;
    card.steppedKey = card.dataset.key;
    card.positions = positions(series);
  }
  const list = drawn(page).flatMap((one) => one.stepped);
  const key = list.map((one) => one.steps);
  if (!page.positions || key.length !== page.positionsOf.length || key.some((steps, at) => steps !== page.positionsOf[at])) {
    page.positionsOf = key;
    page.positions = positions(list);
    showAll(page);
  } else show(page, card);
  drawControl(page);
}

/**
 * @param {CardsPage} page
 * @param {SteppedCard} card
 */
function show(page, card) {
  page.kind.show?.(page, card, card.dataset.key || "");
  const own = card.querySelector(":scope .ms-steps-own");
  if (!own) return;
  own.hidden = !perCard(page) || card.positions.length < 2;
  if (!own.hidden) drawSlider(own, card.positions, positionOf(page, card));
}

/** @param {CardsPage} page */
export function showAll(page) {
  for (const card of drawn(page)) show(page, card);
}

/**
 * @param {CardsPage} page
 * @param {string} key
 * @param {string} text
 */
function move(page, key, text) {
  const own = perCard(page) ? key : "";
  page.moving = page.moving || new Map();
  page.moving.set(own, text);
  showAll(page);
  drawControl(page);
  window.clearTimeout(page.writing);
  page.writing = window.setTimeout(() => {
    page.writing = 0;
    if (!perCard(page)) return page.change({ step: text ? [text] : [] });
    let at = page.state.at || [];
    for (const [tag, position] of page.moving) at = withEntry({ at }, "at", tag, position);
    page.change({ at });
  }, WRITE_WAIT_MS);
}

/**
 * The newest position is not named, so that the page follows new values.
 * @param {CardsPage} page
 * @param {SteppedCard | null} card
 * @param {number} index
 */
function moveTo(page, card, index) {
  const list = card ? listFor(page, card) : page.positions || [];
  if (!list.length) return;
  const at = Math.min(list.length - 1, Math.max(0, index));
  move(page, (card && card.dataset.key) || "", at === list.length - 1 ? "" : list[at].text);
}

/**
 * @param {CardsPage} page
 * @param {SteppedCard | null} card
 * @param {number} by
 */
function moveBy(page, card, by) {
  const list = card ? listFor(page, card) : page.positions || [];
  moveTo(page, card, indexIn(list, chosen(page, (card && card.dataset.key) || "")) + by);
}

// Sliders -----------------------------------------------------------------------------------------------------------

/**
 * Create a slider with buttons and labels; to(index) is called while it moves.
 * @param {string} className
 * @param {(index: number) => void} to
 */
export function slider(className, to) {
  const range = make("input", "ms-slider ms-steps-range", [], { type: "range", min: "0", step: "1" });
  setLabel(range, "aria-label", "step_slider.slider");
  range.addEventListener("input", () => to(Number(range.value)));
  const sides = [{ name: "left", label: "step_slider.previous", by: -1 }, { name: "right", label: "step_slider.next", by: 1 }];
  const [before, after] = sides.map(({ name, label, by }) => {
    const button = iconButton(name, label, "");
    button.removeAttribute("data-act");
    button.addEventListener("click", () => to(Number(range.value) + by));
    return button;
  });
  return make("div", `ms-steps ${className}`, [
    before,
    range,
    after,
    make("span", "ms-steps-now"),
    make("span", "ms-steps-of ms-muted"),
  ]);
}

/**
 * @param {HTMLElement} element
 * @param {Position[]} list
 * @param {Position | null} position
 */
export function drawSlider(element, list, position) {
  const at = position ? list.indexOf(position) : -1;
  const range = element.querySelector("input");
  range.max = String(Math.max(0, list.length - 1));
  range.value = String(at);
  const [before, after] = element.querySelectorAll("button");
  before.disabled = at <= 0;
  after.disabled = at >= list.length - 1;
  const again = position && list.filter((one) => one.step === position.step).length > 1;
  const key = again ? "step_slider.now_again" : "step_slider.now";
  const values = position ? { step: count(position.step), nth: position.nth } : { step: "–", nth: "" };
  writeText(element.querySelector(".ms-steps-now"), key, values);
  writeText(element.querySelector(".ms-steps-of"), "step_slider.of", { n: count(at + 1), total: count(list.length) });
  range.setAttribute("aria-valuetext", translate(key, values));
}

/**
 * The slider of the page, and the switch to one per card.
 * @param {CardsPage} page
 */
export function control(page) {
  const all = slider("ms-steps-all", (index) => moveTo(page, null, index));
  const each = make("button", "ms-button ms-steps-each", words("step_slider.each"), { type: "button" });
  setLabel(each, "title", "step_slider.each.title");
  each.addEventListener("click", () => {
    page.moving = new Map();
    page.change(perCard(page) ? { each: [], at: [] } : { each: ["1"] });
  });
  return [all, each];
}

/**
 * @param {CardsPage} page
 * @param {SteppedCard} card
 */
export function ownSlider(page, card) {
  return slider("ms-steps-own", (index) => moveTo(page, card, index));
}

/** @param {CardsPage} page */
function drawControl(page) {
  const all = page.find(".ms-steps-all");
  const list = page.positions || [];
  all.hidden = perCard(page) || !list.length;
  page.find(".ms-steps-each").setAttribute("aria-pressed", String(perCard(page)));
  if (!all.hidden) drawSlider(all, list, list[indexIn(list, chosen(page, ""))]);
}

/**
 * Called after every change of the state.
 * @param {CardsPage} page
 */
export function draw(page) {
  if (!page.writing) page.moving = new Map();
  drawControl(page);
}

// Keys --------------------------------------------------------------------------------------------------------------

/** @type {Record<string, (page: CardsPage, card: SteppedCard | null) => void>} */
const KEYS = {
  ArrowLeft: (page, card) => moveBy(page, card, -1),
  ArrowRight: (page, card) => moveBy(page, card, 1),
  Home: (page, card) => moveTo(page, card, 0),
  End: (page, card) => moveTo(page, card, Infinity),
};

/**
 * @param {Element} target
 * @returns {CardsPage | null}
 */
function pageOfKey(target) {
  const around = cards.pageAround(target);
  if (around) return around;
  // In another application, only handle keys pressed inside our page.
  const alone = document.querySelector(".ms-shell .ms-tagged:not(.ms-apart)");
  return alone && target === document.body ? cards.pageOf(alone.id) : null;
}

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!(target instanceof Element) || takesText(target) || target.closest("dialog[open]")) {
    return;
  }
  const page = pageOfKey(target);
  if (!page || !page.kind.show) return;
  const card = target.closest(".ms-slot") || page.find(".ms-slot.ms-full:not([hidden])") || page.find(".ms-slot:hover");
  if (perCard(page) && !card) return;
  event.preventDefault();
  if (page.kind.keys && page.kind.keys(page, event.key)) return;
  KEYS[event.key](page, perCard(page) ? card : null);
});
