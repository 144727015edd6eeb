// Names in little room: what all of them begin with is left out, and what differs stays when the rest is cut.

import { make } from "./elements.js";

const BOUNDARY = /[/\\_\-.,:;= ]/;
const TAIL = 8;  // characters at the end of a part that differs which are never cut
const LONG = 12;  // characters of a part that may be cut

/**
 * The parts of each name: what all begin with, what differs, and what all end with; the cuts are at boundaries of words.
 * @param {string[]} names
 * @returns {(name: string) => [string, string, string]}
 */
export function partsOf(names) {
  const all = [...new Set(names)].map((name) => Array.from(name));
  if (all.length < 2) return (name) => ["", name, ""];
  const least = Math.min(...all.map((name) => name.length));
  const [first] = all;
  let begin = 0;
  while (begin < least && all.every((name) => name[begin] === first[begin])) begin += 1;
  while (begin > 0 && !BOUNDARY.test(first[begin - 1])) begin -= 1;
  let end = 0;
  while (end < least - begin && all.every((name) => name[name.length - 1 - end] === first[first.length - 1 - end])) end += 1;
  while (end > 0 && !BOUNDARY.test(first[first.length - end])) end -= 1;
  return (name) => {
    const letters = Array.from(name);
    const stop = Math.max(begin, letters.length - end);
    return [letters.slice(0, begin).join(""), letters.slice(begin, stop).join(""), letters.slice(stop).join("")];
  };
}

/**
 * A name of at most `most` characters: without what all begin with, then without what all end with, then cut in its middle.
 * @param {string} name
 * @param {string[]} names all that are shown together
 * @param {number} most
 */
export function shortened(name, names, most) {
  if (Array.from(name).length <= most) return name;
  const [head, core, tail] = partsOf(names)(name);
  const rest = Array.from(`${head ? "…" : ""}${core}${tail}`);
  if (rest.length <= most) return rest.join("");
  const letters = Array.from(`${head ? "…" : ""}${core}${tail ? "…" : ""}`);
  return letters.length <= most ? letters.join("") : middle(core, most);
}

/**
 * A text of at most `most` characters, cut in its middle.
 * @param {string} text
 * @param {number} most
 */
export function middle(text, most) {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - end).join("")}…${letters.slice(letters.length - end).join("")}`;
}

/** @typedef {[string, string, string] | [string, string, string, string]} Parts of a name: head, core, tail, near */

/** @type {WeakMap<{ name: string }[], (name: string) => Parts>} */
const known = new WeakMap();

/**
 * The parts of the names of rows of a long list, of which only some are alike: what all begin with, what differs from those
 * most like it, what all end with, and, between the first two, what it has in common with those most like it. Computed once
 * for a list.
 * @param {{ name: string }[]} rows
 * @returns {(name: string) => Parts}
 */
export function partsIn(rows) {
  let parts = known.get(rows);
  if (!parts) {
    const names = rows.map((row) => row.name);
    const heads = headsOf(names);
    const whole = partsOf(names);
    parts = (name) => {
      const [head, , tail] = whole(name);
      const begin = Math.max(head.length, heads.get(name) || 0);
      const end = Math.max(begin, name.length - tail.length);
      return [head, name.slice(begin, end), name.slice(end), name.slice(head.length, begin)];
    };
    known.set(rows, parts);
  }
  return parts;
}

/**
 * For each name how many of its first letters the name most like it has too, up to a boundary of words.
 * @param {string[]} names
 */
export function headsOf(names) {
  const sorted = [...new Set(names)].sort();
  const heads = new Map(sorted.map((name) => [name, 0]));
  for (let at = 1; at < sorted.length; at += 1) {
    const [one, other] = [sorted[at - 1], sorted[at]];
    let begin = 0;
    while (begin < one.length && one[begin] === other[begin]) begin += 1;
    while (begin > 0 && !BOUNDARY.test(one[begin - 1])) begin -= 1;
    for (const name of [one, other]) heads.set(name, Math.max(heads.get(name) || 0, begin));
  }
  return heads;
}

/**
 * The pieces of a name, each with the class by which css cuts it to its room: first what all begin with, then what all end
 * with, then what it shares with those most like it, and of what differs the middle.
 * @param {Parts} parts as from partsOf or partsIn
 * @param {string} [lastClass] one more class of the end of what differs
 * @returns {[string, string][]} class and text
 */
export function piecesOf([head, core, tail, near = ""], lastClass = "") {
  const letters = Array.from(core);
  const end = letters.length > LONG ? letters.length - TAIL : letters.length;
  /** @type {[string, string][]} */
  const pieces = [
    ["ms-name-head", head], ["ms-name-near", near], ["ms-name-core", letters.slice(0, end).join("")],
    [`ms-name-last ${lastClass}`.trim(), letters.slice(end).join("")], ["ms-name-tail", tail],
  ];
  return pieces.filter(([, text]) => text);
}

/**
 * The element of a name.
 * @param {Parts} parts as from partsOf or partsIn
 * @param {string} [lastClass] one more class of the end of what differs
 */
export function nameElement(parts, lastClass = "") {
  return make("span", "ms-name", piecesOf(parts, lastClass).map(([name, text]) => make("span", name, text)));
}
