// The bars above plot and table: their controls, and what pressing them does.

import { listDamage } from "../kit/damage.js";
import { icon, iconButton, make, menu, pressSegment, segments, words } from "../kit/elements.js";
import { language, setLabel, writeText } from "../kit/i18n.js";
import { encode } from "../kit/run_selection.js";
import { axesOf, chosen, colourOf, columnNamed, differingOnly, pairOf, scaleOf, together, viewOf } from "./columns.js";
import { button, byAxis, colourChoices, list, pick } from "./column_list.js";
import { exported, savePlot } from "./files.js";
import * as scatter from "./scatter.js";
import { NOTES, chosenKeys, hidden, notesOf, selectedKeys, shownKeys } from "./shown_runs.js";
import { drawSummary } from "./summary.js";
import { restore } from "./table.js";

export const MOST_AXES = 60;

/**
 * The controls of a page, in its bars.
 * @param {Lineage.Page} page
 */
export function build(page) {
  page.root.addEventListener("click", (event) => {
    const pressed = event.target instanceof Element && event.target.closest("[data-act]");
    if (pressed && acts[pressed.dataset.act]) acts[pressed.dataset.act](page, pressed);
  });
  return { ...plotBar(page), ...rowBar(page), openGraph: page.find(".ms-lineage-detail") ? detailBar(page) : null };
}

/**
 * The list of columns below its button.
 * @param {Lineage.Page} page
 */
function columnChooser(page) {
  const counted = make("span", "t");
  const search = make("input", "ms-input ms-lineage-find", [], { type: "search" });
  for (const attribute of ["placeholder", "aria-label"]) setLabel(search, attribute, "lineage.find");
  search.addEventListener("input", () => list(page));
  const lines = make("div", "ms-lineage-list");
  lines.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    if (target.dataset.note) {
      const without = NOTES.filter((name) => (name === target.value ? !target.checked : !notesOf(page).includes(name)));
      page.change({ without: without.length ? without : [""] });
    } else pick(page, target.value, target.checked);
  });
  const sets = make("div", "ms-lineage-sets", [
    button("lineage.default", "default"), button("lineage.all", "all"), button("lineage.clear", "clear"),
  ]);
  const opener = make("summary", "ms-button", [counted, icon("down")]);
  setLabel(opener, "title", "lineage.columns_tip");
  const chooser = menu(opener, [search, sets, lines]);
  chooser.classList.add("ms-lineage-columns");
  chooser.addEventListener("toggle", () => { if (chooser.open) search.focus(); });
  return { count: counted, search, list: lines, chooser };
}

/**
 * The bar above the plot.
 * @param {Lineage.Page} page
 */
function plotBar(page) {
  const columns = columnChooser(page);
  const differ = button("lineage.differing", "differ", "lineage.differing_tip");
  const colour = make("select", "ms-input", [], { "data-control": "colour" });
  setLabel(colour, "aria-label", "lineage.colour");
  colour.addEventListener("change", () => page.change({ colour: colour.value === page.sheet.colour ? [] : [colour.value] }));
  const note = make("span", "ms-lineage-told");
  const choices = [["", "lineage.view.axes"], ["matrix", "lineage.view.matrix"], ["scatter", "lineage.view.scatter"]];
  const views = segments("lineage.view", choices, (value) => page.change({ view: value ? [value] : [] }));
  const pair = ["x", "y"].map((key) => {
    const select = make("select", "ms-input", [], { "data-control": key });
    setLabel(select, "aria-label", `lineage.${key}`);
    select.addEventListener("change", () => page.change({ [key]: [select.value] }));
    return select;
  });
  const pairFields = pair.map((select, i) => field(`lineage.${i ? "y" : "x"}`, select));
  page.find(".ms-lineage-bar").append(views, ...pairFields, columns.chooser, differ, field("lineage.colour", colour), note);
  return { ...columns, differ, colour, note, views, pair, pairFields };
}

/**
 * @param {string} key
 * @param {HTMLElement} control
 */
function field(key, control) {
  return make("label", "ms-field", [words(key, {}, "span", "ms-field-name"), control]);
}

/**
 * The bar above the table.
 * @param {Lineage.Page} page
 */
function rowBar(page) {
  const summary = make("span", "ms-lineage-told");
  const marked = make("span", "ms-muted ms-cut");
  const elsewhere = make("span", "ms-muted ms-cut");
  const compare = make("a", "ms-button", words("data_lineage.compare"), { href: "#", "data-page": "dataset" });
  setLabel(compare, "title", "data_lineage.compare_tip");
  const buttons = {
    unbrush: button("lineage.unbrush", "unbrush"),
    keep: button("lineage.keep", "keep"),
    hide: button("lineage.hide", "hide"),
    unhide: button("lineage.unhide", "unhide"),
    everyone: button("lineage.everyone", "everyone", "lineage.everyone_tip"),
    together: button("data_lineage.together", "together", "data_lineage.together_tip"),
    choose: button("lineage.choose", "choose", "lineage.choose_tip"),
    unchoose: button("lineage.unchoose", "unchoose", "lineage.unchoose_tip"),
  };
  page.find(".ms-lineage-rows").append(
    summary, buttons.unbrush, buttons.keep, buttons.hide, buttons.unhide, buttons.everyone, compare, buttons.together, marked,
    make("span", "ms-grow"), elsewhere, buttons.unchoose, buttons.choose, saving(page),
  );
  return { summary, acts: buttons, marked, elsewhere, compare };
}

