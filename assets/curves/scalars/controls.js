// The bar above the cards of the scalars page: x axis, smoothing, mode, downloads.

import { isDerived } from "../../kit/derived_tags.js";
import { icon, make, menu, option, pressSegment, segments, words } from "../../kit/elements.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { last } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import { asked, grouped, inTable } from "./grouping.js";
import * as runGroups from "./groups.js";
import * as ranking from "./ranking.js";
import { oneChart, synthesis } from "./view.js";

const MOST_NAMES = 50;
const SMOOTH_WAIT_MS = 60;

/** @param {Curves.Page} page */
function axisControl(page) {
  const select = make("select", "ms-input", ["step", "relative", "absolute", "tag"].map((name) =>
    option(name, `scalars.x.${name}`)), { "data-control": "x" });
  const list = make("datalist", "", [], { id: page.store("axis-names") });
  const name = make("input", "ms-input ms-axis-name", [], { list: list.id, "data-control": "x-name", hidden: "" });
  setLabel(name, "aria-label", "scalars.x.name");
  setLabel(name, "placeholder", "scalars.x.name");
  select.addEventListener("change", () => {
    if (select.value === "tag") {
      name.hidden = false;
      suggest(page, name, list);
      name.focus();
    } else page.change({ x: select.value === "step" ? [] : [select.value], zoom: [] });
  });
  name.addEventListener("input", () => suggest(page, name, list));
  name.addEventListener("change", () => {
    if (page.catalogue && page.catalogue.tags.includes(name.value)) page.change({ x: [`tag:${name.value}`], zoom: [] });
  });
  setLabel(select, "title", "scalars.x");
  return make("label", "ms-field", [words("scalars.x", {}, "span", "ms-field-name"), select, name, list]);
}

/**
 * @param {Curves.Page} page
 * @param {HTMLInputElement} input
 * @param {HTMLDataListElement} list
 */
function suggest(page, input, list) {
  const part = input.value.toLowerCase();
  const names = (page.catalogue ? page.catalogue.tags : []).filter((tag) => tag.toLowerCase().includes(part));
  list.replaceChildren(...names.slice(0, MOST_NAMES).map((tag) => make("option", "", [], { value: tag })));
}

/** @param {Curves.Page} page */
function smoothControl(page) {
  const bounds = { min: "0", max: "0.99", step: "0.01" };
  const slider = make("input", "ms-slider", [], { type: "range", ...bounds, "data-control": "smooth" });
  const number = make("input", "ms-input ms-smooth", [], { type: "number", ...bounds, "data-control": "smooth" });
  for (const label of ["aria-label", "title"]) {
    setLabel(slider, label, "scalars.smooth");
    setLabel(number, label, "scalars.smooth");
  }
  let timer = 0;
  /** @param {Event} event */
  const set = (event) => {
    const typed = event.target === slider ? slider : number;
    const value = Math.min(0.99, Math.max(0, Number(typed.value) || 0));
    if (typed === slider) number.value = String(value);
    else slider.value = String(value);
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ smooth: value ? [String(value)] : [] }), SMOOTH_WAIT_MS);
  };
  slider.addEventListener("input", set);
  number.addEventListener("input", set);
  number.addEventListener("change", () => { number.value = slider.value; });
  return make("div", "ms-field", [words("scalars.smooth", {}, "span", "ms-field-name"), slider, number]);
}

/** @param {Curves.Page} page */
function modeControl(page) {
  const group = segments("scalars.mode", [["cards", "scalars.cards"], ["one", "scalars.one"], ["table", "scalars.table"]],
    (mode) => page.change({ mode: mode === "cards" ? [] : [mode], full: [] }));
  group.classList.add("ms-scalar-mode");
  return group;
}

/**
 * @param {string} key
 * @param {string} what
 */
function link(key, what) {
  return make("a", "ms-menu-item", words(key), { "data-export": what, download: "" });
}

