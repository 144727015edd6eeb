// Saved views: named addresses of pages, listed in the header. Counterpart of layouts/shell/shell.py and
// app/routes/runs/notes.py.

import * as boards from "../kit/boards.js";
import { icon, iconButton, make, words } from "../kit/elements.js";
import { setLabel } from "../kit/i18n.js";
import * as runNotes from "../kit/notes.js";
import { poll, routesOf } from "../kit/polling.js";
import { reasonOf } from "../kit/reasons.js";
import { fileSaving } from "./page_file.js";
import * as shell from "./shell.js";
import { viewFiles } from "./view_files.js";

const LONGEST_NAME = 100;  // layouts/runs/notes.py

/** @type {Wire.Notebook | null} */
let book = null;  // the notebook of the latest list of runs
let routes = "";
/** @type {{ key: string, what: string } | null} */
let editing = null;  // what: "rename" or "delete"
const field = make("input", "ms-input ms-grow", [], { type: "text", maxlength: String(LONGEST_NAME), autocomplete: "off" });
const message = make("div", "ms-views-message", [], { role: "alert", hidden: "" });

window.addEventListener("mindscope:notes", ({ detail }) => {
  book = detail.book;
  routes = routesOf(detail.frame);
  show();
});

const host = () => document.querySelector(".ms-views > .ms-popover");

/** @param {HTMLElement} place */
function build(place) {
  for (const name of ["placeholder", "aria-label"]) setLabel(field, name, "views.name");
  const form = make("form", "ms-views-form", [field, make("button", "ms-button", words("views.save"), { type: "submit" })]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) save(field.value);
    else field.focus();
  });
  const adding = make("button", "ms-button ms-button-quiet ms-views-board", [icon("board"), words("boards.add_page")], {
    type: "button",
  });
  adding.addEventListener("click", () => boards.ask(adding));
  const details = /** @type {HTMLDetailsElement} */ (place.parentElement);
  const file = fileSaving();
  place.replaceChildren(form, message, make("ul", "ms-views-list"), adding, ...file.elements,
    ...viewFiles(() => routes, (open) => { details.open = open; }));
  details.addEventListener("toggle", () => {
    editing = null;
    showMessage();
    if (!details.open) return;
    file.look();
    show();
    if (book && book.kept) field.focus();
  });
}

/** @param {...HTMLElement} parts */
function showMessage(...parts) {
  message.hidden = parts.length === 0;
  message.replaceChildren(...parts);
}

/**
 * Returns the answer of the server, or null if the request failed.
 * @param {Record<string, unknown>} asked
 */
async function change(asked) {
  try {
    const answer = await runNotes.post(routes, "view", asked);
    editing = null;
    poll();
    return answer;
  } catch (error) {
    showMessage(words("notes.failed", { text: reasonOf(error) }, "p", "ms-note-wrong"));
    return null;
  }
}

/**
 * @param {string} name
 * @param {string} [instead]
 */
async function save(name, instead) {
  const answer = await change({ save: name, place: shell.place(), ...(instead ? { instead } : {}) });
  if (!answer) return;
  if (answer.done) {
    field.value = "";
    showMessage();
    return;
  }
  const replace = make("button", "ms-button ms-button-small", words("views.replace"), { type: "button" });
  replace.addEventListener("click", () => save(name, answer.now.version));
  const cancel = make("button", "ms-button ms-button-small", words("views.cancel"), { type: "button" });
  cancel.addEventListener("click", () => { showMessage(); field.focus(); });
  showMessage(words("views.taken", {}, "p"), make("div", "ms-note-foot", [replace, cancel]));
  replace.focus();
}

/**
 * @param {Wire.View} view
 * @param {string} name
 */
async function rename(view, name) {
  if (!name.trim() || name === view.name) {
    edit(null);
    return;
  }
  const answer = await change({ rename: view.key, name, was: view.version });
  if (!answer) return;
  if (answer.done) showMessage();
  else showMessage(words(answer.now && answer.now.key !== view.key ? "views.taken" : "views.changed", {}, "p"));
}

/** @param {Wire.View} view */
async function remove(view) {
  const answer = await change({ delete: view.key, was: view.version });
  if (answer) showMessage(...(answer.done ? [] : [words("views.changed", {}, "p")]));
}

