// Texts of a page that is saved as a file, safe where they stand: in scripts that hold data, in style sheets, in a policy.

import { escapeMarkup } from "../kit/markup.js";

export const markup = escapeMarkup;

/**
 * A value as JSON within a script element, which no text in it can end.
 * @param {unknown} value
 */
export function scriptJson(value) {
  return JSON.stringify(value).replace(/</g, "\\u003c").replace(/\u2028/g, "\\u2028").replace(/\u2029/g, "\\u2029");
}

/**
 * A style sheet within a style element: without an end of it, and without maps of sources, which nobody needs there.
 * @param {string} text
 */
export function sheetText(text) {
  return text.replace(/\/\*# sourceMappingURL=[^*]*\*\//g, "").replace(/<(?=[/!])/g, "\\3c ");
}

const PHONE_PX = 600;  // up to which the menu is folded, so that a window is almost all page

/**
 * Style sheets for a window without the menu: rules for windows up to a width hold for what is left of it beside the menu.
 * @param {string} sheets
 * @param {number} menu width in px
 */
export function withoutMenu(sheets, menu) {
  const narrower = (/** @type {string} */ whole, /** @type {string} */ side, /** @type {string} */ px) =>
    Number(px) > PHONE_PX ? `(${side}-width: ${Number(px) - menu}px)` : whole;
  return sheets.replace(/@media[^{;]*/g, (rule) => rule.replace(/\((max|min)-width:\s*([\d.]+)px\)/g, narrower));
}

/**
 * The names of data attributes that style sheets look at; no other ones are saved.
 * @param {string} sheets
 * @returns {Set<string>}
 */
export function styledAttributes(sheets) {
  return new Set(Array.from(sheets.matchAll(/(?:\[|attr\(\s*)(data-[\w-]+)/g), ([, name]) => name));
}

/**
 * The Content-Security-Policy of a file: no request, and only these scripts.
 * @param {string[]} hashes source expressions
 */
export function policy(hashes) {
  const scripts = hashes.length ? [`script-src ${hashes.join(" ")}`] : [];
  return ["default-src 'none'", "style-src 'unsafe-inline'", "img-src data:", "font-src data:", ...scripts, "base-uri 'none'",
    "form-action 'none'"].join("; ");
}

/**
 * The first of these names for a line, and how many more there are.
 * @param {string[]} names
 * @param {number} most
 */
export function firstNames(names, most) {
  return { names: names.slice(0, most).join(", "), n: Math.max(0, names.length - most) };
}

/** Characters that turn the direction of the texts around them; names from files stand between others in the header. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** @param {string} text */
export const withoutTurns = (text) => text.replace(TURNING, "\ufffd");
