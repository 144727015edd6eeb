// The dialog that takes an expression over tags: a field with the tags that fit what is typed, and below it what is wrong and
// where. The server checks it at every pause and once more before it is taken.

import { icon, make, words } from "./elements.js";
import { inLanguage, setLabel, writeText } from "./i18n.js";
import { around, divided, nameAt, suggested, withTag } from "./expressions.js";

const CHECK_MS = 200;
const MOST = 50;
const LONGEST = 2000;

let dialogs = 0;

/**
 * What the server says of an expression: the tags in it, and what is wrong and where, if anything is.
 * @typedef {{ expression: string, tags: string[], missing: string[],
 *   error: { text: Wire.Texts, column: number } | null }} ExpressionAnswer
 */

/**
 * @typedef {object} ExpressionOptions
 * @property {Element} host
 * @property {string} routes
 * @property {string} title
 * @property {string} [value]
 * @property {() => string[]} tags
 * @property {(answer: ExpressionAnswer) => string[]} missing
 * @property {(text: string) => void} take
 * @property {() => void} [remove]
 */

/**
 * @typedef {object} OpenDialog
 * @property {string} id
 * @property {HTMLInputElement} field
 * @property {HTMLElement} mark
 * @property {HTMLElement} note
 * @property {HTMLElement} list
 * @property {HTMLDialogElement} dialog
 * @property {string[]} found suggestions
 * @property {number} active place of one among these, -1 for none
 * @property {{ start: number, end: number, part: string } | null} place the name at the caret
 * @property {ExpressionAnswer | null} checked
 * @property {number} timer
 * @property {number} number of the text: grows whenever something is typed
 */

/** @typedef {ExpressionOptions & OpenDialog} ExpressionDialog */

/**
 * Open the dialog. tags() are the names to suggest, missing(answer) those of an answer of the server that no run has,
 * take(text) gets a valid expression, and remove(), if given, is offered too.
 * @param {ExpressionOptions} options
 */
export function openExpression(options) {
  const id = `ms-expression-${(dialogs += 1)}`;
  const field = make("input", "ms-input ms-expression-field ms-mono", [], {
    type: "text", role: "combobox", spellcheck: "false", autocomplete: "off", autocapitalize: "off", maxlength: String(LONGEST),
    "aria-autocomplete": "list", "aria-expanded": "true", "aria-controls": `${id}-tags`, "aria-describedby": `${id}-note`,
  });
  setLabel(field, "aria-label", "expr.field");
  field.value = options.value || "";
  const mark = make("pre", "ms-expression-mark ms-mono", [], { "aria-hidden": "true", hidden: "" });
  const note = make("p", "ms-expression-note", [], { role: "status", id: `${id}-note` });
  const list = make("div", "ms-expression-tags", [], { role: "listbox", id: `${id}-tags` });
  setLabel(list, "aria-label", "expr.tags");
  const dialog = make("dialog", "ms ms-dialog ms-expression");
  setLabel(dialog, "aria-label", options.title);
  /** @type {ExpressionDialog} */
  const view = {
    ...options, id, field, mark, note, list, dialog, found: [], active: -1, place: null, checked: null, timer: 0, number: 0,
  };
  const cancel = make("button", "ms-button", words("expr.cancel"), { type: "button" });
  cancel.addEventListener("click", () => dialog.close());
  const set = make("button", "ms-button ms-button-main", words("expr.set"), { type: "submit" });
  const form = make("form", "ms-dialog-body", [
    field, make("div", "ms-expression-told", [mark, note]), list,
    words("expr.hint", {}, "p", "ms-muted"), words("expr.functions", {}, "p", "ms-expression-functions ms-muted ms-mono"),
    make("div", "ms-expression-buttons", [...remover(view), make("span", "ms-grow"), cancel, set]),
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(view);
  });
  field.addEventListener("input", () => typed(view));
  for (const name of ["click", "keyup", "focus"]) field.addEventListener(name, () => suggest(view));
  field.addEventListener("keydown", (event) => keyed(view, event));
  list.addEventListener("pointerdown", (event) => {
    const option = event.target instanceof Element && event.target.closest("[data-tag]");
    if (!(option instanceof HTMLElement)) return;
    event.preventDefault();  // the field keeps the focus
    choose(view, option.dataset.tag || "");
  });
  dialog.append(make("header", "ms-dialog-head", words(options.title, {}, "h2", "ms-dialog-title ms-cut")), form);
  dialog.addEventListener("close", () => {
    window.clearTimeout(view.timer);
    dialog.remove();
  });
  options.host.append(dialog);
  dialog.showModal();
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  suggest(view);
  if (field.value) check(view);
  return dialog;
}

/** @param {ExpressionDialog} view */
function remover(view) {
  const { remove } = view;
  if (!remove) return [];
  const button = make("button", "ms-button", [icon("trash"), words("expr.delete")], { type: "button" });
  button.addEventListener("click", () => {
    view.dialog.close();
    remove();
  });
  return [button];
}

