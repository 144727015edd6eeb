// Groups of runs and the baseline: the control, the strip below the bar, and the request. See layouts/curves/scalars/sheet.py.

import { dotButton } from "../../kit/colour_box.js";
import { setProps } from "../../kit/dash.js";
import { badge, icon, iconButton, make, option, pressSegment, segments, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, setLabel, translate } from "../../kit/i18n.js";
import { frameOf } from "../../kit/notes.js";
import { last, same } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import { by, grouped, inTable, named } from "./grouping.js";
import * as matrix from "./matrix.js";
import * as finals from "./table.js";

const KINDS = ["", "job", "rank", "regex", "column"];
const NAMED = ["regex", "column"];  // kinds whose value is typed
const LINES = ["mean", "median", "worst"];
const BANDS = ["interval", "std", "range", "none"];
const MOST_CHOICES = 300;
const MOST_TAGS = 500;

// The control --------------------------------------------------------------------------------------------------------

/**
 * @param {string} key
 * @param {...Node} controls
 */
function field(key, ...controls) {
  return make("div", "ms-group-field", [words(key, {}, "span", "ms-field-name"), ...controls]);
}

/**
 * @param {Curves.Page} page
 * @param {Wire.Query} values
 */
function choose(page, values) {
  // A group cannot be the baseline of other groups.
  const base = last(page.state, "base", "");
  const other = "group" in values && base.startsWith("group:");
  page.change({ ...values, ...(other ? { base: [] } : {}) });
}

/** @param {Curves.Page} page */
function control(page) {
  const summary = make("summary", "ms-button", [icon("compare"), words("groups.button")]);
  for (const name of ["aria-label", "title"]) setLabel(summary, name, "groups.button");
  const kind = make(
    "select",
    "ms-input",
    KINDS.map((name) => option(name, `groups.by.${name || "none"}`)),
    { "data-group": "kind" },
  );
  const list = make("datalist", "", [], { id: page.store("group-names") });
  const what = make("input", "ms-input", [], { list: list.id, "data-group": "what", spellcheck: "false", autocomplete: "off" });
  const line = segments(
    "groups.line",
    LINES.map((name) => [name, `groups.line.${name}`]),
    (name) => page.change({ line: name === "mean" ? [] : [name] }),
  );
  const band = segments(
    "groups.band",
    BANDS.map((name) => [name, `groups.band.${name}`]),
    (name) => page.change({ band: [name] }),
  );
  const base = make("select", "ms-input", [], { "data-group": "base" });
  setLabel(kind, "aria-label", "groups.by");
  setLabel(base, "aria-label", "groups.base");
  line.classList.add("ms-group-line");
  band.classList.add("ms-group-band");
  kind.addEventListener("change", () => {
    if (!NAMED.includes(kind.value)) return choose(page, { group: kind.value ? [kind.value] : [] });
    what.value = "";
    typing(page, kind.value);
    what.focus();
    ask(page);
  });
  what.addEventListener("input", () => {
    const known = kind.value === "column" && page.sheet && (page.sheet.settings || []).includes(what.value);
    if (known) choose(page, { group: [`column:${what.value}`] });
  });
  what.addEventListener("change", () => what.value && choose(page, { group: [`${kind.value}:${what.value}`] }));
  base.addEventListener("change", () => page.change({ base: base.value ? [base.value] : [] }));
  const panel = make("div", "ms-menu-items ms-group-panel", [
    field("groups.by", kind, what, list), field("groups.line", line), field("groups.band", band), field("groups.base", base),
    words("groups.hint", {}, "p", "ms-muted ms-group-hint"),
  ]);
  const details = make("details", "ms-details ms-menu-down ms-grouping", [summary, panel]);
  details.addEventListener("toggle", () => {
    if (details.open) {
      drawControl(page);
      // Shift the panel if there is no room to the right.
      const room = document.documentElement.clientWidth - 8 - details.getBoundingClientRect().left - panel.offsetWidth;
      panel.style.setProperty("--ms-shift", `${Math.min(0, room)}px`);
    }
    ask(page);
  });
  return details;
}

