// Texts that scripts draw, and attributes in two languages. Plain texts need no script: both languages are in the page.

import { counted } from "./counted.js";

const NAMES = ["title", "placeholder", "aria-label", "aria-description"];
const SELECTOR = NAMES.map((name) => `[data-en-${name}]`).join(",");
/** @type {Record<string, Wire.Texts>} */
const catalogue = {};

/**
 * layouts/shell/chrome.py and the pages put the texts that scripts need on their elements.
 * @param {string} key
 */
function pair(key) {
  if (!(key in catalogue)) {
    for (const element of document.querySelectorAll("[data-texts]")) {
      Object.assign(catalogue, JSON.parse(element.dataset.texts));
    }
  }
  return catalogue[key] || [key, key];
}

export function language() {
  return document.documentElement.lang.startsWith("zh") ? "zh" : "en";
}

/**
 * @param {string} text
 * @param {TextValues} [values]
 */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (values && name in values ? String(values[name]) : whole));
}

/**
 * @param {string} key
 * @param {TextValues} [values]
 * @returns {Wire.Texts}
 */
export function translations(key, values) {
  const [english, chinese] = pair(key);
  return [fill(counted(english, values), values), fill(chinese, values)];
}

/**
 * The one of a pair [English, Chinese] that is in the current language.
 * @template T
 * @param {T[]} pair
 */
export function inLanguage(pair) {
  return pair[language() === "zh" ? 1 : 0];
}

/**
 * @param {string} key
 * @param {TextValues} [values]
 * @returns {string}
 */
export function translate(key, values) {
  return inLanguage(translations(key, values));
}

/**
 * Write both languages into an element; css shows one.
 * @template {HTMLElement} E
 * @param {E} element
 * @param {string} key
 * @param {TextValues} [values]
 * @returns {E}
 */
export function writeText(element, key, values) {
  const [english, chinese] = translations(key, values);
  if (element.dataset.english === english && element.dataset.chinese === chinese) return element;
  element.dataset.english = english;
  element.dataset.chinese = chinese;
  element.replaceChildren();
  element.classList.add("t");
  for (const [name, words] of [["en", english], ["zh", chinese]]) {
    const part = document.createElement("span");
    part.className = name;
    part.lang = name === "en" ? "en" : "zh-CN";
    part.textContent = words;
    element.append(part);
  }
  return element;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string} key
 * @param {TextValues} [values]
 */
export function setLabel(element, name, key, values) {
  const [english, chinese] = translations(key, values);
  const wanted = [[`data-en-${name}`, english], [`data-zh-${name}`, chinese], [name, language() === "zh" ? chinese : english]];
  for (const [attribute, text] of wanted) {
    if (element.getAttribute(attribute) !== text) element.setAttribute(attribute, text);
  }
}

/**
 * Choices of selects, which can hold one text only (`kit/elements.option`).
 * @param {HTMLElement} root
 */
function switchChoices(root) {
  for (const choice of root.querySelectorAll("option[data-key]")) {
    const text = translate(choice.getAttribute("data-key") || "");
    if (choice.textContent !== text) choice.textContent = text;
  }
}

/** @param {HTMLElement} root */
function switchAttributes(root) {
  const now = language();
  const elements = Array.from(root.querySelectorAll(SELECTOR));
  if (root.matches && root.matches(SELECTOR)) elements.push(root);
  for (const holder of elements) {
    // dcc.Input does not take these attributes, so the element around it has them.
    const element = holder.classList.contains("ms-inputbox") ? holder.querySelector("input") || holder : holder;
    for (const name of NAMES) {
      const wanted = holder.getAttribute(`data-${now}-${name}`);
      if (wanted !== null && element.getAttribute(name) !== wanted) element.setAttribute(name, wanted);
    }
  }
}

new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.type === "attributes") {
      switchAttributes(document.body);
      switchChoices(document.body);
      continue;
    }
    for (const node of change.addedNodes) if (node instanceof HTMLElement) switchAttributes(node);
  }
}).observe(document.documentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ["lang"] });
