// Marks of insights above the curves of each card, requested once the cards are drawn and placed on their axes.

import { setProps } from "../../kit/dash.js";
import { make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { inLanguage, language, setLabel } from "../../kit/i18n.js";
import { currentPrefs, setPrefs } from "../../kit/prefs.js";
import { last, same } from "../../kit/state.js";
import * as strict from "../../kit/strictness.js";
import * as cards from "../../kit/cards/cards.js";
import { describe } from "./digests.js";
import * as hover from "./hover.js";
import { synthesis } from "./view.js";
import { setView } from "./zoom.js";

const MOST = 8;
const AGAIN_MS = 300;
const NEAR_PX = 9;
const WAIT_MS = 200;

/** @param {Curves.Page} page */
export function strictness(page) {
  return strict.strictness(page.state.insights || currentPrefs().insights.split(","));
}

// The bar ------------------------------------------------------------------------------------------------------------

/** @param {Curves.Page} page */
export function levels(page) {
  return strict.control(() => strictness(page), (chosen) => {
    const insights = strict.listed(chosen);
    setPrefs({ insights: insights.join(",") });
    page.change({ insights });
  });
}

// Asking -------------------------------------------------------------------------------------------------------------

/** @param {Curves.Page} page */
function wanted(page) {
  if (strict.off(strictness(page))) return null;
  const tags = [...new Set(page.shown.flatMap((key) => (key ? [key] : synthesis(page).flat())))];
  return tags.length ? { tag: tags, run: page.state.run || [] } : null;
}

/**
 * Curves are requested first.
 * @param {Curves.Page} page
 */
export function draw(page) {
  page.strict.draw();
  const ask = wanted(page);
  if (!same(ask, page.marked)) {
    page.marked = ask;
    window.setTimeout(() => {
      if (page.root.isConnected) setProps(page.store("marked"), { data: ask && { ...ask, again: ["0"] } });
    }, AGAIN_MS);
  }
  all(page);
}

/**
 * @param {Curves.Page} page
 * @param {Curves.Marks} answer
 */
export function received(page, answer) {
  page.marks = answer.marks;
  if (!answer.left) page.digests = answer.digests;
  page.looked = (page.looked || 0) + 1;
  all(page);
  if (!answer.left || !page.marked) return;
  window.clearTimeout(page.askingAgain);
  page.askingAgain = window.setTimeout(() => {
    if (page.marked && page.root.isConnected) {
      setProps(page.store("marked"), { data: { ...page.marked, again: [String(page.looked)] } });
    }
  }, AGAIN_MS);
}

// Drawing ------------------------------------------------------------------------------------------------------------

/**
 * @param {Curves.Page} page
 * @param {string} key
 */
function ofCard(page, key) {
  const tags = new Set(key ? [key] : synthesis(page).flat());
  const chosen = strictness(page);
  return (page.marks || []).filter((mark) => tags.has(mark.tag) && strict.passes(chosen, mark.kind, mark.score));
}

/**
 * Position of a mark on the axis; NaN if it has none.
 * @param {Curves.Page} page
 * @param {Curves.Mark} mark
 */
function placeOf(page, mark) {
  const axis = last(page.state, "x", "step");
  if (axis === "step") return mark.step;
  if (axis === "relative") return mark.time - mark.started;
  if (axis === "absolute") return (mark.time - new Date().getTimezoneOffset() * 60) * 1000;
  return NaN;
}

/** @param {Curves.Mark} mark */
function sentence(mark) {
  return inLanguage(mark.text);
}

/** @param {Curves.Mark} mark */
function reason(mark) {
  return inLanguage(mark.reason);
}

/** @param {HTMLElement} card */
function layer(card) {
  let found = card.querySelector(".ms-marks");
  if (!found) {
    found = make("div", "ms-marks");
    card.querySelector(".ms-card-body").append(found);
  }
  return found;
}

/**
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
function place(page, card) {
  const host = layer(card);
  const view = hover.plane(card);
  const hidden = new Set(page.state.hide || []);
  const there = !card.hidden && view && !card.classList.contains("ms-pending");
  const marks = there ? ofCard(page, card.dataset.key || "").filter(({ run }) => !hidden.has(run)) : [];
  const body = card.querySelector(".ms-card-body").getBoundingClientRect();
  /** @type {number[]} */
  const taken = [];
  /** @type {{ mark: Curves.Mark, left: number, top: number }[]} */
  const shown = [];
  for (const mark of marks) {
    if (shown.length >= MOST || !view) break;
    const at = view.toX(placeOf(page, mark));
    if (!(at >= view.box.left - 1 && at <= view.box.right + 1) || taken.some((other) => Math.abs(other - at) < NEAR_PX)) {
      continue;
    }
    taken.push(at);
    shown.push({ mark, left: at - body.left, top: view.box.top - body.top });
  }
  host.replaceChildren(...shown.map(({ mark, left, top }) => {
    const dot = make("button", `ms-mark ms-mark-${mark.severity}`, [], {
      type: "button",
      tabindex: "-1",
      "data-act": "mark",
      "data-view": mark.view,
    });
    dot.style.left = `${left}px`;
    dot.style.top = `${top}px`;
    dot.setAttribute("aria-label", sentence(mark));
    return Object.assign(dot, { mark });
  }));
}