/**
 * @param {Curves.Page} page
 * @param {string} kind
 */
function typing(page, kind) {
  const what = page.find('[data-group="what"]');
  what.disabled = !NAMED.includes(kind);
  setLabel(what, "placeholder", NAMED.includes(kind) ? `groups.what.${kind}` : "groups.what.none");
  setLabel(what, "aria-label", NAMED.includes(kind) ? `groups.what.${kind}` : "groups.what.none");
}

/**
 * The band of the groups: as band_of of layouts/curves/chosen_lines.py.
 * @param {Curves.Page} page
 */
export function bandOf({ state, sheet }) {
  const groups = sheet && sheet.groups;
  const small = Boolean(sheet && groups && groups.every((group) => group.n < sheet.few));
  return last(state, "band", small ? "range" : "interval");
}

/** @param {Curves.Page} page */
function drawControl(page) {
  const [name, value] = by(page);
  const kind = page.find('[data-group="kind"]');
  const what = page.find('[data-group="what"]');
  for (const element of kind.options) element.textContent = translate(element.dataset.key);
  const choosing
    = NAMED.includes(kind.value) && kind.value !== name && (document.activeElement === what || document.activeElement === kind);
  if (!choosing) {
    kind.value = name;
    typing(page, name);
    if (document.activeElement !== what) what.value = value;
  }
  what.setAttribute("aria-invalid", String(Boolean(page.sheet && page.sheet.refused && name === "regex")));
  pressSegment(page.find(".ms-group-line"), last(page.state, "line", "mean"));
  pressSegment(page.find(".ms-group-band"), bandOf(page));
  for (const button of page.root.querySelectorAll(".ms-group-line button, .ms-group-band button")) button.disabled = !name;
  page.find(".ms-grouping > summary").setAttribute("aria-pressed", String(Boolean(name || last(page.state, "base", ""))));
  if (page.find(".ms-grouping").open) drawChoices(page, kind.value);
}

/**
 * @param {Curves.Page} page
 * @param {string} kind
 */
function drawChoices(page, kind) {
  const names = kind === "column" && page.sheet ? page.sheet.settings || [] : [];
  page.find(".ms-group-panel datalist").replaceChildren(...names.map((name) => make("option", "", [], { value: name })));
  const now = last(page.state, "base", "");
  const groups = ((grouped(page) && page.sheet && page.sheet.groups) || []).map(({ label }) => [
    `group:${label}`,
    named(label),
  ]);
  const runs = ((page.catalogue && page.catalogue.runs) || []).slice(0, MOST_CHOICES).map((run) => [`run:${run}`, run]);
  const choices = [["", translate("groups.base.none")], ...groups.slice(0, MOST_CHOICES), ...runs];
  if (!choices.some(([value]) => value === now)) choices.push([now, now.slice(now.indexOf(":") + 1)]);
  const select = page.find('[data-group="base"]');
  const key = JSON.stringify(choices);
  if (select.dataset.choices !== key && document.activeElement !== select) {
    select.dataset.choices = key;
    select.replaceChildren(...choices.map(([value, text]) => make("option", "", text, { value })));
  }
  if (document.activeElement !== select) select.value = now;
}

// The strip below the bar --------------------------------------------------------------------------------------------

/**
 * @param {Curves.Page} page
 * @param {Curves.Group} group
 * @param {number} few least number of runs of a group that is not small
 */
function chip(page, group, few) {
  const dot = dotButton(group.colour, {
    frame: frameOf(page.root), target: { by: last(page.state, "group", ""), label: group.label }, name: named(group.label),
    colour: group.colour, byHand: group.hand,
  });
  const n = make("span", group.n < few ? "ms-group-n ms-group-few" : "ms-group-n", `n ${count(group.n)}`);
  if (group.n < few) setLabel(n, "title", "groups.few", { n: few });
  const summary = make("summary", "ms-group-chip", [make("span", "ms-cut ms-name", named(group.label)), n]);
  summary.title = group.runs.slice(0, 20).join("\n") + (group.n > 20 ? "\n…" : "");
  const runs = group.runs.map((run) => make("div", "ms-cut ms-name", run, { title: run }));
  const list = make("div", "ms-menu-items ms-group-runs", runs);
  const details = make("details", "ms-details ms-menu-down ms-group", [summary, list]);
  return make("span", "ms-group-item", [dot, details], { "data-label": group.label });
}