/** @param {{ key: string, what: string } | null} next */
function edit(next) {
  editing = next;
  show();
  const first = host().querySelector(".ms-views-edit input, .ms-views-edit button");
  if (first) first.focus();
  if (first && first.select) first.select();
}

/** @param {Wire.View} view */
function openView(view) {
  if (!shell.open(view.place)) {
    showMessage(words("views.gone", {}, "p", "ms-note-wrong"));
    return;
  }
  host().parentElement.open = false;
}

/** @param {string} place */
function pageOf(place) {
  const path = place.split("?")[0];
  return Array.from(document.querySelectorAll(".ms-menu-link")).find((link) => link.dataset.page === path);
}

/**
 * @param {Wire.View} view
 * @returns {HTMLElement}
 */
function entry(view) {
  if (editing && editing.key === view.key) return editing.what === "rename" ? renaming(view) : deleting(view);
  const page = pageOf(view.place);
  const mark = page ? page.querySelector(".ms-icon").cloneNode() : icon("question");
  const link = make("a", "ms-views-open", [mark, make("span", "ms-cut ms-name", view.name),
    ...(view.by ? [make("span", "ms-muted ms-cut", view.by)] : [])], {
    href: shell.prefix() + view.place,
  });
  link.title = `${page ? `${page.textContent && page.title} · ` : ""}${view.name}`;
  if (view.place === shell.place()) link.setAttribute("aria-current", "true");
  link.addEventListener("click", (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openView(view);
  });
  const tools = book && book.kept ? [["pencil", "rename"], ["trash", "delete"]].map(([name, what]) => {
    const button = iconButton(name, `views.${what}`, what);
    setLabel(button, "aria-label", `views.${what}_one`, { name: view.name });
    button.addEventListener("click", () => edit({ key: view.key, what }));
    return button;
  }) : [];
  return make("li", "ms-views-one", [link, ...tools]);
}

/** @param {Wire.View} view */
function renaming(view) {
  const input = make("input", "ms-input ms-grow", [], { type: "text", maxlength: String(LONGEST_NAME) });
  input.value = view.name;
  setLabel(input, "aria-label", "views.rename_one", { name: view.name });
  const saving = make("button", "ms-button", words("views.save"), { type: "submit" });
  const form = make("form", "ms-views-form ms-views-edit", [input, saving]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    rename(view, input.value);
  });
  input.addEventListener("keydown", escape);
  return make("li", "ms-views-one", form);
}

/** @param {Wire.View} view */
function deleting(view) {
  const sure = make("button", "ms-button", words("views.delete"), { type: "button" });
  sure.addEventListener("click", () => remove(view));
  const cancel = make("button", "ms-button", words("views.cancel"), { type: "button" });
  cancel.addEventListener("click", () => edit(null));
  const line = make("div", "ms-views-form ms-views-edit", [
    words("views.delete_sure", { name: view.name }, "span", "ms-grow ms-cut"),
    cancel,
    sure,
  ]);
  line.addEventListener("keydown", escape);
  return make("li", "ms-views-one", line);
}

/**
 * Escape ends editing without closing the list.
 * @param {KeyboardEvent} event
 */
function escape(event) {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  edit(null);
}

function show() {
  const place = host();
  if (!place || !book) return;
  const first = !place.firstElementChild;
  if (first) build(place);
  const details = place.parentElement;
  if (!details.open) return;
  place.querySelector("form").hidden = !book.kept;
  place.querySelector(".ms-views-board").hidden = !book.kept || Boolean(document.querySelector(".ms-board"));
  if (first && book.kept && details.contains(document.activeElement)) field.focus();  // opened before the list of runs arrived
  if (!book.kept && message.hidden) showMessage(runNotes.refusal(book));
  const list = place.querySelector(".ms-views-list");
  // Keep the field being edited when the list is redrawn.
  if (
    editing
    && list.querySelector(".ms-views-edit")
    && book.views.some((view) => view.key === editing?.key)
    && list.dataset.editing === JSON.stringify(editing)
  ) { return; }
  list.dataset.editing = JSON.stringify(editing);
  const none = book.kept && !book.views.length;
  list.replaceChildren(...(none ? [words("views.empty", {}, "li", "ms-muted ms-views-none")] : book.views.map(entry)));
}

// The list can be opened before the first list of runs arrives.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target instanceof Element && target.matches(".ms-views[open]")) show();
  },
  true,
);