// Checking -----------------------------------------------------------------------------------------------------------

/** @param {ExpressionDialog} view */
function typed(view) {
  view.number += 1;
  window.clearTimeout(view.timer);
  view.timer = window.setTimeout(() => check(view), CHECK_MS);
  suggest(view);
}

/**
 * The server's answer for the present text; null if there is none, or if another text was typed meanwhile.
 * @param {ExpressionDialog} view
 * @returns {Promise<ExpressionAnswer | null>}
 */
async function check(view) {
  const text = view.field.value;
  if (!text.trim()) {
    show(view, null);
    return null;
  }
  if (view.checked && view.checked.expression === text) return view.checked;
  const { number } = view;
  let answer;
  try {
    const response = await fetch(`${view.routes}expression.json?${new URLSearchParams({ expr: text })}`,
      { credentials: "same-origin" });
    answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
  } catch {
    if (view.dialog.isConnected) writeText(view.note, "expr.no_answer");
    return null;
  }
  if (number !== view.number || !view.dialog.isConnected) return null;
  view.checked = answer;
  show(view, answer);
  return answer;
}

/**
 * @param {ExpressionDialog} view
 * @param {ExpressionAnswer | null} answer
 */
function show(view, answer) {
  const wrong = answer && answer.error;
  view.field.setAttribute("aria-invalid", String(Boolean(wrong)));
  view.note.classList.toggle("ms-expression-wrong", Boolean(wrong));
  view.mark.hidden = !wrong;
  view.note.replaceChildren();
  delete view.note.dataset.english;
  if (wrong) {
    const { before, after } = around(answer.expression, wrong.column);
    const caret = make("span", "ms-expression-caret", "^");
    view.mark.replaceChildren(before, after, "\n", make("span", "ms-expression-unseen", before), caret);
    view.note.textContent = inLanguage(wrong.text);
    return;
  }
  if (!answer) return;
  const missing = view.missing(answer);
  const names = missing.join(", ");
  const tags = new Set(view.tags());
  const quotients = divided(missing, (name) => tags.has(name));
  if (!missing.length) writeText(view.note, "expr.fine");
  else if (quotients.length) writeText(view.note, "expr.unknown.slash", { tags: names, divided: quotients.join(", ") });
  else writeText(view.note, "expr.unknown", { tags: names });
}

/** @param {ExpressionDialog} view */
async function submit(view) {
  window.clearTimeout(view.timer);
  const text = view.field.value;
  const answer = await check(view);
  if (!answer || answer.error || text !== view.field.value) {
    view.field.focus();
    return;
  }
  view.dialog.close();
  view.take(text.trim());
}

// Suggestions ---------------------------------------------------------------------------------------------------------

/** @param {ExpressionDialog} view */
function suggest(view) {
  const place = nameAt(view.field.value, view.field.selectionStart || 0);
  const found = place ? suggested(view.tags(), place.part, MOST) : [];
  view.place = place;
  if (JSON.stringify(found) === JSON.stringify(view.found)) return;
  view.found = found;
  activate(view, -1);
  view.list.replaceChildren(...found.map((tag, at) => make("div", "ms-expression-tag ms-cut ms-name", tag, {
    role: "option", id: `${view.id}-tag-${at}`, "data-tag": tag, "aria-selected": "false", title: tag,
  })));
}

/**
 * @param {ExpressionDialog} view
 * @param {number} at
 */
function activate(view, at) {
  view.active = at;
  Array.from(view.list.children, (option, place) => {
    option.setAttribute("aria-selected", String(place === at));
    if (place === at) option.scrollIntoView({ block: "nearest" });
  });
  if (at < 0) view.field.removeAttribute("aria-activedescendant");
  else view.field.setAttribute("aria-activedescendant", `${view.id}-tag-${at}`);
}

/**
 * @param {ExpressionDialog} view
 * @param {string} tag
 */
function choose(view, tag) {
  if (!view.place) return;
  const { text, caret } = withTag(view.field.value, view.place, tag);
  view.field.value = text;
  view.field.setSelectionRange(caret, caret);
  typed(view);
  activate(view, -1);
}

/**
 * @param {ExpressionDialog} view
 * @param {KeyboardEvent} event
 */
function keyed(view, event) {
  const { length } = view.found;
  if ((event.key === "ArrowDown" || event.key === "ArrowUp") && length) {
    event.preventDefault();
    const next = view.active + (event.key === "ArrowDown" ? 1 : -1);
    activate(view, next < -1 ? length - 1 : next >= length ? -1 : next);
  } else if (event.key === "Enter" && view.active >= 0) {
    event.preventDefault();
    choose(view, view.found[view.active]);
  } else if (event.key === "Escape" && view.active >= 0) {
    event.preventDefault();
    activate(view, -1);
  }
}
