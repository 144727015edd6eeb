// A choice of one number of very many, with its neighbours: few are a list to choose from, many a field to type into.

import { fillSelect, iconButton, make, select, words } from "./elements.js";
import { count } from "./units.js";
import { setLabel, translate, writeText } from "./i18n.js";

/** The most choices that are offered as a list. */
export const MOST_LISTED = 64;

/**
 * The place in ascending numbers of the one nearest to a number, the lower of two; -1 if there are none.
 * @param {ArrayLike<number>} numbers
 * @param {number} wanted
 */
export function nearest(numbers, wanted) {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && wanted - numbers[low - 1] <= numbers[low] - wanted) low -= 1;
  return numbers.length ? low : -1;
}

/**
 * A choice among ascending numbers. names: text keys (label, absent: what is said of a number that is not there, previous and
 * next, if there are buttons for them, total: of many numbers, none: the choice of no number, if there is one);
 *   titled(number)
 * is what a list calls one; choose(number or null).
 * @param {{ label: string, absent: string, total: string, previous?: string, next?: string, none?: string }} names
 * draw's asked is a number that was asked for in vain.
 * @returns {Profiles.NumberPicker}
 * @param {(number: number) => string} titled
 * @param {(number: number | null) => void} choose
 */
export function numberPicker(names, titled, choose) {
  /** @type {number[]} */
  let numbers = [];
  /** @type {number | null} */
  let value = null;
  /** @type {number | null} */
  let instead = null;  // the number that was chosen since the one typed is not there
  const list = select(names.label, (text) => choose(text === "" ? null : Number(text)));
  const field = make("input", "ms-input ms-number-field", [], { type: "number", step: "1" });
  for (const name of ["title", "aria-label"]) setLabel(field, name, names.label);
  const total = make("span", "ms-muted ms-number-total");
  const note = make("span", "ms-number-absent", [], { role: "status" });
  const typed = make("label", "ms-field", [words(names.label, {}, "span", "ms-field-name"), field, total]);
  const previous = iconButton("left", names.previous || names.label, "previous");
  const next = iconButton("right", names.next || names.label, "next");
  /** @param {number} by */
  const move = (by) => () => {
    const place = value === null ? (by > 0 ? -1 : numbers.length) : nearest(numbers, value);
    const found = numbers[place + by];
    if (found !== undefined) choose(found);
  };
  previous.addEventListener("click", move(-1));
  next.addEventListener("click", move(1));
  field.addEventListener("change", () => {
    if (field.value === "" && names.none) return choose(null);
    const wanted = Math.trunc(Number(field.value));
    const found = numbers[nearest(numbers, wanted)];
    note.textContent = "";
    instead = found === wanted ? null : found;
    if (found !== wanted) writeText(note, names.absent, { n: count(wanted) });
    field.value = String(found);
    if (found !== value) choose(found);
  });
  const parts = names.next ? [previous, list, typed, next, note] : [list, typed, note];
  const element = make("span", "ms-pager ms-number-picker", parts);

  /**
   * @param {number[]} found
   * @param {number | null} chosen
   * @param {number | null} [asked]
   */
  function draw(found, chosen, asked = null) {
    if (chosen !== value && chosen !== instead) note.textContent = "";
    if (asked !== null) writeText(note, names.absent, { n: count(asked) });
    [numbers, value] = [found, chosen];
    element.hidden = numbers.length < (names.none ? 1 : 2);
    const many = numbers.length > MOST_LISTED;
    [list.hidden, typed.hidden] = [many, !many];
    if (many) {
      field.min = String(numbers[0]);
      field.max = String(numbers[numbers.length - 1]);
      field.placeholder = names.none ? translate(names.none) : "";
      if (document.activeElement !== field) field.value = value === null ? "" : String(value);
      writeText(total, names.total, { total: count(numbers.length) });
    } else {
      /** @type {[string, string][]} */
      const choices = numbers.map((number) => [String(number), titled(number)]);
      fillSelect(list, names.none ? [["", translate(names.none)], ...choices] : choices, value === null ? "" : String(value));
    }
    previous.disabled = !numbers.length || (value !== null && value <= numbers[0]);
    next.disabled = !numbers.length || (value !== null && value >= numbers[numbers.length - 1]);
  }

  return { element, draw };
}
