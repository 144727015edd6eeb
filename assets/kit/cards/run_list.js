// The legend of several charts: runs or groups with colour, name and the value under the pointer. A click hides a line,
// a click with Alt leaves it alone, and pointing at it lets the page dim the others in all charts.

import { dotButton } from "../colour_box.js";
import { make, words } from "../elements.js";
import { inLanguage, setLabel, translate } from "../i18n.js";
import { fontOf, nameElement, namesIn, needOf as needOfNames } from "../name_elements.js";
import { count, number } from "../units.js";
import { exact, foundAt, lastIndex } from "./lines.js";

/** @import { Line, Mark, Place } from "./lines.js" */

const ROW = 24;
const BESIDE_NAME = 112;  // px of dot, value and margins of a row
const SPARE = 6;  // rows drawn beyond those in view
const IN_STRIP = 60;  // rows of a list in lines, which has no room for more

/**
 * @typedef {{ key: string, name: string, colour: string, byHand: boolean, target: Record<string, string>, on: boolean,
 *   letter?: string }} Row
 *   target names what is coloured, as for dotButton; on: its line is drawn; letter stands before the name
 */

/**
 * Make an empty list. hidden() returns the keys of hidden lines and change(keys) sets them; light(key) points out a line, or
 * none; scrolled() paints anew; tools are elements for the head; frame: see frameOf of kit/notes.js.
 * @param {{ frame: () => string, tools?: HTMLElement[], hidden: () => string[], change: (keys: string[]) => void,
 *   light: (key: string | null) => void, scrolled: () => void }} options
 */
export function build({ frame, tools = [], hidden, change, light, scrolled }) {
  const all = make("button", "ms-badge ms-badge-button ms-run-list-all", words("runlist.all"), { type: "button", hidden: "" });
  const host = make("div", "ms-run-list-rows", make("div", "ms-run-list-space"), { role: "list" });
  const element = make("section", "ms-run-list", [
    make("header", "ms-run-list-head", [
      make("span", "ms-run-list-tag ms-cut ms-name"), make("span", "ms-run-list-at ms-muted ms-grow"), ...tools, all,
    ]),
    host,
  ], { hidden: "" });
  for (const named of [element, host]) setLabel(named, "aria-label", "runlist.title");
  /** @type {{ element: HTMLElement, frame: () => string, rows: Row[], names: any, lit: string | null, drawn: string }} */
  const list = { element, frame, rows: [], names: null, lit: null, drawn: "" };
  /** @param {string | null} key */
  const point = (key) => {
    if (list.lit === key) return;
    list.lit = key;
    light(key);
  };
  all.addEventListener("click", () => change([]));
  host.addEventListener("scroll", scrolled);
  element.addEventListener("click", (event) => {
    const row = event.target instanceof Element && event.target.closest(".ms-run-list-row");
    if (!row || event.target.closest(".ms-dot-button")) return;
    change((event.altKey ? isolated : toggled)(hidden(), row.dataset.key, list.rows.map(({ key }) => key)));
  });
  /** @param {Event} event */
  const over = (event) => {
    const row = event.target instanceof Element && event.target.closest(".ms-run-list-row:not(.ms-run-list-off)");
    point(row ? row.dataset.key : null);
  };
  for (const name of ["mouseover", "focusin"]) element.addEventListener(name, over);
  for (const name of ["mouseleave", "focusout"]) element.addEventListener(name, () => point(null));
  return list;
}

/**
 * The hidden lines after one more was hidden, or shown again.
 * @param {string[]} hidden
 * @param {string} key
 */
export function toggled(hidden, key) {
  return hidden.includes(key) ? hidden.filter((one) => one !== key) : [...hidden, key];
}

/**
 * The hidden lines after one was left alone; once more: none.
 * @param {string[]} hidden
 * @param {string} key
 * @param {string[]} keys
 */
export function isolated(hidden, key, keys) {
  const others = keys.filter((one) => one !== key);
  const alone = !hidden.includes(key) && others.every((one) => hidden.includes(one));
  return alone ? [] : others;
}

/**
 * Set the rows; paint shows them.
 * @param {ReturnType<typeof build>} list
 * @param {Row[]} rows
 */
export function setRows(list, rows) {
  list.rows = rows;
  list.names = namesIn(rows);
  list.element.querySelector(".ms-run-list-all").hidden = rows.every((row) => row.on);
}

/**
 * How wide the list must be, in px, to show enough of each name to tell the runs apart.
 * @param {ReturnType<typeof build>} list
 */
export function needOf(list) {
  return list.names ? needOfNames(list.names, fontOf(list.element)) + BESIDE_NAME : 0;
}

/**
 * A value as the list shows it: red if it is not finite, and what is said on hover.
 * @typedef {{ text: string, title: string, wrong: boolean }} Shown
 */

/**
 * The value of each line of a drawing at a place on its x axis, null for the last ones, by key; of several tags the first.
 * @param {Line[]} lines
 * @param {Place | null} place
 * @param {Mark[]} [marks] at values that are not finite
 */
