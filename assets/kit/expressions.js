// The text of an expression over tags while it is typed. The server parses it (parsers/analysis/curves/expressions.py); here is
// what a field needs at once: which name stands at the caret, how a tag is written, and where an error lies.

import { isDerived } from "./derived_tags.js";

const TOKEN = /[\p{L}_][\p{L}\p{N}_.]*(?:\/[\p{L}\p{N}_][\p{L}\p{N}_.]*)*\/?|'(?:[^']|'')*('|$)|"(?:[^"]|"")*("|$)|[\d.]+|\S/gu;
const BARE = /^[A-Za-z_][A-Za-z0-9_.]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.]*)*$/;
const BEFORE = 48;  // characters that are shown before an error
const AFTER = 24;

/**
 * A tag as an expression names it; quotes are always right, and only the plainest names go without.
 * @param {string} tag
 */
export function quoted(tag) {
  return BARE.test(tag) ? tag : `'${tag.replaceAll("'", "''")}'`;
}

/**
 * The tag name at the caret: the text before the caret, and the range that a suggestion replaces.
 * @param {string} text
 * @param {number} caret
 * @returns {{ start: number, end: number, part: string } | null} null after what no name can follow
 */
export function nameAt(text, caret) {
  let before = "";
  for (const match of text.matchAll(TOKEN)) {
    const [start, end] = [match.index, match.index + match[0].length];
    if (start >= caret) break;
    if (caret <= end) {
      const word = text.slice(start, caret);
      if (/^['"]/.test(word)) return { start, end, part: word.slice(1).replaceAll(word[0].repeat(2), word[0]) };
      if (/^[\p{L}_]/u.test(word)) return { start, end, part: word };
    }
    before = match[0];
  }
  return /^[-+*/(,]?$/.test(before) ? { start: caret, end: caret, part: "" } : null;
}

/**
 * The text with a tag in place of the name at the caret, and where the caret is then.
 * @param {string} text
 * @param {{ start: number, end: number }} place
 * @param {string} tag
 */
export function withTag(text, place, tag) {
  const name = quoted(tag);
  return { text: text.slice(0, place.start) + name + text.slice(place.end), caret: place.start + name.length };
}

/**
 * Tags that contain a part of a name, those that begin with it first.
 * @param {string[]} tags
 * @param {string} part
 * @param {number} most
 */
export function suggested(tags, part, most) {
  const sought = part.toLowerCase();
  const found = tags.filter((tag) => !isDerived(tag) && tag.toLowerCase().includes(sought));
  const first = found.filter((tag) => tag.toLowerCase().startsWith(sought));
  return [...first, ...found.filter((tag) => !tag.toLowerCase().startsWith(sought))].slice(0, most);
}

/**
 * The part of a text around a column, which counts characters from 1: what stands before it and from it on.
 * @param {string} text
 * @param {number} column
 */
export function around(text, column) {
  const characters = Array.from(text);
  const at = Math.min(column, characters.length + 1) - 1;
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(characters.length, at + AFTER);
  return {
    before: (from ? "…" : "") + characters.slice(from, at).join(""),
    after: characters.slice(at, to).join("") + (to < characters.length ? "…" : ""),
  };
}

/**
 * Names with slashes as divisions, if both sides of a slash are known: "a/b" -> "a / b".
 * @param {string[]} names
 * @param {(name: string) => boolean} known
 */
export function divided(names, known) {
  return names.flatMap((name) => {
    const parts = name.split("/");
    for (let i = 1; i < parts.length; i += 1) {
      const [left, right] = [parts.slice(0, i).join("/"), parts.slice(i).join("/")];
      if (known(left) && (known(right) || /^[\d.]+$/.test(right))) return [`${left} / ${right}`];
    }
    return [];
  });
}