/**
 * The menu of files.
 * @param {Lineage.Page} page
 */
function saving(page) {
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const attribute of ["title", "aria-label"]) setLabel(summary, attribute, "lineage.save");
  const links = ["csv", "json"].map((kind) => {
    const link = make("a", "ms-menu-item", words(`lineage.save_${kind}`), { href: "#", "data-kind": kind, download: "" });
    link.addEventListener("click", () => { link.href = exported(page, kind); });
    return link;
  });
  const pictures = ["png", "svg"].map((format) => make("button", "ms-menu-item", words(`lineage.save_${format}`),
    { type: "button", "data-act": format }));
  return menu(summary, [...links, ...pictures]);
}

/**
 * The bar of the operation that is open beside the table; returns the link to its graph.
 * @param {Lineage.Page} page
 */
function detailBar(page) {
  const pane = page.find(".ms-lineage-detail");
  const link = make("a", "ms-button ms-button-small", words("data_lineage.open"), { href: "#", "data-page": "dataset" });
  pane.prepend(make("div", "ms-lineage-detail-bar", [
    link, make("span", "ms-grow"), iconButton("close", "data_lineage.close", "unnode"),
  ]));
  pane.addEventListener("click", (/** @type {Event} */ event) => {
    const jump = event.target instanceof Element && event.target.closest("[data-node]");
    if (jump) page.change({ node: [jump.dataset.node] });
  });
  return link;
}

/** @type {Record<string, (page: Lineage.Page, pressed: HTMLElement) => unknown>} */
const acts = {
  default: (page) => page.change({ col: [], without: [] }),
  all: (page) => page.change({ col: byAxis(page, page.sheet.columns.map((column) => column.name)), without: [""] }),
  clear: (page) => page.change({ col: [""], without: NOTES }),
  differ: (page) => page.change({ differ: differingOnly(page) ? [] : ["1"] }),
  log: (page, pressed) => {
    const name = String(pressed.dataset.name);
    const [log, linear] = ["log", "linear"].map((key) => (page.state[key] || []).filter((one) => one !== name));
    const usual = columnNamed(page, name).scale;
    if (scaleOf(page, name) !== "linear") {
      if (usual !== "linear") linear.push(name);
    } else if (usual === "linear") log.push(name);
    page.change({ log, linear });
  },
  pin: (page, pressed) => {
    const name = String(pressed.dataset.name);
    const now = page.state.pin || [];
    page.change({ pin: now.includes(name) ? now.filter((one) => one !== name) : [...now, name] });
  },
  together: (page) => page.change({ together: together(page) ? [] : ["1"] }),
  png: (page) => savePlot(page, "png"),
  svg: (page) => savePlot(page, "svg"),
  unnode: (page) => page.change({ node: [] }),
  unbrush: (page) => {
    page.change({ brush: [], filter: [] });
    restore(page);
  },
  keep: (page) => {
    const kept = new Set(selectedKeys(page));
    page.change({ hide: chosenKeys(page).filter((key) => !kept.has(key)) });
  },
  hide: (page) => page.change({ hide: [...hidden(page), ...selectedKeys(page)] }),
  unhide: (page) => page.change({ hide: [] }),
  everyone: (page) => page.change({ run: [] }),
  choose: (page) => {
    page.before = page.state.run || [];
    page.chosen = encode(new Set(shownKeys(page)), page.runs.rows);
    page.change({ run: page.chosen });
    drawSummary(page);
  },
  unchoose: (page) => {
    page.change({ run: page.before || [] });
    page.before = undefined;
    drawSummary(page);
  },
};

/** @param {Lineage.Page} page */
export function furnish(page) {
  page.root.classList.remove("ms-lineage-waiting");
  const none = page.sheet.keys.length === 0;
  page.root.classList.toggle("ms-lineage-empty", none);
  const damaged = none && page.sheet.damage.length > 0;
  page.find(".ms-lineage-none").hidden = !none || damaged;
  page.find(".ms-lineage-damaged").hidden = !damaged;
  listDamage(page.root, page.sheet.damage);
  const view = viewOf(page);
  pressSegment(page.tools.views, view);
  page.root.classList.toggle("ms-lineage-scattered", view !== "");
  page.root.classList.toggle("ms-lineage-tall", view === "matrix");
  for (const field of page.tools.pairFields) field.hidden = view !== "scatter";
  const axes = axesOf(page).length;
  const columns = chosen(page).length;
  writeText(page.tools.count, "lineage.columns", { n: columns, total: page.sheet.columns.length });
  page.tools.differ.setAttribute("aria-pressed", String(differingOnly(page)));
  const hint = scatter.hint(page);
  if (view) writeText(page.tools.note, ...hint);
  else if (axes > MOST_AXES) writeText(page.tools.note, "lineage.too_many", { n: MOST_AXES, total: columns });
  else writeText(page.tools.note, axes ? "lineage.brush_tip" : "lineage.no_axes");
  const shape = JSON.stringify([
    chosen(page),
    notesOf(page),
    page.state.log,
    page.state.linear,
    page.state.pin,
    page.sheet.stamp,
    language(),
  ]);
  if (shape !== page.listed) {
    page.listed = shape;
    list(page);
    colourChoices(page);
  }
  page.tools.colour.value = colourOf(page);
  page.tools.pair.forEach((select, i) => { select.value = pairOf(page)[i]; });
}