export function valuesAt(lines, place, marks = []) {
  /** @type {Map<string, Shown>} */
  const values = new Map();
  for (const line of lines) {
    const { key } = line.meta;
    const shown = values.has(key) ? null : place ? here(line, place, marks) : atTheEnd(line);
    if (shown) values.set(key, shown);
  }
  return values;
}

/**
 * The last value, whatever part of the curve is on screen; that of a group is at its last place there.
 * @param {Line} line
 * @returns {Shown | null}
 */
function atTheEnd(line) {
  const { last } = line.meta;
  if (last) return { text: last.text, title: inLanguage(last.tip), wrong: last.wrong };
  const i = lastIndex(line);
  return i < 0 ? null : shownAt(line, i);
}

/**
 * @param {Line} line
 * @param {Place} place
 * @param {Mark[]} marks
 * @returns {Shown | null}
 */
function here(line, place, marks) {
  const { i, bad } = foundAt(line, place, marks);
  if (bad) return { text: bad.kind, title: "", wrong: true };
  return i < 0 ? null : shownAt(line, i);
}

/**
 * @param {Line} line
 * @param {number} i
 * @returns {Shown}
 */
function shownAt(line, i) {
  const value = line.raw ? line.raw[i] : line.values[i];
  const text = number(value);
  const n = line.n ? ` ${translate("runlist.n", { n: count(line.n(i)) })}` : "";
  return { text: `${text}${n}`, title: exact(value, line.raw ? line.rawExact : line.exact), wrong: false };
}

/**
 * Of how many runs the value of a group is, and how many diverged; "" for a single run.
 * @param {Line} line
 * @param {number} i
 */
export function ofGroup({ n, lost, meta }, i) {
  if (!n) return "";
  const gone = lost ? lost(i) : 0;
  const values = { n: count(n(i)), lost: count(gone), all: count(meta.members || 0) };
  return translate(gone ? "runlist.lost" : "runlist.n", values);
}

/**
 * Show rows and values. tag heads the list; at(element) writes the place of the values.
 * @param {ReturnType<typeof build>} list
 * @param {{ values: Map<string, Shown>, tag: string, at: (element: HTMLElement) => void }} shown
 * @returns {boolean} whether rows were made anew, so that the list may have another height
 */
export function paint(list, { values, tag, at }) {
  const host = list.element.querySelector(".ms-run-list-rows");
  const space = host.firstElementChild;
  const strip = list.element.classList.contains("ms-run-list-strip");
  const head = list.element.querySelector(".ms-run-list-tag");
  head.textContent = tag;
  head.title = tag;
  at(list.element.querySelector(".ms-run-list-at"));
  const first = strip ? 0 : Math.max(0, Math.floor(host.scrollTop / ROW) - SPARE);
  const room = Math.ceil((host.clientHeight || 240) / ROW) + 2 * SPARE;
  const end = strip ? IN_STRIP : Math.min(list.rows.length, first + room);
  const rows = list.rows.slice(first, end);
  const key = JSON.stringify([first, rows, list.rows.length, list.element.className, translate("runlist.title")]);
  if (list.drawn === key) {
    rows.forEach((row, i) => {
      const cell = space.children[i].lastElementChild;
      write(/** @type {HTMLElement} */ (cell), values.get(row.key));
    });
    return false;
  }
  list.drawn = key;
  const focused = host.contains(document.activeElement) && document.activeElement.closest(".ms-run-list-row").dataset.key;
  space.style.height = strip ? "" : `${list.rows.length * ROW}px`;
  space.replaceChildren(...rows.map((row, i) => {
    const element = rowElement(list, row, values.get(row.key));
    if (!strip) element.style.top = `${(first + i) * ROW}px`;
    return element;
  }));
  const again = focused && space.querySelector(`[data-key="${CSS.escape(focused)}"] .ms-run-list-name`);
  if (again) again.focus({ preventScroll: true });
  return true;
}

/**
 * @param {HTMLElement} cell
 * @param {Shown | undefined} shown
 */
export function write(cell, shown = { text: "", title: "", wrong: false }) {
  if (cell.textContent !== shown.text) cell.textContent = shown.text;
  if (cell.title !== shown.title) cell.title = shown.title;
  cell.classList.toggle("ms-bad-number", shown.wrong);
}

/**
 * @param {ReturnType<typeof build>} list
 * @param {Row} row
 * @param {Shown | undefined} value
 */
function rowElement(list, row, value) {
  const dot = dotButton(row.on ? row.colour : "", { frame: list.frame(), ...row });
  const button = make("button", "ms-run-list-name", [
    ...(row.letter ? [make("span", "ms-run-list-letter", row.letter)] : []), nameElement(row.name, list.names),
  ], { type: "button", "aria-pressed": String(row.on) });
  button.title = `${row.name}\n${translate("runlist.hint")}`;
  const cell = make("span", "ms-run-list-value ms-number");
  write(cell, value);
  const element = make("div", row.on ? "ms-run-list-row" : "ms-run-list-row ms-run-list-off", [
    dot, button, cell,
  ], { role: "listitem" });
  element.dataset.key = row.key;
  return element;
}
