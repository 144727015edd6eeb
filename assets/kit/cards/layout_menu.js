// Controls of how cards are arranged, in the bar of every page of cards: the switch that links cards, and a menu with order,
// columns, height and number of the cards, and all sections at once. State: see arrangement.js; link ("0" for off).

import { icon, iconButton, make, pressSegment, segments, words } from "../elements.js";
import { count } from "../units.js";
import { setLabel, translate } from "../i18n.js";
import { last } from "../state.js";
import { COLUMNS, HEIGHTS, ORDERS, columnsChosen, foldAll, orderOf, perPage, sizes } from "./arrangement.js";

/**
 * Whether the x range and the crosshair of a card are those of all.
 * @param {CardsPage} page
 */
export const isLinked = (page) => Boolean(page.kind.linked) && last(page.state, "link", "1") !== "0";

/** @param {CardsPage} page */
export function build(page) {
  const summary = make("summary", "ms-button ms-button-icon", icon("layout"));
  for (const name of ["title", "aria-label"]) setLabel(summary, name, "cards.layout");
  const items = make("div", "ms-menu-items");
  const menu = make("details", "ms-details ms-menu-down ms-layout-menu", [summary, items]);
  menu.addEventListener("toggle", () => fill(page, menu));
  page.layoutMenu = menu;
  if (!page.kind.linked) return [menu];
  page.linkButton = iconButton("link", "cards.link", "link");
  page.linkButton.addEventListener("click", () => {
    const on = !isLinked(page);
    page.change({ link: on ? [] : ["0"], ...page.kind.linked?.(page, on) });
  });
  return [page.linkButton, menu];
}

/** @param {CardsPage} page */
export function draw(page) {
  page.layoutMenu.hidden = !page.paged;
  if (page.linkButton) {
    page.linkButton.setAttribute("aria-pressed", String(isLinked(page)));
    page.linkButton.hidden = !page.paged;
  }
  if (page.layoutMenu.open) press(page);
}

/**
 * @param {string} key
 * @param {HTMLElement} control
 */
function row(key, control) {
  return make("div", "ms-layout-row", [words(key, {}, "span", "ms-field-name"), control]);
}

/**
 * @param {CardsPage} page
 * @param {HTMLDetailsElement} menu
 */
function fill(page, menu) {
  const items = /** @type {HTMLElement} */ (menu.lastElementChild);
  if (!menu.open) {
    items.replaceChildren();
    return;
  }
  /**
   * @param {string} name
   * @param {string} standard
   */
  const set = (name, standard) => (/** @type {string} */ value) => (
    page.change({ [name]: value === standard ? [] : [value], page: [] })
  );
  const orders = ORDERS.filter((name) => name !== "insights" || page.kind.ranked);
  const order = segments("cards.order", orders.map((name) => [name, `cards.order.${name}`]), set("order", ORDERS[0]));
  const height = segments("cards.height", ["small", "auto", "large"].map((name) => [name, `cards.height.${name}`]),
    set("height", "auto"));
  const size = make("div", "ms-segments", sizes(page.usual).map((n) => {
    const button = make("button", "ms-button", count(n), { type: "button", "data-value": String(n) });
    button.addEventListener("click", () => set("cards", String(page.usual))(String(n)));
    return button;
  }), { role: "group" });
  setLabel(size, "aria-label", "cards.per_page");
  const columns = make("select", "ms-input", [
    make("option", "", translate("cards.columns.auto"), { value: "" }),
    ...COLUMNS.map((n) => make("option", "", n, { value: n })),
  ]);
  setLabel(columns, "aria-label", "cards.columns");
  columns.addEventListener("change", () => page.change({ columns: columns.value ? [columns.value] : [] }));
  /**
   * @param {string} key
   * @param {() => Wire.Query} changes
   */
  const act = (key, changes) => {
    const button = make("button", "ms-button ms-button-small", words(key), { type: "button" });
    button.addEventListener("click", () => page.change(changes()));
    return button;
  };
  page.layoutControls = { order, height, size, columns };
  page.layoutControls.sections = make("div", "ms-layout-row", [
    act("cards.fold_all", () => foldAll(true)), act("cards.unfold_all", () => foldAll(false)),
  ]);
  page.layoutControls.pins = act("cards.unpin_all", () => ({ pin: [] }));
  items.replaceChildren(
    row("cards.order", order), page.layoutControls.sections, row("cards.columns", columns), row("cards.height", height),
    row("cards.per_page", size), page.layoutControls.pins,
  );
  press(page);
}

/** @param {CardsPage} page */
function press(page) {
  const { order, height, size, columns, sections, pins } = page.layoutControls;
  pressSegment(order, orderOf(page.state));
  pressSegment(height, last(page.state, "height", "") in HEIGHTS ? last(page.state, "height", "") : "auto");
  pressSegment(size, String(perPage(page.state, page.usual)));
  columns.value = columnsChosen(page.state) ? String(columnsChosen(page.state)) : "";
  sections.hidden = !page.sections.some((one) => one.headed);
  pins.hidden = !page.pins.length;
}