/**
 * @param {Curves.Page} page
 * @param {string} base
 */
function baseline(page, base) {
  const away = iconButton("close", "groups.base.remove", "no-base");
  away.addEventListener("click", () => page.change({ base: [] }));
  return make("span", "ms-group-base", [words("groups.minus"), make("strong", "ms-cut ms-name", named(base)), away]);
}

/** @param {Curves.Page} page */
function drawStrip(page) {
  const strip = page.find(".ms-groups");
  const { sheet } = page;
  const wanted = grouped(page) || last(page.state, "base", "");
  strip.hidden = !wanted || !sheet;
  if (!wanted || !sheet) return;
  const { few } = sheet;
  /** @type {HTMLElement[]} */
  const parts = [];
  if (sheet.refused) parts.push(make("span", "ms-badge ms-badge-wrong ms-group-refused", sheet.refused, { role: "alert" }));
  if (sheet.groups) {
    parts.push(
      words(`groups.${last(page.state, "line", "mean")}.${bandOf(page)}`, {}, "span", "ms-muted"),
    );
  }
  if (sheet.groups) parts.push(...sheet.groups.slice(0, MOST_CHOICES).map((group) => chip(page, group, few)));
  if (sheet.groups && sheet.groups.some((group) => group.n < few)) {
    const warning = badge("groups.few.short", { n: sheet.few }, "groups.few", "accent");
    warning.classList.add("ms-group-warning");
    parts.push(warning);
  }
  if (sheet.base !== null && last(page.state, "base", "")) parts.push(baseline(page, sheet.base));
  const key = JSON.stringify([
    sheet.groups,
    sheet.base,
    sheet.refused,
    page.state.line,
    page.state.band,
    page.state.base,
    language(),
  ]);
  if (strip.dataset.drawn === key) return;
  strip.dataset.drawn = key;
  strip.replaceChildren(...parts);
}

// Asking -------------------------------------------------------------------------------------------------------------

/** @param {Curves.Page} page */
function ask(page) {
  const { state } = page;
  const table = inTable(page);
  const settings = page.find(".ms-grouping").open && page.find('[data-group="kind"]').value === "column";
  /** @type {Wire.Query} */
  const wanted = {};
  if (table || settings || grouped(page) || last(state, "base", "")) {
    if (state.run) wanted.run = state.run;
    for (const key of ["group", "base"]) if (last(state, key, "")) wanted[key] = [last(state, key, "")];
    if (settings) wanted.settings = ["1"];
    if (table) Object.assign(wanted, { table: ["1"], tag: page.chosen.slice(0, MOST_TAGS) }, matrix.asked(page));
  }
  const next = Object.keys(wanted).length ? wanted : null;
  if (same(page.sheetAsk || null, next)) return;
  page.sheetAsk = next;
  // Keep the last sheet: the server does not repeat it.
  setProps(page.store("sheet-ask"), { data: next });
}

/**
 * @param {Curves.Page} page
 * @param {Curves.Sheet} sheet
 */
export function filled(page, sheet) {
  // Settings are only sent while the control is open.
  if (!page.sheetAsk || !same(sheet.ask.group, page.sheetAsk.group)) return;
  page.sheet = sheet;
  draw(page);
}

/** @param {Curves.Page} page */
export function draw(page) {
  ask(page);
  drawControl(page);
  drawStrip(page);
  finals.draw(page);
  matrix.draw(page);
}

/** @param {Curves.Page} page */
export function build(page) {
  const strip = make("div", "ms-groups", [], { hidden: "" });
  page.find(".ms-cards-controls").after(strip, ...matrix.build(page), finals.build(page));
  return control(page);
}

window.addEventListener("mindscope:prefs", () => {
  for (const page of cards.all("scalars")) if (page.catalogue) draw(page);
});
