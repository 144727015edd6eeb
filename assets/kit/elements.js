// Elements that scripts create: buttons, menus, badges and selects. Children are nodes or texts, never HTML.

import { setLabel, translate, writeText } from "./i18n.js";

/** @typedef {Node | string} Child of an element */

// Building blocks ----------------------------------------------------------------------------------------------------

/**
 * An element with a class, children (nodes and texts) and attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [className]
 * @param {Child | Child[]} [children] one or a list
 * @param {Record<string, string | number>} [attributes]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, className, children = [], attributes = {}) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...(Array.isArray(children) ? children : [children]));
  return element;
}

/**
 * A text in both languages, by its key.
 * @template {keyof HTMLElementTagNameMap} [K="span"]
 * @param {string} key
 * @param {TextValues} [values]
 * @param {K} [tag]
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function words(key, values, tag = /** @type {K} */ ("span"), className = "") {
  return writeText(make(tag, className), key, values);
}

/** @param {string} name */
export function icon(name) {
  return make("span", `ms-icon ms-icon-${name}`, [], { "aria-hidden": "true" });
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} act
 */
export function iconButton(name, label, act) {
  const button = make("button", "ms-button ms-button-icon", icon(name), { type: "button", "data-act": act });
  setLabel(button, "title", label);
  setLabel(button, "aria-label", label);
  return button;
}

/**
 * A menu below its button; chrome.js closes it.
 * @param {HTMLElement} summary
 * @param {Child[]} items
 */
export function menu(summary, items) {
  return make("details", "ms-details ms-menu-down", [summary, make("div", "ms-menu-items", items)]);
}

/**
 * A group of buttons of which one is pressed: [[value, text key], ...].
 * @param {string} label
 * @param {string[][]} choices
 * @param {(value: string) => void} choose
 */
export function segments(label, choices, choose) {
  const buttons = choices.map(([value, key]) => {
    const button = make("button", "ms-button", words(key), { type: "button", "data-value": value });
    button.addEventListener("click", () => choose(value));
    return button;
  });
  const group = make("div", "ms-segments", buttons, { role: "group" });
  setLabel(group, "aria-label", label);
  return group;
}

/**
 * @param {Element} group
 * @param {string} value
 */
export function pressSegment(group, value) {
  for (const button of group.querySelectorAll(":scope > *")) {
    button.setAttribute("aria-pressed", String(button.dataset.value === value));
  }
}

/**
 * @param {string} key
 * @param {Record<string, any>} [values]
 * @param {string | null} [titleKey]
 * @param {string} [tone] plain, accent, wrong
 */
export function badge(key, values, titleKey, tone = "plain") {
  const element = words(key, values, "span", `ms-badge ms-badge-${tone}`);
  if (titleKey) setLabel(element, "title", titleKey, values);
  return element;
}

/**
 * A select whose tip and name have a text key.
 * @param {string} label
 * @param {(value: string) => void} choose
 * @param {Record<string, string | number>} [attributes]
 */
export function select(label, choose, attributes = {}) {
  const element = make("select", "ms-input", [], attributes);
  for (const name of ["title", "aria-label"]) setLabel(element, name, label);
  element.addEventListener("change", () => choose(element.value));
  return element;
}

/**
 * A choice of a select whose text has a key.
 * @param {string} value
 * @param {string} key
 */
export function option(value, key) {
  const element = make("option", "", [], { value });
  element.dataset.key = key;
  element.textContent = translate(key);
  return element;
}

/**
 * Have a select offer choices, [[value, text], ...], of which one is chosen; made anew only where they are others.
 * @param {HTMLSelectElement} element
 * @param {string[][]} choices
 * @param {string} chosen
 */
export function fillSelect(element, choices, chosen) {
  const wanted = JSON.stringify(choices);
  if (element.dataset.choices !== wanted) {
    element.dataset.choices = wanted;
    element.replaceChildren(...choices.map(([value, text]) => make("option", "", text, { value })));
  }
  element.value = chosen;
}

/**
 * Whether keys pressed here are text, and not shortcuts.
 * @param {EventTarget | null} target
 */
export function takesText(target) {
  return target instanceof Element && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