/**
 * Badge with the number of insights, which opens a list.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
function badge(page, card) {
  const head = card.querySelector(".ms-card-badges");
  if (!head) return;
  const marks = ofCard(page, card.dataset.key || "");
  const known = head.querySelector(".ms-marks-menu");
  const text = JSON.stringify([language(), marks.map((mark) => [mark.run, mark.tag, mark.kind, mark.step])]);
  if (known && known.dataset.text === text) return;
  if (known) known.remove();
  if (!marks.length) return;
  const values = { n: count(marks.length) };
  const worst = Math.max(...marks.map((mark) => mark.severity));
  const summary = words(marks.length === 1 ? "insights.count_one" : "insights.count", values, "summary",
    `ms-badge ms-badge-button ms-badge-mark ms-badge-mark-${worst}`);
  setLabel(summary, "title", "insights.count_tip");
  /** @type {HTMLElement[]} */
  const items = marks.slice(0, MOST).flatMap((mark) => {
    const dot = make("span", "ms-dot");
    dot.style.background = mark.colour;
    const item = make("button", "ms-menu-item ms-mark-item", [dot, make("span", "", sentence(mark))],
      { type: "button", "data-act": "mark", "data-view": mark.view });
    item.title = `${mark.label}\n${reason(mark)}`;
    const links = [make("a", "ms-mark-link", [words("insights.meaning")], mark.meaning)];
    if (mark.cause) links.push(make("a", "ms-mark-link", [words("insights.cause")], mark.cause));
    return [item, make("div", "ms-mark-links", links)];
  });
  if (marks.length > MOST) {
    items.push(words("insights.more", { n: count(marks.length - MOST) }, "div", "ms-menu-item ms-muted"));
  }
  const menu = make("details", "ms-details ms-menu-down ms-marks-menu", [
    summary,
    make("div", "ms-menu-items ms-mark-items", items),
  ]);
  menu.dataset.text = text;
  head.append(menu);
}

/**
 * @param {Curves.Page} page
 * @param {Curves.MarkedCard} card
 */
export function painted(page, card) {
  describe(page, card);
  badge(page, card);
  place(page, card);
  const plot = card.querySelector(".js-plotly-plot");
  if (plot && plot.on && plot.layout) {
    if (plot.marked) return;
    plot.marked = true;
    plot.on("plotly_afterplot", () => place(page, card));
  } else if (page.marks && page.marks.length && card.isConnected && !card.waits) {
    // The graph is created after this call, with its first figure.
    card.waits = window.setTimeout(() => {
      card.waits = 0;
      if (!card.hidden) painted(page, card);
    }, WAIT_MS);
  }
}

/** @param {Curves.Page} page */
function all(page) {
  if (!page.catalogue) return;
  for (const card of page.root.querySelectorAll(".ms-slot")) if (!card.hidden) painted(page, card);
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {HTMLElement} button
 */
export function press(page, key, button) {
  const axis = last(page.state, "x", "step");
  const menu = button.closest("details");
  if (menu) menu.open = false;
  if (axis !== "step") return;
  setView(page, key, button.dataset.view || "", true);
}

// The sentence under the pointer -------------------------------------------------------------------------------------

/**
 * @param {Curves.Page} page
 * @param {Curves.Dot | null} dot
 */
function tip(page, dot) {
  let box = page.root.querySelector(".ms-mark-tip");
  if (!box) {
    box = make("div", "ms-mark-tip", [], { hidden: "", "aria-hidden": "true" });
    page.root.append(box);
  }
  box.hidden = !dot;
  if (!dot) return;
  const { mark } = dot;
  const colour = make("span", "ms-dot");
  colour.style.background = mark.colour;
  box.replaceChildren(
    make("div", "ms-mark-tip-run", [
      colour,
      make("span", "ms-cut ms-name", mark.label),
      words(`insights.kind.${mark.kind}`, {}, "span", "ms-muted"),
    ]),
    make("div", "", sentence(mark)),
    make("div", "ms-muted", reason(mark)),
  );
  const at = dot.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(at.left - 12, window.innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${at.bottom + 6}px`;
}

for (const { name, on } of [{ name: "mouseover", on: true }, { name: "mouseout", on: false }]) {
  document.addEventListener(name, ({ target }) => {
    const dot = target instanceof Element && target.closest(".ms-mark");
    const page = dot && cards.pageNamed("scalars", dot.closest(".ms-tagged").id);
    if (page) tip(page, on ? dot : null);
  });
}

window.addEventListener("resize", () => {
  for (const page of cards.all("scalars")) window.requestAnimationFrame(() => all(page));
});
window.addEventListener("mindscope:prefs", () => {
  for (const page of cards.all("scalars")) if (page.catalogue) draw(page);
});