function downloads() {
  const summary = make("summary", "ms-button", [icon("download"), words("scalars.download")]);
  for (const name of ["aria-label", "title"]) setLabel(summary, name, "scalars.download");
  return menu(summary, [
    link("scalars.csv_screen", "csv screen"), link("scalars.json_screen", "json screen"),
    link("scalars.csv_all", "csv all"), link("scalars.json_all", "json all"),
    link("scalars.csv_final", "final"), link("scalars.csv_matrix", "matrix"), link("scalars.csv_groups", "groups"),
  ]);
}

/** @param {Curves.Page} page */
export function build(page) {
  const restore = make("button", "ms-button ms-button-icon ms-restore-all ms-unseen", icon("restore"), { type: "button" });
  for (const name of ["title", "aria-label"]) setLabel(restore, name, "scalars.restore_all");
  restore.addEventListener("click", () => {
    page.trails.clear();
    page.change({ zoom: [] });
  });
  const menus = downloads();
  menus.addEventListener("toggle", () => drawLinks(page, menus));
  return {
    left: [axisControl(page), smoothControl(page), modeControl(page), runGroups.build(page), restore],
    right: [ranking.note(), page.strict.box, menus],
  };
}

/**
 * Complete links when the menu opens, since the list of runs may be long.
 * @param {Curves.Page} page
 * @param {HTMLDetailsElement} menus
 */
function drawLinks(page, menus) {
  if (!menus.open || !page.catalogue) return;
  const compared = oneChart(page) ? synthesis(page).flat() : page.chosen;
  const onScreen = oneChart(page) || inTable(page) ? compared : page.catalogue.tags.filter((tag) => page.shown.includes(tag));
  for (const element of menus.querySelectorAll("[data-export]")) {
    const [suffix, what] = element.dataset.export.split(" ");
    if (!what) {
      drawCompared(page, element, suffix, compared);
      continue;
    }
    const every = onScreen.length === page.catalogue.tags.length && !onScreen.some(isDerived);
    const tags = what === "screen" && !every ? onScreen : null;
    element.href = cards.exportUrl(page, `scalars.${suffix}`, tags);
  }
}

/**
 * @param {Curves.Page} page
 * @param {HTMLAnchorElement} element
 * @param {string} what
 * @param {string[]} tags
 */
function drawCompared(page, element, what, tags) {
  const groups = what === "groups";
  element.hidden = groups && !grouped(page);
  const extra = Object.fromEntries(Object.entries(asked(page)).map(([key, [value]]) => [key, value]));
  if (!groups) for (const key of ["line", "band", ...(what === "matrix" ? ["group", "base"] : [])]) delete extra[key];
  if (groups) {
    for (const key of ["x", "smooth"]) if (last(page.state, key, "")) extra[key] = last(page.state, key, "");
    if (extra.x === "absolute") extra.zone = String(-new Date().getTimezoneOffset());
  }
  element.href = cards.exportUrl(page, `scalars-${what}.csv`, tags.slice(0, groups ? MOST_NAMES : 500), extra);
}

/** @param {Curves.Page} page */
function drawAxis(page) {
  const axis = last(page.state, "x", "step");
  const select = page.find('[data-control="x"]');
  const name = page.find('[data-control="x-name"]');
  const byTag = axis.startsWith("tag:");
  for (const element of select.options) element.textContent = translate(element.dataset.key);
  if (document.activeElement === select && select.value === "tag" && !byTag) return;
  if (document.activeElement === name) return;
  select.value = byTag ? "tag" : axis;
  name.hidden = !byTag;
  name.value = byTag ? axis.slice(4) : "";
}

/** @param {Curves.Page} page */
export function draw(page) {
  drawAxis(page);
  const smooth = last(page.state, "smooth", "0");
  for (const input of page.root.querySelectorAll('[data-control="smooth"]')) {
    if ((input.value === "" || Number(input.value) !== Number(smooth)) && input !== document.activeElement) {
      input.value = smooth;
    }
  }
  pressSegment(page.find(".ms-scalar-mode"), last(page.state, "mode", "cards"));
  runGroups.draw(page);
  // Invisible instead of hidden, so that its neighbours do not move.
  page.find(".ms-restore-all").classList.toggle("ms-unseen", !(page.state.zoom || []).length);
}

window.addEventListener("mindscope:prefs", () => {
  for (const page of cards.all("scalars")) if (page.catalogue) drawAxis(page);
});
